//! What people read.

use std::time::Duration;

use gonets_core::notice::Facts;

use super::*;
use crate::digest::Item;

fn at(minutes: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Duration::from_secs(60 * minutes)
}

fn item(kind: NoticeKind, minutes: u64) -> Item {
    Item {
        kind,
        at: at(minutes),
        endpoint: Some("https://shop.example/hooks".into()),
        facts: Facts {
            reason: Some("failing".into()),
            since: Some(at(0)),
            until: Some(at(600)),
            count: Some(12),
            outcome: Some("unavailable".into()),
        },
    }
}

fn digest(items: Vec<Item>) -> Digest {
    Digest { id: "1".into(), to: Vec::new(), application: "Shop".into(), items, more: 0 }
}

#[test]
fn every_kind_that_is_mailed_has_words_in_both_languages() {
    for kind in NoticeKind::ALL.iter().copied().filter(|kind| kind.is_mailed()) {
        let mail = digest(vec![item(kind, 1)]);
        let english = write(&mail, Language::English, Some("https://gonets.example"));
        let russian = write(&mail, Language::Russian, Some("https://gonets.example"));
        for text in [&english, &russian] {
            assert!(text.subject.starts_with("Shop: "), "{kind}: {}", text.subject);
            assert!(!text.body.contains(['{', '}']), "{kind}: {}", text.body);
            assert!(text.body.contains("2027-01-15"), "{kind}: {}", text.body);
            assert!(text.body.contains("https://gonets.example"));
        }
        assert!(!english.subject.contains("news of"), "{kind} has no subject of its own");
        assert!(!russian.subject.contains("новости"), "{kind} has no subject of its own");
        assert!(russian.body.chars().any(|c| ('а'..='я').contains(&c)), "{kind}: {}", russian.body);
        assert!(!russian.body.contains(kind.name()), "{kind} is told by its code");
    }
}

#[test]
fn a_flood_is_a_few_lines_and_the_worst_is_the_subject() {
    let mut items: Vec<_> = (0..500).map(|n| item(NoticeKind::AttemptExhausted, n)).collect();
    items.push(item(NoticeKind::EndpointDisabled, 501));
    let text = write(&digest(items), Language::English, None);
    assert_eq!(text.subject, "Shop: an endpoint was disabled");
    assert!(
        text.body.contains("500 deliveries to https://shop.example/hooks failed for good"),
        "{}",
        text.body
    );
    assert!(text.body.contains("was disabled: it took nothing for too long"), "{}", text.body);
    assert!(text.body.lines().count() < 20, "{}", text.body);
}

#[test]
fn names_begin_no_lines_of_their_own() {
    let mut mail = digest(vec![item(NoticeKind::EndpointFailing, 1)]);
    mail.application = "Shop\r\nBcc: everyone@example.com".into();
    let text = write(&mail, Language::English, None);
    assert!(!text.subject.contains(['\r', '\n']), "{:?}", text.subject);
    assert!(!text.body.contains("\nBcc"), "{}", text.body);
}

#[test]
fn what_is_beyond_the_lines_is_counted() {
    let items = (0..60)
        .map(|n| Item {
            endpoint: Some(format!("https://e{n}.example/")),
            ..item(NoticeKind::EndpointFailing, n)
        })
        .collect();
    let mut mail = digest(items);
    mail.more = 5;
    assert!(write(&mail, Language::English, None).body.contains("and 25 more"));
    assert!(write(&mail, Language::Russian, None).body.contains("и ещё 25 событий"));
}
