//! Accepting messages, and what guards it.

use std::time::Duration;

use gonets_core::{
    ids::{AppNo, EndpointNo, EntityNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{ENVIRONMENT, accept, application, key, made_message, page, write},
};
use crate::{
    query::{Order, WaitingRow},
    record::{DeliveryState, MessageMeta, SettledState},
    tx::{Accept, KeyOrigin, Made, Rejected, Tx},
};

const BOTH: [KeyOrigin; 2] = [KeyOrigin::Auto, KeyOrigin::Caller];

pub fn an_accepted_message_is_in_the_lanes_of_its_endpoints(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let full = Accept {
        critical: true,
        occurred: Some(Timestamp::from_millis(1_799_999_999_001)),
        meta: super::operations::meta(&MessageMeta { tags: vec!["vip".into()], ..MessageMeta::default() }),
        ..accept(app, &[7, 8])
    };
    let id = made_message(&trial.one(full.clone().tx()));
    for endpoint in [7, 8] {
        let rows = trial.ask().fresh(EndpointNo(endpoint), 10).expect("an answer");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].message, rows[0].critical), (id, true));
    }
    assert_eq!(trial.fresh(9), []);
    let found = trial.ask().messages(&[MessageId(5), id]).expect("an answer");
    let shown = trial.ask().messages_shown(&[MessageId(5), id], true).expect("an answer");
    assert_eq!(format!("{shown:?}"), format!("{found:?}"), "people are shown the same");
    assert_eq!(found.len(), 1, "what is not there is left out");
    let record = &found[0];
    assert_eq!((record.id, record.environment, record.app), (id, ENVIRONMENT, app));
    assert_eq!(record.event_type, full.event_type);
    assert_eq!((record.critical, record.routes), (true, 2));
    assert_eq!((record.occurred, record.deliver_at), (full.occurred, None));
    assert_eq!(record.meta, full.meta);
    assert_eq!(record.payload, Some(full.payload));
    assert_eq!(id.accepted_at(), trial.now);
}

pub fn a_message_with_a_later_time_waits_for_it(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let later = trial.now + Duration::from_secs(60);
    let id = made_message(&trial.one(Accept { deliver_at: Some(later), ..accept(app, &[7]) }.tx()));
    assert_eq!(trial.fresh(7), []);
    let now = trial.due(7, trial.now, 10);
    assert_eq!((now.rows.len(), now.next_due), (0, Some(later)));
    let row = WaitingRow {
        message: id,
        critical: false,
        kind: kind_of("order.paid"),
        due: later,
        rule: Rule::DeliverAt,
        progress: Progress::default(),
    };
    assert_eq!(trial.due(7, later, 10).rows, [row]);
    let record = trial.ask().messages(&[id]).expect("an answer").remove(0);
    assert_eq!(record.ages_from(), later);
}

pub fn a_message_without_routes_is_routed_nowhere_unless_it_is_held(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let nowhere = trial.accepted(app, &[]);
    let held = made_message(&trial.one(Accept { hold_unrouted: true, ..accept(app, &[]) }.tx()));
    let routed = made_message(&trial.one(Accept { hold_unrouted: true, ..accept(app, &[7]) }.tx()));
    assert_eq!(trial.ask().unrouted(app, 10).expect("an answer"), [held]);
    for (message, waits) in [(nowhere, false), (held, true), (routed, false)] {
        assert_eq!(trial.ask().is_unrouted(app, message).expect("an answer"), waits);
    }
}

