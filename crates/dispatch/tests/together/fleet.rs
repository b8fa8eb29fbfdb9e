//! R27: our own network fails.

use std::sync::Arc;

use gonets_core::{ids::EndpointNo, notice::NoticeKind, outcome::Outcome, profile::builtin};

use crate::world::{Answer, World, secs};

/// Endpoints at hosts of their own that answer well, but for those that fall between two instants.
fn hosts(number: u32, falls: impl Fn(u32) -> bool + 'static, from: u64, to: u64) -> World {
    let mut world = World::new(move |send, now| {
        let since = now.since(crate::world::BEGIN);
        let down = falls(send.endpoint.0) && since >= secs(from) && since < secs(to);
        if down { Answer::unreached() } else { Answer::of(Outcome::Delivered) }
    });
    for n in 0..number {
        world.endpoint(n, n, &Arc::new(builtin::payments()));
    }
    world
}

/// A message for every endpoint in turn, one each 100 ms.
fn traffic(world: &mut World, number: u32, seconds: u64) {
    for n in 0..seconds * 10 {
        world.post(n as u32 % number, false);
        world.pass(secs(1) / 10);
    }
}

#[test]
fn r27_when_all_hosts_fail_at_once_nothing_is_spent_and_nobody_is_told_but_of_that() {
    let mut world = hosts(25, |_| true, 30, 150);
    traffic(&mut world, 25, 150);
    assert!(world.shard.sending_paused_since().is_some());
    let spent = |world: &World| world.records.iter().filter(|(_, record)| record.progress.outage > 0).count();
    assert_eq!(spent(&world), 0);
    let canaries = world.made_between(secs(60), secs(150));
    assert!((10..=20).contains(&canaries.len()), "{}", canaries.len());
    let tried: std::collections::BTreeSet<_> = canaries.iter().map(|made| made.send.endpoint).collect();
    assert!(tried.len() >= 9, "over different hosts: {}", tried.len());
    world.pass(secs(10));
    assert!(world.shard.sending_paused_since().is_none(), "it goes on within ten seconds");
    world.pass(secs(300));
    assert_eq!(spent(&world), 0);
    let kinds: Vec<_> = world.notices.iter().map(|notice| notice.kind).collect();
    assert_eq!(kinds, [NoticeKind::SendingPaused, NoticeKind::SendingResumed]);
    assert!(world.writes.is_empty(), "no breaker, no health, no pause: {:?}", world.writes);
    assert!(world.stored.values().all(|stored| stored.waiting.is_empty()));
}

#[test]
fn r27_no_canary_goes_where_a_breaker_is_open() {
    let mut world = hosts(25, |_| true, 30, 150);
    let well = std::mem::replace(&mut world.peer, Box::new(|_, _| Answer::of(Outcome::Unavailable)));
    for _ in 0..5 {
        world.post(7, false);
    }
    world.pass(secs(10));
    assert_eq!(world.count(NoticeKind::BreakerOpened), 1);
    world.peer = well;
    traffic(&mut world, 25, 130);
    let canaries = world.made_between(secs(45), secs(140));
    assert!(canaries.len() >= 10 && canaries.iter().all(|made| made.send.endpoint != EndpointNo(7)));
}

#[test]
fn r27_after_the_pause_nothing_bursts() {
    let mut world = hosts(25, |_| true, 30, 150);
    traffic(&mut world, 25, 150);
    world.pass(secs(10));
    let resumed =
        world.notices.iter().find(|n| n.kind == NoticeKind::SendingResumed).expect("it was told").at;
    for n in 0..25 {
        let of_lane = world.made.iter().filter(|made| {
            made.send.endpoint == EndpointNo(n) && made.at >= resumed && made.at.since(resumed) < secs(1)
        });
        assert!(of_lane.count() <= 3);
    }
}

