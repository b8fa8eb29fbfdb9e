//! Endpoints, their secrets and headers.

use std::collections::BTreeMap;

use gonets_core::time::Timestamp;
use gonets_service::{
    Problem,
    endpoint::{Endpoint, EndpointDraft, EndpointPatch, Headers, HeadersDraft, HeadersPatch, Held, Rotation},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::required;
use crate::{error::Result, request::given};

/// What an endpoint is made or replaced with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointIn {
    #[schema(value_type = String, example = "https://example.com/webhooks")]
    url: Option<String>,
    description: Option<String>,
    uid: Option<String>,
    /// Requests a second.
    throttle_rate: Option<u32>,
    /// The same as `throttleRate`, for old SDKs.
    rate_limit: Option<u32>,
    version: Option<u32>,
    disabled: Option<bool>,
    /// Only messages of these types, at least one; all if not said.
    event_types: Option<Vec<String>>,
    /// The same as `eventTypes`, for old SDKs.
    filter_types: Option<Vec<String>>,
    /// Only messages with one of these channels, at least one; all if not said.
    channels: Option<Vec<String>>,
    /// `whsec_…` or `whsk_…`; made if not said.
    secret: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
    headers: Option<BTreeMap<String, String>>,
    /// Requests at once, at most.
    concurrency: Option<u32>,
    /// Not supported yet: true is refused.
    ordered: Option<bool>,
    /// Those of the application's profile if not said.
    signature_schemes: Option<Vec<String>>,
    /// With `disabled: false`: what becomes of what waits. `deliver` sends it, paced, and is meant if not
    /// said; `skip` cancels it.
    #[schema(value_type = Option<String>, example = "deliver")]
    held: Option<String>,
}

impl EndpointIn {
    pub(crate) fn draft(self) -> Result<EndpointDraft> {
        let held = held(self.held.as_deref(), self.disabled)?;
        Ok(EndpointDraft {
            held,
            url: required("url", self.url)?,
            description: self.description.unwrap_or_default(),
            uid: self.uid,
            throttle_rate: self.throttle_rate.or(self.rate_limit),
            concurrency: self.concurrency,
            ordered: self.ordered.unwrap_or(false),
            disabled: self.disabled,
            event_types: self.event_types.or(self.filter_types),
            channels: self.channels,
            secret: self.secret,
            metadata: self.metadata.unwrap_or_default(),
            headers: self.headers.unwrap_or_default(),
            signature_schemes: self.signature_schemes,
            version: self.version,
        })
    }
}

/// What is to change of an endpoint: absent keeps, null takes away.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointPatchIn {
    url: Option<String>,
    description: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    uid: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    throttle_rate: Option<Option<u32>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    rate_limit: Option<Option<u32>>,
    version: Option<u32>,
    disabled: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    event_types: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    filter_types: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    channels: Option<Option<Vec<String>>>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    concurrency: Option<Option<u32>>,
    ordered: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    signature_schemes: Option<Option<Vec<String>>>,
    /// With `disabled: false`: what becomes of what waits. `deliver` sends it, paced, and is meant if not
    /// said; `skip` cancels it.
    #[schema(value_type = Option<String>, example = "deliver")]
    held: Option<String>,
}

impl EndpointPatchIn {
    pub(crate) fn patch(self) -> Result<EndpointPatch> {
        let held = held(self.held.as_deref(), self.disabled)?;
        Ok(EndpointPatch {
            held,
            url: self.url,
            description: self.description,
            uid: self.uid,
            throttle_rate: self.throttle_rate.or(self.rate_limit),
            concurrency: self.concurrency,
            ordered: self.ordered,
            disabled: self.disabled,
            event_types: self.event_types.or(self.filter_types),
            channels: self.channels,
            metadata: self.metadata,
            signature_schemes: self.signature_schemes,
            version: self.version,
        })
    }
}

/// What becomes of what waits at an endpoint that is enabled; said of anything else it is a mistake.
fn held(held: Option<&str>, disabled: Option<bool>) -> Result<Held> {
    let held = match held {
        None => return Ok(Held::default()),
        Some("deliver") => Held::Deliver,
        Some("skip") => Held::Skip,
        Some(other) => {
            let other: String = other.chars().take(40).collect();
            let message = format!("held is \"{other}\". Write deliver or skip.");
            return Err(Problem::body("held", message).into());
        }
    };
    if disabled != Some(false) {
        let message = "held says what becomes of what waits when the endpoint is enabled. Send it with \"disabled\": false.";
        return Err(Problem::body("held", message).into());
    }
    Ok(held)
}