pub fn r19_an_endpoint_that_skips_gets_a_delivery_that_has_ended(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let skips = vec![EndpointNo(8), EndpointNo(9)];
    let full = Accept { skips: skips.clone(), hold_unrouted: true, ..accept(app, &[7]) };
    let routed = made_message(&trial.one(full.clone().tx()));
    let skipped = made_message(&trial.one(Accept { routes: vec![], ..full }.tx()));
    assert_eq!(trial.ask().unrouted(app, 10).expect("an answer"), [], "it has an endpoint");
    assert_eq!((trial.fresh(7), trial.fresh(8)), (vec![routed], vec![]));
    let state = DeliveryState::Settled {
        state: SettledState::Skipped,
        reason: Some(Reason::EndpointDisabled),
        at: trial.now,
        last_status: None,
    };
    for id in [routed, skipped] {
        assert_eq!(trial.state(id, 9), Some(state));
    }
    let listed = trial.ask().deliveries_at(EndpointNo(8), &page(10, Order::Ascending)).expect("an answer");
    let listed: Vec<_> = listed.rows.iter().map(|one| one.message).collect();
    assert_eq!(listed, [routed, skipped], "in its list at once");
    let found = trial.ask().messages(&[routed, skipped]).expect("an answer");
    assert_eq!(found.iter().map(|message| message.routes).collect::<Vec<_>>(), [3, 2]);

    for (routes, skips) in [(vec![], [8, 8]), (vec![EndpointNo(8)], [8, 9])] {
        let skips = skips.map(EndpointNo).to_vec();
        let twice = Accept { routes, skips, event_id: Some("twice".into()), ..accept(app, &[]) };
        assert!(matches!(trial.one(twice.tx()), Err(Rejected::Poisoned(_))));
    }
    assert_eq!(trial.ask().message_by_event_id(app, "twice").expect("an answer"), None);
    assert_eq!(trial.fresh(8), []);
}

pub fn an_event_id_is_taken_once_in_its_application(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let (app, other) = (trial.app(), trial.app());
    let of = |app| Accept { event_id: Some("order-1".into()), ..accept(app, &[7]) }.tx();
    let first = made_message(&trial.one(of(app)));
    assert_eq!(trial.one(of(app)), Err(Rejected::Duplicate(first)));
    let second = made_message(&trial.one(of(other)));
    assert_eq!(trial.fresh(7), [first, second]);
    let ask = trial.ask();
    assert_eq!(ask.message_by_event_id(app, "order-1").expect("an answer"), Some(first));
    assert_eq!(ask.message_by_event_id(other, "order-1").expect("an answer"), Some(second));
    assert_eq!(ask.message_by_event_id(app, "order-2").expect("an answer"), None);
}

pub fn an_event_id_is_taken_within_a_batch(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let one = Accept { event_id: Some("order-1".into()), ..accept(app, &[7]) };
    let verdicts = trial.commit(vec![one.clone().tx(), one.tx(), accept(app, &[7]).tx()]);
    let first = made_message(&verdicts[0]);
    assert_eq!(verdicts[1], Err(Rejected::Duplicate(first)));
    assert_eq!(trial.fresh(7), [first, made_message(&verdicts[2])]);
}

pub fn an_old_application_version_is_stale(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let change = Tx::Entity(Box::new(write(application(EntityNo(app.0)), Some(1))));
    let verdicts = trial.commit(vec![accept(app, &[7]).tx(), change, accept(app, &[7]).tx()]);
    assert!(verdicts[0].is_ok() && verdicts[1].is_ok());
    assert_eq!(verdicts[2], Err(Rejected::Stale));
    assert!(trial.one(Accept { app_version: 2, ..accept(app, &[7]) }.tx()).is_ok());
    assert_eq!(trial.fresh(7).len(), 2);
}

pub fn a_missing_or_deleted_application_is_gone(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    assert_eq!(trial.one(accept(AppNo(99), &[7]).tx()), Err(Rejected::Gone));
    let mut row = application(EntityNo(app.0));
    row.deleted = true;
    assert!(trial.one(Tx::Entity(Box::new(write(row, Some(1))))).is_ok());
    assert_eq!(trial.one(Accept { app_version: 2, ..accept(app, &[7]) }.tx()), Err(Rejected::Gone));
    assert_eq!(trial.fresh(7), []);
}

