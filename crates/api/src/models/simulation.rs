//! What would come of a delivery by a profile.

use std::time::Duration;

use gonets_service::profile::{SimulatedAttempt, Simulation, Timeline};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::required;
use crate::error::Result;

/// What is to be simulated.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulationIn {
    #[schema(value_type = String, example = "payments")]
    profile: Option<String>,
    /// Whether the message is critical; it is not if not said.
    critical: Option<bool>,
    /// What the endpoint answers, attempt after attempt: a status (`404`), one with a Retry-After
    /// (`429:30`), `timeout`, `network`, `blocked` or `interrupted`.
    #[schema(example = json!(["500", "429:30", "timeout", "200"]))]
    outcomes: Option<Vec<String>>,
    /// What it answers after that; the last of them if not said.
    #[schema(value_type = Option<String>, example = "500")]
    repeat: Option<String>,
    /// Seconds that the message waits for an endpoint first.
    held_until: Option<u32>,
}

impl SimulationIn {
    pub(crate) fn simulation(self) -> Result<Simulation> {
        Ok(Simulation {
            profile: required("profile", self.profile)?,
            critical: self.critical.unwrap_or(false),
            outcomes: self.outcomes.unwrap_or_default(),
            repeat: self.repeat,
            held_until_s: self.held_until,
        })
    }
}

/// A timeline; attempts take no time, jitter is none.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimulationOut {
    pub attempts: Vec<SimulatedAttemptOut>,
    /// `delivered`, `failed:` and the reason, `held:` and the hold, or `unfinished` where it was cut.
    #[schema(example = "failed:outage_exhausted")]
    pub end: String,
    #[serde(serialize_with = "seconds")]
    #[schema(value_type = f64, example = 511)]
    pub ended_at_s: Duration,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SimulatedAttemptOut {
    /// Seconds after acceptance.
    #[serde(serialize_with = "seconds")]
    #[schema(value_type = f64, example = 1)]
    pub at_s: Duration,
    /// What the endpoint answered.
    #[schema(example = "500")]
    pub meets: String,
    /// What that comes to.
    #[schema(example = "unavailable")]
    pub outcome: &'static str,
    /// It was the breaker's probe.
    pub probe: bool,
    /// The rule that set its time; null for the first.
    #[schema(example = "outage_ladder")]
    pub rule: Option<&'static str>,
}

/// Whole seconds without a fraction.
fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    if duration.subsec_nanos() == 0 {
        serializer.serialize_u64(duration.as_secs())
    } else {
        serializer.serialize_f64(duration.as_secs_f64())
    }
}

impl From<&SimulatedAttempt> for SimulatedAttemptOut {
    fn from(attempt: &SimulatedAttempt) -> Self {
        Self {
            at_s: attempt.at,
            meets: attempt.meets.to_string(),
            outcome: attempt.outcome.name(),
            probe: attempt.probe,
            rule: attempt.rule.map(|rule| rule.name()),
        }
    }
}

impl From<&Timeline> for SimulationOut {
    fn from(timeline: &Timeline) -> Self {
        Self {
            attempts: timeline.attempts.iter().map(SimulatedAttemptOut::from).collect(),
            end: timeline.end.to_string(),
            ended_at_s: timeline.ended_at,
        }
    }
}
