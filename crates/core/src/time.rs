//! Instants and the clock that hands them out.
//!
//! Rules compute with [`Timestamp`]: UTC, milliseconds since 1970. Nothing in this crate reads a
//! clock; whoever needs the time is given a [`Clock`]. Pauses are measured on the monotonic clock
//! while the process lives (R25): [`Clock::now`] starts from the wall clock once and then advances
//! monotonically, so a wall clock that is set back or forward neither loses nor bursts anything.

use std::{fmt, ops, time::Duration};

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const MAX: Self = Self(i64::MAX);

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole Unix seconds, rounded down: what signatures carry.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    pub fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Time from `earlier` to `self`; zero if `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// RFC 3339 in UTC with milliseconds, as the API shows instants: `2026-11-30T12:00:00.013Z`.
    pub fn to_rfc3339(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => format!("{at:.3}"),
            Err(_) => String::from("9999-12-31T23:59:59.999Z"),
        }
    }

    /// Reads RFC 3339 with any offset. Fractions finer than a millisecond are cut.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }
}

impl ops::Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        self.saturating_add(by)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// Where time comes from. Implementations: [`crate::clock::SystemClock`] in production, a
/// hand-driven one in tests and in simulation.
pub trait Clock: Send + Sync + 'static {
    /// The time that pauses and due times are computed with: never goes back, never jumps while
    /// the process lives.
    fn now(&self) -> Timestamp;

    /// The wall clock as it stands: for what is shown and signed.
    fn wall(&self) -> Timestamp;
}
