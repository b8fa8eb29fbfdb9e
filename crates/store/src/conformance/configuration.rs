//! Documents, gates and facts.

use gonets_core::{
    breaker::BreakerState,
    gate::{Disabled, DisabledBy, Expiring, Gate, GateChange, GateWrite, Scope, Throttle},
    health::Health,
    ids::{AppNo, EndpointNo, EntityNo, EnvironmentNo},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{ENVIRONMENT, application, keep, key, write},
};
use crate::{
    entity::{EntityKind, EntityRow},
    tx::{EntityWrite, KeyOrigin, Made, Rejected, Tx, Verdict},
};

fn endpoint(no: u32, owner: u32, uid: Option<&str>) -> EntityRow {
    EntityRow {
        kind: EntityKind::Endpoint,
        no: EntityNo(no),
        environment: ENVIRONMENT,
        owner: EntityNo(owner),
        uid: uid.map(String::from),
        version: 0,
        deleted: false,
        doc: b"{\"url\":\"https://example.org\"}".to_vec(),
    }
}

fn put(trial: &mut Trial<'_>, row: EntityRow, expected: Option<u32>) -> Verdict {
    trial.one(Tx::Entity(Box::new(write(row, expected))))
}

fn stored(trial: &Trial<'_>, no: u32) -> EntityRow {
    let all = trial.ask().entities().expect("an answer");
    all.into_iter().find(|row| row.no.0 == no).expect("the document is there")
}

pub fn a_document_is_replaced_under_its_version_only(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let row = endpoint(50, 1, None);
    let made = |version| Ok(Made::Entity { no: EntityNo(50), version });
    assert_eq!(put(&mut trial, row.clone(), Some(1)), Err(Rejected::Gone), "there is nothing to replace");
    assert_eq!(put(&mut trial, row.clone(), None), made(1));
    assert_eq!(put(&mut trial, row.clone(), None), Err(Rejected::UidTaken(EntityNo(50))));
    let changed =
        EntityRow { doc: b"{\"url\":\"https://example.com\"}".to_vec(), version: 99, ..row.clone() };
    assert_eq!(put(&mut trial, changed.clone(), Some(2)), Err(Rejected::Conflict));
    assert_eq!(stored(&trial, 50), EntityRow { version: 1, ..row });
    assert_eq!(put(&mut trial, changed.clone(), Some(1)), made(2));
    assert_eq!(stored(&trial, 50), EntityRow { version: 2, ..changed });
}

pub fn a_uid_is_unique_among_the_living(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let uid = Some("shop");
    assert!(put(&mut trial, endpoint(50, 1, uid), None).is_ok());
    assert_eq!(put(&mut trial, endpoint(51, 1, uid), None), Err(Rejected::UidTaken(EntityNo(50))));
    assert!(put(&mut trial, endpoint(52, 2, uid), None).is_ok(), "another owner");
    let elsewhere = EntityRow { environment: EnvironmentNo(2), ..endpoint(53, 1, uid) };
    assert!(put(&mut trial, elsewhere, None).is_ok(), "another environment");
    let other_kind = EntityRow { kind: EntityKind::Key, ..endpoint(54, 1, uid) };
    assert!(put(&mut trial, other_kind, None).is_ok(), "another kind");
    assert!(put(&mut trial, endpoint(55, 1, None), None).is_ok());
    assert_eq!(put(&mut trial, endpoint(55, 1, uid), Some(1)), Err(Rejected::UidTaken(EntityNo(50))));
    assert!(put(&mut trial, endpoint(50, 1, uid), Some(1)).is_ok(), "its own");
    let deleted = EntityRow { deleted: true, ..endpoint(50, 1, uid) };
    assert!(put(&mut trial, deleted, Some(2)).is_ok());
    assert!(put(&mut trial, endpoint(55, 1, uid), Some(1)).is_ok(), "free again");
    assert_eq!(put(&mut trial, endpoint(50, 1, uid), Some(3)), Err(Rejected::UidTaken(EntityNo(55))));
    assert!(stored(&trial, 50).deleted, "and still readable");
}

pub fn touching_an_application_bumps_its_version(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let touching =
        |row, expected| Tx::Entity(Box::new(EntityWrite { touches: Some(app), ..write(row, expected) }));
    assert!(trial.one(touching(endpoint(50, app.0, None), None)).is_ok());
    assert_eq!(stored(&trial, app.0).version, 2);
    assert_eq!(trial.one(touching(endpoint(50, app.0, None), Some(7))), Err(Rejected::Conflict));
    assert_eq!(stored(&trial, app.0).version, 2, "a refused write touches nothing");
    let itself = touching(application(EntityNo(app.0)), Some(2));
    assert_eq!(trial.one(itself), Ok(Made::Entity { no: EntityNo(app.0), version: 3 }));
    assert_eq!(stored(&trial, app.0).version, 3, "once, also when it touches itself");
    let stale = super::operations::accept(app, &[50]);
    assert_eq!(trial.one(stale.clone().tx()), Err(Rejected::Stale));
    assert!(trial.one(crate::tx::Accept { app_version: 3, ..stale }.tx()).is_ok());
}

