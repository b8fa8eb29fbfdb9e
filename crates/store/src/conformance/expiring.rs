//! What ends by age (R7): deliveries that wait, and messages that wait for an endpoint.

use std::time::Duration;

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    notice::Notice,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, made_message, notice, outcome, page},
};
use crate::{
    query::Order,
    record::{DeliveryState, SettledState, UnroutedEnd},
    tx::{
        Accept, CancelStep, EndUnroutedStep, ExpireStep, HandRetry, Made, Outcome, Rejected, Source, Then, Tx,
    },
};

const LANE: EndpointNo = EndpointNo(7);
const SECOND: Duration = Duration::from_secs(1);

fn expire(aged_from: Timestamp, limit: u32) -> Tx {
    Tx::Expire(Box::new(ExpireStep { endpoint: LANE, aged_from, limit, notice: notice() }))
}

fn expired(at: Timestamp, last_status: Option<u16>) -> Option<DeliveryState> {
    let (state, reason) = (SettledState::Failed, Some(Reason::Expired));
    Some(DeliveryState::Settled { state, reason, at, last_status })
}

/// The notice of a step that handled so many.
fn counted(count: u64) -> Notice {
    let mut notice = notice();
    notice.facts.count = Some(count);
    notice
}

fn told(trial: &Trial<'_>) -> Vec<Notice> {
    trial.ask().notices(0, 10).expect("an answer").into_iter().map(|(_, notice)| notice).collect()
}

fn for_later(trial: &mut Trial<'_>, app: AppNo, at: Timestamp) -> MessageId {
    made_message(&trial.one(Accept { deliver_at: Some(at), ..accept(app, &[7]) }.tx()))
}

pub fn r07_what_is_too_old_fails_as_expired_and_is_told(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let start = trial.now;
    let (fresh, tried) = (trial.accepted(app, &[7, 8]), trial.accepted(app, &[7]));
    let scheduled = for_later(&mut trial, app, start + 9 * SECOND);
    trial.pass(5 * SECOND);
    let younger = trial.accepted(app, &[7]);
    let progress = Progress { outage: 1, attempts: 1, ..Progress::default() };
    let wait = Then::Waiting { due: start, rule: Rule::OutageLadder };
    assert!(trial.one(Outcome { progress, ..outcome(tried, 7, Source::Fresh, wait) }.tx()).is_ok());
    let by_hand = HandRetry { endpoint: LANE, message: fresh, under_way: false, idempotency: None };
    assert!(trial.one(Tx::Hand(by_hand)).is_ok());

    assert_eq!(trial.one(expire(Timestamp::from_millis(start.as_millis() - 1), 9)), Ok(Made::Step(0)));
    assert_eq!(told(&trial), [], "nothing happened");
    assert_eq!(trial.one(expire(start, 9)), Ok(Made::Step(2)), "those that age from this very moment too");
    let ended = trial.now;
    assert_eq!(trial.state(fresh, 7), expired(ended, None));
    assert_eq!(trial.state(tried, 7), expired(ended, Some(503)));
    let kept = trial.ask().deliveries_of(tried, &[LANE]).expect("an answer").remove(0);
    assert_eq!(kept.progress, progress);
    assert_eq!(trial.state(fresh, 8), Some(DeliveryState::Fresh), "another lane");
    assert_eq!(told(&trial), [counted(2)]);
    let listed = trial.ask().deliveries_at(LANE, &page(10, Order::Ascending)).expect("an answer").rows;
    let listed: Vec<_> = listed.iter().map(|one| one.message).collect();
    assert_eq!(listed, [fresh, tried, scheduled, younger], "they are in the list at once");
    assert_eq!(trial.ask().by_hand(LANE, 9).expect("an answer").len(), 1, "a retry by hand is left alone");

    assert_eq!(trial.one(expire(start + 8 * SECOND, 9)), Ok(Made::Step(1)), "deliverAt is not that old");
    assert_eq!((trial.state(younger, 7), trial.fresh(7)), (expired(ended, None), vec![]));
    assert_eq!(trial.one(expire(start + 9 * SECOND, 9)), Ok(Made::Step(1)));
    assert_eq!(trial.state(scheduled, 7), expired(ended, None));
}

pub fn r07_expiring_takes_the_oldest_first_and_stops_at_its_limit(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let later = trial.now + 60 * SECOND;
    let mut ids = vec![for_later(&mut trial, app, later)];
    for critical in [false, true, false, true] {
        ids.push(made_message(&trial.one(Accept { critical, ..accept(app, &[7]) }.tx())));
    }
    let wait = Then::Waiting { due: later, rule: Rule::OutageLadder };
    assert!(trial.one(outcome(ids[2], 7, Source::Fresh, wait).tx()).is_ok());
    let now = trial.now;
    assert_eq!(trial.one(expire(now, 3)), Ok(Made::Step(3)));
    assert_eq!(trial.fresh(7), [ids[4]]);
    assert_eq!(trial.one(expire(now, 3)), Ok(Made::Step(1)), "fewer than the limit: nothing is left");
    assert_eq!(trial.due(7, later, 9).rows.len(), 1, "what is for later does not count as waiting yet");
    assert_eq!(trial.one(expire(now, 3)), Ok(Made::Step(0)));
    assert_eq!(told(&trial), [counted(3), counted(1)]);
}

