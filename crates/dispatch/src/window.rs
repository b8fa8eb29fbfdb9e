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
    pub(crate) progress: Progress,
}

#[derive(Debug, Clone, Copy)]
enum Known {
    Ready {
        source: Source,
        turn: Turn,
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
    by_hand: BTreeMap<MessageId, Option<HandItem>>,
    /// The store has never-tried rows that are not known.
    fresh_left: bool,
    hand_left: bool,
    /// When the first waiting row of the store that is not known is due.
    next_due: Option<Timestamp>,
    loading: Option<Loading>,
}

/// What happened while a read was under way.
#[derive(Debug, Default)]
struct Loading {
    wish: Option<Wish>,
    settled: HashSet<MessageId>,
    fresh_arrived: bool,
    hand_arrived: bool,
    due_arrived: Option<Timestamp>,
}

impl Window {
    /// The lane has rows in the store that memory does not know of.
    pub(crate) fn backlog(&mut self, fresh: bool, by_hand: bool, next_due: Option<Timestamp>) {
        self.fresh_left |= fresh;
        self.hand_left |= by_hand;
        self.due_at(next_due);
    }

    pub(crate) fn arrived(&mut self, arrival: &Arrival, bound: usize, now: Timestamp) {
        if let Some(due) = arrival.due {
            self.due_at(Some(due));
            return;
        }
        if let Some(loading) = &mut self.loading {
            loading.fresh_arrived = true;
        } else if self.fresh_left || self.known.len() >= bound {
            self.fresh_left = true;
        } else {
            let turn = Turn { later: !arrival.critical, due: now, message: arrival.message };
            self.make_ready(Source::Fresh, turn, Progress::default());
        }
    }

    pub(crate) fn by_hand(&mut self, item: HandItem) {
        if let Some(loading) = &mut self.loading {
            loading.hand_arrived = true;
        }
        self.by_hand.entry(item.message).or_insert(Some(item));
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
            by_hand: if self.hand_left { bound } else { 0 },
        };
        if wish.fresh == 0 && wish.due == 0 && wish.by_hand == 0 {
            return None;
        }
        self.loading = Some(Loading { wish: Some(wish), ..Loading::default() });
        Some(wish)
    }

    pub(crate) fn loaded(&mut self, window: Loaded, now: Timestamp) {
        let Some(loading) = self.loading.take() else { return };
        let wish = loading.wish.unwrap_or(Wish { fresh: 0, due: 0, by_hand: 0 });
        if wish.fresh > 0 {
            self.fresh_left = !window.fresh_end;
            for row in window.fresh {
                let turn = Turn { later: !row.critical, due: now, message: row.message };
                self.offer(&loading, Source::Fresh, turn, Progress::default());
            }
        }
        self.fresh_left |= loading.fresh_arrived;
        if wish.due > 0 {
            self.next_due = window.next_due;
            for row in window.due {
                let turn = Turn { later: !row.critical, due: row.due, message: row.message };
                self.offer(&loading, Source::Waiting, turn, row.progress);
            }
        }
        self.due_at(loading.due_arrived);
        if wish.by_hand > 0 {
            self.hand_left = loading.hand_arrived;
            for item in window.by_hand {
                if !loading.settled.contains(&item.message) {
                    self.by_hand.entry(item.message).or_insert(Some(item));
                }
            }
        }
    }

    /// The read failed: everything it was to answer is still open.
    pub(crate) fn not_loaded(&mut self) {
        if let Some(loading) = self.loading.take() {
            self.fresh_left |= loading.fresh_arrived;
            self.hand_left |= loading.hand_arrived;
            self.due_at(loading.due_arrived);
        }
    }

    /// The record of an attempt is durable; with `next_due` the delivery waits in the store.
    pub(crate) fn durable(&mut self, message: MessageId, by_hand: bool, next_due: Option<Timestamp>) {
        if let Some(loading) = &mut self.loading {
            loading.settled.insert(message);
            if let Some(due) = next_due {
                loading.due_arrived = Some(loading.due_arrived.map_or(due, |other| other.min(due)));
            }
        }
        if by_hand {
            self.by_hand.remove(&message);
            // A ladder's attempt of the same delivery may have been passed over meanwhile.
            self.fresh_left = true;
            self.due_at(Some(Timestamp::from_millis(0)));
        } else {
            self.known.remove(&message);
        }
        self.due_at(next_due);
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
            progress: Progress { attempts: item.attempts, ..Progress::default() },
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
            Known::Ready { source, progress, .. } => {
                Some(Item { message: turn.message, source, critical: !turn.later, progress })
            }
            Known::Busy => None,
        }
    }

    /// When to look for due rows next.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    fn offer(&mut self, loading: &Loading, source: Source, turn: Turn, progress: Progress) {
        if loading.settled.contains(&turn.message) || self.by_hand.contains_key(&turn.message) {
            return;
        }
        if !self.known.contains_key(&turn.message) {
            self.make_ready(source, turn, progress);
        }
    }

    fn make_ready(&mut self, source: Source, turn: Turn, progress: Progress) {
        self.ready.insert(turn);
        self.known.insert(turn.message, Known::Ready { source, turn, progress });
    }

    fn due_at(&mut self, due: Option<Timestamp>) {
        if let Some(due) = due {
            self.next_due = Some(self.next_due.map_or(due, |earlier| earlier.min(due)));
        }
    }
}
