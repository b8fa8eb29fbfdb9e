//! How an endpoint stands: active, failing or disabled, since when and why (R19, R21).

use gonets_core::time::Timestamp;

use super::Endpoint;

/// The one word for how an endpoint stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointStatus {
    Active,
    /// It takes nothing at the moment (R21).
    Failing,
    /// Nothing is sent to it (R19).
    Disabled,
}

impl EndpointStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Failing => "failing",
            Self::Disabled => "disabled",
        }
    }
}

/// Why an endpoint is disabled that its owner disabled.
pub(super) const BY_ITS_OWNER: &str = "owner";

impl Endpoint {
    pub fn is_disabled(&self) -> bool {
        self.doc.disabled || self.gate.disabled.is_some()
    }

    pub fn status(&self) -> EndpointStatus {
        if self.is_disabled() {
            EndpointStatus::Disabled
        } else if self.gate.health.is_failing() {
            EndpointStatus::Failing
        } else {
            EndpointStatus::Active
        }
    }

    /// `owner`, or the name of why Gonets disabled it. What the owner said is told first.
    pub fn disabled_reason(&self) -> Option<&'static str> {
        if self.doc.disabled {
            return Some(BY_ITS_OWNER);
        }
        self.gate.disabled.map(|disabled| disabled.why.name())
    }

    pub fn disabled_since(&self) -> Option<Timestamp> {
        if self.doc.disabled {
            return self.doc.disabled_since;
        }
        self.gate.disabled.map(|disabled| disabled.since)
    }

    pub fn failing_since(&self) -> Option<Timestamp> {
        self.gate.health.failing_since
    }

    /// Until when nothing is sent because it answered 429 (R8).
    pub fn throttled_until(&self) -> Option<Timestamp> {
        self.gate.throttle.until.filter(|until| self.now < *until)
    }
}
