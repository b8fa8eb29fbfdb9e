//! What a restart keeps: everything.

use std::time::Duration;

use gonets_core::{
    ids::{EndpointNo, EntityNo},
    rule::Rule,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, application, key, made_message, outcome, write},
    picture::picture,
};
use crate::tx::{Accept, HandRetry, KeyOrigin, Made, Rejected, Source, Then, Tx};

pub fn everything_committed_survives_a_restart(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let first = trial.accepted(app, &[1, 2]);
    assert!(trial.one(outcome(first, 1, Source::Fresh, DELIVERED).tx()).is_ok());
    let later = trial.now + Duration::from_secs(5);
    assert!(trial.one(Accept { deliver_at: Some(later), ..accept(app, &[3]) }.tx()).is_ok());
    assert!(trial.one(Accept { hold_unrouted: true, ..accept(app, &[]) }.tx()).is_ok());
    assert!(
        trial
            .one(Tx::Hand(HandRetry {
                endpoint: EndpointNo(1),
                message: first,
                under_way: false,
                idempotency: None
            }))
            .is_ok()
    );
    let before = picture(trial.ask());
    trial.restart();
    assert_eq!(picture(trial.ask()), before);
}

pub fn ids_continue_after_a_restart(open: Open<'_>) {
    let mut trial = Trial::start(open);
    assert_eq!(trial.engine().last_ids().expect("the ids").0.0, 0);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    let Ok(Made::Outcome(Some(attempt))) = trial.one(outcome(id, 7, Source::Fresh, DELIVERED).tx()) else {
        panic!("an attempt was to be made");
    };
    trial.restart();
    assert_eq!(trial.engine().last_ids().expect("the ids"), (id, attempt));
    assert!(trial.accepted(app, &[7]) > id);
}

pub fn recent_keys_survive_a_restart(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let mut made = Vec::new();
    for (seed, origin) in [(1, KeyOrigin::Auto), (2, KeyOrigin::Caller)] {
        let keyed = Accept { idempotency: Some(key(seed, 1, origin)), ..accept(app, &[7]) };
        made.push((made_message(&trial.one(keyed.clone().tx())), keyed));
    }
    trial.pass(Duration::from_mins(9));
    trial.restart();
    for (id, keyed) in made {
        assert_eq!(trial.one(keyed.tx()), Ok(Made::ReplayedMessage(id)));
    }
}

pub fn versions_of_applications_survive_a_restart(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    assert!(trial.one(Tx::Entity(Box::new(write(application(EntityNo(app.0)), Some(1))))).is_ok());
    trial.restart();
    assert_eq!(trial.one(accept(app, &[7]).tx()), Err(Rejected::Stale));
    assert!(trial.one(Accept { app_version: 2, ..accept(app, &[7]) }.tx()).is_ok());
}

pub fn r25_due_times_are_moved_but_not_those_that_were_asked_for(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let start = trial.now;
    let at = |seconds| start + Duration::from_secs(seconds);
    let tried = trial.accepted(app, &[1, 2]);
    for (endpoint, due) in [(1, at(5)), (2, at(60))] {
        let then = Then::Waiting { due, rule: Rule::OutageLadder };
        assert!(trial.one(outcome(tried, endpoint, Source::Fresh, then).tx()).is_ok());
    }
    let asked = made_message(&trial.one(Accept { deliver_at: Some(at(60)), ..accept(app, &[3]) }.tx()));
    trial.engine().shift_due(at(10), Duration::from_hours(24)).expect("the due times can be moved");
    let due_of = |endpoint| {
        let rows = trial.ask().due(EndpointNo(endpoint), at(1_000_000), 9).expect("an answer").rows;
        rows.iter().map(|row| (row.message, row.due)).collect::<Vec<_>>()
    };
    assert_eq!(due_of(1), [(tried, at(5))], "what was due already is due");
    assert_eq!(due_of(2), [(tried, at(60) + Duration::from_hours(24))]);
    assert_eq!(due_of(3), [(asked, at(60))], "a deliverAt is an instant");
}
