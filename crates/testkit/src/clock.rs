//! A clock that stands still until it is moved.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use gonets_core::time::{Clock, Timestamp};

/// Shared by clones. Wall and monotonic time are one.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    /// Moves to `to`; a time that has passed changes nothing.
    pub fn advance_to(&self, to: Timestamp) {
        self.0.fetch_max(to.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> Timestamp {
        self.now()
    }
}
