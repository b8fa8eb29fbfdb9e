//! Gates: what stands in front of many deliveries at once.
//!
//! A hold is a fact of the gate, not of the rows behind it: an open breaker, a throttle, a disabled
//! endpoint or a freeze is one small value for its scope, however many deliveries wait there. A gate
//! has *facets* that change independently of one another, each by whoever owns it, so a change names
//! its facet and replaces only that.

use std::time::Duration;

use crate::{
    breaker::BreakerState,
    health::Health,
    ids::{AppNo, EndpointNo, EnvironmentNo, MessageId},
    rule::coded,
    time::Timestamp,
};

/// What a gate stands in front of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Scope {
    Everything,
    Environment(EnvironmentNo),
    Application(AppNo),
    Endpoint(EndpointNo),
}

/// The gate of one scope. The default holds nothing and needs no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gate {
    /// R10–R17; `None`: closed, all is well.
    pub breaker: Option<BreakerState>,
    /// R8.
    pub throttle: Throttle,
    /// R21.
    pub health: Health,
    /// R19, by Gonets itself; what the owner disables is in the endpoint's document.
    pub disabled: Option<Disabled>,
    /// R28: since when sending is frozen by hand.
    pub frozen: Option<Timestamp>,
    /// R21: which notices of expiring messages are behind it.
    pub expiring: Expiring,
    /// R15: since when what the breaker held is let go gently; a restart must not make a stampede of the
    /// rest.
    pub breaker_releasing: Option<Timestamp>,
    /// The same for what the endpoint itself held.
    pub lane_releasing: Option<Timestamp>,
}

/// One facet's new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GateChange {
    Breaker(Option<BreakerState>),
    Throttle(Throttle),
    Health(Health),
    Disabled(Option<Disabled>),
    Frozen(Option<Timestamp>),
    Expiring(Expiring),
    BreakerReleasing(Option<Timestamp>),
    LaneReleasing(Option<Timestamp>),
}

/// A change of the gate of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateWrite {
    pub scope: Scope,
    pub change: GateChange,
}

/// The pause that an endpoint asked for with 429 (R8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Throttle {
    /// Nothing is sent before it.
    pub until: Option<Timestamp>,
    /// 429s in a row.
    pub in_a_row: u32,
    /// How long the pause was when it was set: what is left of it is never more, whatever the wall
    /// clock did while the process was down (R25).
    pub pause_ms: u64,
}

/// Since when and why Gonets (not the owner) disabled an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Disabled {
    pub since: Timestamp,
    pub why: DisabledBy,
}

coded! {
    /// Why Gonets disabled an endpoint. The codes are stored.
    DisabledBy {
        /// R1.
        Gone = 1, "gone", "the endpoint answered 410 Gone";
        /// R21.
        Failing = 2, "failing", "the endpoint took nothing for too long";
    }
}

impl serde::Serialize for DisabledBy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for DisabledBy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = u8::deserialize(deserializer)?;
        Self::from_code(code).ok_or_else(|| serde::de::Error::custom(format!("an unknown cause {code}")))
    }
}

/// How far the notices have come that critical messages expire soon (R21): one for each stage and
/// episode. An episode ends when nothing critical is that old any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Expiring {
    /// 0: none, 1: five days before, 2: one day before.
    pub stage: u8,
}

impl Expiring {
    /// How long before the end each notice comes.
    pub const BEFORE: [Duration; 2] = [Duration::from_secs(5 * 86_400), Duration::from_secs(86_400)];

    /// The stage that is right when the oldest critical message that waits expires at `expires_at`.
    pub fn at(expires_at: Option<Timestamp>, now: Timestamp) -> Self {
        let left = expires_at.map(|at| at.since(now));
        let stage = left.map_or(0, |left| Self::BEFORE.iter().filter(|before| left <= **before).count());
        Self { stage: stage as u8 }
    }
}

