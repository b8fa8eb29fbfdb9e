//! Messages. The payload is the producer's JSON text and stays text: it is shown byte for byte.

use std::borrow::Cow;

use bytes::Bytes;
use gonets_core::time::Timestamp;
use gonets_service::{
    Problem,
    message::{AtEndpoint, Message, MessageAt, NewMessage, Posted, Status},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{application::ApplicationIn, endpoint::EndpointOut, required};
use crate::{error::Result, request};

/// Payloads up to this size are copied out of the request's buffer: a slice would keep the whole
/// buffer of the connection in memory for as long as the message, and have a new one made for the
/// next request.
const COPIED_BYTES: usize = 8 * 1024;

const HOURS_PER_DAY: u32 = 24;

/// A message to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageIn<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "order.paid")]
    event_type: Option<Cow<'a, str>>,
    /// Any JSON value, null too; it travels byte for byte.
    #[serde(borrow, default, deserialize_with = "request::given")]
    #[schema(value_type = Value, required = true)]
    payload: Option<&'a RawValue>,
    /// The producer's own id, unique in the application.
    #[schema(value_type = Option<String>)]
    event_id: Option<Cow<'a, str>>,
    #[schema(max_items = 5)]
    channels: Option<Vec<String>>,
    #[schema(max_items = 5)]
    tags: Option<Vec<String>>,
    /// Not tried before this instant, at most 30 days ahead (`max_age` of the profile).
    deliver_at: Option<String>,
    /// Not supported yet: refused when given.
    #[schema(minimum = 5, maximum = 90)]
    payload_retention_period: Option<u32>,
    /// Not supported yet: refused when given.
    payload_retention_hours: Option<u32>,
    #[serde(default, deserialize_with = "request::object")]
    #[schema(value_type = Option<TransformationsParams>)]
    transformations_params: Option<TransformationsParams>,
    /// The application, made if it is not there yet.
    #[serde(default, deserialize_with = "request::object")]
    #[schema(value_type = Option<ApplicationIn>)]
    application: Option<ApplicationIn>,
    /// Whether losing it costs money; the profile's rules decide if not said.
    critical: Option<bool>,
    /// When the event happened; when it is accepted if not said.
    occurred_at: Option<String>,
    api_version: Option<String>,
}

/// How the payload is given as text, in SDKs that offer it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransformationsParams {
    /// The payload's JSON text, instead of `payload`.
    raw_payload: Option<String>,
}

impl<'a> MessageIn<'a> {
    /// The application that is to be made if it is not there.
    pub(crate) fn take_application(&mut self) -> Option<ApplicationIn> {
        self.application.take()
    }

    /// The message, and its payload as JSON; `body` is what it was read from.
    pub(crate) fn message(self, body: &'a Bytes) -> Result<(NewMessage, Cow<'a, RawValue>)> {
        let (payload, bytes) = match self.transformations_params.and_then(|params| params.raw_payload) {
            None => {
                let raw = required("payload", self.payload)?;
                (Cow::Borrowed(raw), bytes_of(raw, body))
            }
            Some(text) => {
                let raw = RawValue::from_string(text).map_err(|cause| {
                    Problem::body("transformationsParams", request::not_json("rawPayload", &cause))
                })?;
                let bytes = Bytes::copy_from_slice(raw.get().as_bytes());
                (Cow::Owned(raw), bytes)
            }
        };
        let message = NewMessage {
            event_type: required("eventType", self.event_type)?.into_owned(),
            payload: bytes,
            event_id: self.event_id.map(Cow::into_owned),
            channels: self.channels.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            deliver_at: instant("deliverAt", self.deliver_at.as_deref())?,
            occurred_at: instant("occurredAt", self.occurred_at.as_deref())?,
            api_version: self.api_version,
            retention_hours: retention(self.payload_retention_hours, self.payload_retention_period)?,
            critical: self.critical,
        };
        Ok((message, payload))
    }
}

