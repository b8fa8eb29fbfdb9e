//! How things stand, for those who ask: what is under way, and what holds a lane (R26).

use gonets_core::{
    hold::Hold,
    ids::{EndpointNo, MessageId},
    time::Timestamp,
};

use super::Shard;

impl Shard {
    /// Attempts under way.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Whether an attempt of the delivery is under way or not yet durably recorded.
    pub fn is_busy(&self, endpoint: EndpointNo, message: MessageId) -> bool {
        self.lanes.get(&endpoint).is_some_and(|lane| lane.window.is_busy(message))
    }

    /// Until when an endpoint's pause lasts, if it is paused (R8).
    pub fn throttled_until(&self, endpoint: EndpointNo) -> Option<Timestamp> {
        self.lanes.get(&endpoint)?.throttle.until
    }

    /// What holds a delivery of a lane back now, and until when if that is known. A hold of its own,
    /// such as an address that is not allowed, is the delivery's to tell.
    pub fn hold(&self, endpoint: EndpointNo, message: MessageId) -> Option<(Hold, Option<Timestamp>)> {
        let lane = self.lanes.get(&endpoint)?;
        if lane.disabled {
            return Some((Hold::EndpointDisabled, None));
        }
        if lane.config.frozen {
            return Some((Hold::Frozen, None));
        }
        if self.fleet.is_paused() {
            return Some((Hold::SendingPaused, None));
        }
        let breaker = lane.circuit.and_then(|scope| self.circuits.get(&scope));
        if let Some(probe_at) = breaker.and_then(|circuit| circuit.breaker.probe_at()) {
            return Some((Hold::BreakerOpen, Some(probe_at)));
        }
        if lane.throttle.until.is_some() {
            return Some((Hold::Throttled, lane.throttle.until));
        }
        let is_behind = lane.config.ordered && lane.window.is_behind(message);
        is_behind.then_some((Hold::BehindAnother, None))
    }
}
