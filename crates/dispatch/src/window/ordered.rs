//! A lane in strict order (R24): only its head is ready, and what is behind it waits in the store.
//!
//! The head is the oldest delivery that has not ended, whether it was tried or not. While it waits for
//! its next attempt, so do all the others; when it ends, delivered or failed, the next one follows. A
//! delivery that was posted for later is not in line before its time.

use gonets_core::{ids::MessageId, progress::Progress, time::Timestamp};

use super::{Loading, Ready, Turn, Window, Wish, earlier, fresh, waiting};
use crate::{
    effect::Source,
    input::{Arrival, OrderedItem, Window as Loaded},
};

/// Rows that are read of the head: the first, and whatever a stale snapshot may still have before it.
const HEAD: u32 = 4;

impl Window {
    pub(crate) fn arrived_in_order(&mut self, arrival: &Arrival) {
        // One that is tried by hand may be the head.
        let is_idle = self.known.is_empty() && self.by_hand.is_empty();
        let is_alone = is_idle && self.loading.is_none() && !self.order_left;
        if is_alone && arrival.due.is_none() {
            self.make_ready(Ready {
                source: Source::Fresh,
                turn: Turn { later: !arrival.critical, message: arrival.message },
                kind: arrival.kind,
                progress: Progress::default(),
            });
        } else {
            self.backlog(arrival.due.is_none(), false, arrival.due);
            // It may come into line before the head is due.
            if self.head_due.is_some() {
                self.head_due = earlier(self.head_due, arrival.due);
            }
        }
    }

    /// What to read now, if anything; the read counts as begun.
    pub(crate) fn wish_in_order(&mut self, now: Timestamp, bound: usize) -> Option<Wish> {
        if self.loading.is_some() {
            return None;
        }
        let has_more = self.order_left || self.next_due.is_some_and(|due| due <= now);
        let may_look = has_more && self.known.is_empty() && self.next_look(now);
        let by_hand = self.wish_by_hand(u32::try_from(bound).unwrap_or(u32::MAX / 2));
        self.begin(Wish { in_order: if may_look { HEAD } else { 0 }, by_hand, ..Wish::default() })
    }

    /// A head that waits is not looked at before it is due; what is behind it changes nothing.
    fn next_look(&self, now: Timestamp) -> bool {
        self.head_due.is_none_or(|due| due <= now)
    }

    pub(super) fn loaded_in_order(&mut self, loading: &Loading, window: &Loaded, now: Timestamp) {
        self.head_due = None;
        self.order_left = true;
        if !loading.settled.is_empty() {
            // The head may have ended or may wait for another time: only a new read can tell.
            return;
        }
        let head = window.in_order.first();
        self.head = head.map(message);
        match head {
            Some(OrderedItem::Waiting(row)) if row.due > now => self.head_due = Some(row.due),
            Some(OrderedItem::Fresh(row)) => self.offer(loading, fresh(row)),
            Some(OrderedItem::Waiting(row)) => self.offer(loading, waiting(row)),
            // Nothing is in line; what is for later comes in its time, and whatever arrives at once.
            None => {
                self.order_left = !window.order_end || loading.fresh_arrived || loading.due_arrived.is_some();
            }
        }
        if self.known.is_empty() && self.head_due.is_none() && !window.in_order.is_empty() {
            // The head is tried by hand; the end of that brings the lane on.
            self.order_left = self.by_hand.is_empty();
        }
        // Something for later may come into line before the head's time.
        self.next_due = earlier(self.head_due, window.next_due);
        self.head_due = self.head_due.and(self.next_due);
        self.fresh_left = false;
    }

    /// Whether a delivery waits behind another one.
    pub(crate) fn is_behind(&self, other: MessageId) -> bool {
        let is_known = self.known.contains_key(&other);
        let is_head = self.known.is_empty() && self.head.is_none_or(|head| head == other);
        !is_known && !is_head
    }
}

fn message(row: &OrderedItem) -> MessageId {
    match row {
        OrderedItem::Fresh(row) => row.message,
        OrderedItem::Waiting(row) => row.message,
    }
}
