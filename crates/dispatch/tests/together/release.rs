//! R15: what was held comes back gently.

use std::sync::Arc;

use gonets_core::{ids::EndpointNo, outcome::Outcome, profile::builtin};

use crate::world::{Answer, World, secs, turning};

/// Ten endpoints of one application behind one breaker that closes at its first probe.
fn closed_again(each: usize) -> World {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(10), Answer::of(Outcome::Delivered)));
    for n in 1..=10 {
        world.endpoint(n, 1, &Arc::new(builtin::payments()));
    }
    for n in 0..10 * each {
        world.post(1 + n as u32 % 10, n % 50 == 49);
    }
    while !world.made.iter().any(|made| made.send.probe) {
        world.pass(secs(1));
    }
    world
}

#[test]
fn r15_an_applications_lanes_come_back_at_one_pace() {
    let mut world = closed_again(50);
    let probe = world.made.iter().find(|made| made.send.probe).expect("there was one").at;
    world.pass(secs(30));
    let mut seconds = [0; 5];
    for made in &world.made {
        let after = made.at.since(probe).as_secs() as usize;
        if made.at > probe && after < 5 {
            seconds[after] += 1;
        }
    }
    assert!(seconds[0] <= 2, "{seconds:?}");
    assert!(seconds.is_sorted() && seconds[4] <= 32 && seconds[4] >= 8, "{seconds:?}");
    assert!((1..=10).all(|n| world.stored[&EndpointNo(n)].waiting.is_empty()));
}

#[test]
fn r15_over_all_lanes_critical_ones_go_first_then_the_oldest() {
    let mut world = closed_again(30);
    let begun = world.made.iter().position(|made| made.send.probe).expect("there was one") + 1;
    let ranks: Vec<_> = world
        .stored
        .values()
        .flat_map(|stored| stored.waiting.iter().map(|(message, row)| (!row.critical, *message)))
        .collect();
    world.pass(secs(60));
    let of = |message| ranks.iter().find(|(_, other)| *other == message).copied();
    let order: Vec<_> = world.made[begun..].iter().filter_map(|made| of(made.send.message)).collect();
    assert_eq!(order.len(), ranks.len());
    // Until the rate holds nothing back any more and every lane goes by itself.
    assert!(order[..200].is_sorted());
}

#[test]
fn r15_live_traffic_has_its_share_of_a_release() {
    let mut world = closed_again(200);
    let released = world.made.len();
    let mut live = Vec::new();
    for _ in 0..40 {
        live.push(world.post(3, false));
        world.pass(secs(1) / 10);
    }
    let made = &world.made[released..];
    let of_live = made.iter().filter(|made| live.contains(&made.send.message)).count();
    assert!(made.len() >= 8, "{}", made.len());
    assert!(of_live * 3 >= made.len(), "{of_live} of {}", made.len());
    assert!(of_live * 3 <= made.len() * 2 + 3, "{of_live} of {}", made.len());
}

#[test]
fn r15_a_release_that_meets_an_outage_slows_down_and_the_breaker_opens_again() {
    let mut world = closed_again(100);
    world.pass(secs(3));
    world.peer = Box::new(|_, _| Answer::of(Outcome::Unavailable));
    world.pass(secs(5));
    let before = world.made.len();
    world.pass(secs(20));
    assert!(world.made.len() - before <= 21, "{}", world.made.len() - before);
    world.pass(secs(60));
    assert_eq!(world.count(gonets_core::notice::NoticeKind::BreakerOpened), 2);
}

#[test]
fn r15_a_release_never_goes_above_the_endpoints_own_rate() {
    let mut world =
        World::new(turning(Answer::of(Outcome::Unavailable), secs(10), Answer::of(Outcome::Delivered)));
    world.endpoint(1, 1, &Arc::new(builtin::payments()));
    world.change(1, |config| config.throttle_rate = Some(5));
    for _ in 0..400 {
        world.post(1, false);
    }
    world.pass(secs(330));
    for second in 311..330 {
        let made = world.made_between(secs(second), secs(second + 1)).len();
        assert!(made <= 6, "{made}");
    }
}
