//! Whose turn it is when slots run short (R22).
//!
//! Applications, and within them endpoints, are served in the order of the slot-*time* they have
//! used: a deficit round-robin whose unit is time, kept as a virtual clock for each. What a slot
//! will cost is not known when it is given, so the lane's usual time is charged at once and set
//! right at the end; an application that hangs pays while it hangs. One that was idle starts at the
//! floor (the least that anyone being served has used), so idleness saves up no claims.

use std::time::Duration;

use gonets_core::ids::{AppNo, EndpointNo};

use crate::numbers::ByNo;

/// Used slot-time, in microseconds.
pub(crate) type Used = u64;

#[derive(Debug, Default)]
pub(crate) struct Shares {
    apps: ByNo<AppNo, Used>,
    lanes: ByNo<EndpointNo, Used>,
    floor: Used,
}

impl Shares {
    /// The place in line of a lane that wants a slot: less is earlier.
    pub(crate) fn place(&self, app: AppNo, lane: EndpointNo) -> (Used, Used) {
        let of_app = self.apps.get(&app).copied().unwrap_or(0).max(self.floor);
        (of_app, self.lanes.get(&lane).copied().unwrap_or(0))
    }

    /// A slot is given; `charge` is what it will probably cost.
    pub(crate) fn start(&mut self, app: AppNo, lane: EndpointNo, charge: Duration) {
        let floor = self.floor;
        let of_app = self.apps.entry(app).or_default();
        *of_app = (*of_app).max(floor) + micros(charge);
        *self.lanes.entry(lane).or_default() += micros(charge);
    }

    /// The slot is back: the charge becomes what it did cost.
    pub(crate) fn end(&mut self, app: AppNo, lane: EndpointNo, charged: Duration, took: Duration) {
        for used in [self.apps.get_mut(&app), self.lanes.get_mut(&lane)].into_iter().flatten() {
            *used = (*used + micros(took)).saturating_sub(micros(charged));
        }
    }

    /// Someone who waited at this place is served: nobody new starts before it.
    pub(crate) fn served(&mut self, place: (Used, Used)) {
        self.floor = self.floor.max(place.0);
    }

    pub(crate) fn forget_lane(&mut self, lane: EndpointNo) {
        self.lanes.remove(&lane);
    }
}

/// At least one: a slot held for no time at all is still a turn.
fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 4).clamp(1, u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANGING: (AppNo, EndpointNo) = (AppNo(1), EndpointNo(1));
    const QUICK: (AppNo, EndpointNo) = (AppNo(2), EndpointNo(2));

    #[test]
    fn r22_slots_are_charged_by_the_time_they_are_held() {
        let mut shares = Shares::default();
        shares.start(HANGING.0, HANGING.1, Duration::ZERO);
        shares.end(HANGING.0, HANGING.1, Duration::ZERO, Duration::from_secs(10));
        for _ in 0..100 {
            shares.start(QUICK.0, QUICK.1, Duration::ZERO);
            shares.end(QUICK.0, QUICK.1, Duration::ZERO, Duration::from_millis(2));
        }
        assert!(shares.place(QUICK.0, QUICK.1) < shares.place(HANGING.0, HANGING.1));
    }

    #[test]
    fn one_that_was_idle_starts_at_the_floor() {
        let mut shares = Shares::default();
        shares.start(QUICK.0, QUICK.1, Duration::from_secs(5));
        let place = shares.place(QUICK.0, QUICK.1);
        shares.served(place);
        assert_eq!(shares.place(AppNo(9), EndpointNo(9)).0, place.0);
    }
}
