//! Retries by hand that wait in a lane (R9): beside what is in turn, and one attempt of a delivery at a
//! time.

use gonets_core::progress::Progress;

use super::{Item, Known, Window};
use crate::{effect::Source, input::HandItem};

impl Window {
    /// How many to read.
    pub(super) fn wish_by_hand(&self, bound: u32) -> u32 {
        if self.hand_left && self.by_hand.len() < bound as usize / 4 {
            bound + u32::try_from(self.by_hand.len()).unwrap_or(u32::MAX / 2)
        } else {
            0
        }
    }

    /// A retry by hand that was interrupted on our side: it is tried again.
    pub(crate) fn by_hand_again(&mut self, item: HandItem) {
        self.by_hand.insert(item.message, Some(item));
    }

    pub(crate) fn has_by_hand(&self) -> bool {
        self.by_hand.iter().any(|(message, item)| {
            item.is_some() && !matches!(self.known.get(message), Some(Known::Busy { .. }))
        })
    }

    /// The next retry by hand; it is busy from now on.
    pub(crate) fn next_by_hand(&mut self) -> Option<Item> {
        let (message, item) = self.by_hand.iter().find_map(|(message, item)| {
            let item = (*item)?;
            (!matches!(self.known.get(message), Some(Known::Busy { .. }))).then_some((*message, item))
        })?;
        self.by_hand.insert(message, None);
        if let Some(Known::Ready(ready)) = self.known.remove(&message) {
            self.ready.remove(&ready.turn);
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
}