#[test]
fn r27_one_host_among_thirty_is_its_own_trouble() {
    let mut world = hosts(30, |n| n == 3, 30, 10_000);
    traffic(&mut world, 30, 120);
    assert!(world.shard.sending_paused_since().is_none());
    assert_eq!(world.count(NoticeKind::SendingPaused), 0);
    let spent = world.records.iter().filter(|(_, record)| record.progress.outage > 0).count();
    assert!(spent >= 4, "it is judged, if a moment later: {spent}");
    assert_eq!(world.count(NoticeKind::BreakerOpened), 1);
}

#[test]
fn r27_a_suspect_is_judged_as_it_was_when_it_failed() {
    let mut world = hosts(30, |n| n == 3, 30, 32);
    traffic(&mut world, 30, 60);
    let (_, record) = world.records.iter().find(|(_, r)| r.progress.outage == 1).expect("one failed");
    let failed = world.made.iter().find(|made| made.send.id == record.send).expect("it was made");
    let gonets_dispatch::effect::Then::Again { due, .. } = record.then else { panic!("it goes on") };
    assert_eq!(due.since(failed.at).as_millis(), 1_020);
}

/// Thirty hosts that answered lately, and a failure at host 3 a moment ago; when it was judged.
fn suspect(then: impl FnOnce(&mut World)) -> Option<std::time::Duration> {
    let mut world = hosts(30, |n| n == 3, 30, 31);
    traffic(&mut world, 30, 29);
    world.pass(secs(2) - secs(1));
    let failed = world.post(3, false);
    world.pass(secs(1) / 20);
    let ended = world.now;
    then(&mut world);
    world.pass(secs(14) - world.now.since(ended));
    let judged = world.records.iter().find(|(_, record)| record.message == failed);
    judged.map(|(at, _)| at.since(ended))
}

#[test]
fn r27_a_suspect_waits_for_another_host_that_answers_what_was_sent_after_it_failed() {
    assert_eq!(suspect(|_| {}), None, "nobody says anything");
    let other = suspect(|world| {
        world.pass(secs(3));
        world.post(5, false);
    });
    assert_eq!(other, Some(secs(3) + secs(1) / 50));
    let same_host = suspect(|world| {
        world.pass(secs(3));
        world.post(3, false);
    });
    assert_eq!(same_host, None);
}

#[test]
fn r27_an_answer_to_what_was_sent_before_says_nothing() {
    let mut world = hosts(30, |n| n == 3, 30, 31);
    traffic(&mut world, 30, 29);
    world.pass(secs(1) - secs(1) / 100);
    let well =
        std::mem::replace(&mut world.peer, Box::new(|_, _| Answer::of(Outcome::Delivered).after(secs(2))));
    world.post(5, false);
    world.peer = well;
    world.pass(secs(1) / 100);
    let failed = world.post(3, false);
    world.pass(secs(5));
    assert!(world.records.iter().all(|(_, record)| record.message != failed));
    world.pass(secs(11));
    assert!(world.records.iter().any(|(_, record)| record.message == failed), "but not for ever");
}

#[test]
fn r27_a_retry_by_hand_goes_while_sending_pauses() {
    let mut world = hosts(25, |_| true, 30, 150);
    traffic(&mut world, 25, 60);
    assert!(world.shard.sending_paused_since().is_some());
    let message = *world.stored[&EndpointNo(4)].waiting.keys().next().expect("some wait");
    let before = world.made.len();
    world.retry_by_hand(4, message);
    assert_eq!(world.made.len(), before + 1);
}

#[test]
fn r27_shutting_down_leaves_no_judgement_behind() {
    let mut world = hosts(30, |n| n == 3, 30, 10_000);
    traffic(&mut world, 30, 30);
    world.post(3, false);
    world.pass(secs(1) / 20);
    let before = world.records.len();
    world.step(vec![gonets_dispatch::input::Input::Drain]);
    assert_eq!(world.records.len(), before + 1);
    assert_eq!(world.shard.in_flight(), 0);
}
