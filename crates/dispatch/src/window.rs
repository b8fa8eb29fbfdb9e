//! What of a lane is in memory: a bounded head of what the store holds.
//!
//! # The races it closes
//! A window is read from a snapshot that may be older than what has happened since. So a key stays
//! *known* from the moment it is in memory until the record of its outcome is durable, and a key
//! that was settled while a read was under way is remembered until that read is back. A window is
//! always read from the head, never from a cursor. New arrivals enter memory only when nothing of
//! the lane is left in the store; else the lane is marked as having more there, and they come with
//! a later window, in order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use gonets_core::{ids::MessageId, progress::Progress, time::Timestamp};

use crate::{
    effect::Source,
    input::{Arrival, HandItem, Window as Loaded},
};

/// A delivery ready to be tried: critical first, then by due time, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    later: bool,
    due: Timestamp,
    message: MessageId,
}

/// A delivery taken out to be tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) message: MessageId,
    pub(crate) source: Source,
    pub(crate) critical: bool,
    pub(crate) kind: u32,
    pub(crate) progress: Progress,
}

#[derive(Debug, Clone, Copy)]
enum Known {
    Ready {
        source: Source,
        turn: Turn,
        kind: u32,
        progress: Progress,
    },
    /// Being tried, or its record not yet durable.
    Busy,
}

/// What to ask the store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) fresh: u32,
    pub(crate) due: u32,
    pub(crate) by_hand: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Window {
    known: HashMap<MessageId, Known>,
    ready: BTreeSet<Turn>,
    /// Retries by hand: waiting, or `None` while under way.
    by_hand: BTreeMap<MessageId, Option<HandItem>>,
    /// The store has never-tried rows that are not known.
    fresh_left: bool,
    hand_left: bool,
    /// When the first waiting row of the store that is not known is due.
    next_due: Option<Timestamp>,
    loading: Option<Loading>,
}

/// What happened while a read was under way.
#[derive(Debug)]
struct Loading {
    wish: Wish,
    settled: HashSet<MessageId>,
    fresh_arrived: bool,
    hand_arrived: bool,
    due_arrived: Option<Timestamp>,
    /// What it brings may have ended since.
    stale: bool,
}

impl Window {
    /// The lane has rows in the store that memory does not know of. What is learned while a read is
    /// under way is not in it, and outlives it.
    pub(crate) fn backlog(&mut self, fresh: bool, by_hand: bool, next_due: Option<Timestamp>) {
        self.fresh_left |= fresh;
        self.hand_left |= by_hand;
        self.next_due = earlier(self.next_due, next_due);
        if let Some(loading) = &mut self.loading {
            loading.fresh_arrived |= fresh;
            loading.hand_arrived |= by_hand;
            loading.due_arrived = earlier(loading.due_arrived, next_due);
        }
    }

    pub(crate) fn arrived(&mut self, arrival: &Arrival, bound: usize, now: Timestamp) {
        if arrival.due.is_some() {
            self.backlog(false, false, arrival.due);
        } else if self.loading.is_some() || self.fresh_left || self.known.len() >= bound {
            self.backlog(true, false, None);
        } else {
            let turn = Turn { later: !arrival.critical, due: now, message: arrival.message };
            self.make_ready(Source::Fresh, turn, arrival.kind, Progress::default());
        }
    }

    /// What to read now, if anything; the read counts as begun.
    pub(crate) fn wish(&mut self, now: Timestamp, bound: usize) -> Option<Wish> {
        if self.loading.is_some() {
            return None;
        }
        let room = self.ready.len() < bound / 4;
        let bound = u32::try_from(bound).unwrap_or(u32::MAX);
        let known = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let wish = Wish {
            fresh: if self.fresh_left && room { bound + known } else { 0 },
            due: if self.next_due.is_some_and(|due| due <= now) && room { bound + known } else { 0 },
            by_hand: if self.hand_left && self.by_hand.len() < bound as usize / 4 {
                bound + u32::try_from(self.by_hand.len()).unwrap_or(u32::MAX / 2)
            } else {
                0
            },
        };
        if wish.fresh == 0 && wish.due == 0 && wish.by_hand == 0 {
            return None;
        }
        self.loading = Some(Loading {
            wish,
            settled: HashSet::new(),
            fresh_arrived: false,
            hand_arrived: false,
            due_arrived: None,
            stale: false,
        });
        Some(wish)
    }

    pub(crate) fn loaded(&mut self, window: Loaded, now: Timestamp) {
        let Some(loading) = self.loading.take() else { return };
        if loading.stale {
            // Everything that it was to answer is marked again.
            return;
        }
        let wish = loading.wish;
        if wish.fresh > 0 {
            self.fresh_left = !window.fresh_end;
            for row in window.fresh {
                let turn = Turn { later: !row.critical, due: now, message: row.message };
                self.offer(&loading, Source::Fresh, turn, row.kind, Progress::default());
            }
        }
        self.fresh_left |= loading.fresh_arrived;
        if wish.due > 0 {
            self.next_due = window.next_due;
            for row in window.due {
                let turn = Turn { later: !row.critical, due: row.due, message: row.message };
                self.offer(&loading, Source::Waiting, turn, row.kind, row.progress);
            }
        }
        self.next_due = earlier(self.next_due, loading.due_arrived);
        if wish.by_hand > 0 {
            self.hand_left = !window.hand_end || loading.hand_arrived;
            for item in window.by_hand {
                if !loading.settled.contains(&item.message) {
                    self.by_hand.entry(item.message).or_insert(Some(item));
                }
            }
        }
    }

