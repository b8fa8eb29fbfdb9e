//! R24: strict order.

use std::sync::Arc;

use gonets_core::{gate::Scope, hold::Hold, ids::EndpointNo, outcome::Outcome, profile::builtin};
use gonets_dispatch::effect::Then;

use crate::world::{Answer, World, secs, turning};

fn ordered(world: &mut World, profile: gonets_core::profile::Profile) {
    world.endpoint(1, 1, &Arc::new(profile));
    world.change(1, |config| config.ordered = true);
}

#[test]
fn r24_the_head_goes_first_alone_and_holds_the_others() {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(100), Answer::of(Outcome::Delivered)));
    ordered(&mut world, builtin::standard());
    let messages: Vec<_> = (0..50).map(|n| world.post(1, n % 5 == 0)).collect();
    world.pass(secs(100));
    assert!(world.made.iter().all(|made| made.send.message == messages[0]));
    assert_eq!(world.shard.hold(EndpointNo(1), messages[1]), Some((Hold::BehindAnother, None)));
    assert_eq!(world.shard.hold(EndpointNo(1), messages[0]), None);
    world.pass(secs(10_000));
    let delivered: Vec<_> = world
        .records
        .iter()
        .filter(|(_, record)| record.then == Then::Delivered)
        .map(|(_, record)| record.message)
        .collect();
    assert_eq!(delivered, messages);
}

#[test]
fn r24_when_the_head_fails_the_next_follows() {
    let mut refused = 0;
    let mut world = World::new(move |_, _| {
        refused += 1;
        Answer::of(if refused <= 2 { Outcome::Refused } else { Outcome::Delivered })
    });
    ordered(&mut world, builtin::standard());
    let messages: Vec<_> = (0..5).map(|_| world.post(1, false)).collect();
    world.pass(secs(10));
    let made: Vec<_> = world.made.iter().map(|made| made.send.message).collect();
    assert_eq!(made, messages);
}

#[test]
fn r24_its_head_is_its_only_probe() {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(100), Answer::of(Outcome::Delivered)));
    ordered(&mut world, builtin::payments());
    let messages: Vec<_> = (0..20).map(|n| world.post(1, n > 10)).collect();
    world.pass(secs(310));
    let probe = world.made.last().expect("there was one");
    assert!(world.made.iter().all(|made| made.send.message == messages[0]));
    assert!(world.gate(Scope::Application(gonets_core::ids::AppNo(1))).breaker.is_some() || probe.send.probe);
    world.pass(secs(600));
    let mut first_seen = Vec::new();
    for made in &world.made {
        if !first_seen.contains(&made.send.message) {
            first_seen.push(made.send.message);
        }
    }
    assert_eq!(first_seen, messages);
}

#[test]
fn r24_an_endpoint_may_turn_to_strict_order_and_back() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Delivered).after(secs(1)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..100 {
        world.post(1, false);
    }
    world.pass(secs(2));
    world.change(1, |config| config.ordered = true);
    let before = world.made.len();
    world.pass(secs(10));
    let made = &world.made[before..];
    assert!(made.len() <= 11 && made.is_sorted_by_key(|made| made.send.message));
    world.change(1, |config| config.ordered = false);
    world.pass(secs(60));
    assert_eq!(world.made.len(), 100);
}

#[test]
fn r24_a_head_that_is_tried_by_hand_does_not_let_the_others_pass() {
    let mut world = World::new(turning(
        Answer::of(Outcome::Unavailable).after(secs(5)),
        secs(40),
        Answer::of(Outcome::Delivered),
    ));
    ordered(&mut world, builtin::standard());
    let messages: Vec<_> = (0..5).map(|_| world.post(1, false)).collect();
    world.pass(secs(10));
    world.retry_by_hand(1, messages[0]);
    world.pass(secs(30));
    assert!(world.made.iter().all(|made| made.send.message == messages[0]));
    assert_eq!(world.made.len(), 2);
    world.retry_by_hand(1, messages[0]);
    world.pass(secs(30));
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty());
}
