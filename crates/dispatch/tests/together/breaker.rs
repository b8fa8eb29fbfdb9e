//! R10 to R14, R16, R17.

use std::sync::Arc;

use gonets_core::{
    breaker::BreakerState,
    gate::{Gate, Scope},
    ids::{AppNo, EndpointNo, MessageId},
    notice::NoticeKind,
    outcome::Outcome,
    profile::builtin,
};
use gonets_dispatch::{effect::Then, input::Input};

use crate::world::{Answer, BEGIN, Row, World, secs, turning};

const APP: Scope = Scope::Application(AppNo(1));

/// One endpoint of the payments profile whose breaker five failures have opened.
fn opened(then: Answer, heals_at: u64) -> World {
    let mut world = World::new(turning(Answer::of(Outcome::Unavailable), secs(heals_at), then));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    for _ in 0..5 {
        world.post(1, false);
    }
    world.pass(secs(5));
    assert_eq!(world.count(NoticeKind::BreakerOpened), 1);
    world
}

#[test]
fn r12_one_request_a_pause_while_200_wait_and_the_held_lose_no_attempt() {
    let mut world = opened(Answer::of(Outcome::Delivered), 1_000);
    let before = world.made.len();
    for n in 0..200 {
        world.post(1, n % 10 == 0);
    }
    world.pass(secs(1_000) - world.since_begin());
    // Probes at about 300 s and 900 s, each the oldest critical of the held.
    let probes = &world.made[before..];
    assert_eq!(probes.len(), 2, "{probes:?}");
    assert!(probes.iter().all(|made| made.send.probe));
    let gap = probes[1].at.since(probes[0].at);
    assert!(gap >= secs(600) && gap < secs(601), "{gap:?}");
    let tried = world.stored[&EndpointNo(1)].waiting.values().filter(|row| row.progress.attempts > 0).count();
    assert!(tried <= 5 + 2, "{tried}");
    assert_eq!(world.count(NoticeKind::BreakerProbed), 2);
}

#[test]
fn r15_r13_what_was_held_comes_out_gently_critical_first_then_oldest() {
    let mut world = opened(Answer::of(Outcome::Delivered), 200);
    let before = world.made.len();
    let mut posted: Vec<_> = (0..200).map(|n| (n % 10 != 9, world.post(1, n % 10 == 9))).collect();
    world.pass(secs(700));
    assert_eq!(world.count(NoticeKind::BreakerClosed), 1);
    let out = &world.made[before..];
    let begun = out[0].at;
    let in_first_second = out.iter().filter(|made| made.at.since(begun) < secs(1)).count();
    assert!(in_first_second <= 3, "{in_first_second}");
    posted.sort();
    let order: Vec<_> = posted.into_iter().map(|(_, message)| message).collect();
    let started: Vec<_> = out.iter().map(|made| made.send.message).filter(|m| order.contains(m)).collect();
    assert_eq!(started, order);
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty());
    assert_eq!(world.gate(APP).breaker, None);
}

#[test]
fn r13_a_balancer_that_answers_404_before_its_application_costs_at_most_five_of_a_hundred() {
    let mut world = opened(Answer::of(Outcome::Refused), 200);
    for n in 0..100 {
        world.post_kind(1, false, n / 40);
    }
    // The application comes up behind its balancer after the third look.
    world.peer = Box::new(turning(Answer::of(Outcome::Refused), secs(380), Answer::of(Outcome::Delivered)));
    world.pass(secs(1_500));
    let lost =
        world.stored[&EndpointNo(1)].ended.values().filter(|(then, ..)| matches!(then, Then::Failed(_)));
    assert!((1..=5).contains(&lost.count()));
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty());
    let answered = world.made.iter().filter(|made| made.send.probe && made.at > BEGIN + secs(200));
    let kind_of = |message| world.stored[&EndpointNo(1)].ended.get(message).map(|(_, row, _)| row.kind);
    let kinds: Vec<_> = answered.map(|made| kind_of(&made.send.message)).collect();
    assert!(
        kinds.len() >= 3 && kinds.windows(2).all(|pair| pair[0] != pair[1]),
        "of another type: {kinds:?}"
    );
}

