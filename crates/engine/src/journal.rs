//! What an attempt's record says, from what the sender saw.

use bytes::Bytes;
use gonets_core::{
    decide::INTERRUPTED_MAX,
    fleet::Reached,
    ids::{AttemptId, EndpointNo, MessageId},
    outcome::{self, Outcome},
    time::Timestamp,
};
use gonets_egress::{CauseKind, Exchange, OurFault, Seen, Stage};
use gonets_store::record::{AttemptDetail, AttemptRecord};

/// An attempt as it ended, ready to be judged and recorded.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) outcome: Outcome,
    pub(crate) timed_out: bool,
    pub(crate) reached: Reached,
    /// It was too old to be sent at all (R7).
    pub(crate) expired: bool,
    /// `None`: nothing left the machine and nothing was decided, so nothing is journaled.
    pub(crate) attempt: Option<AttemptRecord>,
}

/// Which attempt it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Which {
    pub(crate) message: MessageId,
    pub(crate) endpoint: EndpointNo,
    pub(crate) number: u32,
    pub(crate) by_hand: bool,
    /// A breaker's probe (R12).
    pub(crate) probe: bool,
    /// Interrupted attempts in a row before this one.
    pub(crate) interrupted: u8,
    pub(crate) started: Timestamp,
}

/// What was sent, as far as it is not the same for every request.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Lines of `name: value`, fit to be shown.
    pub(crate) headers: String,
    /// Of the body.
    pub(crate) bytes: u64,
}

impl Report {
    /// From an exchange on the wire.
    pub(crate) fn of_exchange(which: Which, url: &str, sent: Sent, exchange: Exchange) -> Self {
        let (seen, cause) = match &exchange.seen {
            Seen::Status(status) => (outcome::Seen::Status(*status), None),
            Seen::Failed(cause) => (outcome::Seen::NoAnswer, Some((cause.code(), cause.to_string()))),
            Seen::Blocked(denied) => {
                (outcome::Seen::Blocked, Some((denied.code(), denied.operator().to_string())))
            }
            Seen::OurFault(fault) => (outcome::Seen::OurFault, Some((fault.code(), fault.to_string()))),
        };
        let outcome = outcome::classify(seen);
        let reached = reached(&exchange);
        let timed_out = matches!(&exchange.seen, Seen::Failed(cause) if cause.kind() == CauseKind::Timeout);
        // The last in a row counts as a failure (R1), and a failure without a record cannot be explained.
        let is_last = which.interrupted + 1 >= INTERRUPTED_MAX;
        if outcome == Outcome::Interrupted && !exchange.byte_may_have_left && !is_last {
            return Self { outcome, timed_out, reached, expired: false, attempt: None };
        }
        let phases = &exchange.phases;
        let (cause, sentence) = cause.unzip();
        let detail = AttemptDetail {
            url: url.to_owned(),
            remote: exchange.remote.map(|remote| remote.to_string()),
            cause: cause.map(str::to_owned),
            sentence,
            stage: Some(exchange.stage.as_str().to_owned()),
            phases_us: [
                phases.dns_us,
                phases.connect_us,
                phases.tls_us,
                phases.send_us,
                phases.wait_us,
                phases.body_us,
            ]
            .map(u64::from),
            sends: exchange.sends,
            tls: exchange.tls_version.map(|version| version.as_str().to_owned()),
            request: sent.headers,
            request_bytes: sent.bytes,
            head: String::from_utf8_lossy(&exchange.headers).into_owned(),
            truncated: exchange.truncated,
            probe: which.probe,
        };
        let status = match exchange.seen {
            Seen::Status(status) => Some(status),
            _ => None,
        };
        let attempt = which.record(outcome, status, exchange.duration_us, &detail, exchange.body);
        Self { outcome, timed_out, reached, expired: false, attempt: Some(attempt) }
    }

    /// No request was made, and the journal is to say why.
    pub(crate) fn unsent(which: Which, url: &str, outcome: Outcome, cause: &str, sentence: String) -> Self {
        let detail = AttemptDetail {
            url: url.to_owned(),
            cause: Some(cause.to_owned()),
            sentence: Some(sentence),
            probe: which.probe,
            ..AttemptDetail::default()
        };
        Self {
            outcome,
            timed_out: false,
            reached: Reached::Unknown,
            expired: false,
            attempt: Some(which.record(outcome, None, 0, &detail, Bytes::new())),
        }
    }

    /// Our own fault before anything left; tried again.
    pub(crate) fn interrupted() -> Self {
        Self {
            outcome: Outcome::Interrupted,
            timed_out: false,
            reached: Reached::Unknown,
            expired: false,
            attempt: None,
        }
    }

    /// Its age ended while it waited; nothing was sent.
    pub(crate) fn expired() -> Self {
        Self { expired: true, ..Self::interrupted() }
    }
}

/// How far a request came on the network (R27).
fn reached(exchange: &Exchange) -> Reached {
    match exchange.seen {
        Seen::Status(_) => Reached::Yes,
        Seen::Blocked(_) => Reached::Unknown,
        Seen::Failed(_) if exchange.stage > Stage::Connect => Reached::Yes,
        Seen::Failed(_) => Reached::No,
        Seen::OurFault(OurFault::ResolverDown(_)) => Reached::No,
        Seen::OurFault(_) => Reached::Unknown,
    }
}

impl Which {
    fn record(
        self,
        outcome: Outcome,
        status: Option<u16>,
        duration_us: u64,
        detail: &AttemptDetail,
        answer: Bytes,
    ) -> AttemptRecord {
        AttemptRecord {
            id: AttemptId(0),
            message: self.message,
            endpoint: self.endpoint,
            number: self.number,
            by_hand: self.by_hand,
            outcome,
            status,
            started: self.started,
            duration_us,
            detail: serde_json::to_vec(detail).unwrap_or_default(),
            answer,
        }
    }
}