/// The payload's text out of the body that it was read from.
fn bytes_of(raw: &RawValue, body: &Bytes) -> Bytes {
    let text = raw.get().as_bytes();
    if text.len() > COPIED_BYTES { body.slice_ref(text) } else { Bytes::copy_from_slice(text) }
}

pub(super) fn instant(field: &'static str, text: Option<&str>) -> Result<Option<Timestamp>> {
    let Some(text) = text else { return Ok(None) };
    match request::instant(text) {
        Some(at) => Ok(Some(at)),
        None => {
            let message = format!("{field} {}", request::NOT_AN_INSTANT);
            Err(Problem::body(field, message).into())
        }
    }
}

fn retention(hours: Option<u32>, days: Option<u32>) -> Result<Option<u32>> {
    match (hours, days) {
        (Some(hours), _) => Ok(Some(hours)),
        (None, Some(days)) if !(5..=90).contains(&days) => Err(Problem::body(
            "payloadRetentionPeriod",
            format!("payloadRetentionPeriod is {days}. Use 5 to 90 days."),
        )
        .into()),
        (None, days) => Ok(days.map(|days| days * HOURS_PER_DAY)),
    }
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageOut<'a> {
    pub id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub event_id: Option<&'a str>,
    pub event_type: &'a str,
    /// `{}` where it was not asked for or is not kept any more.
    #[schema(value_type = Value)]
    pub payload: Cow<'a, RawValue>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub channels: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub api_version: Option<&'a str>,
    pub timestamp: String,
}

impl<'a> MessageOut<'a> {
    /// What was posted; `payload` is `None` where it was not asked for.
    pub(crate) fn posted(
        posted: &'a Posted,
        message: &'a NewMessage,
        payload: Option<Cow<'a, RawValue>>,
    ) -> Self {
        Self {
            id: Cow::Borrowed(&posted.id),
            event_id: message.event_id.as_deref(),
            event_type: &message.event_type,
            payload: payload.unwrap_or(Cow::Borrowed(empty())),
            channels: &message.channels,
            tags: &message.tags,
            deliver_at: message.deliver_at.map(Timestamp::to_rfc3339),
            occurred_at: message.occurred_at.map(Timestamp::to_rfc3339),
            api_version: message.api_version.as_deref(),
            timestamp: posted.accepted_at.to_rfc3339(),
        }
    }

    pub(crate) fn of(message: &'a Message, with_content: bool) -> Self {
        let payload = message.payload.as_ref().filter(|_| with_content);
        Self {
            id: Cow::Borrowed(&message.id),
            event_id: message.meta.event_id.as_deref(),
            event_type: &message.event_type,
            // It was JSON when it was accepted.
            payload: Cow::Borrowed(
                payload.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or(empty()),
            ),
            channels: &message.meta.channels,
            tags: &message.meta.tags,
            deliver_at: message.deliver_at.map(Timestamp::to_rfc3339),
            occurred_at: message.occurred_at.map(Timestamp::to_rfc3339),
            api_version: message.meta.api_version.as_deref(),
            timestamp: message.accepted_at.to_rfc3339(),
        }
    }
}

/// `{}`.
fn empty() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

/// What stands of a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StandingOut {
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[schema(maximum = 4)]
    pub status: u8,
    pub status_text: &'static str,
    pub next_attempt: Option<String>,
}

impl StandingOut {
    fn of(status: Status, next_attempt: Option<Timestamp>) -> Self {
        Self {
            status: status.code(),
            status_text: status.name(),
            next_attempt: next_attempt.map(Timestamp::to_rfc3339),
        }
    }
}

/// A message, and what stands of it at an endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndpointMessageOut<'a> {
    #[serde(flatten)]
    pub standing: StandingOut,
    #[serde(flatten)]
    pub message: MessageOut<'a>,
}

impl<'a> EndpointMessageOut<'a> {
    pub(crate) fn of(at: &'a MessageAt, with_content: bool) -> Self {
        Self {
            standing: StandingOut::of(at.status, at.next_attempt),
            message: MessageOut::of(&at.message, with_content),
        }
    }
}