#[test]
fn r10_refusals_never_open_it() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Refused));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    for _ in 0..200 {
        world.post(1, false);
    }
    world.pass(secs(60));
    assert_eq!(world.made.len(), 200);
    assert_eq!(world.count(NoticeKind::BreakerOpened), 0);
}

/// Ends attempts one a second as the bits say, each of a delivery of its own; whether the breaker opened.
fn opens(failed: impl Fn(usize) -> bool + 'static, number: usize, every: u64) -> bool {
    let mut n = 0;
    let mut world = World::new(move |_, _| {
        n += 1;
        Answer::of(if failed(n - 1) { Outcome::Unavailable } else { Outcome::Refused })
    });
    let mut profile = builtin::payments();
    profile.outage.delays = vec![secs(86_400)];
    world.endpoint(1, 1, &Arc::new(profile));
    for _ in 0..number {
        world.post(1, false);
        world.pass(secs(every));
    }
    world.count(NoticeKind::BreakerOpened) > 0
}

#[test]
fn r10_four_of_five_open_it_and_79_of_100_do_not() {
    assert!(opens(|n| n != 0, 5, 1));
    assert!(!opens(|n| n > 1, 5, 1));
    // 21 of 100 are answered, spread so that it is never four of five.
    assert!(!opens(|n| (n * 21 + 20) % 100 >= 21, 100, 1));
}

#[test]
fn r10_what_is_five_minutes_old_does_not_count() {
    assert!(!opens(|_| true, 8, 75));
    assert!(opens(|_| true, 8, 74));
}

#[test]
fn r11_a_retry_by_hand_goes_while_it_is_open_and_its_success_closes_it() {
    let mut world = opened(Answer::of(Outcome::Delivered), 60);
    let held = world.post(1, false);
    world.pass(secs(30));
    let before = world.made.len();
    world.retry_by_hand(1, held);
    world.pass(secs(10));
    assert_eq!(world.made.len(), before + 1, "it failed, and nothing else went");
    assert_eq!(world.count(NoticeKind::BreakerClosed), 0);
    world.pass(secs(30));
    world.retry_by_hand(1, held);
    world.pass(secs(120));
    assert_eq!(world.count(NoticeKind::BreakerClosed), 1);
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty());
}

#[test]
fn r16_it_survives_a_restart_and_a_probe_in_flight_is_not_made_twice() {
    let mut world = opened(Answer::of(Outcome::Unavailable), 9_999);
    let state = world.gate(APP).breaker.expect("it is kept");
    world.restart(secs(60));
    world.post(1, true);
    world.pass(secs(230));
    assert!(world.made.iter().all(|made| made.at < state.probe_at));
    // The probe goes out, and the process dies before it is answered.
    world.peer = Box::new(|_, _| Answer::of(Outcome::Unavailable).after(secs(10)));
    world.pass(state.probe_at.since(world.now) + secs(1));
    let probes = world.made.iter().filter(|made| made.send.probe).count();
    assert_eq!(probes, 1);
    world.restart(secs(1));
    world.pass(secs(12));
    assert_eq!(world.made.iter().filter(|made| made.send.probe).count(), 1, "its lease lasts");
    world.pass(secs(2));
    assert_eq!(world.made.iter().filter(|made| made.send.probe).count(), 2);
}

#[test]
fn r25_a_wall_clock_that_was_set_back_does_not_keep_it_open_for_ever() {
    let mut world = opened(Answer::of(Outcome::Delivered), 20);
    world.post(1, true);
    let state = world.gates.get_mut(&APP).and_then(|gate| gate.breaker.as_mut()).expect("it is kept");
    state.probe_at = state.probe_at + secs(1_000_000);
    world.restart(secs(1));
    // No pause of a probe is longer than the longest Retry-After that is heeded.
    world.pass(secs(3_601));
    assert_eq!(world.gate(APP).breaker, None);
}

