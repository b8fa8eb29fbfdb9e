//! Breakers, throttles and freezes of an application: what holds back many deliveries at once.

mod get;
mod reset;

use gonets_core::{profile::BreakerScope, time::Timestamp};

use crate::freeze::Frozen;
pub(crate) use reset::Resets;

/// What stands in front of an application's deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gates {
    /// What shares one breaker; `None`: the profile has no breaker.
    pub scope: Option<BreakerScope>,
    /// The open ones.
    pub breakers: Vec<OpenBreaker>,
    /// The endpoints that asked for a pause.
    pub throttles: Vec<Throttled>,
    pub frozen: Option<Frozen>,
    /// Since when sending pauses as a whole (R27).
    pub sending_paused: Option<Timestamp>,
}

/// A breaker that is open (R11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBreaker {
    pub scope: BreakerScope,
    /// Where each endpoint has its own.
    pub endpoint_id: Option<String>,
    pub opened_at: Timestamp,
    pub pause_ms: u64,
    pub probe_at: Timestamp,
    /// Probes in a row that were answered and not taken (R13).
    pub answered_probes: u8,
}

/// An endpoint that answered 429 (R8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttled {
    pub endpoint_id: String,
    pub until: Timestamp,
}
