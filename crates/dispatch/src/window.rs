//! What of a lane is in memory: a bounded head of what the store holds.
//!
//! # The races it closes
//! A window is read from a snapshot that may be older than what has happened since. So a key stays
//! *known* from the moment it is in memory until the record of its outcome is durable, and a key
//! that was settled while a read was under way is remembered until that read is back. A window is
//! always read from the head, never from a cursor. New arrivals enter memory only when nothing of
//! the lane is left in the store; else the lane is marked as having more there, and they come with
//! a later window, in order.

use std::collections::{BTreeMap, BTreeSet};

use gonets_core::{ids::MessageId, progress::Progress, time::Timestamp};

use crate::{
    effect::Source,
    input::{Arrival, DueItem, FreshItem, HandItem, Window as Loaded},
    numbers::{ByNo, Numbers},
};

mod by_hand;
mod ordered;

/// Due times of critical deliveries that are remembered; the rest come when there is room.
const CRITICAL_DUES: usize = 64;

/// A delivery ready to be tried: critical first, then by age (R15, R22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub(crate) later: bool,
    pub(crate) message: MessageId,
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
    Ready(Ready),
    /// Being tried, or its record not yet durable.
    Busy {
        critical: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct Ready {
    source: Source,
    turn: Turn,
    kind: u32,
    progress: Progress,
}

/// What to ask the store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wish {
    pub(crate) fresh: u32,
    pub(crate) due: u32,
    pub(crate) by_hand: u32,
    pub(crate) in_order: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Window {
    known: ByNo<MessageId, Known>,
    ready: BTreeSet<Turn>,
    /// Retries by hand: waiting, or `None` while under way.
    by_hand: BTreeMap<MessageId, Option<HandItem>>,
    /// The store has never-tried rows that are not known.
    fresh_left: bool,
    hand_left: bool,
    /// When the first waiting row of the store that is not known is due.
    next_due: Option<Timestamp>,
    /// Never-tried critical ones came while memory had no room for them.
    critical_left: bool,
    /// When critical ones are due, as far as memory saw them go; they are read although it is full.
    critical_dues: BTreeSet<Timestamp>,
    /// In strict order (R24): the store has rows that are not known.
    order_left: bool,
    /// In strict order: the head, as it was last read.
    head: Option<MessageId>,
    /// In strict order: when the head, or something before it, is due.
    head_due: Option<Timestamp>,
    loading: Option<Loading>,
}

/// What happened while a read was under way.
#[derive(Debug, Default)]
struct Loading {
    wish: Wish,
    settled: Numbers<MessageId>,
    /// Of those, retries by hand. That an attempt in turn was settled does not end a retry by hand.
    settled_by_hand: Numbers<MessageId>,
    fresh_arrived: bool,
    hand_arrived: bool,
    due_arrived: Option<Timestamp>,
    /// Memory has room for nothing else.
    critical_only: bool,
    /// Rows were ended in the store meanwhile: what comes back is not to be trusted.
    void: bool,
}

impl Window {
    /// The lane has rows in the store that memory does not know of. What is learned while a read is
    /// under way is not in it, and outlives it.
    pub(crate) fn backlog(&mut self, fresh: bool, by_hand: bool, next_due: Option<Timestamp>) {
        self.fresh_left |= fresh;
        self.order_left |= fresh || next_due.is_some();
        self.hand_left |= by_hand;
        self.next_due = earlier(self.next_due, next_due);
        if let Some(loading) = &mut self.loading {
            loading.fresh_arrived |= fresh;
            loading.hand_arrived |= by_hand;
            loading.due_arrived = earlier(loading.due_arrived, next_due);
        }
    }

    /// `early`: it may come into memory although older ones are in the store: a critical one is first
    /// among what is due (R22), and after a release live traffic has its share (R15).
    pub(crate) fn arrived(&mut self, arrival: &Arrival, bound: usize, early: bool) {
        let is_next = self.loading.is_none() && !self.fresh_left && self.known.len() < bound;
        if arrival.due.is_some() {
            self.backlog(false, false, arrival.due);
        } else if is_next || (early && self.known.len() < bound * 2) {
            self.make_ready(Ready {
                source: Source::Fresh,
                turn: Turn { later: !arrival.critical, message: arrival.message },
                kind: arrival.kind,
                progress: Progress::default(),
            });
        } else {
            self.critical_left |= arrival.critical;
            self.backlog(true, false, None);
        }
    }

    /// What to read now, if anything; the read counts as begun.
    pub(crate) fn wish(&mut self, now: Timestamp, bound: usize) -> Option<Wish> {
        if self.loading.is_some() {
            return None;
        }
        let room = self.ready.len() < bound / 4;
        let bound = u32::try_from(bound).unwrap_or(u32::MAX);
        let known = u32::try_from(self.known.len()).unwrap_or(u32::MAX / 2);
        // Nothing critical is in memory, but in the store: that is first among what is due (R22).
        let urgent = self.ready.first().is_none_or(|turn| turn.later);
        let is_due = |due: Option<&Timestamp>| due.is_some_and(|due| *due <= now);
        let fresh = self.fresh_left && (room || (urgent && self.critical_left));
        let due = (is_due(self.next_due.as_ref()) && room) || (urgent && is_due(self.critical_dues.first()));
        let wish = Wish {
            fresh: if fresh { bound + known } else { 0 },
            due: if due { bound + known } else { 0 },
            by_hand: self.wish_by_hand(bound),
            in_order: 0,
        };
        let wish = self.begin(wish)?;
        if let Some(loading) = &mut self.loading {
            loading.critical_only = !room;
        }
        if wish.fresh > 0 {
            self.critical_left = false;
        }
        Some(wish)
    }

    /// A read of what is wished for begins, if anything is.
    fn begin(&mut self, wish: Wish) -> Option<Wish> {
        if wish == Wish::default() {
            return None;
        }
        self.loading = Some(Loading { wish, ..Loading::default() });
        Some(wish)
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    pub(crate) fn loaded(&mut self, window: Loaded, now: Timestamp) {
        let Some(loading) = self.loading.take() else { return };
        let wish = loading.wish;
        if loading.void {
            return;
        }
        if wish.in_order > 0 {
            self.loaded_in_order(&loading, &window, now);
        }
        if wish.fresh > 0 {
            self.fresh_left = !window.fresh_end;
            self.critical_left |= self.fresh_left && window.fresh.last().is_some_and(|row| row.critical);
            for row in window.fresh {
                if row.critical || !loading.critical_only {
                    self.offer(&loading, fresh(&row));
                } else {
                    self.fresh_left = true;
                }
            }
        }
        self.fresh_left |= loading.fresh_arrived;
        if wish.due > 0 {
            self.next_due = window.next_due;
            self.critical_dues.retain(|due| *due > now);
            for row in window.due {
                if row.critical || !loading.critical_only {
                    self.offer(&loading, waiting(&row));
                } else {
                    self.next_due = earlier(self.next_due, Some(row.due));
                }
            }
        }
        self.next_due = earlier(self.next_due, loading.due_arrived);
        if wish.by_hand > 0 {
            self.hand_left = !window.hand_end || loading.hand_arrived;
            for item in window.by_hand {
                if !loading.settled_by_hand.contains(&item.message) {
                    self.by_hand.entry(item.message).or_insert(Some(item));
                }
            }
        }
    }

    /// The read failed: everything it was to answer is still open.
    pub(crate) fn not_loaded(&mut self) {
        if self.loading.take().is_some_and(|loading| loading.wish.fresh > 0) {
            self.critical_left = true;
        }
    }

    /// The record of an attempt is durable; with `next_due` the delivery waits in the store.
    pub(crate) fn durable(&mut self, message: MessageId, by_hand: bool, next_due: Option<Timestamp>) {
        if let Some(loading) = &mut self.loading {
            loading.settled.insert(message);
            if by_hand {
                loading.settled_by_hand.insert(message);
            }
        }
        if next_due.is_none() && !by_hand && self.head == Some(message) {
            self.head = None;
        }
        if by_hand {
            self.by_hand.remove(&message);
            self.head_due = None;
            // A ladder's attempt of the same delivery was passed over meanwhile.
            self.backlog(true, false, Some(Timestamp::from_millis(0)));
        } else if matches!(self.known.remove(&message), Some(Known::Busy { critical: true }))
            && self.critical_dues.len() < CRITICAL_DUES
        {
            self.critical_dues.extend(next_due);
        }
        self.backlog(false, false, next_due);
    }

    /// Rows were ended in the store: what is ready in memory may be among them and is read again.
    pub(crate) fn ended(&mut self) {
        self.ready.clear();
        self.known.retain(|_, known| matches!(known, Known::Busy { .. }));
        self.by_hand.retain(|_, item| item.is_none());
        self.head_due = None;
        if let Some(loading) = &mut self.loading {
            loading.void = true;
        }
        self.backlog(true, true, Some(Timestamp::from_millis(0)));
    }

    /// Whether an attempt of the delivery is under way, or its record not yet durable.
    pub(crate) fn is_busy(&self, message: MessageId) -> bool {
        matches!(self.known.get(&message), Some(Known::Busy { .. }))
            || matches!(self.by_hand.get(&message), Some(None))
    }

    /// Attempts under way or not yet durably recorded. A store that stalls must not let a quick
    /// lane run ahead of it without bound.
    pub(crate) fn unrecorded(&self) -> usize {
        self.known.len() - self.ready.len()
    }

    /// The first in turn; with `live`, the first of those accepted from then on, if there is one.
    pub(crate) fn first(&self, live: Option<MessageId>) -> Option<Turn> {
        let first = self.ready.first().copied();
        live.and_then(|from| self.first_live(from)).or(first)
    }

    /// The first of those accepted from a message on.
    pub(crate) fn first_live(&self, from: MessageId) -> Option<Turn> {
        [false, true].into_iter().find_map(|later| {
            let turn = self.ready.range(Turn { later, message: from }..).next()?;
            (turn.later == later).then_some(*turn)
        })
    }

    /// Takes a delivery that is ready; it is busy from now on.
    pub(crate) fn take(&mut self, turn: Turn) -> Option<Item> {
        self.ready.remove(&turn);
        let busy = Known::Busy { critical: !turn.later };
        let Known::Ready(ready) = self.known.insert(turn.message, busy)? else { return None };
        Some(Item {
            message: turn.message,
            source: ready.source,
            critical: !turn.later,
            kind: ready.kind,
            progress: ready.progress,
        })
    }

    /// Everything that is ready, for the choice of a probe: turn, kind and outage steps used.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (Turn, u32, u16)> + '_ {
        self.ready.iter().filter_map(|turn| match self.known.get(&turn.message)? {
            Known::Ready(ready) => Some((*turn, ready.kind, ready.progress.outage)),
            Known::Busy { .. } => None,
        })
    }

    /// When to look for due rows next.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    /// When to look for a critical one.
    pub(crate) fn critical_due(&self) -> Option<Timestamp> {
        self.critical_dues.first().copied()
    }

    fn offer(&mut self, loading: &Loading, ready: Ready) {
        let message = ready.turn.message;
        let is_known = self.known.contains_key(&message) || self.by_hand.contains_key(&message);
        if !is_known && !loading.settled.contains(&message) {
            self.make_ready(ready);
        }
    }

    fn make_ready(&mut self, ready: Ready) {
        self.ready.insert(ready.turn);
        self.known.insert(ready.turn.message, Known::Ready(ready));
    }
}

fn fresh(row: &FreshItem) -> Ready {
    Ready {
        source: Source::Fresh,
        turn: Turn { later: !row.critical, message: row.message },
        kind: row.kind,
        progress: Progress::default(),
    }
}

fn waiting(row: &DueItem) -> Ready {
    Ready {
        source: Source::Waiting,
        turn: Turn { later: !row.critical, message: row.message },
        kind: row.kind,
        progress: row.progress,
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests;
