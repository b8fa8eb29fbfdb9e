//! What the machine must know of an endpoint and of its own bounds.

use std::sync::Arc;

use gonets_core::{
    ids::{AppNo, EndpointNo, EnvironmentNo},
    limits,
    profile::Profile,
};

/// A host and port, over all applications: an interned number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostNo(pub u32);

/// An endpoint as the machine sees it.
#[derive(Debug, Clone)]
pub struct LaneConfig {
    pub endpoint: EndpointNo,
    pub app: AppNo,
    pub environment: EnvironmentNo,
    pub host: HostNo,
    pub profile: Arc<Profile>,
    /// Most requests at once.
    pub concurrency: u32,
    /// Most requests a second.
    pub throttle_rate: Option<u32>,
    /// Disabled by its owner or by Gonets: nothing is sent, everything waits (R19).
    pub disabled: bool,
    /// Frozen by hand: it, its application, its environment or everything (R28).
    pub frozen: bool,
    /// Strict order (R24): one at a time, the oldest unfinished first, the others behind it.
    pub ordered: bool,
}

/// Bounds of one machine.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Requests at once, over everything.
    pub global_slots: usize,
    /// Requests at once to one host and port.
    pub host_slots: usize,
    /// Deliveries of one lane in memory; the rest stays in the store.
    pub window: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            global_slots: limits::GLOBAL_CONCURRENCY,
            host_slots: limits::HOST_CONCURRENCY as usize,
            window: limits::LANE_WINDOW,
        }
    }
}
