//! Peers of all tempers: how each endpoint answers, as a function of seed and time.

use std::time::Duration;

use gonets_core::{fleet::Reached, outcome::Outcome, time::Timestamp};

/// How an endpoint behaves for a while.
#[derive(Debug, Clone, Copy)]
enum Temper {
    Well,
    /// Unavailable at once.
    Down,
    /// Holds the request until the time-out.
    Hanging,
    /// Answers 200 after some seconds.
    Slow,
    Throttling,
    /// Each answer is a throw of dice.
    Moody,
}

/// An answer, and how long it takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    pub(super) timed_out: bool,
    pub(super) reached: Reached,
    pub(super) retry_after: Option<Duration>,
}

/// One endpoint's peer.
#[derive(Debug)]
pub(super) struct Peer {
    luck: fastrand::Rng,
    temper: Temper,
    until: Timestamp,
}

impl Peer {
    pub(super) fn new(seed: u64, now: Timestamp) -> Self {
        Self { luck: fastrand::Rng::with_seed(seed), temper: Temper::Well, until: now }
    }

    /// From now on it is well, for ever.
    pub(super) fn heal(&mut self) {
        self.temper = Temper::Well;
        self.until = Timestamp::MAX;
    }

    pub(super) fn answer(&mut self, now: Timestamp, timeout: Duration) -> Answer {
        if now >= self.until {
            self.temper = match self.luck.u8(0..10) {
                0 | 1 => Temper::Down,
                2 => Temper::Hanging,
                3 => Temper::Slow,
                4 => Temper::Throttling,
                5 | 6 => Temper::Moody,
                _ => Temper::Well,
            };
            self.until = now + Duration::from_secs(self.luck.u64(1..120));
        }
        let quick = Duration::from_millis(self.luck.u64(1..50));
        let plain = |outcome| Answer {
            outcome,
            took: quick,
            timed_out: false,
            reached: Reached::Yes,
            retry_after: None,
        };
        match self.temper {
            Temper::Well => plain(Outcome::Delivered),
            Temper::Down => Answer { reached: Reached::No, ..plain(Outcome::Unavailable) },
            Temper::Hanging => Answer { took: timeout, timed_out: true, ..plain(Outcome::Unavailable) },
            Temper::Slow => Answer {
                took: Duration::from_millis(self.luck.u64(1_500..9_000)),
                ..plain(Outcome::Delivered)
            },
            Temper::Throttling => Answer {
                retry_after: self.luck.bool().then(|| Duration::from_secs(self.luck.u64(1..40))),
                ..plain(Outcome::Throttled)
            },
            Temper::Moody => {
                let outcomes = Outcome::ALL;
                plain(outcomes[self.luck.usize(0..outcomes.len())])
            }
        }
    }
}
