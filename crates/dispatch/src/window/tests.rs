//! The races of a window.

use gonets_core::ids::EndpointNo;

use super::*;
use crate::input::{DueItem, FreshItem, OrderedItem};

const BOUND: usize = 8;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + millis)
}

fn arrival(message: u64, due: Option<Timestamp>) -> Arrival {
    Arrival { endpoint: EndpointNo(1), message: MessageId(message), critical: false, kind: 1, due }
}

fn hand(message: u64) -> HandItem {
    HandItem { message: MessageId(message), critical: false, kind: 1, attempts: 1, interrupted: 0 }
}

/// A window with a read of everything under way.
fn reading() -> Window {
    let mut window = Window::default();
    window.backlog(true, true, Some(at(0)));
    assert!(window.wish(at(0), BOUND).is_some());
    window
}

/// The next delivery in turn.
fn next(window: &mut Window) -> Option<Item> {
    let turn = window.first(None)?;
    window.take(turn)
}

fn nothing() -> Loaded {
    Loaded { fresh_end: true, hand_end: true, ..Loaded::default() }
}

#[test]
fn a_retry_by_hand_that_came_during_a_read_is_read_for_again() {
    let mut window = reading();
    window.backlog(false, true, None);
    window.loaded(nothing(), at(1));
    assert!(window.wish(at(1), BOUND).is_some_and(|wish| wish.by_hand > 0 && wish.fresh == 0));
}

#[test]
fn messages_routed_late_during_a_read_are_read_for_again() {
    let mut window = reading();
    window.backlog(true, false, None);
    window.loaded(nothing(), at(1));
    assert!(window.wish(at(1), BOUND).is_some_and(|wish| wish.fresh > 0));
}

#[test]
fn a_message_for_later_that_came_during_a_read_keeps_its_time() {
    let mut window = reading();
    window.arrived(&arrival(5, Some(at(500))), BOUND, false);
    window.loaded(nothing(), at(1));
    assert_eq!(window.next_due(), Some(at(500)));
}

#[test]
fn a_scheduled_attempt_passed_over_for_a_retry_by_hand_comes_back_after_it() {
    let mut window = Window::default();
    window.backlog(false, true, Some(at(0)));
    window.wish(at(0), BOUND);
    let due = DueItem {
        message: MessageId(3),
        critical: false,
        kind: 1,
        due: at(0),
        progress: Progress::default(),
    };
    window.loaded(Loaded { by_hand: vec![hand(3)], due: vec![due], ..nothing() }, at(0));
    assert_eq!(window.next_by_hand().map(|item| item.message), Some(MessageId(3)));
    assert!(next(&mut window).is_none(), "one attempt of a delivery at a time");
    window.backlog(true, false, None);
    window.wish(at(1), BOUND);
    window.durable(MessageId(3), true, None);
    window.loaded(nothing(), at(1));
    assert!(window.wish(at(2), BOUND).is_some_and(|wish| wish.due > 0 && wish.fresh > 0));
}

#[test]
fn more_retries_by_hand_than_one_read_brings_all_come() {
    let mut window = Window::default();
    window.backlog(false, true, None);
    let mut stored: BTreeSet<u64> = (0..100).collect();
    let mut tried = 0;
    while let Some(wish) = window.wish(at(0), BOUND) {
        let by_hand: Vec<_> = stored.iter().take(wish.by_hand as usize).map(|id| hand(*id)).collect();
        let hand_end = by_hand.len() < wish.by_hand as usize;
        window.loaded(Loaded { by_hand, hand_end, ..nothing() }, at(0));
        while let Some(item) = window.next_by_hand() {
            stored.remove(&item.message.0);
            window.durable(item.message, true, None);
            tried += 1;
        }
    }
    assert_eq!(tried, 100);
}

#[test]
fn a_row_that_was_settled_while_an_older_snapshot_was_read_is_not_tried_again() {
    let mut window = Window::default();
    window.arrived(&arrival(1, None), BOUND, false);
    next(&mut window);
    window.backlog(true, false, None);
    window.wish(at(0), BOUND);
    window.durable(MessageId(1), false, None);
    let stale = FreshItem { message: MessageId(1), critical: false, kind: 1 };
    window.loaded(Loaded { fresh: vec![stale], ..nothing() }, at(0));
    assert!(next(&mut window).is_none());
}

#[test]
fn what_was_ended_while_it_was_read_is_not_tried() {
    let mut window = reading();
    window.ended();
    let ended = FreshItem { message: MessageId(1), critical: false, kind: 1 };
    window.loaded(Loaded { fresh: vec![ended], ..nothing() }, at(1));
    assert!(next(&mut window).is_none());
    assert!(window.wish(at(1), BOUND).is_some_and(|wish| wish.fresh > 0 && wish.due > 0 && wish.by_hand > 0));
}

#[test]
fn r24_a_newcomer_does_not_pass_a_head_that_is_tried_by_hand() {
    let mut window = Window::default();
    window.arrived_in_order(&arrival(1, None));
    window.backlog(false, true, None);
    assert!(window.wish_in_order(at(0), BOUND).is_some_and(|wish| wish.by_hand > 0 && wish.in_order == 0));
    window.loaded(Loaded { by_hand: vec![hand(1)], ..nothing() }, at(0));
    assert_eq!(window.next_by_hand().map(|item| item.message), Some(MessageId(1)));
    window.arrived_in_order(&arrival(2, None));
    assert!(next(&mut window).is_none());
}

#[test]
fn r22_memory_stays_bounded_however_many_critical_ones_come() {
    let mut window = Window::default();
    for message in 0..1_000 {
        let critical = Arrival { critical: message % 2 == 0, ..arrival(message, None) };
        window.arrived(&critical, BOUND, critical.critical);
    }
    assert!(window.known.len() <= 2 * BOUND);
}

#[test]
fn r09_a_retry_by_hand_outlives_an_attempt_in_turn_that_ends_while_it_is_read() {
    let mut window = Window::default();
    window.arrived(&arrival(1, None), BOUND, false);
    next(&mut window);
    window.backlog(false, true, None);
    window.wish(at(0), BOUND);
    window.durable(MessageId(1), false, None);
    window.loaded(Loaded { by_hand: vec![hand(1)], ..nothing() }, at(1));
    assert_eq!(window.next_by_hand().map(|item| item.message), Some(MessageId(1)));
}

#[test]
fn r24_a_head_that_is_settled_while_it_is_read_is_read_again() {
    let mut window = Window::default();
    window.backlog(true, true, None);
    assert!(window.wish_in_order(at(0), BOUND).is_some_and(|wish| wish.in_order > 0 && wish.by_hand > 0));
    window.durable(MessageId(1), true, None);
    let row =
        |message| OrderedItem::Fresh(FreshItem { message: MessageId(message), critical: false, kind: 1 });
    window.loaded(Loaded { in_order: vec![row(1), row(2)], ..nothing() }, at(1));
    assert!(next(&mut window).is_none(), "the retry by hand failed, so the head still waits");
    assert!(window.wish_in_order(at(1), BOUND).is_some_and(|wish| wish.in_order > 0));
}
