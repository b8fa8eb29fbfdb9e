//! Every answer that a store can give, to compare two of them.

use std::fmt::Write;

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    time::Timestamp,
};

use super::operations::page;
use crate::query::{AttemptFilter, MessageFilter, Order, OutcomeFilter, Page, Queries};

/// The applications and lanes of tests that compare.
const APPS: [u32; 3] = [1, 2, 3];
const LANES: [EndpointNo; 8] = [
    EndpointNo(1),
    EndpointNo(2),
    EndpointNo(3),
    EndpointNo(4),
    EndpointNo(5),
    EndpointNo(6),
    EndpointNo(7),
    EndpointNo(8),
];

/// Every answer about these applications and lanes, as text.
pub(super) fn picture(ask: &dyn Queries) -> String {
    let mut text = String::new();
    let mut note = |what: &str, answer: &dyn std::fmt::Debug| {
        writeln!(text, "{what}: {answer:?}").expect("a string takes everything");
    };
    note("backlog", &ask.backlog());
    note("gates", &ask.gates());
    note("entities", &ask.entities());
    note("notices", &ask.notices(0, 1_000));
    note("first notices", &ask.notices(0, 3));
    note("later notices", &ask.notices(2, 3));
    note("unrouted apps", &ask.unrouted_apps());
    let messages = every_message(ask);
    for message in &messages {
        note("unrouted end", &ask.unrouted_end(*message));
        note("deliveries", &ask.deliveries_of(*message, &LANES));
    }
    let at = |place: usize| messages.get(place).map_or(Timestamp::MAX, |id| id.accepted_at());
    let (early, late) = (at(messages.len() / 4), at(messages.len() - messages.len() / 4));
    for app in APPS.map(AppNo) {
        note("unrouted", &ask.unrouted(app, 1_000));
        for (from, to) in [(Timestamp::from_millis(0), Timestamp::MAX), (early, late), (late, Timestamp::MAX)]
        {
            note("books", &ask.books(app, &LANES, from, to));
        }
        note("books of one", &ask.books(app, &LANES[1..2], early, late));
        for filter in message_filters() {
            for page in pages() {
                note("messages", &ask.messages_of(app, &page, &filter));
            }
        }
        for event in 0..40 {
            note("event", &ask.message_by_event_id(app, &format!("event-{event}")));
        }
    }
    for endpoint in LANES {
        note("fresh", &ask.fresh(endpoint, 1_000));
        note("due", &ask.due(endpoint, Timestamp::MAX, 1_000));
        note("due soon", &ask.due(endpoint, Timestamp::MAX, 2));
        for now in [Timestamp::from_millis(0), late, at(messages.len().saturating_sub(1)), Timestamp::MAX] {
            note("due at", &ask.due(endpoint, now, 3));
            note("in order", &ask.in_order(endpoint, now, 3));
        }
        note("all in order", &ask.in_order(endpoint, Timestamp::MAX, 1_000));
        note("fresh head", &ask.fresh(endpoint, 2));
        note("oldest", &ask.oldest(endpoint));
        note("by hand", &ask.by_hand(endpoint, 1_000));
        for page in pages() {
            note("deliveries", &ask.deliveries_at(endpoint, &page));
            for filter in attempt_filters() {
                note("attempts", &ask.attempts_of_endpoint(endpoint, &page, &filter));
            }
        }
    }
    text
}

fn every_message(ask: &dyn Queries) -> Vec<MessageId> {
    let pages =
        APPS.map(|app| ask.messages_of(AppNo(app), &page(10_000, Order::Ascending), &Default::default()));
    let mut all: Vec<_> =
        pages.into_iter().flat_map(|page| page.expect("an answer").rows).map(|message| message.id).collect();
    all.sort_unstable();
    all
}

fn pages() -> Vec<Page> {
    let mut all = Vec::new();
    for order in [Order::Ascending, Order::Descending] {
        for (limit, after, backwards) in [(5_000, None, false), (3, None, false), (3, None, true)] {
            all.push(Page { limit, order, after, backwards, bytes: usize::MAX });
        }
    }
    all
}

fn message_filters() -> [MessageFilter; 2] {
    let some =
        MessageFilter { event_types: vec!["bill.due".into()], tag: Some("vip".into()), ..Default::default() };
    [MessageFilter { with_payload: true, ..Default::default() }, some]
}

fn attempt_filters() -> [AttemptFilter; 2] {
    let some = AttemptFilter {
        outcome: Some(OutcomeFilter::Failure),
        status_class: Some(4),
        tag: Some("vip".into()),
        ..Default::default()
    };
    [AttemptFilter::default(), some]
}
