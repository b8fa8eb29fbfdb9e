//! Breakers, throttles and freezes.

use gonets_core::profile::BreakerScope;
use gonets_service::{
    breaker::{Gates, OpenBreaker, Throttled},
    freeze::Frozen,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What stands in front of an application's deliveries.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatesOut {
    /// What shares one breaker: `application` or `endpoint`; null: the profile has no breaker.
    #[schema(example = "application")]
    pub scope: Option<&'static str>,
    /// The open ones.
    pub breakers: Vec<BreakerOut>,
    /// The endpoints that asked for a pause with 429.
    pub throttles: Vec<ThrottleOut>,
    pub frozen: Option<FrozenOut>,
    /// Since when sending pauses as a whole, because our own network seems to be down.
    pub sending_paused_since: Option<String>,
}

/// An open breaker.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakerOut {
    #[schema(example = "application")]
    pub scope: &'static str,
    /// Where each endpoint has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<String>,
    /// `open`
    #[schema(example = "open")]
    pub state: &'static str,
    pub opened_at: String,
    /// The pause between probes; a failed one doubles it.
    #[schema(example = 300000)]
    pub pause_ms: u64,
    /// When the next probe is due.
    pub probe_at: String,
    /// Probes in a row that were answered and not taken; five close it.
    pub answered_probes: u8,
}

/// An endpoint that is given a pause.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThrottleOut {
    pub endpoint_id: String,
    pub until: String,
}

/// What was frozen by hand.
#[derive(Debug, Serialize, ToSchema)]
pub struct FrozenOut {
    /// `application`, `environment` or `everything`.
    #[schema(example = "application")]
    pub scope: &'static str,
    pub since: String,
}

const fn scope_name(scope: BreakerScope) -> &'static str {
    match scope {
        BreakerScope::Application => "application",
        BreakerScope::Endpoint => "endpoint",
    }
}

impl From<OpenBreaker> for BreakerOut {
    fn from(breaker: OpenBreaker) -> Self {
        Self {
            scope: scope_name(breaker.scope),
            endpoint_id: breaker.endpoint_id,
            state: "open",
            opened_at: breaker.opened_at.to_rfc3339(),
            pause_ms: breaker.pause_ms,
            probe_at: breaker.probe_at.to_rfc3339(),
            answered_probes: breaker.answered_probes,
        }
    }
}

impl From<Throttled> for ThrottleOut {
    fn from(throttled: Throttled) -> Self {
        Self { endpoint_id: throttled.endpoint_id, until: throttled.until.to_rfc3339() }
    }
}

impl From<Frozen> for FrozenOut {
    fn from(frozen: Frozen) -> Self {
        Self { scope: frozen.scope_name(), since: frozen.since.to_rfc3339() }
    }
}

impl From<Gates> for GatesOut {
    fn from(gates: Gates) -> Self {
        Self {
            scope: gates.scope.map(scope_name),
            breakers: gates.breakers.into_iter().map(BreakerOut::from).collect(),
            throttles: gates.throttles.into_iter().map(ThrottleOut::from).collect(),
            frozen: gates.frozen.map(FrozenOut::from),
            sending_paused_since: gates.sending_paused.map(|since| since.to_rfc3339()),
        }
    }
}

/// Which breaker is meant.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakerResetIn {
    /// Id or uid; all open ones of the application if not said.
    pub(crate) endpoint_id: Option<String>,
}
