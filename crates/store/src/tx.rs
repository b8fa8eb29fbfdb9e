//! Operations: guards and changes that hold together, or are refused together.
//!
//! A batch of operations is committed in order, in one durable transaction, and each gets its own
//! [`Verdict`]; one that is refused leaves no trace and does not disturb its neighbours. Operations
//! never read before they write in the caller: what must still be true is a guard that the engine
//! checks inside the transaction, so the same operations fit a store with many writers.

use bytes::Bytes;
use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, EnvironmentNo, MessageId},
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use crate::{
    entity::EntityRow,
    record::{AttemptRecord, Gate, Scope, SettledState},
};

/// One operation.
#[derive(Debug, Clone)]
pub enum Tx {
    Accept(Box<Accept>),
    Outcome(Box<Outcome>),
    Gate(Box<GateWrite>),
    Hand(HandRetry),
    Entity(Box<EntityWrite>),
    Cancel(CancelStep),
    Route(RouteStep),
}

/// Accept a message: message + payload + one `fresh` row per endpoint (or `waiting` if it has a
/// `deliver_at`, or `unrouted`) + event key + idempotency record.
#[derive(Debug, Clone)]
pub struct Accept {
    /// Made by the committer just before the commit.
    pub id: MessageId,
    pub environment: EnvironmentNo,
    pub app: AppNo,
    /// Guard: the application's version that the message was routed with; another one is
    /// [`Rejected::Stale`], a deleted application [`Rejected::Gone`].
    pub app_version: u32,
    pub event_type: String,
    pub critical: bool,
    pub occurred: Option<Timestamp>,
    /// Not tried before this instant: its deliveries start in `waiting`.
    pub deliver_at: Option<Timestamp>,
    /// eventId, channels, tags, …: opaque to the store ([`crate::record::MessageMeta`] as JSON).
    pub meta: Vec<u8>,
    /// Guard: unique in the application; taken is [`Rejected::Duplicate`].
    pub event_id: Option<String>,
    pub idempotency: Option<Idempotency>,
    pub payload: Bytes,
    /// The endpoints that take it.
    pub routes: Vec<EndpointNo>,
    /// With no route: wait for the first endpoint (R18) instead of being marked routed nowhere.
    pub hold_unrouted: bool,
}

/// A caller's idempotency key, hashed with its scope; the body is part of its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// Of environment, application, path and key.
    pub key: [u8; 16],
    /// Of the request's body.
    pub body: [u8; 16],
    /// Whose key it is, and so how long it lives.
    pub origin: KeyOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrigin {
    /// Invented by an SDK for each POST (`auto_…`): 10 minutes; kept in the message's row and in
    /// the memory of the writer.
    Auto,
    /// The caller's own: 12 hours; a table bucketed by hour.
    Caller,
}

/// The outcome of an attempt: deletes exactly one row of `from` (or the operation is refused as
/// [`Rejected::Gone`]), writes the attempt, then what becomes of the delivery.
///
/// An attempt that was under way when its delivery was cancelled was made all the same: it is
/// journaled, and makes the delivery `Delivered` if it did deliver; `then` counts for nothing.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub endpoint: EndpointNo,
    pub message: MessageId,
    pub from: Source,
    /// Its `id` is made by the committer. `None`: nothing was sent, so nothing is journaled
    /// (blocked is journaled; interrupted before a byte left is not).
    pub attempt: Option<AttemptRecord>,
    pub progress: Progress,
    pub then: Then,
    /// Written with the outcome, such as an endpoint's throttle pause.
    pub gate: Option<GateWrite>,
}

/// Which row an attempt was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Never tried.
    Fresh,
    /// On a ladder, or due later.
    Waiting,
    /// A retry by hand (R9).
    Hand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The delivery has ended. From [`Source::Hand`] with `Delivered` this also deletes the
    /// delivery's `fresh` or `waiting` row, if it has one (its scheduled attempt is cancelled).
    Settled { state: SettledState, reason: Option<Reason> },
    /// Tried again at `due`.
    Waiting { due: Timestamp, rule: Rule },
    /// A hand retry that failed: budgets, schedule and state stay as they were.
    Untouched,
}

/// Replaces the gate of a scope.
#[derive(Debug, Clone)]
pub struct GateWrite {
    pub scope: Scope,
    pub gate: Gate,
}

/// One attempt outside the ladders; refused as [`Rejected::Conflict`] while one is pending.
#[derive(Debug, Clone)]
pub struct HandRetry {
    pub endpoint: EndpointNo,
    pub message: MessageId,
    /// An attempt of the delivery is in flight: [`Rejected::Conflict`], unless it is a replay.
    pub under_way: bool,
    /// Recorded with it; the answer is replayed for the same key and body. Boxed: few retries have
    /// one, and every operation is as large as the largest.
    pub idempotency: Option<Box<(Idempotency, Vec<u8>)>>,
}

/// Creates, replaces or deletes a configuration document.
#[derive(Debug, Clone)]
pub struct EntityWrite {
    pub row: EntityRow,
    /// Guard: `None` creates (an existing number or uid is [`Rejected::UidTaken`]); `Some(v)`
    /// replaces version `v` and only that ([`Rejected::Conflict`] otherwise).
    pub expected: Option<u32>,
    /// Bumps this application's version, so that messages routed before are `Stale`. Guard: it is
    /// there and not deleted ([`Rejected::Gone`] otherwise), unless it is what `row` writes.
    pub touches: Option<AppNo>,
    /// A gate of the same scope to write along, such as enabling an endpoint.
    pub gate: Option<GateWrite>,
    /// Recorded with it; the answer is replayed for the same key and body.
    pub idempotency: Option<(Idempotency, Vec<u8>)>,
}

/// Cancels up to `limit` waiting deliveries of an endpoint, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct CancelStep {
    pub endpoint: EndpointNo,
    pub reason: Reason,
    /// Only messages up to this one.
    pub through: MessageId,
    pub limit: u32,
}

/// Routes up to `limit` unrouted messages of an application to an endpoint (R18); which types it
/// takes is the caller's list.
#[derive(Debug, Clone)]
pub struct RouteStep {
    pub app: AppNo,
    /// Guard, as in [`Accept`].
    pub app_version: u32,
    /// What becomes of each message: the endpoints that take it; none: routed nowhere.
    pub routes: Vec<(MessageId, Vec<EndpointNo>)>,
}

/// What an operation came to.
pub type Verdict = Result<Made, Rejected>;

/// What an operation made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    Message(MessageId),
    /// The message that the same idempotency key and body made before; nothing was written.
    ReplayedMessage(MessageId),
    /// The answer that the same idempotency key and body got before; nothing was written.
    ReplayedAnswer(Vec<u8>),
    /// `None` where no attempt was journaled.
    Outcome(Option<AttemptId>),
    Entity {
        no: EntityNo,
        version: u32,
    },
    Gate,
    Hand,
    /// How many rows a step handled; fewer than its limit: nothing is left.
    Step(u32),
}

/// Why an operation was refused; nothing of it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("the configuration changed meanwhile; route again")]
    Stale,
    #[error("the event id is taken by an earlier message")]
    Duplicate(MessageId),
    #[error("the idempotency key was used before with another body")]
    IdempotencyConflict,
    #[error("the object was changed meanwhile, or is busy")]
    Conflict,
    #[error("the uid is taken by another object")]
    UidTaken(EntityNo),
    #[error("this node no longer owns what it wrote to")]
    Fenced,
    #[error("what the operation is about is not there any more")]
    Gone,
    #[error("the store could not write the operation: {0}")]
    Poisoned(String),
}
