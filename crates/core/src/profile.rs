//! Profiles: the values that the rules are computed with. A profile is data; no rule asks for its
//! name. The built-in ones are in [`builtin`], the form people write them in is in [`spec`].

pub mod builtin;
mod check;
pub mod resolve;
pub mod spec;

use std::time::Duration;

pub use resolve::Profiles;
pub use spec::ProfileSpec;

use crate::rule::coded;

/// A named bundle of ladders, breaker, health, envelope and signature schemes.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    pub name: String,
    /// One deadline over DNS, connect, TLS, request, headers and body (R2).
    pub timeout: Duration,
    /// R7: counted from acceptance or `deliverAt`.
    pub max_age: Duration,
    /// R8.
    pub retry_after_cap: Duration,
    /// What 410 means (R1).
    pub gone: Gone,
    /// What becomes of new messages for a disabled endpoint (R19).
    pub while_disabled: WhileDisabled,
    /// R18.
    pub hold_unrouted: bool,
    pub envelope: EnvelopeKind,
    pub signatures: Vec<SignatureScheme>,
    pub outage: OutageLadder,
    /// R4; `None`: refusals are final.
    pub refusal: Option<RefusalLadder>,
    /// R10–R17; `None`: no breaker.
    pub breaker: Option<BreakerRules>,
    pub health: HealthRules,
    /// R6; the first match decides.
    pub critical: Vec<CriticalRule>,
}

/// What an endpoint that answers 410 is taken to mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gone {
    /// A refusal like any other 4xx.
    Refuse,
    /// The endpoint is disabled at once.
    Disable,
}

/// What becomes of new messages while an endpoint is disabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhileDisabled {
    Hold,
    Skip,
}

/// What the body of a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvelopeKind {
    /// The payload itself.
    Raw,
    /// `{"id","type","created_at","api_version","data":<payload>}`.
    Event,
}

coded! {
    /// A set of signature headers; all schemes of an endpoint are sent at once.
    SignatureScheme {
        Standard = 1, "standard", "webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks";
        XWebhook = 2, "x-webhook", "X-Webhook-Id, X-Webhook-Timestamp and X-Webhook-Signature in hexadecimal";
        TV1 = 3, "t-v1", "X-Event-Id and X-Signature with t= and v1=";
        Svix = 4, "svix", "svix-id, svix-timestamp and svix-signature";
    }
}

impl serde::Serialize for SignatureScheme {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for SignatureScheme {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|scheme| scheme.name()).collect();
            serde::de::Error::custom(format!(
                "there is no signature scheme \"{}\"; there are {}",
                name.chars().take(40).collect::<String>(),
                names.join(", ")
            ))
        })
    }
}

/// R3.
#[derive(Clone, PartialEq, Debug)]
pub struct OutageLadder {
    /// Never empty in a resolved profile.
    pub delays: Vec<Duration>,
    /// Each pause is multiplied by `1 + uniform(low, high)`; `-1 < low <= high <= 1`.
    pub jitter: (f64, f64),
    /// Refusals climb this ladder too, unless the refusal ladder takes them.
    pub refusals: bool,
}

/// R4.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusalLadder {
    /// Never empty in a resolved profile.
    pub delays: Vec<Duration>,
    /// Steps are scheduled only this long after the first refusal.
    pub span: Duration,
}

/// What shares one breaker (R10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BreakerScope {
    Application,
    Endpoint,
}

/// R10–R14.
#[derive(Clone, PartialEq, Debug)]
pub struct BreakerRules {
    pub scope: BreakerScope,
    /// Fewer finished attempts in the window never open it.
    pub min_attempts: u32,
    pub window: Duration,
    /// `0 < failure_ratio <= 1`.
    pub failure_ratio: f64,
    /// The first pause; doubles after each failed probe.
    pub pause: Duration,
    pub pause_max: Duration,
    /// R13: until the next look at a server that answers but takes nothing.
    pub recheck: Duration,
    /// R14: a failed probe spends a step of its delivery's outage ladder.
    pub probe_spends: bool,
}

/// R21.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HealthRules {
    /// `None`: endpoints are never disabled by themselves.
    pub disable_after: Option<Duration>,
    pub min_failures: u32,
    /// How long after the first failure the application's contacts are told, ascending.
    pub notices: Vec<Duration>,
}

/// R6: one rule of what is critical.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriticalRule {
    pub event_type: String,
    /// RFC 6901 into the payload; `None`: the type alone decides.
    pub pointer: Option<String>,
    /// What the string at the pointer must be one of.
    pub values: Vec<String>,
}

impl Profile {
    /// What a delivery would get on this profile's outage ladder: attempts in all.
    pub fn outage_attempts(&self) -> usize {
        self.outage.delays.len() + 1
    }
}
