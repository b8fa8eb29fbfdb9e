//! Short ways to say the usual operations.

use bytes::Bytes;
use gonets_core::{
    gate::{GateChange, GateWrite, Scope},
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, EnvironmentNo, MessageId},
    notice::{About, Notice, NoticeKind},
    outcome::Outcome as Came,
    progress::Progress,
    time::Timestamp,
};

use crate::{
    entity::{EntityKind, EntityRow},
    query::{Order, Page},
    record::{AttemptRecord, MessageMeta, SettledState},
    tx::{Accept, EntityWrite, Idempotency, Keep, KeyOrigin, Made, Outcome, Source, Then, Tx, Verdict},
};

/// The environment of every trial.
pub const ENVIRONMENT: EnvironmentNo = EnvironmentNo(1);

/// A document of an application, as far as the store cares.
pub fn application(no: EntityNo) -> EntityRow {
    EntityRow {
        kind: EntityKind::Application,
        no,
        environment: ENVIRONMENT,
        owner: EntityNo(0),
        uid: None,
        version: 0,
        deleted: false,
        doc: b"{}".to_vec(),
    }
}

pub fn write(row: EntityRow, expected: Option<u32>) -> EntityWrite {
    EntityWrite { row, expected, touches: None, gates: vec![], notices: vec![], idempotency: None }
}

/// Freezes what stands behind the gate.
pub fn freeze(scope: Scope) -> GateWrite {
    GateWrite { scope, change: GateChange::Frozen(Some(Timestamp::from_millis(5))) }
}

/// Writes gates and nothing else.
pub fn keep(gates: Vec<GateWrite>) -> Tx {
    Tx::Keep(Box::new(Keep { gates, notices: vec![] }))
}

/// Something to tell.
pub fn notice() -> Notice {
    let about = About { environment: Some(ENVIRONMENT), ..About::default() };
    Notice::new(NoticeKind::MessageExpired, about, Timestamp::from_millis(7))
}

/// A message for `endpoints`, routed with version 1 of its application; the id is to be made.
pub fn accept(app: AppNo, endpoints: &[u32]) -> Accept {
    Accept {
        id: MessageId(0),
        environment: ENVIRONMENT,
        app,
        app_version: 1,
        event_type: String::from("order.paid"),
        critical: false,
        occurred: None,
        deliver_at: None,
        meta: meta(&MessageMeta::default()),
        event_id: None,
        idempotency: None,
        payload: Bytes::from_static(b"{\"total\": 12.50}"),
        routes: endpoints.iter().map(|endpoint| EndpointNo(*endpoint)).collect(),
        skips: vec![],
        hold_unrouted: false,
    }
}

impl Accept {
    /// As an operation.
    pub fn tx(self) -> Tx {
        Tx::Accept(Box::new(self))
    }
}

pub fn meta(meta: &MessageMeta) -> Vec<u8> {
    serde_json::to_vec(meta).expect("it is plain data")
}

pub fn key(seed: u8, body: u8, origin: KeyOrigin) -> Idempotency {
    Idempotency { key: [seed; 16], body: [body; 16], origin }
}

pub fn made_message(verdict: &Verdict) -> MessageId {
    match verdict {
        Ok(Made::Message(id)) => *id,
        other => panic!("a message was to be accepted, but: {other:?}"),
    }
}

pub fn attempt(
    message: MessageId,
    endpoint: u32,
    number: u32,
    came: Came,
    status: Option<u16>,
) -> AttemptRecord {
    AttemptRecord {
        id: AttemptId(0),
        message,
        endpoint: EndpointNo(endpoint),
        number,
        by_hand: false,
        outcome: came,
        status,
        started: message.accepted_at(),
        duration_us: 1_234,
        detail: b"{\"u\":\"https://example.org/\"}".to_vec(),
        answer: Bytes::from_static(b"ok \xff"),
    }
}

/// The outcome of one attempt; change what differs.
pub fn outcome(message: MessageId, endpoint: u32, from: Source, then: Then) -> Outcome {
    let (came, status) = match then {
        Then::Settled { state: SettledState::Delivered, .. } => (Came::Delivered, Some(204)),
        _ => (Came::Unavailable, Some(503)),
    };
    Outcome {
        endpoint: EndpointNo(endpoint),
        message,
        from,
        attempt: Some(attempt(message, endpoint, 1, came, status)),
        progress: Progress { attempts: 1, ..Progress::default() },
        then,
        gates: vec![],
        notices: vec![],
    }
}

impl Outcome {
    /// As an operation.
    pub fn tx(self) -> Tx {
        Tx::Outcome(Box::new(self))
    }
}

pub const DELIVERED: Then = Then::Settled { state: SettledState::Delivered, reason: None };

pub fn page(limit: u32, order: Order) -> Page {
    Page { limit, order, after: None, backwards: false, bytes: usize::MAX }
}