pub fn r07_an_attempt_under_way_is_journaled_though_its_delivery_expired(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = (0..3).map(|_| trial.accepted(app, &[7])).collect();
    let due = trial.now;
    let wait = Then::Waiting { due, rule: Rule::OutageLadder };
    assert!(trial.one(outcome(ids[1], 7, Source::Fresh, wait).tx()).is_ok());
    assert_eq!(trial.one(expire(due, 9)), Ok(Made::Step(3)));
    trial.pass(SECOND);
    for (id, from) in [(ids[0], Source::Fresh), (ids[1], Source::Waiting)] {
        assert!(matches!(trial.one(outcome(id, 7, from, DELIVERED).tx()), Ok(Made::Outcome(Some(_)))));
        let delivered = DeliveryState::Settled {
            state: SettledState::Delivered,
            reason: None,
            at: trial.now,
            last_status: Some(204),
        };
        assert_eq!(trial.state(id, 7), Some(delivered), "{from:?}");
    }
    assert!(matches!(trial.one(outcome(ids[2], 7, Source::Fresh, wait).tx()), Ok(Made::Outcome(Some(_)))));
    assert_eq!(trial.state(ids[2], 7), expired(due, Some(503)), "and it is not tried again");
    let refused = Then::Settled { state: SettledState::Failed, reason: Some(Reason::Refused) };
    let other = trial.accepted(app, &[7]);
    assert!(trial.one(outcome(other, 7, Source::Fresh, refused).tx()).is_ok());
    let twice = outcome(other, 7, Source::Fresh, DELIVERED).tx();
    assert_eq!(trial.one(twice), Err(Rejected::Gone), "no step ended this one");
}

pub fn r19_cancelling_keeps_the_reason_that_it_is_given(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    let reason = Reason::EndpointDisabled;
    let step = CancelStep { endpoint: LANE, reason, through: MessageId(u64::MAX), limit: 9 };
    assert_eq!(trial.one(Tx::Cancel(step)), Ok(Made::Step(1)));
    let cancelled = DeliveryState::Settled {
        state: SettledState::Cancelled,
        reason: Some(reason),
        at: trial.now,
        last_status: None,
    };
    assert_eq!(trial.state(id, 7), Some(cancelled));
}

pub fn r07_messages_that_wait_for_an_endpoint_end_oldest_first(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let (app, other) = (trial.app(), trial.app());
    let start = trial.now;
    let hold = |app| Accept { hold_unrouted: true, ..accept(app, &[]) };
    let scheduled = Accept { deliver_at: Some(start + 9 * SECOND), ..hold(app) };
    let scheduled = made_message(&trial.one(scheduled.tx()));
    let held: Vec<_> = (0..3).map(|_| made_message(&trial.one(hold(app).tx()))).collect();
    let elsewhere = made_message(&trial.one(hold(other).tx()));
    let step = |aged_from, limit, notice| {
        let reason = Reason::Expired;
        Tx::EndUnrouted(Box::new(EndUnroutedStep { app, reason, aged_from, limit, notice }))
    };
    trial.pass(SECOND);
    assert_eq!(trial.one(step(start, 2, Some(notice()))), Ok(Made::Step(2)));
    assert_eq!(trial.ask().unrouted(app, 9).expect("an answer"), [scheduled, held[2]]);
    let end = UnroutedEnd { reason: Reason::Expired, at: trial.now };
    for (message, ended) in [(held[0], Some(end)), (held[1], Some(end)), (held[2], None)] {
        assert_eq!(trial.ask().unrouted_end(message).expect("an answer"), ended);
    }
    assert_eq!(trial.one(step(start, 2, None)), Ok(Made::Step(1)));
    assert_eq!(trial.one(step(start, 2, Some(notice()))), Ok(Made::Step(0)));
    assert_eq!(told(&trial), [counted(2)], "told if asked, and if something ended");
    assert_eq!(trial.one(step(Timestamp::MAX, 2, None)), Ok(Made::Step(1)), "whatever its age");
    assert_eq!(trial.ask().unrouted(app, 9).expect("an answer"), []);
    assert_eq!(trial.ask().unrouted(other, 9).expect("an answer"), [elsewhere]);
    let apps = trial.ask().unrouted_apps().expect("an answer");
    assert_eq!(apps, [(other, elsewhere)]);
}
