//! Retries by hand, steps of a cancellation, steps of routing.

use std::time::Duration;

use gonets_core::{
    ids::{EndpointNo, EntityNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, application, attempt, key, made_message, outcome, write},
};
use crate::{
    query::HandRow,
    record::{DeliveryState, SettledState},
    tx::{Accept, CancelStep, HandRetry, KeyOrigin, Made, Outcome, Rejected, RouteStep, Source, Then, Tx},
};

fn retry(message: MessageId) -> Tx {
    Tx::Hand(HandRetry { endpoint: EndpointNo(7), message, under_way: false, idempotency: None })
}

fn cancel(through: MessageId, limit: u32) -> Tx {
    Tx::Cancel(CancelStep { endpoint: EndpointNo(7), reason: Reason::Cancelled, through, limit })
}

fn failed(message: MessageId, due: Timestamp) -> Outcome {
    outcome(message, 7, Source::Fresh, Then::Waiting { due, rule: Rule::OutageLadder })
}

pub fn a_retry_by_hand_is_pending_once(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = made_message(&trial.one(Accept { critical: true, ..accept(app, &[7]) }.tx()));
    let due = trial.now;
    let verdicts = trial.commit(vec![failed(id, due).tx(), retry(id), retry(id)]);
    assert_eq!(verdicts[1..], [Ok(Made::Hand), Err(Rejected::Conflict)]);
    let row = HandRow { message: id, critical: true, kind: kind_of("order.paid"), attempts: 1 };
    assert_eq!(trial.ask().by_hand(EndpointNo(7), 10).expect("an answer"), [row]);
    assert!(trial.one(outcome(id, 7, Source::Hand, Then::Untouched).tx()).is_ok());
    assert_eq!(trial.one(retry(id)), Ok(Made::Hand), "and again once it is over");
}

pub fn a_successful_retry_by_hand_ends_the_scheduled_attempt(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let (fresh, waiting, ended) =
        (trial.accepted(app, &[7]), trial.accepted(app, &[7]), trial.accepted(app, &[7]));
    let due = trial.now;
    assert!(trial.one(failed(waiting, due).tx()).is_ok());
    let lost = Then::Settled { state: SettledState::Failed, reason: Some(Reason::Refused) };
    assert!(trial.one(outcome(ended, 7, Source::Fresh, lost).tx()).is_ok());
    for id in [fresh, waiting, ended] {
        assert_eq!(trial.one(retry(id)), Ok(Made::Hand));
        assert!(trial.one(outcome(id, 7, Source::Hand, DELIVERED).tx()).is_ok());
        let delivered = DeliveryState::Settled {
            state: SettledState::Delivered,
            reason: None,
            at: trial.now,
            last_status: Some(204),
        };
        assert_eq!(trial.state(id, 7), Some(delivered));
    }
    assert_eq!(trial.ask().backlog().expect("an answer"), []);
}

pub fn a_failed_retry_by_hand_changes_nothing_but_the_count(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let (fresh, waiting) = (trial.accepted(app, &[7]), trial.accepted(app, &[7]));
    let due = trial.now + Duration::from_secs(10);
    let progress = Progress { outage: 3, attempts: 3, ..Progress::default() };
    assert!(trial.one(Outcome { progress, ..failed(waiting, due) }.tx()).is_ok());
    for id in [fresh, waiting] {
        assert_eq!(trial.one(retry(id)), Ok(Made::Hand));
        let mut by_hand = attempt(id, 7, 4, gonets_core::outcome::Outcome::Refused, Some(400));
        by_hand.by_hand = true;
        let told = Outcome {
            attempt: Some(by_hand),
            progress: Progress { attempts: 4, ..Progress::default() },
            ..outcome(id, 7, Source::Hand, Then::Untouched)
        };
        assert!(trial.one(told.tx()).is_ok());
    }
    assert_eq!(trial.fresh(7), [fresh]);
    let row = trial.due(7, due, 10).rows.remove(0);
    assert_eq!((row.message, row.due, row.progress), (waiting, due, Progress { attempts: 4, ..progress }));
}

pub fn a_retry_of_a_message_that_is_not_there_is_gone(open: Open<'_>) {
    let mut trial = Trial::start(open);
    assert_eq!(trial.one(retry(MessageId(77))), Err(Rejected::Gone));
    assert_eq!(trial.ask().by_hand(EndpointNo(7), 10).expect("an answer"), []);
}

