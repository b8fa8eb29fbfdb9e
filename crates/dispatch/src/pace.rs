//! How many requests a second a lane may start: its configured rate, and the gentle start after a
//! pause (R15): one a second, doubled after each second with a success, halved after one with a
//! failure, until nothing is held back by it any more.

use gonets_core::{ids::MessageId, time::Timestamp};

const MICROS: i64 = 1_000_000;
/// A rate above which pacing holds nothing back that the lane's cap would not.
const FREE_RATE: u32 = 256;
/// A lane that fell behind its rate may catch up by this much, so that timers of a millisecond do
/// not eat into high rates.
const CATCH_UP_US: i64 = 10_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    configured: Option<u32>,
    release: Option<Release>,
    next_us: i64,
}

#[derive(Debug, Clone)]
struct Release {
    began: Timestamp,
    /// The next start is for live traffic, if there is any.
    live_turn: bool,
    per_second: u32,
    second_ends: Timestamp,
    succeeded: bool,
    failed: bool,
}

impl Pace {
    pub(crate) fn configure(&mut self, rate: Option<u32>) {
        self.configured = rate.filter(|rate| *rate > 0);
    }

    /// A pause has ended: start gently.
    pub(crate) fn release(&mut self, now: Timestamp) {
        self.release = Some(Release {
            began: now,
            live_turn: false,
            per_second: 1,
            second_ends: now.saturating_add(std::time::Duration::from_secs(1)),
            succeeded: false,
            failed: false,
        });
        self.next_us = micros(now);
    }

    /// A pause begins: the release before it is over.
    pub(crate) fn hold(&mut self) {
        self.release = None;
    }

    pub(crate) fn is_releasing(&self) -> bool {
        self.release.is_some()
    }

    /// From which message on traffic is live, when it is its turn: what was accepted after a release
    /// began has every second start, so that it need not wait for the whole backlog (R15).
    pub(crate) fn live_turn(&self) -> Option<MessageId> {
        let release = self.release.as_ref().filter(|release| release.live_turn)?;
        Some(MessageId::first_at(release.began))
    }

    /// An attempt ended.
    pub(crate) fn on_reply(&mut self, delivered: bool, failed: bool) {
        if let Some(release) = &mut self.release {
            release.succeeded |= delivered;
            release.failed |= failed;
        }
    }

    /// Whether a request may start now; else when one may.
    pub(crate) fn check(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        self.adjust(now);
        if self.rate().is_none() || self.next_us <= micros(now) {
            return Ok(());
        }
        let millis = self.next_us.div_euclid(1000) + i64::from(self.next_us.rem_euclid(1000) > 0);
        Err(Timestamp::from_millis(millis))
    }

    /// A request has started.
    pub(crate) fn spend(&mut self, now: Timestamp) {
        if let Some(release) = &mut self.release {
            release.live_turn = !release.live_turn;
        }
        if let Some(rate) = self.rate() {
            self.next_us = self.next_us.max(micros(now) - CATCH_UP_US) + MICROS / i64::from(rate);
        }
    }

    fn rate(&self) -> Option<u32> {
        match (self.configured, self.release.as_ref().map(|release| release.per_second)) {
            (Some(configured), Some(release)) => Some(configured.min(release)),
            (configured, release) => configured.or(release),
        }
    }

    fn adjust(&mut self, now: Timestamp) {
        let Some(release) = &mut self.release else { return };
        if now < release.second_ends {
            return;
        }
        if release.failed {
            release.per_second = (release.per_second / 2).max(1);
        } else if release.succeeded {
            release.per_second *= 2;
        }
        release.succeeded = false;
        release.failed = false;
        release.second_ends = now.saturating_add(std::time::Duration::from_secs(1));
        if release.per_second >= FREE_RATE {
            self.release = None;
        }
    }
}

fn micros(at: Timestamp) -> i64 {
    at.as_millis().saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    fn take(pace: &mut Pace, ms: i64) -> Result<(), Timestamp> {
        pace.check(at(ms))?;
        pace.spend(at(ms));
        Ok(())
    }

    fn started_within(pace: &mut Pace, from: i64, to: i64) -> usize {
        (from..to).filter(|ms| take(pace, *ms).is_ok()).count()
    }

    #[test]
    fn without_a_rate_nothing_is_held_back() {
        let mut pace = Pace::default();
        assert_eq!(started_within(&mut pace, 0, 1000), 1000);
    }

    #[test]
    fn r22_a_configured_rate_is_kept_and_spaced() {
        let mut pace = Pace::default();
        pace.configure(Some(50));
        let first = started_within(&mut pace, 0, 1000);
        assert!((50..=51).contains(&first), "{first}");
        assert_eq!(started_within(&mut pace, 1000, 2000), 50);
        let mut pace = Pace::default();
        pace.configure(Some(50));
        pace.next_us = micros(at(0));
        assert_eq!(take(&mut pace, 0), Ok(()));
        assert_eq!(take(&mut pace, 0), Err(at(20)));
    }

    #[test]
    fn r15_a_release_doubles_each_second_with_a_success() {
        let mut pace = Pace::default();
        pace.release(at(0));
        let mut seconds = Vec::new();
        for second in 0..4 {
            seconds.push(started_within(&mut pace, second * 1000, (second + 1) * 1000));
            pace.on_reply(true, false);
        }
        assert_eq!(seconds, [1, 2, 4, 8]);
    }

    #[test]
    fn r15_a_failure_halves_it() {
        let mut pace = Pace::default();
        pace.release(at(0));
        for second in 0..3 {
            started_within(&mut pace, second * 1000, (second + 1) * 1000);
            pace.on_reply(true, false);
        }
        pace.on_reply(true, true);
        assert_eq!(started_within(&mut pace, 3000, 4000), 2);
    }
}
