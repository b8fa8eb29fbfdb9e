//! When to look at a lane again: one wake-up for each lane, the earliest of its reasons.

use std::collections::{BTreeSet, HashMap};

use gonets_core::{ids::EndpointNo, time::Timestamp};

#[derive(Debug, Default)]
pub(crate) struct Timers {
    queue: BTreeSet<(Timestamp, EndpointNo)>,
    of: HashMap<EndpointNo, Timestamp>,
}

impl Timers {
    /// Wakes `endpoint` at `at`, or earlier if it was to be woken earlier anyway.
    pub(crate) fn wake(&mut self, endpoint: EndpointNo, at: Timestamp) {
        match self.of.get(&endpoint) {
            Some(earlier) if *earlier <= at => {}
            Some(later) => {
                self.queue.remove(&(*later, endpoint));
                self.queue.insert((at, endpoint));
                self.of.insert(endpoint, at);
            }
            None => {
                self.queue.insert((at, endpoint));
                self.of.insert(endpoint, at);
            }
        }
    }

    /// The next lane whose time has come.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<EndpointNo> {
        let (at, endpoint) = *self.queue.first()?;
        if at > now {
            return None;
        }
        self.queue.pop_first();
        self.of.remove(&endpoint);
        Some(endpoint)
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| *at)
    }

    pub(crate) fn forget(&mut self, endpoint: EndpointNo) {
        if let Some(at) = self.of.remove(&endpoint) {
            self.queue.remove(&(at, endpoint));
        }
    }
}

#[cfg(test)]
mod tests {
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
