//! Lists: pages, orders, filters, and that no list depends on how far the indexes are filled.

use std::{fmt::Debug, time::Duration};

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    outcome::Outcome as Came,
    rule::Rule,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, attempt, made_message, meta, outcome, page},
};
use crate::{
    query::{Answer, AttemptFilter, MessageFilter, Order, OutcomeFilter, Page, Paged},
    record::{DeliveryState, MessageMeta},
    tx::{Accept, Made, Outcome, Source, Then},
};

/// Walks a list there and back in pages of two, in both orders, and compares with `expected`, which
/// is ascending.
fn walk<T: Debug>(expected: &[u64], ask: impl Fn(&Page) -> Answer<Paged<T>>, id: impl Fn(&T) -> u64) {
    let get = |page: Page| {
        let paged = ask(&page).expect("an answer");
        (paged.rows.iter().map(&id).collect::<Vec<_>>(), paged.more)
    };
    for order in [Order::Ascending, Order::Descending] {
        let mut expected = expected.to_vec();
        if order == Order::Descending {
            expected.reverse();
        }
        let mut after = None;
        for (at, chunk) in expected.chunks(2).enumerate() {
            let (rows, more) = get(Page { limit: 2, order, after, backwards: false, bytes: usize::MAX });
            assert_eq!(rows, chunk, "page {at} {order:?}");
            assert_eq!(more, (at + 1) * 2 < expected.len(), "page {at} {order:?}");
            after = rows.last().copied();
        }
        assert_eq!(
            get(Page { limit: 2, order, after, backwards: false, bytes: usize::MAX }),
            (vec![], false)
        );
        for end in (1..expected.len()).rev() {
            let start = end.saturating_sub(2);
            let back =
                Page { limit: 2, order, after: Some(expected[end]), backwards: true, bytes: usize::MAX };
            assert_eq!(get(back), (expected[start..end].to_vec(), start > 0), "before {end} {order:?}");
        }
        assert_eq!(get(page(100, order)), (expected, false));
    }
}

fn ids<T>(rows: Answer<Paged<T>>, id: impl Fn(&T) -> u64) -> Vec<u64> {
    rows.expect("an answer").rows.iter().map(id).collect()
}

pub fn messages_come_in_pages_both_ways(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let (app, other) = (trial.app(), trial.app());
    let mut expected = Vec::new();
    for round in 0..3 {
        for _ in 0..3 {
            expected.push(trial.accepted(app, &[7]).0);
            trial.accepted(other, &[8]);
            trial.pass(Duration::from_millis(1));
        }
        walk(&expected, |page| trial.ask().messages_of(app, page, &MessageFilter::default()), |one| one.id.0);
        if round == 1 {
            trial.tend();
        }
    }
    assert!(
        ids(
            trial.ask().messages_of(AppNo(99), &page(5, Order::Ascending), &MessageFilter::default()),
            |one| one.id.0
        )
        .is_empty()
    );
}

pub fn messages_are_filtered_by_type_channel_tag_and_time(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let mut all = Vec::new();
    let mut instants = Vec::new();
    for (event_type, channel, tag) in [
        ("order.paid", "eu", "vip"),
        ("order.sent", "eu", "new"),
        ("order.paid", "us", "vip"),
        ("bill.due", "us", "new"),
    ] {
        let meta = meta(&MessageMeta {
            channels: vec![channel.into()],
            tags: vec![tag.into()],
            ..MessageMeta::default()
        });
        let one = Accept { event_type: event_type.into(), meta, ..accept(app, &[7]) };
        all.push(made_message(&trial.one(one.tx())).0);
        instants.push(trial.now);
        trial.pass(Duration::from_millis(5));
    }
    let filters: [(MessageFilter, &[usize]); 7] = [
        (
            MessageFilter { event_types: vec!["order.paid".into(), "bill.due".into()], ..Default::default() },
            &[0, 2, 3],
        ),
        (MessageFilter { channel: Some("eu".into()), ..Default::default() }, &[0, 1]),
        (MessageFilter { tag: Some("vip".into()), ..Default::default() }, &[0, 2]),
        (MessageFilter { tag: Some("vip".into()), channel: Some("us".into()), ..Default::default() }, &[2]),
        (MessageFilter { before: Some(instants[2]), ..Default::default() }, &[0, 1]),
        (MessageFilter { after: Some(instants[1]), ..Default::default() }, &[2, 3]),
        (
            MessageFilter { after: Some(instants[0]), before: Some(instants[3]), ..Default::default() },
            &[1, 2],
        ),
    ];
    for _ in 0..2 {
        for (filter, expected) in &filters {
            let expected: Vec<u64> = expected.iter().map(|at| all[*at]).collect();
            walk(&expected, |page| trial.ask().messages_of(app, page, filter), |one| one.id.0);
        }
        trial.tend();
    }
    for with_payload in [false, true] {
        let filter = MessageFilter { with_payload, ..Default::default() };
        let rows = trial.ask().messages_of(app, &page(9, Order::Ascending), &filter).expect("an answer").rows;
        assert!(rows.iter().all(|one| one.payload.is_some() == with_payload));
    }
}

