//! Profiles, in the words of the configuration: what is shown here can be written there.

use gonets_core::{
    duration,
    profile::{
        BreakerRules, BreakerScope, CriticalRule, EnvelopeKind, Gone, HealthRules, OutageLadder, Profile,
        RefusalLadder, WhileDisabled,
    },
};
use serde::Serialize;
use utoipa::ToSchema;

/// All profiles.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProfileListOut {
    pub data: Vec<ProfileOut>,
}

/// A profile as it is in use. Durations are written as in the configuration: `250ms`, `15m`, `30d`.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProfileOut {
    #[schema(example = "payments")]
    pub name: String,
    #[schema(example = "10s")]
    pub timeout: String,
    #[schema(example = "30d")]
    pub max_age: String,
    #[schema(example = "1h")]
    pub retry_after_cap: String,
    #[schema(value_type = String, example = "refuse")]
    pub gone: Gone,
    #[schema(value_type = String, example = "hold")]
    pub while_disabled: WhileDisabled,
    #[schema(value_type = String, example = "raw")]
    pub envelope: EnvelopeKind,
    pub signatures: Vec<&'static str>,
    pub hold_unrouted: bool,
    pub outage: OutageOut,
    /// Left out: refusals are final.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalOut>,
    pub breaker: BreakerRulesOut,
    pub health: HealthOut,
    /// The first that matches decides.
    pub critical: Vec<CriticalOut>,
}

/// The outage ladder.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutageOut {
    pub delays: Vec<String>,
    /// Each pause is multiplied by 1 + uniform(low, high).
    pub jitter: [f64; 2],
    /// Refusals are on this ladder too.
    pub refusals: bool,
}

/// The refusal ladder.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusalOut {
    pub delays: Vec<String>,
    pub span: String,
}

/// When deliveries to a server that is down pause; of one that is not enabled there is no more to say.
#[derive(Debug, Serialize, ToSchema)]
pub struct BreakerRulesOut {
    pub enabled: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub rules: Option<BreakerValuesOut>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BreakerValuesOut {
    #[schema(value_type = String, example = "application")]
    pub scope: BreakerScope,
    pub min_attempts: u32,
    pub window: String,
    pub failure_ratio: f64,
    pub pause: String,
    pub pause_max: String,
    pub recheck: String,
    pub probe_spends: bool,
}

/// When an endpoint that takes nothing is disabled, and its people are told.
#[derive(Debug, Serialize, ToSchema)]
pub struct HealthOut {
    /// A duration, or `never`.
    #[schema(example = "never")]
    pub disable_after: String,
    pub min_failures: u32,
    pub notices: Vec<String>,
}

/// One rule of what is critical.
#[derive(Debug, Serialize, ToSchema)]
pub struct CriticalOut {
    #[serde(rename = "type")]
    #[schema(example = "payment.status_changed")]
    pub event_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/status")]
    pub pointer: Option<String>,
    #[serde(rename = "in", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

fn texts(durations: &[std::time::Duration]) -> Vec<String> {
    durations.iter().copied().map(duration::format).collect()
}

impl From<&Profile> for ProfileOut {
    fn from(profile: &Profile) -> Self {
        Self {
            name: profile.name.clone(),
            timeout: duration::format(profile.timeout),
            max_age: duration::format(profile.max_age),
            retry_after_cap: duration::format(profile.retry_after_cap),
            gone: profile.gone,
            while_disabled: profile.while_disabled,
            envelope: profile.envelope,
            signatures: profile.signatures.iter().map(|scheme| scheme.name()).collect(),
            hold_unrouted: profile.hold_unrouted,
            outage: OutageOut::from(&profile.outage),
            refusal: profile.refusal.as_ref().map(RefusalOut::from),
            breaker: BreakerRulesOut {
                enabled: profile.breaker.is_some(),
                rules: profile.breaker.as_ref().map(BreakerValuesOut::from),
            },
            health: HealthOut::from(&profile.health),
            critical: profile.critical.iter().map(CriticalOut::from).collect(),
        }
    }
}

impl From<&OutageLadder> for OutageOut {
    fn from(ladder: &OutageLadder) -> Self {
        let (low, high) = ladder.jitter;
        Self { delays: texts(&ladder.delays), jitter: [low, high], refusals: ladder.refusals }
    }
}

impl From<&RefusalLadder> for RefusalOut {
    fn from(ladder: &RefusalLadder) -> Self {
        Self { delays: texts(&ladder.delays), span: duration::format(ladder.span) }
    }
}

impl From<&BreakerRules> for BreakerValuesOut {
    fn from(rules: &BreakerRules) -> Self {
        Self {
            scope: rules.scope,
            min_attempts: rules.min_attempts,
            window: duration::format(rules.window),
            failure_ratio: rules.failure_ratio,
            pause: duration::format(rules.pause),
            pause_max: duration::format(rules.pause_max),
            recheck: duration::format(rules.recheck),
            probe_spends: rules.probe_spends,
        }
    }
}

impl From<&HealthRules> for HealthOut {
    fn from(rules: &HealthRules) -> Self {
        Self {
            disable_after: rules.disable_after.map_or_else(|| "never".to_owned(), duration::format),
            min_failures: rules.min_failures,
            notices: texts(&rules.notices),
        }
    }
}

impl From<&CriticalRule> for CriticalOut {
    fn from(rule: &CriticalRule) -> Self {
        Self {
            event_type: rule.event_type.clone(),
            pointer: rule.pointer.clone(),
            values: rule.values.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::profile::{ProfileSpec, Profiles, builtin};

    use super::*;

    #[test]
    fn what_is_shown_can_be_written_into_the_configuration() {
        for name in builtin::NAMES {
            let profile = builtin::get(name).unwrap();
            let mut shown = serde_json::to_value(ProfileOut::from(&profile)).unwrap();
            shown.as_object_mut().unwrap().remove("name");
            let mut spec: ProfileSpec = serde_json::from_value(shown).unwrap();
            // A name of its own, from a profile that differs in everything.
            spec.extends = Some(if name == "payments" { "standard" } else { "payments" }.to_owned());
            if profile.refusal.is_none() {
                spec.refusal = Some(gonets_core::profile::spec::RefusalSpec::Off);
            }
            let resolved = Profiles::resolve([("own".to_owned(), spec)].into()).unwrap();
            let own = Profile { name: name.to_owned(), ..Profile::clone(resolved.get("own").unwrap()) };
            assert_eq!(own, profile, "{name}");
        }
    }
}
