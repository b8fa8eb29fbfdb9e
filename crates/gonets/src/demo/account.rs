//! The live account: one line for each outcome, from what was committed.

use std::{collections::HashMap, time::Duration};

use gonets_core::{
    ids::MessageId,
    notice::{Notice, NoticeKind},
    profile::Profile,
    rule::Rule,
    time::Timestamp,
};
use gonets_store::{
    record::{AttemptDetail, AttemptRecord, SettledState},
    tx::{Outcome, Then},
};

use crate::terminal::{Terminal, Tone};

/// Messages on their way, and where the lines go.
pub struct Account {
    terminal: Terminal,
    labels: HashMap<MessageId, (String, bool)>,
}

impl Account {
    pub fn new(terminal: Terminal) -> Self {
        Self { terminal, labels: HashMap::new() }
    }

    /// A message was accepted; it has no line of its own.
    pub fn accepted(&mut self, message: MessageId, event_type: &str, critical: bool) {
        let label = if event_type == "payment.status_changed" { "payment paid" } else { event_type };
        self.labels.insert(message, (label.to_owned(), critical));
    }

    /// Tells an outcome; true if the delivery has ended with it.
    pub fn outcome(&mut self, at: Timestamp, partner: &str, profile: &Profile, outcome: &Outcome) -> bool {
        let label = self.labels.get(&outcome.message).cloned().unwrap_or_default();
        self.terminal.line(self.text(at, partner, profile, outcome, &label));
        for notice in &outcome.notices {
            if let Some(told) = breaker(partner, notice) {
                let clock = self.terminal.paint(Tone::Faint, time_of_day(at));
                self.terminal.line(format!("{clock}  {}", self.terminal.paint(Tone::Strong, told)));
            }
        }
        let ended = matches!(outcome.then, Then::Settled { .. });
        if ended {
            self.labels.remove(&outcome.message);
        }
        ended
    }

    fn text(
        &self,
        at: Timestamp,
        partner: &str,
        profile: &Profile,
        outcome: &Outcome,
        (label, critical): &(String, bool),
    ) -> String {
        let seen = seen(outcome.attempt.as_ref());
        let (tone, what) = match outcome.then {
            Then::Settled { state: SettledState::Delivered, .. } => {
                let attempt = outcome.attempt.as_ref();
                let status = attempt.and_then(|attempt| attempt.status).unwrap_or_default();
                let took = attempt.map_or(0, millis);
                (Tone::Good, format!("● delivered      {status} in {took:>3} ms"))
            }
            Then::Settled { reason, .. } => {
                let why = reason.map_or("cancelled", |reason| reason.sentence());
                (Tone::Bad, format!("✕ {seen}: failed, {why}"))
            }
            Then::Waiting { rule: Rule::Breaker, .. } => {
                (Tone::Waiting, format!("◐ {seen}: the probe failed"))
            }
            Then::Waiting { due, rule } => {
                let pause = pause(due.since(at));
                let ladder = ladder(profile, outcome, rule, *critical);
                (Tone::Waiting, format!("{:<36}{ladder}", format!("◐ {seen}, again in {pause}")))
            }
            Then::Untouched => (Tone::Waiting, format!("◐ {seen}")),
        };
        let clock = self.terminal.paint(Tone::Faint, time_of_day(at));
        format!("{clock}  {label:<15} → {partner:<10} {}", self.terminal.paint(tone, what.trim_end()))
    }
}

/// What became of a partner's breaker, if the notice is about that.
fn breaker(partner: &str, notice: &Notice) -> Option<String> {
    let probe = notice.facts.until.map(|until| pause(until.since(notice.at))).unwrap_or_default();
    Some(match notice.kind {
        NoticeKind::BreakerOpened => {
            format!("breaker of {partner} opened: the server is down. Deliveries wait, probe in {probe}")
        }
        NoticeKind::BreakerProbed => format!("breaker of {partner}: still down, next probe in {probe}"),
        NoticeKind::BreakerClosed => format!("breaker of {partner} closed: what waited goes out gently"),
        _ => return None,
    })
}

/// `503 in 3 ms`, `connection refused`.
fn seen(attempt: Option<&AttemptRecord>) -> String {
    let Some(attempt) = attempt else { return "interrupted".to_owned() };
    if let Some(status) = attempt.status {
        return format!("{status} in {} ms", millis(attempt));
    }
    let detail: AttemptDetail = serde_json::from_slice(&attempt.detail).unwrap_or_default();
    detail.cause.map_or_else(|| "no answer".to_owned(), |cause| cause.replace('_', " "))
}

fn ladder(profile: &Profile, outcome: &Outcome, rule: Rule, critical: bool) -> String {
    match rule {
        Rule::OutageLadder => {
            format!("outage ladder {} of {}", outcome.progress.outage, profile.outage.delays.len())
        }
        Rule::RefusalLadder => {
            let steps = profile.refusal.as_ref().map_or(0, |ladder| ladder.delays.len());
            let critical = if critical { " (critical)" } else { "" };
            format!("refusal ladder {} of {steps}{critical}", outcome.progress.refusals)
        }
        other => other.sentence().to_owned(),
    }
}

