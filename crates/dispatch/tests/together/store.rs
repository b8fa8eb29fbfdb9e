//! The rows of a lane in memory, and the windows that are read of them.

use std::collections::{BTreeMap, BTreeSet};

use gonets_core::{ids::MessageId, progress::Progress, time::Timestamp};
use gonets_dispatch::{
    effect::{Load, Then},
    input::{DueItem, FreshItem, HandItem, OrderedItem, Window},
};

/// A delivery as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub critical: bool,
    pub kind: u32,
    pub accepted: Timestamp,
    /// `None`: never tried.
    pub due: Option<Timestamp>,
    pub progress: Progress,
}

#[derive(Default)]
pub struct Stored {
    pub waiting: BTreeMap<MessageId, Row>,
    pub by_hand: BTreeSet<MessageId>,
    pub ended: BTreeMap<MessageId, (Then, Row, Timestamp)>,
}

impl Stored {
    /// What a read brings at this instant.
    pub fn window(&self, load: Load) -> Window {
        let mut fresh: Vec<_> = self.waiting.iter().filter(|(_, row)| row.due.is_none()).collect();
        fresh.sort_by_key(|(message, row)| (!row.critical, **message));
        let mut due: Vec<_> =
            self.waiting.iter().filter_map(|(message, row)| Some((row.due?, *message, row))).collect();
        let later = due.iter().filter(|(due, ..)| *due > load.now).map(|(due, ..)| *due).min();
        due.retain(|(due, ..)| *due <= load.now);
        due.sort_by_key(|(due, message, row)| (!row.critical, *due, *message));
        let rest = due.get(load.due as usize).map(|(due, ..)| *due);
        let mut ordered: Vec<_> = self.waiting.iter().collect();
        ordered.truncate(load.in_order as usize);
        Window {
            fresh_end: fresh.len() < load.fresh as usize,
            fresh: fresh
                .into_iter()
                .take(load.fresh as usize)
                .map(|(message, row)| FreshItem { message: *message, critical: row.critical, kind: row.kind })
                .collect(),
            next_due: if load.in_order > 0 { None } else { [rest, later].into_iter().flatten().min() },
            due: due
                .into_iter()
                .take(load.due as usize)
                .map(|(_, message, row)| due_item(message, row))
                .collect(),
            hand_end: self.by_hand.len() < load.by_hand as usize,
            by_hand: self
                .by_hand
                .iter()
                .take(load.by_hand as usize)
                .map(|message| HandItem {
                    message: *message,
                    critical: false,
                    kind: 1,
                    attempts: 1,
                    interrupted: 0,
                })
                .collect(),
            order_end: ordered.len() < load.in_order as usize,
            in_order: ordered
                .into_iter()
                .map(|(message, row)| match row.due {
                    None => OrderedItem::Fresh(FreshItem {
                        message: *message,
                        critical: row.critical,
                        kind: row.kind,
                    }),
                    Some(_) => OrderedItem::Waiting(due_item(*message, row)),
                })
                .collect(),
        }
    }
}

fn due_item(message: MessageId, row: &Row) -> DueItem {
    DueItem {
        message,
        critical: row.critical,
        kind: row.kind,
        due: row.due.expect("it was tried"),
        progress: row.progress,
    }
}
