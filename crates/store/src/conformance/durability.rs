//! What a restart keeps: everything.

use std::time::Duration;

use gonets_core::ids::{EndpointNo, EntityNo};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, application, key, made_message, outcome, write},
    picture::picture,
};
use crate::tx::{Accept, HandRetry, KeyOrigin, Made, Rejected, Source, Tx};

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
