//! R21: an endpoint's health and what is told of it, and of single deliveries.

use std::{sync::Arc, time::Duration};

use gonets_core::{
    gate::{DisabledBy, Scope},
    health::Health,
    ids::EndpointNo,
    notice::NoticeKind,
    outcome::Outcome,
    profile::builtin,
};

use crate::world::{Answer, World, secs, turning};

const DAY: Duration = secs(86_400);
const ENDPOINT: Scope = Scope::Endpoint(EndpointNo(1));

/// One that answers 500 until `until`; a message an hour.
fn failing(until: Duration, hours: u32) -> World {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), until, Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..hours {
        world.post(1, false);
        world.pass(secs(3_600));
    }
    world
}

#[test]
fn r21_five_days_without_a_success_disable_it_once_after_warnings_at_one_and_three_days() {
    let mut world = failing(DAY * 100, 24 * 4);
    assert_eq!(world.count(NoticeKind::EndpointFailing), 1);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 2);
    assert_eq!(world.count(NoticeKind::EndpointDisabled), 0);
    world.pass(DAY * 2);
    assert_eq!(world.count(NoticeKind::EndpointDisabled), 1);
    let disabled = world.gate(ENDPOINT).disabled.expect("it is kept");
    assert_eq!(disabled.why, DisabledBy::Failing);
    let before = world.made.len();
    world.pass(DAY * 20);
    assert_eq!(world.made.len(), before);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 2);
}

#[test]
fn r21_the_endpoints_that_opened_a_breaker_are_failing_and_the_others_are_not() {
    let mut world = World::new(|send, _| {
        Answer::of(if send.endpoint.0 == 1 { Outcome::Unavailable } else { Outcome::Refused })
    });
    for endpoint in 1..=3 {
        world.endpoint(endpoint, 1, &Arc::new(builtin::payments()));
    }
    world.post(2, false);
    for _ in 0..10 {
        world.post(1, false);
    }
    world.pass(secs(10));
    assert_eq!(world.count(NoticeKind::BreakerOpened), 1);
    let failing: Vec<_> = world.notices.iter().filter(|n| n.kind == NoticeKind::EndpointFailing).collect();
    assert_eq!(failing.len(), 1);
    assert_eq!(failing[0].about.endpoint, Some(EndpointNo(1)));
    assert!(world.gate(ENDPOINT).health.is_failing());
}

#[test]
fn r21_a_success_ends_the_episode_and_is_told() {
    let world = failing(secs(3_600) * 30, 24 * 4);
    assert_eq!(world.count(NoticeKind::EndpointFailing), 1);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 1);
    assert_eq!(world.count(NoticeKind::EndpointRecovered), 1);
    assert_eq!(world.gate(ENDPOINT).health, Health::default());
}

#[test]
fn r21_time_while_it_is_frozen_warns_nobody() {
    let mut world = failing(DAY * 100, 12);
    world.change(1, |config| config.frozen = true);
    world.pass(DAY * 2);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 0);
}

#[test]
fn r21_health_survives_a_restart_and_a_notice_is_not_told_twice() {
    let mut world = failing(DAY * 100, 30);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 1);
    world.restart(secs(60));
    world.pass(secs(3_600));
    assert_eq!(world.count(NoticeKind::EndpointWarned), 1);
    world.pass(DAY * 2);
    assert_eq!(world.count(NoticeKind::EndpointWarned), 2);
}

#[test]
fn r21_enabling_begins_a_new_episode() {
    let mut world = failing(DAY * 100, 24 * 5 + 2);
    assert_eq!(world.count(NoticeKind::EndpointDisabled), 1);
    world.enable(1);
    assert_eq!(world.gate(ENDPOINT).health, Health::default(), "and it is kept");
}

#[test]
fn a_delivery_tells_that_it_fails_at_its_fourth_attempt_and_that_it_came_through() {
    let mut profile = builtin::payments();
    profile.breaker = None;
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(12), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(profile));
    world.post(1, false);
    world.pass(secs(100));
    assert_eq!(world.count(NoticeKind::AttemptFailing), 1);
    assert_eq!(world.count(NoticeKind::AttemptRecovered), 1);
    assert_eq!(world.count(NoticeKind::AttemptExhausted), 0);
}

#[test]
fn a_delivery_that_is_refused_for_good_is_told_of_once() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Refused));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    world.post(1, false);
    world.pass(secs(100));
    assert_eq!(world.count(NoticeKind::AttemptExhausted), 1);
    assert_eq!(world.notices.len(), 1, "a single final refusal is only a failure");
}