    /// The read failed: everything it was to answer is still open.
    pub(crate) fn not_loaded(&mut self) {
        self.loading = None;
    }

    /// The record of an attempt is durable; with `next_due` the delivery waits in the store.
    pub(crate) fn durable(&mut self, message: MessageId, by_hand: bool, next_due: Option<Timestamp>) {
        if let Some(loading) = &mut self.loading {
            loading.settled.insert(message);
        }
        if by_hand {
            self.by_hand.remove(&message);
            // A ladder's attempt of the same delivery was passed over meanwhile.
            self.backlog(true, false, Some(Timestamp::from_millis(0)));
        } else {
            self.known.remove(&message);
        }
        self.backlog(false, false, next_due);
    }

    /// Rows were ended in the store: what is not under way is forgotten and read again.
    pub(crate) fn read_again(&mut self, now: Timestamp) {
        for turn in std::mem::take(&mut self.ready) {
            self.known.remove(&turn.message);
        }
        self.by_hand.retain(|_, item| item.is_none());
        self.backlog(true, true, Some(now));
        // What a read under way brings may have ended since.
        if let Some(loading) = &mut self.loading {
            loading.stale = true;
        }
    }

    /// A retry by hand that was interrupted on our side: it is tried again.
    pub(crate) fn by_hand_again(&mut self, item: HandItem) {
        self.by_hand.insert(item.message, Some(item));
    }

    /// Whether an attempt of the delivery is under way, or its record not yet durable.
    pub(crate) fn is_busy(&self, message: MessageId) -> bool {
        matches!(self.known.get(&message), Some(Known::Busy))
            || matches!(self.by_hand.get(&message), Some(None))
    }

    /// Attempts under way or not yet durably recorded. A store that stalls must not let a quick
    /// lane run ahead of it without bound.
    pub(crate) fn unrecorded(&self) -> usize {
        self.known.len() - self.ready.len()
    }

    pub(crate) fn has_by_hand(&self) -> bool {
        self.by_hand
            .iter()
            .any(|(message, item)| item.is_some() && !matches!(self.known.get(message), Some(Known::Busy)))
    }

    /// The next retry by hand; it is busy from now on.
    pub(crate) fn next_by_hand(&mut self) -> Option<Item> {
        let (message, item) = self.by_hand.iter().find_map(|(message, item)| {
            let item = (*item)?;
            (!matches!(self.known.get(message), Some(Known::Busy))).then_some((*message, item))
        })?;
        self.by_hand.insert(message, None);
        if let Some(Known::Ready { turn, .. }) = self.known.remove(&message) {
            self.ready.remove(&turn);
        }
        Some(Item {
            message,
            source: Source::Hand,
            critical: item.critical,
            kind: item.kind,
            progress: Progress {
                attempts: item.attempts,
                interrupted: item.interrupted,
                ..Progress::default()
            },
        })
    }

    /// Whether something could be tried now, if nothing held the lane.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The next delivery in turn; it is busy from now on.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let turn = self.ready.pop_first()?;
        let known = self.known.insert(turn.message, Known::Busy)?;
        match known {
            Known::Ready { source, kind, progress, .. } => {
                Some(Item { message: turn.message, source, critical: !turn.later, kind, progress })
            }
            Known::Busy => None,
        }
    }

    /// When to look for due rows next.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    fn offer(&mut self, loading: &Loading, source: Source, turn: Turn, kind: u32, progress: Progress) {
        if loading.settled.contains(&turn.message) || self.by_hand.contains_key(&turn.message) {
            return;
        }
        if !self.known.contains_key(&turn.message) {
            self.make_ready(source, turn, kind, progress);
        }
    }

    fn make_ready(&mut self, source: Source, turn: Turn, kind: u32, progress: Progress) {
        self.ready.insert(turn);
        self.known.insert(turn.message, Known::Ready { source, turn, kind, progress });
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use gonets_core::ids::EndpointNo;

    use super::*;
    use crate::input::{DueItem, FreshItem};

    const BOUND: usize = 8;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    fn arrival(message: u64, due: Option<Timestamp>) -> Arrival {
        Arrival { endpoint: EndpointNo(1), message: MessageId(message), critical: false, kind: 0, due }
    }

    fn hand(message: u64) -> HandItem {
        HandItem { message: MessageId(message), critical: false, kind: 0, attempts: 1, interrupted: 0 }
    }

    /// A window with a read of everything under way.
    fn reading() -> Window {
        let mut window = Window::default();
        window.backlog(true, true, Some(at(0)));
        assert!(window.wish(at(0), BOUND).is_some());
        window
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
        window.arrived(&arrival(5, Some(at(500))), BOUND, at(1));
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
            kind: 0,
            due: at(0),
            progress: Progress::default(),
        };
        window.loaded(Loaded { by_hand: vec![hand(3)], due: vec![due], ..nothing() }, at(0));
        assert_eq!(window.next_by_hand().map(|item| item.message), Some(MessageId(3)));
        assert!(window.next().is_none(), "one attempt of a delivery at a time");
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
        window.arrived(&arrival(1, None), BOUND, at(0));
        window.next();
        window.backlog(true, false, None);
        window.wish(at(0), BOUND);
        window.durable(MessageId(1), false, None);
        let stale = FreshItem { message: MessageId(1), critical: false, kind: 0 };
        window.loaded(Loaded { fresh: vec![stale], ..nothing() }, at(0));
        assert!(window.next().is_none());
    }
}