#[test]
fn r16_a_gate_that_comes_after_its_lanes_is_taken_up_too() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Delivered));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    let breaker =
        BreakerState { opened_at: BEGIN, pause_ms: 300_000, probe_at: BEGIN + secs(100), answered: 0 };
    let gate = Gate { breaker: Some(breaker), ..Gate::default() };
    world.gates.insert(APP, gate);
    world.step(vec![Input::Gate { scope: APP, gate }]);
    world.post(1, true);
    world.pass(secs(99));
    assert_eq!(world.made.len(), 0);
    world.pass(secs(2));
    assert_eq!(world.made.len(), 1);
}

#[test]
fn r16_a_breaker_of_another_scope_than_the_profiles_is_no_more() {
    let mut world = opened(Answer::of(Outcome::Delivered), 20);
    world.post(1, true);
    world.lanes.values_mut().for_each(|config| config.profile = Arc::new(builtin::standard()));
    world.restart(secs(30));
    world.pass(secs(1));
    assert_eq!(world.gate(APP).breaker, None);
    assert!(world.stored[&EndpointNo(1)].waiting.len() < 6, "it is let go");
}

#[test]
fn r17_its_notices_say_how_often_it_failed_and_when_it_looks_again() {
    let mut world = opened(Answer::of(Outcome::Delivered), 400);
    world.post(1, true);
    world.pass(secs(1_000));
    let told: Vec<_> = world.notices.iter().filter(|notice| notice.about.endpoint.is_none()).collect();
    let kinds: Vec<_> = told.iter().map(|notice| notice.kind).collect();
    assert_eq!(kinds, [NoticeKind::BreakerOpened, NoticeKind::BreakerProbed, NoticeKind::BreakerClosed]);
    assert_eq!(told[0].facts.count, Some(5));
    assert_eq!(told[0].facts.until, Some(told[0].at + secs(300)));
    assert_eq!(told[1].facts.until, Some(told[1].at + secs(600)));
    assert!(told.iter().all(|notice| notice.about.app == Some(AppNo(1))));
}

#[test]
fn r12_a_probe_whose_lease_ran_out_is_replaced_and_no_longer_counts() {
    let mut world = opened(Answer::of(Outcome::Unavailable).after(secs(40)), 60);
    world.post(1, true);
    world.post(1, true);
    world.pass(secs(305));
    let probes = |world: &World| world.made.iter().filter(|made| made.send.probe).count();
    assert_eq!(probes(&world), 1);
    world.pass(secs(16));
    assert_eq!(probes(&world), 2, "another may be sent");
    let pause = |world: &World| world.gate(APP).breaker.map(|state| state.pause_ms);
    world.pass(secs(14));
    assert_eq!(probes(&world), 3);
    assert_eq!(pause(&world), Some(300_000), "a late result changes nothing");
}

#[test]
fn r12_a_late_probe_is_an_attempt_like_any_other_and_spends_its_step() {
    let mut slow = false;
    let mut world = World::new(move |send, _| {
        slow |= send.probe;
        Answer::of(Outcome::Unavailable).after(secs(if slow { 40 } else { 1 }))
    });
    let mut profile = builtin::standard();
    profile.outage.delays = vec![secs(30); 6];
    world.endpoint(1, 1, &Arc::new(profile));
    for _ in 0..5 {
        world.post(1, false);
    }
    world.pass(secs(330));
    let probe = world.made.iter().find(|made| made.send.probe).expect("there was one").send;
    world.pass(secs(40));
    let (_, record) = world.records.iter().find(|(_, record)| record.send == probe.id).expect("it ended");
    assert_eq!(record.progress.outage, probe.progress.outage + 1, "a probe in time would not");
}

