//! The words in English.

use gonets_core::notice::NoticeKind;

use super::{Words, minute};
use crate::digest::Group;

pub(super) struct English;

impl Words for English {
    fn subject(&self, application: &str, worst: NoticeKind) -> String {
        let what = match worst {
            NoticeKind::EndpointDisabled => "an endpoint was disabled",
            NoticeKind::MessageExpired => "messages expired",
            NoticeKind::MessageExpiring => "messages expire soon",
            NoticeKind::AttemptExhausted => "deliveries failed for good",
            NoticeKind::BreakerOpened => "the server is down, deliveries wait",
            NoticeKind::EndpointWarned => "an endpoint still fails",
            NoticeKind::EndpointFailing => "an endpoint fails",
            NoticeKind::EndpointRecovered | NoticeKind::BreakerClosed => "deliveries go on",
            NoticeKind::EndpointEnabled => "an endpoint was enabled",
            _ => "news of its webhooks",
        };
        format!("{application}: {what}")
    }

    fn opening(&self, application: &str) -> String {
        format!("This is what happened to the webhooks of \"{application}\":")
    }

    fn line(&self, group: &Group<'_>) -> String {
        let item = group.last;
        let facts = &item.facts;
        let endpoint = item.endpoint.as_deref().map_or("an endpoint".to_owned(), |url| url.to_owned());
        let since = facts.since.map(|at| format!(" since {}", minute(at))).unwrap_or_default();
        let count = facts.count.unwrap_or(0);
        let what = match item.kind {
            NoticeKind::EndpointFailing => format!("{endpoint} fails{since}"),
            NoticeKind::EndpointWarned => {
                format!("{endpoint} has taken nothing{since} ({})", attempts(count))
            }
            NoticeKind::EndpointRecovered => format!("{endpoint} takes messages again"),
            NoticeKind::EndpointDisabled => {
                format!("{endpoint} was disabled: {}", why(facts.reason.as_deref()))
            }
            NoticeKind::EndpointEnabled => format!("{endpoint} was enabled"),
            NoticeKind::AttemptExhausted => format!(
                "{} to {endpoint} failed for good ({})",
                deliveries(group.times),
                why(facts.reason.as_deref())
            ),
            NoticeKind::MessageExpiring => format!(
                "critical messages that wait for {endpoint} expire{}",
                facts.until.map(|at| format!(" at {}", minute(at))).unwrap_or_default()
            ),
            NoticeKind::MessageExpired => {
                format!("{} for {endpoint} waited too long and expired", messages(count.max(1)))
            }
            NoticeKind::BreakerOpened => format!(
                "the server is down, so deliveries wait and spend no attempts{}",
                facts.until.map(|at| format!("; it is tried again at {}", minute(at))).unwrap_or_default()
            ),
            NoticeKind::BreakerClosed => "the server answers again; what waited is going out".to_owned(),
            other => format!("{endpoint}: {}", other.sentence()),
        };
        let times = match group.times {
            1 => String::new(),
            _ if item.kind == NoticeKind::AttemptExhausted => String::new(),
            times => format!(" ({times} times)"),
        };
        format!("{}: {what}{times}", minute(item.at))
    }

    fn advice(&self, kind: NoticeKind) -> Option<&'static str> {
        Some(match kind {
            NoticeKind::EndpointDisabled => {
                "Nothing is sent to a disabled endpoint until someone enables it again; what waits for it then goes out."
            }
            NoticeKind::MessageExpired | NoticeKind::AttemptExhausted => {
                "What failed is kept and can be sent again once the endpoint works."
            }
            NoticeKind::MessageExpiring => {
                "Make the endpoint take them before that, or they are not sent by themselves any more."
            }
            NoticeKind::BreakerOpened | NoticeKind::EndpointFailing | NoticeKind::EndpointWarned => {
                "Please see to the endpoint: it should answer 2xx within a few seconds. Nothing is lost meanwhile."
            }
            _ => return None,
        })
    }

    fn more(&self, many: u64) -> String {
        format!("and {many} more")
    }

    fn where_to_look(&self, url: &str) -> String {
        format!("Everything about it: {url}")
    }

    fn closing(&self) -> &'static str {
        "Gonets delivers these webhooks. You get this mail as a contact of the application or as the operator."
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn attempts(count: u64) -> String {
    counted(count, "failed attempt", "failed attempts")
}

fn deliveries(count: u64) -> String {
    counted(count, "delivery", "deliveries")
}

fn messages(count: u64) -> String {
    counted(count, "message", "messages")
}

fn why(reason: Option<&str>) -> &'static str {
    match reason {
        Some("gone") => "it answered 410 Gone",
        Some("failing") => "it took nothing for too long",
        Some("owner") => "by its owner",
        Some("refused") => "refused",
        Some("outage_exhausted") => "all attempts are spent",
        Some("refusals_exhausted") => "refused again and again",
        Some("expired") => "too old",
        _ => "the journal says why",
    }
}
