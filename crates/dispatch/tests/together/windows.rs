//! R22, R23: a bounded window in memory, critical first.

use std::sync::Arc;

use gonets_core::{ids::EndpointNo, outcome::Outcome, profile::builtin};

use crate::world::{Answer, World, secs};

#[test]
fn r22_a_critical_message_does_not_wait_behind_a_full_window() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Delivered).after(secs(2)));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    for _ in 0..1_000 {
        world.post(1, false);
    }
    let critical: Vec<_> = (0..400).map(|_| world.post(1, true)).collect();
    let before = world.made.len();
    while !world.stored[&EndpointNo(1)].waiting.is_empty() {
        world.pass(secs(10));
    }
    let next: Vec<_> = world.made[before..before + 400].iter().map(|made| made.send.message).collect();
    let odd = next.iter().zip(&critical).position(|(one, other)| one != other);
    assert_eq!(odd, None, "something else went before");
}

#[test]
fn r22_a_critical_retry_that_comes_due_is_first_among_what_is_due() {
    let mut critical = None;
    let mut failed = false;
    let mut world = World::new(move |send, _| {
        let first = *critical.get_or_insert(send.message);
        if send.message == first && !failed {
            failed = true;
            return Answer::of(Outcome::Unavailable);
        }
        Answer::of(Outcome::Delivered).after(secs(2))
    });
    let mut profile = builtin::payments();
    profile.breaker = None;
    world.endpoint(1, 1, &Arc::new(profile));
    let critical = world.post(1, true);
    for _ in 0..1_000 {
        world.post(1, false);
    }
    world.pass(secs(4));
    let again: Vec<_> = world.made.iter().filter(|made| made.send.message == critical).collect();
    assert_eq!(again.len(), 2);
    assert!(world.made.len() < 60, "while the others still wait: {}", world.made.len());
}

#[test]
fn r23_a_backlog_that_is_held_leaves_memory_bounded_and_comes_out_whole() {
    let mut world = World::new(|_, _| Answer::of(Outcome::Delivered));
    world.endpoint(1, 1, &Arc::new(builtin::standard()));
    world.change(1, |config| config.frozen = true);
    for n in 0..3_000 {
        world.post(1, n % 7 == 0);
    }
    world.change(1, |config| config.frozen = false);
    world.pass(secs(600));
    assert_eq!(world.made.len(), 3_000);
    let critical = 3_000 / 7 + 1;
    let first: Vec<_> = world.made[..critical].iter().map(|made| made.send.message).collect();
    let odd = first.windows(2).position(|pair| pair[0] > pair[1]);
    assert_eq!(odd, None);
}
