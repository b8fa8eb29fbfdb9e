//! Outcomes, and the lanes that they leave.

use std::time::Duration;

use gonets_core::{
    gate::{Gate, GateChange, GateWrite, Scope, Throttle},
    ids::{EndpointNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, freeze, made_message, notice, outcome, page},
};
use crate::{
    query::{LaneBacklog, Order, WaitingRow},
    record::{DeliveryState, SettledState},
    tx::{Accept, HandRetry, Made, Outcome, Rejected, Source, Then, Tx},
};

fn wait(due: Timestamp) -> Then {
    Then::Waiting { due, rule: Rule::OutageLadder }
}

pub fn a_delivery_that_succeeds_leaves_its_lane(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7, 8]);
    trial.pass(Duration::from_secs(1));
    let Ok(Made::Outcome(Some(attempt))) = trial.one(outcome(id, 7, Source::Fresh, DELIVERED).tx()) else {
        panic!("the outcome was to be written");
    };
    assert_eq!((trial.fresh(7), trial.fresh(8)), (vec![], vec![id]));
    let settled = DeliveryState::Settled {
        state: SettledState::Delivered,
        reason: None,
        at: trial.now,
        last_status: Some(204),
    };
    assert_eq!(trial.state(id, 7), Some(settled));
    assert_eq!(trial.state(id, 8), Some(DeliveryState::Fresh));
    assert_eq!(trial.state(id, 9), None);
    let record = trial.ask().attempt(attempt).expect("an answer").expect("the attempt");
    let sent = outcome(id, 7, Source::Fresh, DELIVERED).attempt.expect("one");
    assert_eq!((record.id, record.message, record.endpoint, record.number), (attempt, id, EndpointNo(7), 1));
    assert_eq!((record.outcome, record.status, record.by_hand), (sent.outcome, sent.status, false));
    assert_eq!((record.started, record.duration_us), (sent.started, sent.duration_us));
    assert_eq!((record.detail, record.answer), (sent.detail, sent.answer));
}

pub fn an_accept_and_its_outcome_may_share_a_batch(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = MessageId(MessageId::first_at(trial.now).0 + 1_000);
    let due = trial.now + Duration::from_secs(5);
    let verdicts = trial.commit(vec![
        Accept { id, ..accept(app, &[7]) }.tx(),
        outcome(id, 7, Source::Fresh, wait(due)).tx(),
        outcome(id, 7, Source::Waiting, DELIVERED).tx(),
        outcome(id, 7, Source::Waiting, DELIVERED).tx(),
    ]);
    assert!(verdicts[..3].iter().all(Result::is_ok), "{verdicts:?}");
    assert_eq!(verdicts[3], Err(Rejected::Gone));
    assert!(matches!(trial.state(id, 7), Some(DeliveryState::Settled { .. })));
}

pub fn a_failed_attempt_waits_and_keeps_its_progress(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = made_message(&trial.one(Accept { critical: true, ..accept(app, &[7]) }.tx()));
    let mut from = Source::Fresh;
    for step in 1..=3u8 {
        let due = trial.now + Duration::from_secs(u64::from(step) * 10);
        let progress = Progress {
            outage: u16::from(step),
            refusals: 2,
            first_refusal: Some(trial.now),
            attempts: u32::from(step),
            interrupted: step,
            blocked: 4,
        };
        let failed = Outcome { progress, ..outcome(id, 7, from, wait(due)) };
        assert!(trial.one(failed.tx()).is_ok());
        let row = WaitingRow {
            message: id,
            critical: true,
            kind: kind_of("order.paid"),
            due,
            rule: Rule::OutageLadder,
            progress,
        };
        assert_eq!(trial.due(7, due, 10).rows, [row]);
        assert_eq!(trial.state(id, 7), Some(DeliveryState::Waiting { due, rule: Rule::OutageLadder }));
        from = Source::Waiting;
    }
    let then = Then::Settled { state: SettledState::Failed, reason: Some(Reason::OutageExhausted) };
    assert!(trial.one(outcome(id, 7, Source::Waiting, then).tx()).is_ok());
    let settled = DeliveryState::Settled {
        state: SettledState::Failed,
        reason: Some(Reason::OutageExhausted),
        at: trial.now,
        last_status: Some(503),
    };
    assert_eq!(trial.state(id, 7), Some(settled));
    assert_eq!(trial.due(7, Timestamp::MAX, 10).rows, []);
}

pub fn an_outcome_without_its_row_is_gone_and_writes_only_its_gates(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    let due = trial.now;
    let cases = [
        (8, Source::Fresh, DELIVERED),
        (8, Source::Fresh, wait(due)),
        (8, Source::Fresh, Then::Untouched),
        (7, Source::Waiting, DELIVERED),
        (7, Source::Waiting, wait(due)),
        (7, Source::Waiting, Then::Untouched),
        (7, Source::Hand, DELIVERED),
        (7, Source::Hand, Then::Untouched),
    ];
    for (no, (endpoint, from, then)) in (1..).zip(cases) {
        let gates = vec![freeze(Scope::Endpoint(EndpointNo(no)))];
        let late = Outcome { gates, notices: vec![notice()], ..outcome(id, endpoint, from, then) };
        assert_eq!(trial.one(late.tx()), Err(Rejected::Gone), "{from:?} {then:?}");
    }
    assert_eq!(trial.fresh(7), [id]);
    assert_eq!(trial.state(id, 8), None);
    assert_eq!(trial.ask().gates().expect("an answer").len(), cases.len());
    assert_eq!(trial.ask().notices(0, 10).expect("an answer"), []);
    let attempts = trial.ask().attempts_of_message(id, &page(10, Order::Ascending), &Default::default());
    assert!(attempts.expect("an answer").rows.is_empty());
}

