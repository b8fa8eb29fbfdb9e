//! R8: what 429 does to an endpoint.

use std::sync::Arc;

use gonets_core::{gate::Scope, ids::EndpointNo, outcome::Outcome, profile::builtin};
use gonets_dispatch::input::Input;

use crate::world::{Answer, World, secs, turning};

#[test]
fn r08_a_thousand_queued_and_429_for_a_minute_are_at_most_seven_requests_in_it() {
    let mut world =
        World::new(turning(Answer::of(Outcome::Throttled), secs(60), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..1_000 {
        world.post(1, false);
    }
    world.pass(secs(60));
    assert!(world.made.len() <= 7, "{}", world.made.len());
    world.pass(secs(1_200));
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty(), "and then everything comes");
}

#[test]
fn r15_a_pause_ends_paced() {
    let asked = Answer::of(Outcome::Throttled).asking(secs(30));
    let mut world = World::new(turning(asked, secs(1), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..300 {
        world.post(1, false);
    }
    world.pass(secs(30));
    let before = world.made.len();
    world.pass(secs(1));
    let first = world.made.len() - before;
    assert!((1..=3).contains(&first), "{first}");
}

#[test]
fn r08_it_survives_a_restart_and_can_be_lifted_by_hand() {
    let asked = Answer::of(Outcome::Throttled).asking(secs(3_000));
    let mut world = World::new(turning(asked, secs(1), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..20 {
        world.post(1, false);
    }
    world.pass(secs(10));
    let before = world.made.len();
    world.restart(secs(10));
    world.pass(secs(600));
    assert_eq!(world.made.len(), before);
    world.step(vec![Input::Lifted { endpoint: EndpointNo(1) }]);
    world.pass(secs(60));
    assert!(world.made.len() > before + 10);
    assert_eq!(world.gate(Scope::Endpoint(EndpointNo(1))).throttle.until, None);
}

#[test]
fn r09_a_retry_by_hand_goes_within_it_and_changes_nothing_if_it_fails() {
    let asked = Answer::of(Outcome::Throttled).asking(secs(1_000));
    let mut world = World::new(turning(asked, secs(100), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    let message = world.post(1, false);
    world.pass(secs(10));
    let until = world.gate(Scope::Endpoint(EndpointNo(1))).throttle;
    let row = world.stored[&EndpointNo(1)].waiting[&message];
    world.retry_by_hand(1, message);
    world.pass(secs(10));
    assert_eq!(world.made.len(), 2);
    assert_eq!(world.gate(Scope::Endpoint(EndpointNo(1))).throttle, until);
    let after = world.stored[&EndpointNo(1)].waiting[&message];
    assert_eq!((after.due, after.progress), (row.due, row.progress));
}

#[test]
fn r25_a_wall_clock_that_was_set_back_does_not_lengthen_it() {
    let asked = Answer::of(Outcome::Throttled).asking(secs(100));
    let mut world = World::new(turning(asked, secs(1), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    world.post(1, false);
    world.pass(secs(5));
    let scope = Scope::Endpoint(EndpointNo(1));
    let gate = world.gates.get_mut(&scope).expect("it is kept");
    gate.throttle.until = gate.throttle.until.map(|until| until + secs(100_000));
    world.restart(secs(1));
    world.post(1, false);
    world.pass(secs(110));
    assert_eq!(world.made.len(), 3);
}

#[test]
fn r13_a_probe_that_is_throttled_is_looked_at_again_after_the_pause_or_what_it_asks_for() {
    let mut world = World::new(turning(
        Answer::of(Outcome::Unavailable),
        secs(100),
        Answer::of(Outcome::Throttled).asking(secs(1_000)),
    ));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    for _ in 0..10 {
        world.post(1, false);
    }
    world.pass(secs(500));
    let state = world.gate(Scope::Application(gonets_core::ids::AppNo(1))).breaker.expect("it is open");
    assert_eq!(state.pause_ms, 300_000, "not doubled");
    let probe = world.made.last().expect("one was made");
    assert!(probe.send.probe);
    assert_eq!(state.probe_at.since(probe.at).as_secs(), 1_000);
}