pub fn cancelling_takes_the_oldest_first_and_stops_at_its_limit(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = (0..6).map(|_| trial.accepted(app, &[7, 8])).collect();
    let due = trial.now;
    let progress = Progress { outage: 1, attempts: 1, ..Progress::default() };
    for id in [ids[1], ids[4]] {
        assert!(trial.one(Outcome { progress, ..failed(id, due) }.tx()).is_ok());
    }
    assert_eq!(trial.one(cancel(ids[4], 3)), Ok(Made::Step(3)));
    assert_eq!(trial.fresh(7), [ids[3], ids[5]]);
    let cancelled = |last_status| {
        Some(DeliveryState::Settled {
            state: SettledState::Cancelled,
            reason: Some(Reason::Cancelled),
            at: due,
            last_status,
        })
    };
    assert_eq!(trial.state(ids[0], 7), cancelled(None));
    assert_eq!(trial.state(ids[1], 7), cancelled(Some(503)));
    let kept = trial.ask().deliveries_of(ids[1], &[EndpointNo(7)]).expect("an answer").remove(0);
    assert_eq!(kept.progress, progress);
    assert_eq!(trial.one(cancel(ids[4], 3)), Ok(Made::Step(2)), "fewer than the limit: nothing is left");
    assert_eq!(trial.one(cancel(ids[4], 3)), Ok(Made::Step(0)));
    assert_eq!(trial.fresh(7), [ids[5]], "what is newer stays");
    assert_eq!(trial.fresh(8), ids, "and what is elsewhere");
}

pub fn an_attempt_under_way_is_journaled_though_its_delivery_was_cancelled(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = (0..4).map(|_| trial.accepted(app, &[7])).collect();
    let due = trial.now;
    assert!(trial.one(failed(ids[1], due).tx()).is_ok());
    assert_eq!(trial.one(retry(ids[2])), Ok(Made::Hand));
    assert_eq!(trial.one(cancel(ids[3], 9)), Ok(Made::Step(5)));
    trial.pass(Duration::from_secs(1));
    for (id, from) in [(ids[0], Source::Fresh), (ids[1], Source::Waiting), (ids[2], Source::Hand)] {
        let progress = Progress { attempts: 2, ..Progress::default() };
        let made = trial.one(Outcome { progress, ..outcome(id, 7, from, DELIVERED) }.tx());
        let Ok(Made::Outcome(Some(attempt))) = made else { panic!("{from:?}: {made:?}") };
        assert!(trial.ask().attempt(attempt).expect("an answer").is_some());
        let delivered = DeliveryState::Settled {
            state: SettledState::Delivered,
            reason: None,
            at: trial.now,
            last_status: Some(204),
        };
        assert_eq!(trial.state(id, 7), Some(delivered), "{from:?}");
    }
    assert_eq!(trial.one(outcome(ids[0], 7, Source::Fresh, DELIVERED).tx()), Err(Rejected::Gone), "once");

    let bare = Outcome { attempt: None, ..failed(ids[3], due) };
    assert_eq!(trial.one(bare.tx()), Err(Rejected::Gone), "nothing was sent");
    assert!(matches!(trial.one(failed(ids[3], due).tx()), Ok(Made::Outcome(Some(_)))));
    let cancelled = DeliveryState::Settled {
        state: SettledState::Cancelled,
        reason: Some(Reason::Cancelled),
        at: due,
        last_status: Some(503),
    };
    assert_eq!(trial.state(ids[3], 7), Some(cancelled), "and it is not tried again");
    let kept = trial.ask().deliveries_of(ids[3], &[EndpointNo(7)]).expect("an answer").remove(0);
    assert_eq!(kept.progress.attempts, 1);
    assert_eq!(trial.ask().backlog().expect("an answer"), []);
}