pub fn nothing_is_written_for_an_application_that_is_not_there_or_deleted(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let touching =
        |row, expected, app| Tx::Entity(Box::new(EntityWrite { touches: Some(app), ..write(row, expected) }));
    assert_eq!(trial.one(touching(endpoint(50, 99, None), None, AppNo(99))), Err(Rejected::Gone));
    assert!(trial.one(touching(endpoint(50, app.0, None), None, app)).is_ok());
    let no_app = touching(endpoint(51, 50, None), None, AppNo(50));
    assert_eq!(trial.one(no_app), Err(Rejected::Gone), "an endpoint is no application");
    let deleted = EntityRow { deleted: true, ..application(EntityNo(app.0)) };
    let verdicts = trial.commit(vec![
        touching(deleted, Some(2), app),
        touching(endpoint(51, app.0, None), None, app),
        touching(endpoint(50, app.0, None), Some(1), app),
    ]);
    assert_eq!(verdicts[0], Ok(Made::Entity { no: EntityNo(app.0), version: 3 }), "it may touch itself");
    assert_eq!(verdicts[1..], [Err(Rejected::Gone), Err(Rejected::Gone)]);
    assert_eq!(stored(&trial, 50).version, 1);
    assert_eq!(stored(&trial, app.0).version, 3);
    assert!(trial.ask().entities().expect("an answer").iter().all(|row| row.no.0 != 51));
}

pub fn an_answer_is_replayed_for_the_same_key_and_body(open: Open<'_>) {
    let mut trial = Trial::start(open);
    for (no, origin) in [(50, KeyOrigin::Auto), (51, KeyOrigin::Caller)] {
        let keyed = |body| {
            let idempotency = Some((key(no as u8, body, origin), b"{\"id\":\"ep_1\"}".to_vec()));
            Tx::Entity(Box::new(EntityWrite { idempotency, ..write(endpoint(no, 1, None), None) }))
        };
        assert!(trial.one(keyed(1)).is_ok());
        assert_eq!(trial.one(keyed(1)), Ok(Made::ReplayedAnswer(b"{\"id\":\"ep_1\"}".to_vec())));
        assert_eq!(trial.one(keyed(2)), Err(Rejected::IdempotencyConflict));
    }
}

pub fn numbers_are_never_given_twice(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let first = trial.ask().next_no().expect("a number");
    let second = trial.ask().next_no().expect("a number");
    assert!(second > first && first.0 > 0);
    let app = trial.app();
    let row = EntityRow { deleted: true, ..application(EntityNo(app.0)) };
    assert!(put(&mut trial, row, Some(1)).is_ok());
    trial.restart();
    assert!(trial.ask().next_no().expect("a number").0 > app.0);
}

pub fn gates_keep_every_facet_and_open_ones_need_no_row(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let at = Timestamp::from_millis;
    let full = Gate {
        breaker: Some(BreakerState {
            opened_at: at(1),
            pause_ms: u64::MAX >> 1,
            probe_at: at(1),
            answered: 2,
        }),
        throttle: Throttle { until: Some(at(3)), in_a_row: 4, pause_ms: 8_000 },
        health: Health { first_failure: Some(at(5)), failures: 6, notices: 7, ..Health::default() },
        disabled: Some(Disabled { since: at(8), why: DisabledBy::Failing }),
        frozen: Some(at(9)),
        expiring: Expiring { stage: 2 },
        breaker_releasing: Some(at(10)),
        lane_releasing: Some(at(11)),
    };
    let scopes = [
        Scope::Everything,
        Scope::Environment(EnvironmentNo(1)),
        Scope::Application(AppNo(2)),
        Scope::Endpoint(EndpointNo(u32::MAX)),
    ];
    let facets = |gate: Gate| {
        [
            GateChange::Breaker(gate.breaker),
            GateChange::Throttle(gate.throttle),
            GateChange::Health(gate.health),
            GateChange::Disabled(gate.disabled),
            GateChange::Frozen(gate.frozen),
            GateChange::Expiring(gate.expiring),
            GateChange::BreakerReleasing(gate.breaker_releasing),
            GateChange::LaneReleasing(gate.lane_releasing),
        ]
    };
    let put = |scope, gate| keep(facets(gate).map(|change| GateWrite { scope, change }).to_vec());
    let verdicts = trial.commit(scopes.map(|scope| put(scope, full)).to_vec());
    assert!(verdicts.iter().all(|verdict| *verdict == Ok(Made::Kept)));
    trial.restart();
    assert_eq!(trial.ask().gates().expect("an answer"), scopes.map(|scope| (scope, full)));
    let thaw = GateWrite { scope: scopes[0], change: GateChange::Frozen(None) };
    assert!(trial.one(keep(vec![thaw])).is_ok());
    let thawed = Gate { frozen: None, ..full };
    assert_eq!(trial.ask().gates().expect("an answer")[0], (scopes[0], thawed), "the other facets stay");
    trial.commit(scopes.map(|scope| put(scope, Gate::default())).to_vec());
    assert_eq!(trial.ask().gates().expect("an answer"), []);
}

pub fn facts_are_kept(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let id_key = trial.ask().id_key().expect("the key");
    assert_eq!(trial.ask().fact("master_key").expect("an answer"), None);
    trial.ask().keep_fact("master_key", b"one").expect("it is kept");
    trial.ask().keep_fact("master_key", b"two").expect("it is kept");
    let _ = trial.app();
    trial.restart();
    assert_eq!(trial.ask().fact("master_key").expect("an answer"), Some(b"two".to_vec()));
    assert_eq!(trial.ask().id_key().expect("the key"), id_key);
}
