//! Attempts.

use gonets_service::{
    attempt::{Attempt, AttemptDetail, AttemptFilter, AttemptsOf, OutcomeFilter},
    message::{EndpointMessageFilter, MessageFilter, Status},
};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    error::Result,
    request::{FromParams, Params},
};

/// One try of a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAttemptOut {
    pub id: String,
    pub url: String,
    /// The body of the answer, or why there was none.
    pub response: String,
    /// 0: there was no answer.
    pub response_status_code: u16,
    pub response_duration_ms: u64,
    /// 0 success, 2 fail.
    pub status: u8,
    pub status_text: &'static str,
    /// 0 scheduled, 1 by hand.
    pub trigger_type: u8,
    pub msg_id: String,
    pub endpoint_id: String,
    pub timestamp: String,
    /// delivered, refused, gone, throttled, unavailable, misdirected, blocked or interrupted.
    pub outcome: &'static str,
    /// 1 for the first attempt of the delivery.
    pub number: u32,
    /// A stable code of why there was no answer.
    pub cause: Option<String>,
    /// Requests sent: 2 when a reused connection turned out dead.
    pub sends: u8,
    /// How it went on the wire.
    pub trace: AttemptTraceOut,
}

/// What the journal keeps of an attempt beside its result.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptTraceOut {
    /// The request's own headers: custom ones (sensitive values masked) and the signatures, one to a
    /// line.
    pub request_headers: String,
    /// Bytes of the request's body.
    pub request_bytes: u64,
    /// The answer's head as it came, as text.
    pub response_headers: String,
    /// The answer's body was longer than what is kept of it.
    pub response_truncated: bool,
    /// Where the connection went.
    pub remote_address: Option<String>,
    pub tls_version: Option<String>,
    /// The stage that was reached: dns, connect, tls, send, wait, body or done.
    pub stage: Option<String>,
    pub phases_us: PhasesOut,
    /// Why there was no answer, as a sentence.
    pub sentence: Option<String>,
}

/// Microseconds spent in each stage.
#[derive(Debug, Serialize, ToSchema)]
pub struct PhasesOut {
    pub dns: u64,
    pub connect: u64,
    pub tls: u64,
    pub send: u64,
    pub wait: u64,
    pub body: u64,
}

impl From<AttemptDetail> for AttemptTraceOut {
    fn from(detail: AttemptDetail) -> Self {
        let [dns, connect, tls, send, wait, body] = detail.phases_us;
        Self {
            request_headers: detail.request,
            request_bytes: detail.request_bytes,
            response_headers: detail.head,
            response_truncated: detail.truncated,
            remote_address: detail.remote,
            tls_version: detail.tls,
            stage: detail.stage,
            phases_us: PhasesOut { dns, connect, tls, send, wait, body },
            sentence: detail.sentence,
        }
    }
}

impl MessageAttemptOut {
    pub(crate) fn of(attempt: Attempt, with_content: bool) -> Self {
        let status = if attempt.is_success() { Status::Success } else { Status::Fail };
        Self {
            id: attempt.id,
            url: attempt.detail.url.clone(),
            response: if with_content { attempt.response } else { String::new() },
            response_status_code: attempt.status_code.unwrap_or(0),
            response_duration_ms: attempt.duration_ms,
            status: status.code(),
            status_text: status.name(),
            trigger_type: u8::from(attempt.by_hand),
            msg_id: attempt.message_id,
            endpoint_id: attempt.endpoint_id,
            timestamp: attempt.started.to_rfc3339(),
            outcome: attempt.outcome.name(),
            number: attempt.number,
            cause: attempt.detail.cause.clone(),
            sends: attempt.detail.sends,
            trace: attempt.detail.into(),
        }
    }
}

/// Which messages or attempts.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct JournalQuery {
    /// Only with this channel.
    channel: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only of these types: repeated, or separated by commas.
    event_types: Option<Vec<String>>,
    /// Only from before this instant.
    #[param(value_type = Option<String>, format = DateTime)]
    before: Option<gonets_core::time::Timestamp>,
    /// Only from after this instant.
    #[param(value_type = Option<String>, format = DateTime)]
    after: Option<gonets_core::time::Timestamp>,
    /// Whether payloads and answers are shown; they are if not said.
    with_content: Option<bool>,
}