/// Pages of a list one after the other, as far as it goes; each is what was asked and its ids.
fn pages<T: Debug>(
    first: Page,
    ask: impl Fn(&Page) -> Answer<Paged<T>>,
    id: impl Fn(&T) -> u64,
) -> Vec<Vec<u64>> {
    let (mut pages, mut page) = (Vec::new(), first);
    loop {
        let paged = ask(&page).expect("an answer");
        let rows: Vec<u64> = paged.rows.iter().map(&id).collect();
        // The next page begins behind the last row; backwards, before the first.
        page.after = if page.backwards { rows.first() } else { rows.last() }.copied().or(page.after);
        pages.push(rows);
        if !paged.more {
            return pages;
        }
    }
}

pub fn pages_end_early_rather_than_carry_too_much(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let mut all = Vec::new();
    // The fourth has more than a page may carry: it has a page of its own.
    for bytes in [40, 40, 40, 500, 10, 90] {
        let payload = bytes::Bytes::from(vec![b'1'; bytes]);
        all.push(made_message(&trial.one(Accept { payload, meta: vec![], ..accept(app, &[7]) }.tx())).0);
        trial.pass(Duration::from_millis(1));
    }
    let filter = MessageFilter { with_payload: true, ..Default::default() };
    let ask = |page: &Page| trial.ask().messages_of(app, page, &filter);
    for (order, expected) in [
        (Order::Ascending, vec![vec![0, 1], vec![2], vec![3], vec![4, 5]]),
        (Order::Descending, vec![vec![5, 4], vec![3], vec![2, 1], vec![0]]),
    ] {
        let page = Page { bytes: 100, ..page(10, order) };
        let expected: Vec<Vec<u64>> =
            expected.iter().map(|page| page.iter().map(|at: &usize| all[*at]).collect()).collect();
        assert_eq!(pages(page, ask, |one| one.id.0), expected, "{order:?}");
    }
    let back = Page { bytes: 100, backwards: true, ..page(10, Order::Ascending) };
    let expected = [vec![all[4], all[5]], vec![all[3]], vec![all[1], all[2]], vec![all[0]]];
    assert_eq!(pages(back, ask, |one| one.id.0), expected);
    let without = MessageFilter::default();
    let page = Page { bytes: 100, ..page(10, Order::Ascending) };
    assert_eq!(ids(trial.ask().messages_of(app, &page, &without), |one| one.id.0), all);
}

/// Three messages at two endpoints: the first attempt of each fails, the second succeeds.
fn tried(trial: &mut Trial<'_>, app: AppNo) -> (Vec<MessageId>, Vec<(u32, MessageId, u64)>) {
    let messages: Vec<_> = (0..3).map(|_| trial.accepted(app, &[7, 8])).collect();
    let mut made = Vec::new();
    for (from, then) in [
        (Source::Fresh, Then::Waiting { due: trial.now, rule: Rule::OutageLadder }),
        (Source::Waiting, DELIVERED),
    ] {
        for message in &messages {
            for endpoint in [7, 8] {
                let verdict = trial.one(outcome(*message, endpoint, from, then).tx());
                let Ok(Made::Outcome(Some(id))) = verdict else {
                    panic!("an attempt was to be made: {verdict:?}")
                };
                made.push((endpoint, *message, id.0));
                trial.pass(Duration::from_millis(1));
            }
        }
    }
    (messages, made)
}

pub fn attempts_come_by_message_and_by_endpoint(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let none = AttemptFilter::default();
    let mut all = Vec::new();
    for _ in 0..2 {
        let (messages, made) = tried(&mut trial, app);
        all.extend(made);
        for message in messages {
            let expected: Vec<u64> = all.iter().filter(|one| one.1 == message).map(|one| one.2).collect();
            walk(&expected, |page| trial.ask().attempts_of_message(message, page, &none), |one| one.id.0);
        }
        for endpoint in [7, 8] {
            let expected: Vec<u64> = all.iter().filter(|one| one.0 == endpoint).map(|one| one.2).collect();
            walk(
                &expected,
                |page| trial.ask().attempts_of_endpoint(EndpointNo(endpoint), page, &none),
                |one| one.id.0,
            );
        }
        trial.tend();
    }
}

