//! What journal rows hold, and the books over them.

use bytes::Bytes;
use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// A message as stored, with its payload where it is still kept.
#[derive(Debug, Clone)]
pub struct MessageRecord {
    pub id: MessageId,
    pub environment: EnvironmentNo,
    pub app: AppNo,
    pub event_type: String,
    pub critical: bool,
    pub occurred: Option<Timestamp>,
    pub deliver_at: Option<Timestamp>,
    /// To how many endpoints it was routed; 0 and not unrouted: routed nowhere.
    pub routes: u32,
    /// [`MessageMeta`] as JSON.
    pub meta: Vec<u8>,
    /// `None`: expunged or past its retention.
    pub payload: Option<Bytes>,
}

impl MessageRecord {
    /// What it weighs in a page: its payload, where it was asked for, and its meta.
    pub fn content_bytes(&self) -> usize {
        // A page without payloads is to be as long as was asked for.
        self.payload.as_ref().map_or(0, |payload| payload.len() + self.meta.len())
    }
}

impl MessageRecord {
    /// The instant from which ages count (R7): acceptance, or `deliverAt`.
    pub fn ages_from(&self) -> Timestamp {
        self.deliver_at.map_or(self.id.accepted_at(), |at| at.max(self.id.accepted_at()))
    }
}

/// What a message carries that no rule of the store reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageMeta {
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "e")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "c")]
    pub channels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "t")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "v")]
    pub api_version: Option<String>,
    /// Hours that the payload is kept, where the caller chose.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "r")]
    pub retention_hours: Option<u32>,
}

/// One attempt as journaled.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// Made by the committer.
    pub id: AttemptId,
    pub message: MessageId,
    pub endpoint: EndpointNo,
    /// 1 for the first attempt of the delivery.
    pub number: u32,
    pub by_hand: bool,
    pub outcome: Outcome,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    pub started: Timestamp,
    pub duration_us: u64,
    /// [`AttemptDetail`] as JSON.
    pub detail: Vec<u8>,
    /// The answer's body as received, up to its cap; any bytes.
    pub answer: Bytes,
}

impl AttemptRecord {
    /// What it weighs in a page.
    pub fn content_bytes(&self) -> usize {
        self.detail.len() + self.answer.len()
    }
}

/// What else an attempt's record tells. Names are short because there are many of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptDetail {
    /// The URL at the moment of the attempt.
    #[serde(rename = "u")]
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "r")]
    pub remote: Option<String>,
    /// A stable code of the cause, where there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "c")]
    pub cause: Option<String>,
    /// The cause as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "s")]
    pub sentence: Option<String>,
    /// The stage that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "g")]
    pub stage: Option<String>,
    /// Microseconds: dns, connect, tls, send, wait, body.
    #[serde(default, rename = "p")]
    pub phases_us: [u64; 6],
    /// Requests sent: 2 when a reused connection turned out dead.
    #[serde(default, rename = "n")]
    pub sends: u8,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "t")]
    pub tls: Option<String>,
    /// The request's own headers as sent the last time (custom ones, sensitive values masked, and the
    /// signatures): lines of `name: value`. Those that every request has alike are not repeated.
    #[serde(default, skip_serializing_if = "String::is_empty", rename = "q")]
    pub request: String,
    /// Bytes of the request's body.
    #[serde(default, rename = "z")]
    pub request_bytes: u64,
    /// The answer's head as received, lossy text.
    #[serde(default, skip_serializing_if = "String::is_empty", rename = "h")]
    pub head: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "x")]
    pub truncated: bool,
    /// It was a breaker's probe (R12).
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "b")]
    pub probe: bool,
}

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SettledState {
    Delivered = 1,
    Failed = 2,
    Cancelled = 3,
    Skipped = 4,
}

impl SettledState {
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Delivered,
            2 => Self::Failed,
            3 => Self::Cancelled,
            4 => Self::Skipped,
            _ => return None,
        })
    }
}

/// A delivery as it stands: one message at one endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveryRecord {
    pub message: MessageId,
    pub endpoint: EndpointNo,
    pub progress: Progress,
    pub state: DeliveryState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Never tried.
    Fresh,
    Waiting {
        due: Timestamp,
        rule: Rule,
    },
    Settled {
        state: SettledState,
        reason: Option<Reason>,
        at: Timestamp,
        last_status: Option<u16>,
    },
}

/// What became of an application's deliveries in a span of time, by the time of acceptance (R29).
/// Counts are of deliveries; `routed_nowhere`, `unrouted` and `unrouted_ended` of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Books {
    /// Messages accepted.
    pub messages: u64,
    /// Messages that no endpoint took.
    pub routed_nowhere: u64,
    /// Messages that wait for an endpoint (R18).
    pub unrouted: u64,
    /// Messages that waited for an endpoint and ended so.
    pub unrouted_ended: u64,
    /// Deliveries that the messages' own records say were made of them: what `endpoints` must add up to.
    pub routed: u64,
    pub endpoints: Vec<EndpointBooks>,
}

/// The books of one endpoint: what became of its deliveries, each counted once as it stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndpointBooks {
    pub endpoint: EndpointNo,
    pub delivered: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub skipped: u64,
    pub waiting: u64,
}

impl Books {
    /// Whether every message and every delivery is accounted for (R29); if not, that is a fault of ours.
    pub fn is_balanced(&self) -> bool {
        let without = self.routed_nowhere + self.unrouted + self.unrouted_ended;
        let found: u64 = self.endpoints.iter().map(EndpointBooks::accepted).sum();
        without <= self.messages && found == self.routed
    }
}

impl EndpointBooks {
    /// All of them.
    pub const fn accepted(&self) -> u64 {
        self.delivered + self.failed + self.cancelled + self.skipped + self.waiting
    }

    /// The count of those that have ended so.
    pub fn ended(&mut self, state: SettledState) -> &mut u64 {
        match state {
            SettledState::Delivered => &mut self.delivered,
            SettledState::Failed => &mut self.failed,
            SettledState::Cancelled => &mut self.cancelled,
            SettledState::Skipped => &mut self.skipped,
        }
    }
}

/// How a message ended that waited for an endpoint in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnroutedEnd {
    pub reason: Reason,
    pub at: Timestamp,
}
