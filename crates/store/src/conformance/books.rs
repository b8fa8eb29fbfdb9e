//! The books of an application (R29).

use std::time::Duration;

use gonets_core::{
    ids::{EndpointNo, MessageId},
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, made_message, outcome},
};
use crate::{
    record::{Books, EndpointBooks, SettledState},
    tx::{Accept, CancelStep, EndUnroutedStep, HandRetry, Made, Source, Then, Tx},
};

pub fn r29_the_books_balance(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let (app, other) = (trial.app(), trial.app());
    let elsewhere = trial.accepted(other, &[7]);
    let cancelled = trial.accepted(app, &[7]);
    let step = CancelStep {
        endpoint: EndpointNo(7),
        reason: Reason::Cancelled,
        through: MessageId(u64::MAX),
        limit: 9,
    };
    assert_eq!(trial.one(Tx::Cancel(step)), Ok(Made::Step(2)), "the other application's too");
    let ids: Vec<_> = (0..5).map(|_| trial.accepted(app, &[7, 8])).collect();
    let wait = Then::Waiting { due: trial.now, rule: Rule::OutageLadder };
    let refused = Then::Settled { state: SettledState::Failed, reason: Some(Reason::Refused) };
    for (id, then) in [(ids[0], DELIVERED), (ids[1], refused), (ids[2], wait)] {
        assert!(trial.one(outcome(id, 7, Source::Fresh, then).tx()).is_ok());
    }
    trial.one(Accept { skips: vec![EndpointNo(7)], ..accept(app, &[8]) }.tx()).expect("it is accepted");
    trial.accepted(app, &[]);
    let hold = Accept { hold_unrouted: true, ..accept(app, &[]) };
    let _ended = made_message(&trial.one(hold.clone().tx()));
    let end =
        EndUnroutedStep { app, reason: Reason::Expired, aged_from: Timestamp::MAX, limit: 9, notice: None };
    assert_eq!(trial.one(Tx::EndUnrouted(Box::new(end))), Ok(Made::Step(1)));
    assert!(trial.one(hold.tx()).is_ok());

    let of = |no| EndpointBooks { endpoint: EndpointNo(no), ..EndpointBooks::default() };
    let seven = EndpointBooks { delivered: 1, failed: 1, cancelled: 1, skipped: 1, waiting: 3, ..of(7) };
    let eight = EndpointBooks { waiting: 6, ..of(8) };
    let books = Books {
        messages: 10,
        routed_nowhere: 1,
        unrouted: 1,
        unrouted_ended: 1,
        routed: 13,
        endpoints: vec![eight, seven, of(9)],
    };
    let ask = |trial: &Trial<'_>, from, to| {
        let endpoints = [8, 7, 9].map(EndpointNo);
        trial.ask().books(app, &endpoints, from, to).expect("an answer")
    };
    let (from, to) = (cancelled.accepted_at(), trial.now + Duration::from_millis(1));
    for _ in 0..2 {
        assert_eq!(ask(&trial, from, to), books, "index or not");
        trial.tend();
    }
    let nothing = Books { endpoints: [8, 7, 9].map(of).to_vec(), ..Books::default() };
    assert_eq!(ask(&trial, to, Timestamp::MAX), nothing);
    assert_eq!(ask(&trial, from, from), nothing);
    let of_other = trial.ask().books(other, &[EndpointNo(7)], from, to).expect("an answer");
    assert_eq!(elsewhere.accepted_at(), from);
    let seven = EndpointBooks { cancelled: 1, ..of(7) };
    assert_eq!(of_other, Books { messages: 1, routed: 1, endpoints: vec![seven], ..Books::default() });
    assert!(books.is_balanced() && of_other.is_balanced());
    assert!(!Books { routed: 14, ..books }.is_balanced(), "one of the deliveries is nowhere");
}

pub fn r29_a_message_sent_by_hand_where_it_was_not_routed_is_routed_there(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    for endpoint in [7, 8, 8] {
        let retry =
            HandRetry { endpoint: EndpointNo(endpoint), message: id, under_way: false, idempotency: None };
        assert!(trial.one(Tx::Hand(retry)).is_ok());
        assert!(trial.one(outcome(id, endpoint, Source::Hand, DELIVERED).tx()).is_ok());
    }
    let to = trial.now + Duration::from_millis(1);
    let endpoints = [7, 8].map(EndpointNo);
    let books = trial.ask().books(app, &endpoints, id.accepted_at(), to).expect("an answer");
    assert_eq!((books.routed, books.endpoints[0].delivered, books.endpoints[1].delivered), (2, 1, 1));
    assert!(books.is_balanced());
}

pub fn r29_a_span_holds_what_was_accepted_in_it(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = (0..6)
        .map(|_| {
            trial.pass(Duration::from_secs(1));
            trial.accepted(app, &[7])
        })
        .collect();
    for id in &ids[..4] {
        assert!(trial.one(outcome(*id, 7, Source::Fresh, DELIVERED).tx()).is_ok());
    }
    for _ in 0..2 {
        let (from, to) = (ids[1].accepted_at(), ids[5].accepted_at());
        let books = trial.ask().books(app, &[EndpointNo(7)], from, to).expect("an answer");
        let of_one = books.endpoints[0];
        assert_eq!((books.messages, of_one.delivered, of_one.waiting), (4, 3, 1));
        trial.tend();
        trial.accepted(app, &[7]);
    }
}