/// Rounded: an answer within half a millisecond is shown as 1, since nothing takes no time.
fn millis(attempt: &AttemptRecord) -> u64 {
    (attempt.duration_us / 1000).max(1)
}

/// To a tenth of a second.
fn pause(pause: Duration) -> String {
    let tenths = (pause.as_millis() + 50) / 100;
    if tenths.is_multiple_of(10) {
        format!("{} s", tenths / 10)
    } else {
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}

/// `12:00:00.013`, in UTC like everything that Gonets shows.
fn time_of_day(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    text.get(11..23).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use gonets_core::{
        ids::{AttemptId, EndpointNo},
        notice::{About, Facts},
        outcome,
        profile::Profiles,
        progress::Progress,
        rule::Reason,
    };
    use gonets_store::tx::Source;

    use super::*;
    use crate::demo::profiles;

    const AT: Timestamp = Timestamp::from_millis(43_200_014);

    fn outcome(status: Option<u16>, cause: Option<&str>, progress: Progress, then: Then) -> Outcome {
        let detail = AttemptDetail { cause: cause.map(str::to_owned), ..AttemptDetail::default() };
        let attempt = AttemptRecord {
            id: AttemptId(1),
            message: MessageId(1),
            endpoint: EndpointNo(1),
            number: 1,
            by_hand: false,
            outcome: outcome::Outcome::Unavailable,
            status,
            started: AT,
            duration_us: 3_100,
            detail: serde_json::to_vec(&detail).unwrap(),
            answer: Bytes::new(),
        };
        Outcome {
            endpoint: EndpointNo(1),
            message: MessageId(1),
            from: Source::Fresh,
            attempt: Some(attempt),
            progress,
            then,
            gates: Vec::new(),
            notices: Vec::new(),
        }
    }

    fn told(profile: &str, event_type: &str, outcome: &Outcome) -> String {
        let profiles = Profiles::resolve(profiles::all()).unwrap();
        let mut account = Account::new(Terminal::plain());
        account.accepted(MessageId(1), event_type, event_type.starts_with("payment"));
        let label = account.labels[&MessageId(1)].clone();
        account.text(AT, "flaky", profiles.get(profile).unwrap(), outcome, &label)
    }

    #[test]
    fn a_delivery_has_its_status_and_time() {
        let then = Then::Settled { state: SettledState::Delivered, reason: None };
        let line = told(profiles::ORDERS, "order.paid", &outcome(Some(200), None, Progress::default(), then));
        assert_eq!(line, "12:00:00.014  order.paid      → flaky      ● delivered      200 in   3 ms");
    }

    #[test]
    fn a_step_of_a_ladder_says_when_and_which() {
        let again = |seconds, rule| Then::Waiting { due: AT + Duration::from_secs(seconds), rule };
        let progress = Progress { outage: 1, refusals: 2, ..Progress::default() };
        let line = told(
            profiles::ORDERS,
            "order.paid",
            &outcome(Some(503), None, progress, again(1, Rule::OutageLadder)),
        );
        assert!(line.ends_with("◐ 503 in 3 ms, again in 1 s         outage ladder 1 of 9"), "{line}");
        let line = told(
            profiles::PAYMENTS,
            "payment.status_changed",
            &outcome(Some(403), None, progress, again(3, Rule::RefusalLadder)),
        );
        assert!(line.contains("payment paid"), "{line}");
        assert!(line.ends_with("refusal ladder 2 of 5 (critical)"), "{line}");
        let refused = outcome(None, Some("connection_refused"), progress, again(1, Rule::OutageLadder));
        assert!(
            told(profiles::ORDERS, "order.paid", &refused).contains("◐ connection refused, again in 1 s")
        );
    }

    #[test]
    fn what_becomes_of_a_breaker_is_told() {
        let told = |kind, until: Option<u64>| {
            let facts = Facts { until: until.map(|s| AT + Duration::from_secs(s)), ..Facts::default() };
            breaker("down", &Notice::new(kind, About::default(), AT).with(facts))
        };
        let opened = told(NoticeKind::BreakerOpened, Some(4)).expect("a line");
        assert_eq!(opened, "breaker of down opened: the server is down. Deliveries wait, probe in 4 s");
        assert!(told(NoticeKind::BreakerClosed, None).is_some_and(|line| line.contains("closed")));
        assert_eq!(told(NoticeKind::EndpointFailing, None), None);
    }

    #[test]
    fn a_failure_says_why() {
        let then = Then::Settled { state: SettledState::Failed, reason: Some(Reason::OutageExhausted) };
        let line = told(profiles::ORDERS, "order.paid", &outcome(Some(500), None, Progress::default(), then));
        assert!(line.ends_with("✕ 500 in 3 ms: failed, the outage ladder is spent"), "{line}");
    }

    #[test]
    fn pauses_are_shown_to_a_tenth_of_a_second() {
        for (millis, text) in
            [(1_000, "1 s"), (996, "1 s"), (1_500, "1.5 s"), (40, "0 s"), (12_340, "12.3 s")]
        {
            assert_eq!(pause(Duration::from_millis(millis)), text);
        }
    }
}
