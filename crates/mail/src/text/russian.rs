//! The words in Russian.

use gonets_core::notice::NoticeKind;

use super::{Words, minute};
use crate::digest::Group;

pub(super) struct Russian;

impl Words for Russian {
    fn subject(&self, application: &str, worst: NoticeKind) -> String {
        let what = match worst {
            NoticeKind::EndpointDisabled => "адрес отключён",
            NoticeKind::MessageExpired => "срок сообщений истёк",
            NoticeKind::MessageExpiring => "срок сообщений скоро истечёт",
            NoticeKind::AttemptExhausted => "есть недоставленные сообщения",
            NoticeKind::BreakerOpened => "сервер не отвечает, доставка ждёт",
            NoticeKind::EndpointWarned => "адрес всё ещё не принимает",
            NoticeKind::EndpointFailing => "адрес не принимает сообщения",
            NoticeKind::EndpointRecovered | NoticeKind::BreakerClosed => "доставка продолжается",
            NoticeKind::EndpointEnabled => "адрес включён",
            _ => "новости о вебхуках",
        };
        format!("{application}: {what}")
    }

    fn opening(&self, application: &str) -> String {
        format!("Что произошло с вебхуками приложения «{application}»:")
    }

    fn line(&self, group: &Group<'_>) -> String {
        let item = group.last;
        let facts = &item.facts;
        let endpoint = item.endpoint.as_deref().map_or("адрес".to_owned(), |url| url.to_owned());
        let since = facts.since.map(|at| format!(" с {}", minute(at))).unwrap_or_default();
        let count = facts.count.unwrap_or(0);
        let what = match item.kind {
            NoticeKind::EndpointFailing => format!("{endpoint} не принимает сообщения{since}"),
            NoticeKind::EndpointWarned => {
                format!("{endpoint} ничего не принимает{since} ({})", attempts(count))
            }
            NoticeKind::EndpointRecovered => format!("{endpoint} снова принимает сообщения"),
            NoticeKind::EndpointDisabled => format!("{endpoint} отключён: {}", why(facts.reason.as_deref())),
            NoticeKind::EndpointEnabled => format!("{endpoint} включён"),
            NoticeKind::AttemptExhausted => format!(
                "{} на {endpoint}: не удалось окончательно ({})",
                deliveries(group.times),
                why(facts.reason.as_deref())
            ),
            NoticeKind::MessageExpiring => format!(
                "срок важных сообщений для {endpoint} истекает{}",
                facts.until.map(|at| format!(" {}", minute(at))).unwrap_or_default()
            ),
            NoticeKind::MessageExpired => {
                format!("{endpoint}: срок истёк, {} не отправлено", messages(count.max(1)))
            }
            NoticeKind::BreakerOpened => format!(
                "сервер не отвечает, поэтому доставка ждёт и попыток не тратит{}",
                facts.until.map(|at| format!("; следующая проверка {}", minute(at))).unwrap_or_default()
            ),
            NoticeKind::BreakerClosed => "сервер снова отвечает; всё, что ждало, уходит".to_owned(),
            other => format!("{endpoint}: {}", other.name()),
        };
        let times = match group.times {
            1 => String::new(),
            _ if item.kind == NoticeKind::AttemptExhausted => String::new(),
            times => format!(" ({})", plural(times, "раз", "раза", "раз")),
        };
        format!("{}: {what}{times}", minute(item.at))
    }

    fn advice(&self, kind: NoticeKind) -> Option<&'static str> {
        Some(match kind {
            NoticeKind::EndpointDisabled => {
                "На отключённый адрес ничего не отправляется, пока его не включат; тогда уйдёт и всё, что ждёт."
            }
            NoticeKind::MessageExpired | NoticeKind::AttemptExhausted => {
                "Недоставленное хранится и может быть отправлено снова, когда адрес заработает."
            }
            NoticeKind::MessageExpiring => {
                "Если адрес не начнёт принимать до этого времени, сами они больше не отправятся."
            }
            NoticeKind::BreakerOpened | NoticeKind::EndpointFailing | NoticeKind::EndpointWarned => {
                "Пожалуйста, проверьте адрес: он должен отвечать 2xx за несколько секунд. Пока ничего не потеряно."
            }
            _ => return None,
        })
    }

    fn more(&self, many: u64) -> String {
        format!("и ещё {}", plural(many, "событие", "события", "событий"))
    }

    fn where_to_look(&self, url: &str) -> String {
        format!("Подробности: {url}")
    }

    fn closing(&self) -> &'static str {
        "Эти вебхуки доставляет Gonets. Письмо пришло вам как контактному лицу приложения или как оператору."
    }
}

/// 1 доставка, 2 доставки, 5 доставок, 21 доставка.
fn plural(count: u64, one: &str, few: &str, many: &str) -> String {
    let word = match (count % 10, count % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    };
    format!("{count} {word}")
}

fn attempts(count: u64) -> String {
    plural(count, "неудачная попытка", "неудачные попытки", "неудачных попыток")
}

fn deliveries(count: u64) -> String {
    plural(count, "доставка", "доставки", "доставок")
}

fn messages(count: u64) -> String {
    plural(count, "сообщение", "сообщения", "сообщений")
}

fn why(reason: Option<&str>) -> &'static str {
    match reason {
        Some("gone") => "ответил 410 Gone",
        Some("failing") => "слишком долго ничего не принимал",
        Some("owner") => "владельцем",
        Some("refused") => "отказ",
        Some("outage_exhausted") => "попытки исчерпаны",
        Some("refusals_exhausted") => "отказ за отказом",
        Some("expired") => "срок истёк",
        _ => "причина в журнале",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_words() {
        let shown: Vec<_> = [1, 2, 5, 11, 14, 21, 22, 111, 121].into_iter().map(deliveries).collect();
        assert_eq!(
            shown,
            [
                "1 доставка",
                "2 доставки",
                "5 доставок",
                "11 доставок",
                "14 доставок",
                "21 доставка",
                "22 доставки",
                "111 доставок",
                "121 доставка",
            ]
        );
    }
}