pub fn attempts_are_filtered(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let meta = meta(&MessageMeta { tags: vec!["vip".into()], ..MessageMeta::default() });
    let vip =
        made_message(&trial.one(Accept { meta, event_type: "bill.due".into(), ..accept(app, &[7]) }.tx()));
    let plain = trial.accepted(app, &[7]);
    let mut made = Vec::new();
    for (message, came, status) in [
        (vip, Came::Unavailable, None),
        (vip, Came::Refused, Some(404)),
        (plain, Came::Unavailable, Some(503)),
        (plain, Came::Delivered, Some(200)),
    ] {
        let from = if made.len() % 2 == 0 { Source::Fresh } else { Source::Waiting };
        let then = Then::Waiting { due: trial.now, rule: Rule::OutageLadder };
        let one = Outcome {
            attempt: Some(attempt(message, 7, 1, came, status)),
            ..outcome(message, 7, from, then)
        };
        let Ok(Made::Outcome(Some(id))) = trial.one(one.tx()) else { panic!("an attempt was to be made") };
        made.push((id.0, trial.now));
        trial.pass(Duration::from_millis(3));
    }
    let filters: [(AttemptFilter, &[usize]); 9] = [
        (AttemptFilter { outcome: Some(OutcomeFilter::Success), ..Default::default() }, &[3]),
        (AttemptFilter { outcome: Some(OutcomeFilter::Failure), ..Default::default() }, &[0, 1, 2]),
        (AttemptFilter { status_class: Some(4), ..Default::default() }, &[1]),
        (AttemptFilter { status_class: Some(0), ..Default::default() }, &[0]),
        (AttemptFilter { event_types: vec!["bill.due".into()], ..Default::default() }, &[0, 1]),
        (AttemptFilter { tag: Some("vip".into()), ..Default::default() }, &[0, 1]),
        (AttemptFilter { endpoint: Some(EndpointNo(8)), ..Default::default() }, &[]),
        (AttemptFilter { after: Some(made[0].1), ..Default::default() }, &[1, 2, 3]),
        (AttemptFilter { before: Some(made[3].1), ..Default::default() }, &[0, 1, 2]),
    ];
    for _ in 0..2 {
        for (filter, expected) in &filters {
            let expected: Vec<u64> = expected.iter().map(|at| made[*at].0).collect();
            let at = EndpointNo(7);
            walk(&expected, |page| trial.ask().attempts_of_endpoint(at, page, filter), |one| one.id.0);
            let mut of_messages = Vec::new();
            for message in [vip, plain] {
                let rows = trial.ask().attempts_of_message(message, &page(9, Order::Ascending), filter);
                of_messages.extend(ids(rows, |one| one.id.0));
            }
            assert_eq!(of_messages, expected);
        }
        trial.tend();
    }
}

pub fn deliveries_of_an_endpoint_come_in_pages(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let mut expected = Vec::new();
    for _ in 0..2 {
        let (messages, _) = tried(&mut trial, app);
        expected.extend(messages.iter().map(|one| one.0));
        let waits = trial.accepted(app, &[7]);
        let due = trial.now;
        let then = Then::Waiting { due, rule: Rule::OutageLadder };
        assert!(trial.one(outcome(waits, 7, Source::Fresh, then).tx()).is_ok());
        expected.extend([waits.0, trial.accepted(app, &[7]).0]);
        walk(&expected, |page| trial.ask().deliveries_at(EndpointNo(7), page), |one| one.message.0);
        trial.tend();
        walk(&expected, |page| trial.ask().deliveries_at(EndpointNo(7), page), |one| one.message.0);
    }
    let rows = trial.ask().deliveries_at(EndpointNo(7), &page(99, Order::Ascending)).expect("an answer").rows;
    let in_lane = rows.iter().filter(|one| !matches!(one.state, DeliveryState::Settled { .. })).count();
    assert_eq!((rows.len(), in_lane), (10, 4));
}

pub fn indexing_behind_changes_no_answer(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    for _ in 0..400 {
        let id = trial.accepted(app, &[7]);
        assert!(trial.one(outcome(id, 7, Source::Fresh, DELIVERED).tx()).is_ok());
    }
    let look = |trial: &Trial<'_>| {
        let all = page(1_000, Order::Descending);
        let ask = trial.ask();
        [
            ids(ask.messages_of(app, &all, &MessageFilter::default()), |one| one.id.0),
            ids(ask.attempts_of_endpoint(EndpointNo(7), &all, &AttemptFilter::default()), |one| one.id.0),
            ids(ask.deliveries_at(EndpointNo(7), &all), |one| one.message.0),
        ]
    };
    let before = look(&trial);
    assert!(before.iter().all(|list| list.len() == 400));
    // Every moment between two slices is a moment at which someone may ask.
    for _ in 0..12 {
        let now = trial.now;
        trial.engine().tend(now, crate::engine::Load::Idle).expect("the store tends to itself");
        assert_eq!(look(&trial), before);
    }
    trial.tend();
    assert_eq!(look(&trial), before);
}
