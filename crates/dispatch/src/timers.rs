//! When to look at a lane or a breaker again: one wake-up for each, the earliest of its reasons.

use std::{collections::BTreeSet, hash::Hash};

use gonets_core::time::Timestamp;

use crate::numbers::ByNo;

#[derive(Debug)]
pub(crate) struct Timers<K> {
    queue: BTreeSet<(Timestamp, K)>,
    of: ByNo<K, Timestamp>,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self { queue: BTreeSet::new(), of: ByNo::default() }
    }
}

impl<K: Copy + Ord + Hash> Timers<K> {
    /// Wakes `whom` at `at`, or earlier if it was to be woken earlier anyway.
    pub(crate) fn wake(&mut self, whom: K, at: Timestamp) {
        match self.of.get(&whom) {
            Some(earlier) if *earlier <= at => {}
            Some(later) => {
                self.queue.remove(&(*later, whom));
                self.queue.insert((at, whom));
                self.of.insert(whom, at);
            }
            None => {
                self.queue.insert((at, whom));
                self.of.insert(whom, at);
            }
        }
    }

    /// The next one whose time has come.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<K> {
        let (at, whom) = *self.queue.first()?;
        if at > now {
            return None;
        }
        self.queue.pop_first();
        self.of.remove(&whom);
        Some(whom)
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| *at)
    }

    pub(crate) fn forget(&mut self, whom: K) {
        if let Some(at) = self.of.remove(&whom) {
            self.queue.remove(&(at, whom));
        }
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::ids::EndpointNo;

    use super::*;

    #[test]
    fn the_earliest_reason_wins_and_fires_once() {
        let mut timers = Timers::default();
        let at = Timestamp::from_millis;
        timers.wake(EndpointNo(1), at(50));
        timers.wake(EndpointNo(1), at(20));
        timers.wake(EndpointNo(1), at(90));
        timers.wake(EndpointNo(2), at(30));
        assert_eq!(timers.next(), Some(at(20)));
        assert_eq!(timers.due(at(10)), None);
        assert_eq!(timers.due(at(30)), Some(EndpointNo(1)));
        assert_eq!(timers.due(at(30)), Some(EndpointNo(2)));
        assert_eq!(timers.due(at(1000)), None);
    }
}