impl Gate {
    /// Whether it holds nothing and remembers nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub fn apply(&mut self, change: GateChange) {
        match change {
            GateChange::Breaker(breaker) => self.breaker = breaker,
            GateChange::Throttle(throttle) => self.throttle = throttle,
            GateChange::Health(health) => self.health = health,
            GateChange::Disabled(disabled) => self.disabled = disabled,
            GateChange::Frozen(since) => self.frozen = since,
            GateChange::Expiring(expiring) => self.expiring = expiring,
            GateChange::BreakerReleasing(since) => self.breaker_releasing = since,
            GateChange::LaneReleasing(since) => self.lane_releasing = since,
        }
    }
}

impl GateChange {
    /// The stored number of the facet; never renumber them.
    pub const fn facet(&self) -> u8 {
        match self {
            Self::Breaker(_) => 1,
            Self::Throttle(_) => 2,
            Self::Health(_) => 3,
            Self::Disabled(_) => 4,
            Self::Frozen(_) => 5,
            Self::Expiring(_) => 6,
            Self::BreakerReleasing(_) => 7,
            Self::LaneReleasing(_) => 8,
        }
    }

    /// Whether the facet is back to holding nothing: then it needs no record.
    pub fn is_default(&self) -> bool {
        let mut gate = Gate::default();
        gate.apply(*self);
        gate.is_default()
    }
}

impl Throttle {
    /// As it is to be taken up after a restart at `now` (R25).
    pub fn restored(mut self, now: Timestamp) -> Self {
        let longest = now.saturating_add(Duration::from_millis(self.pause_ms));
        self.until = self.until.map(|until| until.min(longest));
        self
    }
}

/// A message or delivery is looked for by this pair in many places.
pub type DeliveryKey = (EndpointNo, MessageId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_replaces_its_facet_only() {
        let mut gate = Gate::default();
        gate.apply(GateChange::Frozen(Some(Timestamp::from_millis(5))));
        gate.apply(GateChange::Throttle(Throttle { in_a_row: 2, ..Throttle::default() }));
        gate.apply(GateChange::Frozen(None));
        assert_eq!(gate.throttle.in_a_row, 2);
        assert!(!gate.is_default() && gate.frozen.is_none());
    }

    #[test]
    fn facets_have_numbers_of_their_own_and_know_when_they_hold_nothing() {
        let nothing = [
            GateChange::Breaker(None),
            GateChange::Throttle(Throttle::default()),
            GateChange::Health(Health::default()),
            GateChange::Disabled(None),
            GateChange::Frozen(None),
            GateChange::Expiring(Expiring::default()),
            GateChange::BreakerReleasing(None),
            GateChange::LaneReleasing(None),
        ];
        let facets: Vec<_> = nothing.iter().map(GateChange::facet).collect();
        assert_eq!(facets, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(nothing.iter().all(GateChange::is_default));
        assert!(!GateChange::Frozen(Some(Timestamp::from_millis(0))).is_default());
    }

    #[test]
    fn r25_a_throttle_is_never_longer_after_a_restart_than_it_was() {
        let throttle =
            Throttle { until: Some(Timestamp::from_millis(90_000_000)), in_a_row: 1, pause_ms: 60_000 };
        let now = Timestamp::from_millis(1_000);
        assert_eq!(throttle.restored(now).until, Some(Timestamp::from_millis(61_000)));
    }

    #[test]
    fn r21_stages_of_expiring() {
        let day = 86_400_000;
        let now = Timestamp::from_millis(100 * day);
        let left = |days: i64| Some(Timestamp::from_millis((100 + days) * day));
        assert_eq!(Expiring::at(None, now).stage, 0);
        assert_eq!(Expiring::at(left(6), now).stage, 0);
        assert_eq!(Expiring::at(left(5), now).stage, 1);
        assert_eq!(Expiring::at(left(1), now).stage, 2);
        assert_eq!(Expiring::at(left(-1), now).stage, 2);
    }
}