#[test]
fn r12_a_lane_that_is_being_read_may_have_the_better_probe() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Delivered));
    let probe_at = BEGIN + secs(100);
    let breaker = BreakerState { opened_at: BEGIN, pause_ms: 300_000, probe_at, answered: 0 };
    world.gates.insert(APP, Gate { breaker: Some(breaker), ..Gate::default() });
    world.restart(secs(0));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    world.endpoint(2, 1, &Arc::new(builtin::payments()));
    let other = world.post(1, false);
    let critical = MessageId(other.0 + 1);
    let row = world.stored[&EndpointNo(1)].waiting[&other];
    let row = Row { critical: true, due: Some(probe_at), ..row };
    world.stored.get_mut(&EndpointNo(2)).expect("it is there").waiting.insert(critical, row);
    world.restart(secs(1));
    world.pass(secs(99));
    assert_eq!(world.made.first().map(|made| made.send.message), Some(critical));
}

#[test]
fn r17_a_reset_makes_a_probe_due_at_once() {
    let mut world = opened(Answer::of(Outcome::Delivered), 20);
    world.post(1, false);
    world.pass(secs(30));
    let before = world.made.len();
    world.step(vec![Input::Reset { scope: APP }]);
    assert_eq!(world.made.len(), before + 1);
    assert!(world.made[before].send.probe);
    world.pass(secs(100));
    assert_eq!(world.gate(APP).breaker, None);
}

#[test]
fn r17_another_url_resets_it_too() {
    let mut world = opened(Answer::of(Outcome::Delivered), 20);
    world.pass(secs(30));
    let before = world.made.len();
    world.change(1, |config| config.host = gonets_dispatch::config::HostNo(77));
    assert_eq!(world.made.len(), before + 1);
}

#[test]
fn r11_nothing_fresh_goes_to_another_endpoint_of_the_application_while_it_is_open() {
    let mut world = opened(Answer::of(Outcome::Delivered), 60);
    world.pass(secs(60));
    world.endpoint(2, 1, &Arc::new(builtin::payments()));
    world.endpoint(3, 2, &Arc::new(builtin::payments()));
    let before = world.made.len();
    world.post(2, true);
    world.post(3, true);
    world.pass(secs(100));
    let tried: Vec<_> = world.made[before..].iter().map(|made| made.send.endpoint).collect();
    assert_eq!(tried, [EndpointNo(3)], "another application is not held");
    world.pass(secs(250));
    assert!(world.made.iter().any(|made| made.send.endpoint == EndpointNo(2)));
    let probe = world.made.iter().find(|made| made.send.probe).expect("there was one");
    assert_eq!(probe.send.endpoint, EndpointNo(1), "those that failed come first");
}

#[test]
fn r12_nothing_due_so_the_first_that_becomes_due_is_the_probe() {
    let mut profile = builtin::payments();
    profile.outage.delays = vec![secs(2_000); 3];
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(10), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(profile));
    for _ in 0..5 {
        world.post(1, false);
    }
    world.pass(secs(500));
    assert_eq!(world.made.len(), 5);
    world.post(1, false);
    assert!(world.made.last().is_some_and(|made| made.send.probe));
    world.pass(secs(1));
    assert_eq!(world.gate(APP).breaker, None);
}

#[test]
fn r17_a_profile_without_a_breaker_lets_go_of_what_it_held() {
    let mut world = opened(Answer::of(Outcome::Delivered), 20);
    for _ in 0..50 {
        world.post(1, false);
    }
    world.pass(secs(30));
    let before = world.made.len();
    world.change(1, |config| config.profile = Arc::new(builtin::svix()));
    world.pass(secs(1));
    let first = world.made.len() - before;
    assert!((1..=3).contains(&first), "{first}");
    world.pass(secs(60));
    assert!(world.stored[&EndpointNo(1)].waiting.is_empty());
    assert_eq!(world.gate(APP).breaker, None);
}
