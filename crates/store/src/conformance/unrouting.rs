//! The last endpoint goes: its deliveries become messages that wait for an endpoint (R18, R20).

use gonets_core::{
    ids::{AppNo, EndpointNo, EntityNo, MessageId},
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{
    Open, Trial,
    operations::{DELIVERED, accept, application, made_message, outcome, write},
};
use crate::{
    entity::EntityRow,
    record::DeliveryState,
    tx::{
        Accept, EndUnroutedStep, HandRetry, Made, Outcome, Rejected, RouteStep, Source, Then, Tx, UnrouteStep,
    },
};

const LANE: EndpointNo = EndpointNo(7);

fn unroute(app: AppNo, limit: u32) -> Tx {
    Tx::Unroute(UnrouteStep { app, endpoint: LANE, limit })
}

fn route(app: AppNo, message: MessageId, endpoints: &[u32]) -> Tx {
    let endpoints = endpoints.iter().map(|no| EndpointNo(*no)).collect();
    Tx::Route(RouteStep { app, app_version: 1, routes: vec![(message, endpoints)] })
}

fn routes(trial: &Trial<'_>, message: MessageId) -> u32 {
    trial.ask().messages(&[message]).expect("an answer")[0].routes
}

fn failed(message: MessageId) -> Outcome {
    let then = Then::Waiting { due: message.accepted_at(), rule: Rule::OutageLadder };
    let progress = Progress { outage: 3, attempts: 3, ..Progress::default() };
    Outcome { progress, ..outcome(message, 7, Source::Fresh, then) }
}

pub fn r20_deliveries_of_the_last_endpoint_become_messages_that_wait(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let ids: Vec<_> = [false, true, false, false]
        .map(|critical| made_message(&trial.one(Accept { critical, ..accept(app, &[7]) }.tx())))
        .to_vec();
    let retry =
        |message| Tx::Hand(HandRetry { endpoint: LANE, message, under_way: false, idempotency: None });
    assert!(trial.one(failed(ids[1]).tx()).is_ok());
    assert!(trial.one(outcome(ids[3], 7, Source::Fresh, DELIVERED).tx()).is_ok());
    assert!(trial.commit(vec![retry(ids[1]), retry(ids[3])]).iter().all(Result::is_ok));

    assert_eq!(trial.one(unroute(app, 2)), Ok(Made::Step(2)), "the oldest first, up to the limit");
    assert_eq!(trial.ask().unrouted(app, 9).expect("an answer"), ids[..2]);
    assert_eq!(trial.fresh(7), [ids[2]]);
    assert_eq!(trial.one(unroute(app, 2)), Ok(Made::Step(1)));
    assert_eq!(trial.one(unroute(app, 2)), Ok(Made::Step(0)));
    assert_eq!(trial.ask().unrouted(app, 9).expect("an answer"), ids[..3], "what has ended stays so");
    for id in &ids[..3] {
        assert_eq!((trial.state(*id, 7), routes(&trial, *id)), (None, 0));
        assert!(trial.ask().is_unrouted(app, *id).expect("an answer"));
    }
    assert_eq!(routes(&trial, ids[3]), 1);
    let by_hand = trial.ask().by_hand(LANE, 9).expect("an answer");
    assert_eq!(by_hand.iter().map(|row| row.message).collect::<Vec<_>>(), [ids[3]]);
    assert_eq!(trial.due(7, Timestamp::MAX, 9).rows, []);

    assert_eq!(trial.one(route(app, ids[1], &[8])), Ok(Made::Step(1)));
    let row = trial.ask().fresh(EndpointNo(8), 9).expect("an answer").remove(0);
    assert_eq!((row.message, row.critical), (ids[1], true), "what it had used is forgotten");
    assert_eq!(routes(&trial, ids[1]), 1);
}

pub fn r18_a_message_that_was_delivered_elsewhere_counts_its_old_and_new_routes(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7, 8]);
    assert!(trial.one(outcome(id, 8, Source::Fresh, DELIVERED).tx()).is_ok());
    assert_eq!(trial.one(unroute(app, 9)), Ok(Made::Step(1)));
    assert_eq!(routes(&trial, id), 1);
    assert_eq!(trial.one(route(app, id, &[8, 9, 10])), Ok(Made::Step(1)));
    assert_eq!(routes(&trial, id), 3);
    assert_eq!((trial.fresh(8), trial.fresh(9), trial.fresh(10)), (vec![], vec![id], vec![id]));
    assert!(matches!(trial.state(id, 8), Some(DeliveryState::Settled { .. })), "not delivered twice");
}

pub fn r18_a_message_that_waits_again_has_not_ended(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7, 8]);
    let mut lose = |endpoint| {
        let step = UnrouteStep { app, endpoint: EndpointNo(endpoint), limit: 9 };
        assert_eq!(trial.one(Tx::Unroute(step)), Ok(Made::Step(1)));
        let end = EndUnroutedStep {
            app,
            reason: Reason::Expired,
            aged_from: Timestamp::MAX,
            limit: 9,
            notice: None,
        };
        let before = trial.ask().unrouted_end(id).expect("an answer");
        assert_eq!(trial.one(Tx::EndUnrouted(Box::new(end))), Ok(Made::Step(1)));
        (before.is_some(), trial.ask().unrouted_end(id).expect("an answer").is_some())
    };
    assert_eq!((lose(7), lose(8)), ((false, true), (false, true)));
}

pub fn r20_nothing_is_unrouted_for_an_application_that_is_not_there_or_deleted(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    assert_eq!(trial.one(unroute(AppNo(99), 9)), Err(Rejected::Gone));
    let deleted = EntityRow { deleted: true, ..application(EntityNo(app.0)) };
    assert!(trial.one(Tx::Entity(Box::new(write(deleted, Some(1))))).is_ok());
    assert_eq!(trial.one(unroute(app, 9)), Err(Rejected::Gone));
    assert_eq!(trial.fresh(7), [id]);
    assert_eq!(trial.ask().unrouted_apps().expect("an answer"), []);
}

pub fn r18_the_applications_with_waiting_messages_are_named_with_the_oldest(open: Open<'_>) {
    let mut trial = Trial::start(open);
    let apps: Vec<_> = (0..3).map(|_| trial.app()).collect();
    let mut held = |app| {
        let hold = Accept { hold_unrouted: true, ..accept(app, &[]) };
        made_message(&trial.one(hold.tx()))
    };
    let (last, first) = (held(apps[2]), held(apps[0]));
    let _younger = (held(apps[2]), held(apps[0]));
    let named = trial.ask().unrouted_apps().expect("an answer");
    assert_eq!(named, [(apps[0], first), (apps[2], last)]);
}