/// An endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointOut {
    pub id: String,
    pub url: String,
    pub description: String,
    pub uid: Option<String>,
    pub rate_limit: Option<u32>,
    pub throttle_rate: Option<u32>,
    pub version: u32,
    /// By its owner or by Gonets.
    pub disabled: bool,
    /// `active`, `failing` (it takes nothing at the moment) or `disabled`. Where an endpoint is shown with
    /// a message, `status` is the message's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// `owner`, or by Gonets: `gone` (it answered 410) or `failing` (it took nothing for too long).
    pub disabled_reason: Option<&'static str>,
    pub disabled_since: Option<String>,
    pub failing_since: Option<String>,
    /// Until when it is given the pause that it asked for with 429.
    pub throttled_until: Option<String>,
    pub event_types: Option<Vec<String>>,
    pub filter_types: Option<Vec<String>>,
    pub channels: Option<Vec<String>>,
    pub concurrency: Option<u32>,
    pub ordered: bool,
    pub signature_schemes: Option<Vec<String>>,
    pub metadata: BTreeMap<String, String>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Endpoint> for EndpointOut {
    fn from(endpoint: Endpoint) -> Self {
        let shown = |at: Option<Timestamp>| at.map(Timestamp::to_rfc3339);
        let (disabled, status) = (endpoint.is_disabled(), endpoint.status().name());
        let disabled_reason = endpoint.disabled_reason();
        let disabled_since = shown(endpoint.disabled_since());
        let failing_since = shown(endpoint.failing_since());
        let throttled_until = shown(endpoint.throttled_until());
        let filled = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let event_types = filled(endpoint.doc.event_types);
        Self {
            id: endpoint.id,
            url: endpoint.doc.url,
            description: endpoint.doc.description,
            uid: endpoint.uid,
            rate_limit: endpoint.doc.throttle_rate,
            throttle_rate: endpoint.doc.throttle_rate,
            version: endpoint.doc.api_version,
            disabled,
            status: Some(status),
            disabled_reason,
            disabled_since,
            failing_since,
            throttled_until,
            filter_types: event_types.clone(),
            event_types,
            channels: filled(endpoint.doc.channels),
            concurrency: endpoint.doc.concurrency,
            ordered: endpoint.doc.ordered,
            signature_schemes: endpoint.doc.signature_schemes,
            metadata: endpoint.doc.metadata,
            created_at: endpoint.doc.created_at.to_rfc3339(),
            updated_at: endpoint.doc.updated_at.to_rfc3339(),
        }
    }
}

/// A signing secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndpointSecretOut {
    pub key: String,
}

/// A wish for a new secret.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSecretRotateIn {
    /// `whsec_…` or `whsk_…`; made if not said.
    key: Option<String>,
    /// How long the old one still signs: 0 to 604800, a day if not said.
    #[schema(maximum = 604800)]
    grace_period_seconds: Option<u32>,
}

/// A wish for a test event.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointTestIn {
    /// `gonets.test` if not said; only a key of the environment may choose.
    pub(crate) event_type: Option<String>,
}

impl From<EndpointSecretRotateIn> for Rotation {
    fn from(wish: EndpointSecretRotateIn) -> Self {
        Self { key: wish.key, grace_period_s: wish.grace_period_seconds }
    }
}

/// All extra headers of an endpoint.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointHeadersIn {
    #[schema(value_type = BTreeMap<String, String>)]
    headers: Option<BTreeMap<String, String>>,
    /// Names whose values are never shown, besides those that never are.
    sensitive: Option<Vec<String>>,
}

impl EndpointHeadersIn {
    pub(crate) fn draft(self) -> Result<HeadersDraft> {
        Ok(HeadersDraft {
            headers: required("headers", self.headers)?,
            sensitive: self.sensitive.unwrap_or_default(),
        })
    }
}

/// Headers to set and to delete.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointHeadersPatchIn {
    /// Null deletes, too.
    headers: Option<BTreeMap<String, Option<String>>>,
    delete_headers: Option<Vec<String>>,
    sensitive: Option<Vec<String>>,
}

impl From<EndpointHeadersPatchIn> for HeadersPatch {
    fn from(patch: EndpointHeadersPatchIn) -> Self {
        let mut delete = patch.delete_headers.unwrap_or_default();
        let mut headers = BTreeMap::new();
        for (name, value) in patch.headers.unwrap_or_default() {
            match value {
                Some(value) => drop(headers.insert(name, value)),
                None => delete.push(name),
            }
        }
        Self { set: HeadersDraft { headers, sensitive: patch.sensitive.unwrap_or_default() }, delete }
    }
}

/// Extra headers as they may be seen.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndpointHeadersOut {
    pub headers: BTreeMap<String, String>,
    /// Names whose values are not shown.
    pub sensitive: Vec<String>,
}

impl From<Headers> for EndpointHeadersOut {
    fn from(headers: Headers) -> Self {
        Self { headers: headers.shown, sensitive: headers.sensitive }
    }
}