pub fn a_delivery_skipped_without_an_attempt_is_listed(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let (skipped, expired) = (trial.accepted(app, &[7]), trial.accepted(app, &[7]));
    let then = Then::Settled { state: SettledState::Skipped, reason: Some(Reason::EndpointDisabled) };
    let verdict = trial.one(Outcome { attempt: None, ..outcome(skipped, 7, Source::Fresh, then) }.tx());
    assert_eq!(verdict, Ok(Made::Outcome(None)));
    let due = trial.now;
    assert!(trial.one(outcome(expired, 7, Source::Fresh, wait(due)).tx()).is_ok());
    let then = Then::Settled { state: SettledState::Failed, reason: Some(Reason::Expired) };
    assert!(trial.one(Outcome { attempt: None, ..outcome(expired, 7, Source::Waiting, then) }.tx()).is_ok());
    for _ in 0..2 {
        let listed =
            trial.ask().deliveries_at(EndpointNo(7), &page(10, Order::Ascending)).expect("an answer").rows;
        let seen: Vec<_> = listed
            .iter()
            .map(|one| match one.state {
                DeliveryState::Settled { reason, last_status, .. } => (one.message, reason, last_status),
                other => panic!("it has ended, but is {other:?}"),
            })
            .collect();
        let expected =
            [(skipped, Some(Reason::EndpointDisabled), None), (expired, Some(Reason::Expired), Some(503))];
        assert_eq!(seen, expected);
        trial.tend();
    }
}

pub fn due_rows_come_by_due_time_and_name_the_next(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let at = |trial: &Trial<'_>, seconds| trial.now + Duration::from_secs(seconds);
    let mut ids = Vec::new();
    for seconds in [30, 10, 20, 10] {
        let deliver_at = Some(at(&trial, seconds));
        ids.push(made_message(&trial.one(Accept { deliver_at, ..accept(app, &[7]) }.tx())));
    }
    let messages = |rows: crate::query::DueRows| rows.rows.iter().map(|row| row.message).collect::<Vec<_>>();
    let (early, middle, late) = (at(&trial, 10), at(&trial, 20), at(&trial, 30));
    assert_eq!(trial.due(7, trial.now, 10).next_due, Some(early));
    assert_eq!(messages(trial.due(7, middle, 10)), [ids[1], ids[3], ids[2]]);
    assert_eq!(trial.due(7, middle, 10).next_due, Some(late));
    assert_eq!(messages(trial.due(7, late, 1)), [ids[1]]);
    assert_eq!(trial.due(7, late, 1).next_due, Some(early), "the other one of the same time");
    assert_eq!(trial.due(7, late, 2).next_due, Some(middle));
    assert_eq!(trial.due(7, late, 4).next_due, None);
    assert_eq!(trial.due(8, late, 4), Default::default());
}

pub fn the_backlog_names_every_endpoint_once(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    assert_eq!(trial.ask().backlog().expect("an answer"), []);
    let first = trial.accepted(app, &[3, 900, 5]);
    let second = trial.accepted(app, &[5]);
    let (soon, later) = (trial.now + Duration::from_secs(1), trial.now + Duration::from_secs(9));
    assert!(trial.one(outcome(first, 5, Source::Fresh, wait(later)).tx()).is_ok());
    assert!(trial.one(outcome(first, 900, Source::Fresh, wait(soon)).tx()).is_ok());
    let third = made_message(&trial.one(Accept { deliver_at: Some(later), ..accept(app, &[900]) }.tx()));
    let retry = |endpoint, message| {
        Tx::Hand(HandRetry { endpoint: EndpointNo(endpoint), message, under_way: false, idempotency: None })
    };
    assert!(trial.commit(vec![retry(4, third), retry(5, second)]).iter().all(Result::is_ok));
    let lane = |endpoint, fresh, by_hand, next_due| LaneBacklog {
        endpoint: EndpointNo(endpoint),
        fresh,
        by_hand,
        next_due,
    };
    let expected = [
        lane(3, true, false, None),
        lane(4, false, true, None),
        lane(5, true, true, Some(later)),
        lane(900, false, false, Some(soon)),
    ];
    assert_eq!(trial.ask().backlog().expect("an answer"), expected);
}

pub fn gates_and_notices_are_written_with_their_outcome(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    let throttle = Throttle { in_a_row: 1, until: Some(trial.now), pause_ms: 1_000 };
    let scope = Scope::Endpoint(EndpointNo(7));
    let gates = vec![GateWrite { scope, change: GateChange::Throttle(throttle) }, freeze(Scope::Everything)];
    let due = trial.now;
    let throttled = Outcome { gates, notices: vec![notice()], ..outcome(id, 7, Source::Fresh, wait(due)) };
    assert!(trial.one(throttled.tx()).is_ok());
    let stored = trial.ask().gates().expect("an answer");
    assert_eq!(stored[1..], [(scope, Gate { throttle, ..Gate::default() })]);
    assert_eq!(trial.ask().notices(0, 10).expect("an answer"), [(1, notice())]);
}
