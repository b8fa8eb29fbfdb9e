//! The one file that reads the system's clocks; clippy bans them everywhere else.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::time::{Clock, Timestamp};

/// The machine's clocks: the wall clock as it stood at the start, advanced monotonically.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    started: Instant,
    now_at_start: Timestamp,
}

impl SystemClock {
    pub fn start() -> Self {
        Self::not_before(Timestamp::from_millis(0))
    }

    /// One that starts at `earliest` if the wall clock stands before it: time that was recorded does
    /// not come again, so no pause grows by what the wall clock was set back (R25).
    #[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub fn not_before(earliest: Timestamp) -> Self {
        Self { started: Instant::now(), now_at_start: wall().max(earliest) }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.now_at_start.saturating_add(self.started.elapsed())
    }

    fn wall(&self) -> Timestamp {
        wall()
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
fn wall() -> Timestamp {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
        Err(_) => Timestamp::from_millis(0),
    }
}