pub fn a_retry_by_hand_is_replayed_for_the_same_key_and_body(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    for (seed, origin) in [(1, KeyOrigin::Auto), (2, KeyOrigin::Caller)] {
        let keyed = |body| {
            let idempotency = Some(Box::new((key(seed, body, origin), b"{}".to_vec())));
            Tx::Hand(HandRetry { endpoint: EndpointNo(7), message: id, under_way: false, idempotency })
        };
        assert_eq!(trial.one(keyed(1)), Ok(Made::Hand));
        let again = Ok(Made::ReplayedAnswer(b"{}".to_vec()));
        assert_eq!(trial.one(keyed(1)), again, "while it is pending");
        assert!(trial.one(outcome(id, 7, Source::Hand, Then::Untouched).tx()).is_ok());
        assert_eq!(trial.one(keyed(1)), again, "and when it is over");
        let busy = |operation| match operation {
            Tx::Hand(retry) => Tx::Hand(HandRetry { under_way: true, ..retry }),
            other => other,
        };
        assert_eq!(trial.one(busy(keyed(1))), again, "and while another attempt is in flight");
        assert_eq!(trial.one(busy(retry(id))), Err(Rejected::Conflict));
        assert_eq!(trial.ask().by_hand(EndpointNo(7), 10).expect("an answer"), []);
        assert_eq!(trial.one(keyed(2)), Err(Rejected::IdempotencyConflict));
    }
    let refused = HandRetry {
        endpoint: EndpointNo(7),
        message: MessageId(77),
        under_way: false,
        idempotency: Some(Box::new((key(3, 1, KeyOrigin::Caller), b"{}".to_vec()))),
    };
    for _ in 0..2 {
        assert_eq!(trial.one(Tx::Hand(refused.clone())), Err(Rejected::Gone), "a refusal keeps no key");
    }
}

pub fn cancelling_ends_pending_retries_by_hand(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = (0..3).map(|_| trial.accepted(app, &[7])).collect();
    assert!(trial.commit(ids.iter().map(|id| retry(*id)).collect()).iter().all(Result::is_ok));
    assert_eq!(trial.one(cancel(ids[1], 3)), Ok(Made::Step(3)), "two deliveries and one retry");
    assert_eq!(trial.one(cancel(ids[1], 3)), Ok(Made::Step(1)));
    let left = trial.ask().by_hand(EndpointNo(7), 10).expect("an answer");
    assert_eq!(left.iter().map(|row| row.message).collect::<Vec<_>>(), [ids[2]]);
}

pub fn unrouted_messages_are_routed_once(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let hold = Accept { hold_unrouted: true, critical: true, ..accept(app, &[]) };
    let later = trial.now + Duration::from_secs(60);
    let (now, then) = (
        made_message(&trial.one(hold.clone().tx())),
        made_message(&trial.one(Accept { deliver_at: Some(later), ..hold.clone() }.tx())),
    );
    let (nowhere, left) = (made_message(&trial.one(hold.clone().tx())), made_message(&trial.one(hold.tx())));
    assert_eq!(trial.ask().unrouted(app, 3).expect("an answer"), [now, then, nowhere]);
    let to = |endpoints: &[u32]| endpoints.iter().map(|no| EndpointNo(*no)).collect::<Vec<_>>();
    let step = RouteStep {
        app,
        app_version: 1,
        routes: vec![(now, to(&[7, 8])), (then, to(&[7])), (nowhere, vec![]), (MessageId(5), to(&[7]))],
    };
    assert_eq!(trial.one(Tx::Route(step.clone())), Ok(Made::Step(3)));
    assert_eq!(trial.one(Tx::Route(step)), Ok(Made::Step(0)), "again does nothing");
    assert_eq!(trial.ask().unrouted(app, 3).expect("an answer"), [left]);
    assert_eq!((trial.fresh(7), trial.fresh(8)), (vec![now], vec![now]));
    let row = trial.due(7, later, 10).rows.remove(0);
    assert_eq!((row.message, row.due, row.rule, row.critical), (then, later, Rule::DeliverAt, true));
    let routes: Vec<_> = trial
        .ask()
        .messages(&[now, then, nowhere])
        .expect("an answer")
        .iter()
        .map(|one| one.routes)
        .collect();
    assert_eq!(routes, [2, 1, 0]);
}

pub fn routing_with_an_old_configuration_is_stale(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = made_message(&trial.one(Accept { hold_unrouted: true, ..accept(app, &[]) }.tx()));
    assert!(trial.one(Tx::Entity(Box::new(write(application(EntityNo(app.0)), Some(1))))).is_ok());
    let step =
        |app_version| Tx::Route(RouteStep { app, app_version, routes: vec![(id, vec![EndpointNo(7)])] });
    assert_eq!(trial.one(step(1)), Err(Rejected::Stale));
    assert!(trial.ask().is_unrouted(app, id).expect("an answer"));
    assert_eq!(trial.one(step(2)), Ok(Made::Step(1)));
}
