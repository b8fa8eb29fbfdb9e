//! How many requests a lane may have under way at once (R22).
//!
//! Slow is worse than dead: an endpoint that answers 200 after nine seconds never opens a breaker,
//! yet each of its requests holds a slot for nine seconds. So a lane earns its concurrency by quick
//! successes and loses half of it by each slow answer or time-out.

use std::time::Duration;

use gonets_core::limits;

/// What is known of a lane's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// Nothing came back yet.
    Unproven,
    Quick,
    Slow,
}

#[derive(Debug, Clone)]
pub(crate) struct Cap {
    now: u32,
    most: u32,
    speed: Speed,
    /// How long a slot was held lately, moving average.
    usual: Duration,
}

impl Cap {
    pub(crate) fn new(most: u32) -> Self {
        let most = most.max(1);
        Self {
            now: limits::ENDPOINT_CONCURRENCY_START.min(most),
            most,
            speed: Speed::Unproven,
            usual: Duration::ZERO,
        }
    }

    pub(crate) fn limit(&mut self, most: u32) {
        self.most = most.max(1);
        self.now = self.now.min(self.most);
    }

    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    pub(crate) fn speed(&self) -> Speed {
        self.speed
    }

    pub(crate) fn usual(&self) -> Duration {
        self.usual
    }

    /// Back to one at a time: after a pause that the endpoint asked for.
    pub(crate) fn restart(&mut self) {
        self.now = 1;
    }

    pub(crate) fn on_reply(&mut self, took: Duration, timed_out: bool, delivered: bool) {
        self.usual = if self.usual.is_zero() { took } else { (self.usual * 7 + took) / 8 };
        if timed_out || took > limits::QUICK_ANSWER {
            self.speed = Speed::Slow;
            self.now = (self.now / 2).max(1);
        } else {
            self.speed = Speed::Quick;
            if delivered {
                self.now = (self.now + 1).min(self.most);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_successes_earn_concurrency_up_to_the_most() {
        let mut cap = Cap::new(6);
        assert_eq!(cap.now(), 4);
        for _ in 0..10 {
            cap.on_reply(Duration::from_millis(3), false, true);
        }
        assert_eq!(cap.now(), 6);
        assert_eq!(cap.speed(), Speed::Quick);
    }

    #[test]
    fn a_slow_answer_or_time_out_halves_it_down_to_one() {
        let mut cap = Cap::new(32);
        cap.on_reply(Duration::from_secs(9), false, true);
        assert_eq!(cap.now(), 2);
        cap.on_reply(Duration::from_secs(10), true, false);
        cap.on_reply(Duration::from_secs(10), true, false);
        assert_eq!(cap.now(), 1);
        assert_eq!(cap.speed(), Speed::Slow);
    }

    #[test]
    fn a_quick_refusal_neither_earns_nor_loses() {
        let mut cap = Cap::new(32);
        cap.on_reply(Duration::from_millis(2), false, false);
        assert_eq!(cap.now(), 4);
    }
}