/// An endpoint, and what stands of a message there.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageEndpointOut {
    #[serde(flatten)]
    pub standing: StandingOut,
    #[serde(flatten)]
    pub endpoint: EndpointOut,
}

impl From<AtEndpoint> for MessageEndpointOut {
    fn from(at: AtEndpoint) -> Self {
        let endpoint = EndpointOut { status: None, ..at.endpoint.into() };
        Self { standing: StandingOut::of(at.status, at.next_attempt), endpoint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(NewMessage, String)> {
        let body = Bytes::copy_from_slice(text.as_bytes());
        let input: MessageIn<'_> = request::read(&body)?;
        let (message, payload) = input.message(&body)?;
        Ok((message, payload.get().to_owned()))
    }

    #[test]
    fn the_payload_is_taken_byte_for_byte() {
        for payload in [
            r#"{ "a" : 1.0, "b":[7615917337495251231] }"#,
            r#"{"s":"a\u0000b"}"#,
            r#"{"s":"\ud800"}"#,
            r#"{"u":"https:\/\/x.example\/p"}"#,
            "[1,2]",
            "null",
            "\"text\"",
            "1e400",
            "{\"t\":\"🚀 é тест\"}",
        ] {
            let (message, shown) = parse(&format!(r#"{{"eventType":"a.b","payload":{payload}}}"#)).unwrap();
            assert_eq!(message.payload, payload.as_bytes());
            assert_eq!(shown, payload);
        }
    }

    #[test]
    fn deep_nesting_is_no_trouble() {
        let payload = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
        let (message, _) = parse(&format!(r#"{{"eventType":"a","payload":{payload}}}"#)).unwrap();
        assert_eq!(message.payload.len(), 4000);
    }

    #[test]
    fn a_large_payload_is_a_slice_of_the_body() {
        let body = Bytes::from(format!(r#"{{"eventType":"a","payload":"{}"}}"#, "x".repeat(COPIED_BYTES)));
        let input: MessageIn<'_> = request::read(&body).unwrap();
        let (message, _) = input.message(&body).unwrap();
        let inside = body.as_ptr_range();
        assert!(inside.contains(&message.payload.as_ptr()));
    }

    #[test]
    fn what_is_missing_or_wrong_is_told() {
        for (bad, field) in [
            (r#"{"payload":{}}"#, "eventType"),
            (r#"{"eventType":"a"}"#, "payload"),
            (r#"{"eventType":"a","payload":{},"deliverAt":"soon"}"#, "deliverAt"),
            (r#"{"eventType":"a","payload":{},"payloadRetentionPeriod":4}"#, "payloadRetentionPeriod"),
            (r#"{"eventType":"a","payload":{},"tags":"x"}"#, "tags"),
        ] {
            let Err(crate::error::ApiError::Service(gonets_service::Error::Invalid(problems))) = parse(bad)
            else {
                panic!("{bad} was taken")
            };
            assert_eq!(problems[0].at[1], field);
        }
    }

    #[test]
    fn raw_payload_replaces_the_payload_if_it_is_json() {
        let raw = r#"{"eventType":"a","payload":{},"transformationsParams":{"rawPayload":"{\"b\":  1}","headers":{}}}"#;
        assert_eq!(parse(raw).unwrap().0.payload, r#"{"b":  1}"#.as_bytes());
        assert!(parse(r#"{"eventType":"a","transformationsParams":{"rawPayload":"<xml/>"}}"#).is_err());
    }

    #[test]
    fn what_was_not_said_is_not_answered() {
        let message = NewMessage { event_type: "a".into(), ..NewMessage::default() };
        let posted = Posted { id: "msg_1".into(), accepted_at: Timestamp::from_millis(0) };
        let out = serde_json::to_string(&MessageOut::posted(&posted, &message, None)).unwrap();
        assert_eq!(
            out,
            r#"{"id":"msg_1","eventType":"a","payload":{},"timestamp":"1970-01-01T00:00:00.000Z"}"#
        );
    }
}
