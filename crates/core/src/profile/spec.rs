//! Profiles as people write them: the `[profiles.<name>]` tables of the configuration. Every key
//! is optional; what is not said comes from the profile that it extends. Unknown keys are errors.
//!
//! Only the shape is here. What the values must be, and how profiles extend each other, is in
//! [`super::resolve`].

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BreakerScope, EnvelopeKind, Gone, SignatureScheme, WhileDisabled};
use crate::duration::DurationText;

/// One `[profiles.<name>]` table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSpec {
    /// The profile whose values hold where this one says nothing. Without it: the built-in of the
    /// same name if there is one, else `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_cap: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub while_disabled: Option<WhileDisabled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_unrouted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<EnvelopeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Vec<SignatureScheme>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthSpec>,
    /// Replaces the whole list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<Vec<CriticalSpec>>,
}

/// `[profiles.<name>.outage]`
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Vec<DurationText>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusals: Option<bool>,
}

/// `refusal = false`, or `[profiles.<name>.refusal]`
#[derive(Clone, PartialEq, Debug)]
pub enum RefusalSpec {
    /// Takes the ladder away.
    Off,
    Table(RefusalTable),
}

/// `[profiles.<name>.refusal]`
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Vec<DurationText>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<DurationText>,
}

/// `[profiles.<name>.breaker]`
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakerSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<BreakerScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_max: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck: Option<DurationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_spends: Option<bool>,
}

/// `[profiles.<name>.health]`
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HealthSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_after: Option<DisableAfter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notices: Option<Vec<DurationText>>,
}

/// A duration, or `"never"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisableAfter {
    Never,
    After(DurationText),
}

/// One `[[profiles.<name>.critical]]`
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriticalSpec {
    #[serde(rename = "type")]
    pub event_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    #[serde(rename = "in", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl Serialize for DisableAfter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Never => serializer.serialize_str("never"),
            Self::After(after) => after.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DisableAfter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "never" {
            return Ok(Self::Never);
        }
        text.parse().map(Self::After).map_err(de::Error::custom)
    }
}

impl Serialize for RefusalSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RefusalSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RefusalVisitor)
    }
}

/// Written by hand because an untagged enum would swallow the sentence about a bad key inside.
struct RefusalVisitor;

impl<'de> de::Visitor<'de> for RefusalVisitor {
    type Value = RefusalSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("false, or a table with delays and span")
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<RefusalSpec, E> {
        if on {
            return Err(E::custom("refusal = true says no delays: write a table with delays and span"));
        }
        Ok(RefusalSpec::Off)
    }

    /// What an environment variable gives.
    fn visit_str<E: de::Error>(self, text: &str) -> Result<RefusalSpec, E> {
        if text == "false" {
            Ok(RefusalSpec::Off)
        } else {
            Err(E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RefusalSpec, A::Error> {
        RefusalTable::deserialize(de::value::MapAccessDeserializer::new(map)).map(RefusalSpec::Table)
    }
}
