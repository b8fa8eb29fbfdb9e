//! Notices: what Gonets itself tells an environment, as operational events and by mail (R17, R21).
//!
//! A notice is written in the same transaction as the change that it tells of, and carried on from
//! there: so none is lost by a crash, and none tells of what did not happen.

use std::time::Duration;

use crate::{
    ids::{AppNo, EndpointNo, EnvironmentNo, MessageId},
    rule::coded,
    time::Timestamp,
};

coded! {
    /// What it tells; the name is the event type. The codes are stored.
    NoticeKind {
        EndpointFailing = 1, "endpoint.failing", "an endpoint began to fail";
        EndpointWarned = 2, "endpoint.warned", "an endpoint has failed for a while";
        EndpointRecovered = 3, "endpoint.recovered", "an endpoint that failed takes messages again";
        EndpointDisabled = 4, "endpoint.disabled", "an endpoint was disabled";
        EndpointEnabled = 5, "endpoint.enabled", "an endpoint was enabled";
        EndpointCreated = 6, "endpoint.created", "an endpoint was created";
        EndpointUpdated = 7, "endpoint.updated", "an endpoint was changed";
        EndpointDeleted = 8, "endpoint.deleted", "an endpoint was deleted";
        AttemptFailing = 9, "message.attempt.failing", "a delivery has failed several times and goes on";
        AttemptExhausted = 10, "message.attempt.exhausted", "a delivery failed for good";
        AttemptRecovered = 11, "message.attempt.recovered", "a delivery that had failed several times was delivered";
        MessageExpiring = 12, "message.expiring", "critical messages that wait expire soon";
        MessageExpired = 13, "message.expired", "messages that waited became too old";
        BreakerOpened = 14, "breaker.opened", "a server is down: deliveries to it wait";
        BreakerProbed = 15, "breaker.probed", "a server was probed and is not back yet";
        BreakerClosed = 16, "breaker.closed", "a server is back: what waited goes out";
        SendingPaused = 17, "sending.paused", "our own network seems to be down: sending pauses";
        SendingResumed = 18, "sending.resumed", "sending goes on";
    }
}

/// How long transitions are kept.
pub const TRANSITIONS_KEPT: Duration = Duration::from_secs(40 * 86_400);

/// So many failed attempts of one delivery make it *failing* (`message.attempt.failing`), and
/// its delivery after that a recovery.
pub const FAILING_ATTEMPTS: u32 = 4;

/// One notice.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Notice {
    pub kind: NoticeKind,
    pub about: About,
    pub at: Timestamp,
    #[serde(default)]
    pub facts: Facts,
}

/// What a notice is about. Without an environment: every environment is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct About {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentNo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppNo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointNo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

/// What else is known; what does not apply is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// A stable code, such as that of a [`crate::rule::Reason`] or [`crate::gate::DisabledBy`], or
    /// `owner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When what it tells of began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it ends or something next happens: the next probe, the expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Failed attempts, or messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The name of the outcome that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

impl Notice {
    pub fn new(kind: NoticeKind, about: About, at: Timestamp) -> Self {
        Self { kind, about, at, facts: Facts::default() }
    }

    #[must_use]
    pub fn with(mut self, facts: Facts) -> Self {
        self.facts = facts;
        self
    }
}

impl NoticeKind {
    /// Whether it is a transition that the journal keeps (R17), for the timelines of what waited meanwhile.
    pub const fn is_transition(self) -> bool {
        matches!(
            self,
            Self::EndpointFailing
                | Self::EndpointRecovered
                | Self::EndpointDisabled
                | Self::EndpointEnabled
                | Self::BreakerOpened
                | Self::BreakerClosed
                | Self::SendingPaused
                | Self::SendingResumed
        )
    }

    /// Whether people are told by mail too. The rest is for programs: what a person did they know, and
    /// single messages would be a flood.
    pub const fn is_mailed(self) -> bool {
        !matches!(
            self,
            Self::EndpointCreated
                | Self::EndpointUpdated
                | Self::EndpointDeleted
                | Self::AttemptFailing
                | Self::AttemptRecovered
                | Self::BreakerProbed
                | Self::SendingPaused
                | Self::SendingResumed
        )
    }
}

impl serde::Serialize for NoticeKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for NoticeKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = u8::deserialize(deserializer)?;
        Self::from_code(code).ok_or_else(|| serde::de::Error::custom(format!("an unknown notice {code}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_survives_its_record() {
        let about = About { app: Some(AppNo(3)), ..About::default() };
        let notice = Notice::new(NoticeKind::BreakerOpened, about, Timestamp::from_millis(9))
            .with(Facts { count: Some(5), ..Facts::default() });
        let text = serde_json::to_string(&notice).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Notice>(&text).expect("it can be read"), notice);
    }

    #[test]
    fn names_are_event_types_of_their_own() {
        let names: std::collections::BTreeSet<_> = NoticeKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), 18);
        assert!(names.contains("message.attempt.exhausted"));
    }
}
