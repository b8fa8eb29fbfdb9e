//! The sliding window of finished attempts (R10): exact while there are few, bounded when there
//! are many.
//!
//! The judgement is delicate at a handful of attempts, where one more or less decides; at
//! thousands a second it is not. So the newest attempts are kept one by one up to a number, and
//! past it those that ended within a 256th of the window share an entry.

use std::{collections::VecDeque, time::Duration};

use crate::{profile::BreakerRules, time::Timestamp};

/// Entries up to which every attempt has its own.
const EXACT: usize = 64;
/// How finely the window is divided beyond that.
const PARTS: u32 = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    entries: VecDeque<Entry>,
    total: u64,
    failed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When the first of them ended.
    at: Timestamp,
    total: u32,
    failed: u32,
}

impl Window {
    /// Counts an attempt and lets go of those that are `length` old or older.
    pub(super) fn push(&mut self, at: Timestamp, failed: bool, length: Duration) {
        self.forget(at, length);
        self.total += 1;
        self.failed += u64::from(failed);
        if self.entries.len() >= EXACT
            && let Some(last) = self.entries.back_mut()
            && at.since(last.at) < length / PARTS
        {
            last.total = last.total.saturating_add(1);
            last.failed = last.failed.saturating_add(u32::from(failed));
            return;
        }
        self.entries.push_back(Entry { at, total: 1, failed: u32::from(failed) });
    }

    fn forget(&mut self, now: Timestamp, length: Duration) {
        while let Some(first) = self.entries.front().filter(|first| now.since(first.at) >= length) {
            self.total = self.total.saturating_sub(u64::from(first.total));
            self.failed = self.failed.saturating_sub(u64::from(first.failed));
            self.entries.pop_front();
        }
    }

    /// Whether there are enough attempts and enough of them failed.
    pub(super) fn is_bad(&self, rules: &BreakerRules) -> bool {
        // The margin is for ratios that binary fractions miss, such as 0.7 of 10.
        let enough_failed = self.failed as f64 + 1e-6 >= rules.failure_ratio * self.total as f64;
        self.total >= u64::from(rules.min_attempts) && enough_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(300);

    #[test]
    fn r10_an_attempt_exactly_as_old_as_the_window_is_out() {
        let mut window = Window::default();
        window.push(Timestamp::from_millis(0), true, LENGTH);
        window.push(Timestamp::from_millis(299_999), true, LENGTH);
        assert_eq!((window.total, window.failed), (2, 2));
        window.push(Timestamp::from_millis(300_000), false, LENGTH);
        assert_eq!((window.total, window.failed), (2, 1));
    }

    #[test]
    fn r10_a_busy_window_stays_small_and_counts_all() {
        let mut window = Window::default();
        for millis in 0..300_000 {
            window.push(Timestamp::from_millis(millis), millis % 2 == 0, LENGTH);
        }
        assert_eq!((window.total, window.failed), (300_000, 150_000));
        assert!(window.entries.len() <= EXACT + PARTS as usize + 1, "{}", window.entries.len());
        window.push(Timestamp::from_millis(700_000), true, LENGTH);
        assert_eq!((window.total, window.failed, window.entries.len()), (1, 1, 1));
    }
}