pub fn the_same_key_and_body_replay_the_message(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    for (seed, origin) in [1, 2].into_iter().zip(BOTH) {
        let keyed = Accept { idempotency: Some(key(seed, 1, origin)), ..accept(app, &[7]) };
        let verdicts = trial.commit(vec![keyed.clone().tx(), keyed.clone().tx()]);
        let first = made_message(&verdicts[0]);
        assert_eq!(verdicts[1], Ok(Made::ReplayedMessage(first)), "within a batch");
        assert_eq!(trial.one(keyed.clone().tx()), Ok(Made::ReplayedMessage(first)), "in a later batch");
        let stale = Accept { app_version: 9, ..keyed };
        assert_eq!(trial.one(stale.tx()), Ok(Made::ReplayedMessage(first)), "whatever changed meanwhile");
    }
    assert_eq!(trial.fresh(7).len(), 2);
}

pub fn a_key_with_another_body_is_a_conflict(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    for (seed, origin) in [1, 2].into_iter().zip(BOTH) {
        let with = |body| Accept { idempotency: Some(key(seed, body, origin)), ..accept(app, &[7]) }.tx();
        assert!(trial.one(with(1)).is_ok());
        assert_eq!(trial.one(with(2)), Err(Rejected::IdempotencyConflict));
    }
    assert_eq!(trial.fresh(7).len(), 2);
}

pub fn keys_are_forgotten_when_their_time_is_over(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    for (seed, origin, lifetime) in
        [(1, KeyOrigin::Auto, Duration::from_mins(10)), (2, KeyOrigin::Caller, Duration::from_hours(12))]
    {
        let keyed = Accept { idempotency: Some(key(seed, 1, origin)), ..accept(app, &[7]) }.tx();
        let first = made_message(&trial.one(keyed.clone()));
        trial.pass(lifetime - Duration::from_millis(1));
        trial.tend();
        assert_eq!(trial.one(keyed.clone()), Ok(Made::ReplayedMessage(first)));
        trial.pass(Duration::from_millis(1));
        let second = made_message(&trial.one(keyed.clone()));
        assert_eq!(trial.one(keyed), Ok(Made::ReplayedMessage(second)), "the new one counts from now on");
    }
}

pub fn a_refused_message_leaves_nothing(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let refused = Accept {
        app_version: 9,
        event_id: Some("order-1".into()),
        idempotency: Some(key(1, 1, KeyOrigin::Caller)),
        ..accept(app, &[7])
    };
    assert_eq!(trial.one(refused.clone().tx()), Err(Rejected::Stale));
    let auto = Accept { idempotency: Some(key(1, 1, KeyOrigin::Auto)), ..refused.clone() };
    assert_eq!(trial.one(auto.clone().tx()), Err(Rejected::Stale));
    assert_eq!(trial.fresh(7), []);
    assert_eq!(trial.ask().message_by_event_id(app, "order-1").expect("an answer"), None);
    let verdict = trial.one(Accept { app_version: 1, ..refused }.tx());
    assert_eq!(trial.fresh(7), [made_message(&verdict)]);
    let other = Accept { app_version: 1, event_id: None, ..auto };
    assert_eq!(trial.fresh(7).len() + 1, {
        made_message(&trial.one(other.tx()));
        trial.fresh(7).len()
    });
}

pub fn an_operation_that_cannot_be_written_fails_alone(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let first = trial.accepted(app, &[7]);
    let keyed = Accept { idempotency: Some(key(1, 1, KeyOrigin::Auto)), ..accept(app, &[7]) };
    let again = Accept { id: first, event_id: Some("order-1".into()), ..accept(app, &[8]) };
    let verdicts = trial.commit(vec![keyed.clone().tx(), again.tx(), accept(app, &[7]).tx()]);
    assert!(matches!(verdicts[1], Err(Rejected::Poisoned(_))), "{:?}", verdicts[1]);
    let others = [made_message(&verdicts[0]), made_message(&verdicts[2])];
    assert_eq!(trial.fresh(7), [first, others[0], others[1]]);
    assert_eq!(trial.fresh(8), []);
    assert_eq!(trial.ask().message_by_event_id(app, "order-1").expect("an answer"), None);
    assert_eq!(trial.one(keyed.tx()), Ok(Made::ReplayedMessage(others[0])));
}
