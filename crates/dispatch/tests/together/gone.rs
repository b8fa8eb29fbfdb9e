//! R1, R19: 410, disabling, freezing.

use std::sync::Arc;

use gonets_core::{
    gate::{DisabledBy, Scope},
    hold::Hold,
    ids::EndpointNo,
    notice::NoticeKind,
    outcome::Outcome,
    profile::builtin,
};

use crate::world::{Answer, World, secs, turning};

const ENDPOINT: EndpointNo = EndpointNo(1);

fn answering(outcome: Outcome) -> World {
    let mut world = World::new(move |_, _| Answer::of(outcome));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    world
}

#[test]
fn r01_410_disables_at_once_at_most_four_more_go_and_it_is_told_once() {
    let mut world = answering(Outcome::Gone);
    world.change(1, |config| config.concurrency = 5);
    let mut first = Vec::new();
    for _ in 0..50 {
        first.push(world.post(1, false));
    }
    world.pass(secs(86_400));
    assert!(world.made.len() <= 5, "{}", world.made.len());
    assert_eq!(world.stored[&ENDPOINT].waiting.len(), 50, "all are held, none is lost");
    assert_eq!(world.count(NoticeKind::EndpointDisabled), 1);
    let disabled = world.gate(Scope::Endpoint(ENDPOINT)).disabled.expect("it is kept");
    assert_eq!(disabled.why, DisabledBy::Gone);
    assert_eq!(world.shard.hold(ENDPOINT, first[0]), Some((Hold::EndpointDisabled, None)));
}

#[test]
fn r19_enabling_lets_the_held_go_paced() {
    let mut world = answering(Outcome::Delivered);
    world.change(1, |config| config.disabled = true);
    for _ in 0..100 {
        world.post(1, false);
    }
    world.pass(secs(10));
    assert_eq!(world.made.len(), 0);
    world.change(1, |config| config.disabled = false);
    world.pass(secs(1));
    assert!((1..=3).contains(&world.made.len()), "{}", world.made.len());
    world.pass(secs(60));
    assert!(world.stored[&ENDPOINT].waiting.is_empty());
}

#[test]
fn r28_a_frozen_lane_sends_nothing_not_even_by_hand_and_thaws_paced() {
    let mut world = answering(Outcome::Delivered);
    world.change(1, |config| config.frozen = true);
    let mut last = None;
    for _ in 0..100 {
        last = Some(world.post(1, false));
    }
    let last = last.expect("some were posted");
    world.retry_by_hand(1, last);
    world.pass(secs(1_000));
    assert_eq!(world.made.len(), 0);
    assert_eq!(world.shard.hold(ENDPOINT, last), Some((Hold::Frozen, None)));
    world.change(1, |config| config.frozen = false);
    world.pass(secs(1));
    assert!((1..=3).contains(&world.made.len()), "{}", world.made.len());
    assert_eq!(world.made[1].send.message, last, "as soon as it is read: a person waits for it");
    assert!(world.made[1].at.since(world.made[0].at) <= secs(1));
    world.pass(secs(60));
    assert!(world.stored[&ENDPOINT].waiting.is_empty());
}

#[test]
fn r28_an_application_with_one_breaker_thaws_at_one_pace() {
    let mut world = answering(Outcome::Delivered);
    for n in 1..=20 {
        world.endpoint(n, 1, &Arc::new(builtin::payments()));
        world.change(n, |config| config.frozen = true);
        for _ in 0..10 {
            world.post(n, false);
        }
    }
    for n in 1..=20 {
        world.change(n, |config| config.frozen = false);
    }
    world.pass(secs(1));
    assert!((1..=3).contains(&world.made.len()), "{}", world.made.len());
    world.pass(secs(60));
    assert_eq!(world.made.len(), 200);
}

#[test]
fn r28_no_probe_goes_to_a_frozen_lane() {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(100), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..10 {
        world.post(1, false);
    }
    world.pass(secs(10));
    let before = world.made.len();
    world.change(1, |config| config.frozen = true);
    world.pass(secs(1_000));
    assert_eq!(world.made.len(), before);
    world.change(1, |config| config.frozen = false);
    assert_eq!(world.made.len(), before + 1);
    assert!(world.made[before].send.probe);
}