impl FromParams for JournalQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        let event_types = params.list("event_types");
        Ok(Self {
            channel: params.owned("channel"),
            tag: params.owned("tag"),
            event_types: (!event_types.is_empty()).then_some(event_types),
            before: params.instant("before")?,
            after: params.instant("after")?,
            with_content: params.flag("with_content")?,
        })
    }
}

impl JournalQuery {
    pub(crate) fn with_content(&self) -> bool {
        self.with_content.unwrap_or(true)
    }

    pub(crate) fn messages(self) -> MessageFilter {
        let with_payload = self.with_content();
        MessageFilter {
            event_types: self.event_types.unwrap_or_default(),
            channel: self.channel,
            tag: self.tag,
            before: self.before,
            after: self.after,
            with_payload,
        }
    }
}

/// Which standings, besides [`JournalQuery`].
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[param(maximum = 4)]
    status: Option<u8>,
}

impl FromParams for StatusQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        let status = params.parsed("status", "0, 1, 2, 3 or 4", |text| {
            text.parse().ok().filter(|code| Status::from_code(*code).is_some())
        })?;
        Ok(Self { status })
    }
}

impl StatusQuery {
    fn status(&self) -> Option<Status> {
        self.status.and_then(Status::from_code)
    }

    pub(crate) fn messages(&self, query: JournalQuery) -> EndpointMessageFilter {
        EndpointMessageFilter { message: query.messages(), status: self.status() }
    }
}

/// Which attempts, besides [`JournalQuery`] and [`StatusQuery`].
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AttemptQuery {
    /// 200 for all 2xx, …; 0 for no answer.
    status_code_class: Option<u16>,
    /// Only at this endpoint.
    endpoint_id: Option<String>,
}

impl FromParams for AttemptQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        let status_code_class =
            params.parsed("status_code_class", "0, 100, 200, 300, 400 or 500", |text| {
                text.parse().ok().filter(|class: &u16| class.is_multiple_of(100) && *class <= 500)
            })?;
        Ok(Self { status_code_class, endpoint_id: params.owned("endpoint_id") })
    }
}

impl AttemptQuery {
    pub(crate) fn attempts(self, journal: JournalQuery, status: &StatusQuery) -> AttemptsOf {
        let status = status.status();
        let outcome = match status {
            Some(Status::Success) => Some(OutcomeFilter::Success),
            Some(Status::Fail) => Some(OutcomeFilter::Failure),
            _ => None,
        };
        AttemptsOf {
            none: status.is_some() && outcome.is_none(),
            endpoint: self.endpoint_id,
            filter: AttemptFilter {
                endpoint: None,
                outcome,
                status_class: self.status_code_class.map(|class| (class / 100) as u8),
                event_types: journal.event_types.unwrap_or_default(),
                channel: journal.channel,
                tag: journal.tag,
                before: journal.before,
                after: journal.after,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(query: &str) -> Result<AttemptsOf> {
        let params = Params::of(query);
        let (journal, status) = (JournalQuery::from_params(&params)?, StatusQuery::from_params(&params)?);
        Ok(AttemptQuery::from_params(&params)?.attempts(journal, &status))
    }

    #[test]
    fn filters_of_attempts_are_read() {
        let wanted = attempts("status=2&status_code_class=500&tag=t&endpoint_id=ep").unwrap();
        assert_eq!(wanted.filter.outcome, Some(OutcomeFilter::Failure));
        assert_eq!(wanted.filter.status_class, Some(5));
        assert_eq!(wanted.endpoint.as_deref(), Some("ep"));
        assert!(!wanted.none);
    }

    #[test]
    fn attempts_are_never_pending() {
        assert!(attempts("status=1").unwrap().none);
        assert!(!attempts("").unwrap().none);
    }

    #[test]
    fn filters_that_are_none_are_refused() {
        for bad in ["status=7", "status=x", "status_code_class=250", "status_code_class=600", "before=x"] {
            assert!(attempts(bad).is_err(), "{bad}");
        }
    }
}
