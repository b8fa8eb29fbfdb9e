//! Operations: guards and changes that hold together, or are refused together.
//!
//! A batch of operations is committed in order, in one durable transaction, and each gets its own
//! [`Verdict`]; one that is refused leaves no trace and does not disturb its neighbours. Operations
//! never read before they write in the caller: what must still be true is a guard that the engine
//! checks inside the transaction, so the same operations fit a store with many writers.

use bytes::Bytes;
use gonets_core::{
    gate::GateWrite,
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, EnvironmentNo, MessageId},
    notice::Notice,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use crate::{
    entity::EntityRow,
    record::{AttemptRecord, SettledState},
};

/// One operation.
#[derive(Debug, Clone)]
pub enum Tx {
    Accept(Box<Accept>),
    Outcome(Box<Outcome>),
    Keep(Box<Keep>),
    Hand(HandRetry),
    Entity(Box<EntityWrite>),
    Cancel(CancelStep),
    Expire(Box<ExpireStep>),
    Route(RouteStep),
    Unroute(UnrouteStep),
    EndUnrouted(Box<EndUnroutedStep>),
    Told(Told),
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
    /// The endpoints that would take it but are disabled by a profile that skips meanwhile (R19): each
    /// gets a delivery that is [`SettledState::Skipped`] with [`Reason::EndpointDisabled`].
    pub skips: Vec<EndpointNo>,
    /// With neither a route nor a skip: wait for the first endpoint (R18) instead of being marked routed nowhere.
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
/// An attempt that was under way when its delivery was cancelled or expired was made all the same: it is
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
    /// Written with the outcome, such as an endpoint's throttle pause. Written too when the row is not
    /// there ([`Rejected::Gone`]): what the attempt showed of the endpoint is true all the same.
    pub gates: Vec<GateWrite>,
    /// Written with the outcome; not when it is refused.
    pub notices: Vec<Notice>,
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

/// Changes of gates, and what is to be told of them.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    pub gates: Vec<GateWrite>,
    pub notices: Vec<Notice>,
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
    /// Gates to write along, such as enabling an endpoint.
    pub gates: Vec<GateWrite>,
    pub notices: Vec<Notice>,
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

/// Ends up to `limit` waiting deliveries of an endpoint that are too old (R7): they become `Failed`
/// with [`Reason::Expired`]. Retries by hand that wait are left alone.
#[derive(Debug, Clone)]
pub struct ExpireStep {
    pub endpoint: EndpointNo,
    /// Those whose age counts from this instant or before ([`crate::record::MessageRecord::ages_from`]:
    /// acceptance, or a later `deliverAt`).
    pub aged_from: Timestamp,
    pub limit: u32,
    /// Written if any row was handled, with their number as `facts.count`.
    pub notice: Notice,
}

/// Turns up to `limit` waiting deliveries of the last endpoint of an application into messages that
/// wait for an endpoint (R18, R20): their `fresh`, `waiting` and `hand` rows are deleted, oldest first,
/// and an `unrouted` row is there for each message. What they had used is forgotten.
#[derive(Debug, Clone, Copy)]
pub struct UnrouteStep {
    pub app: AppNo,
    pub endpoint: EndpointNo,
    pub limit: u32,
}

/// Ends up to `limit` messages that wait for an endpoint (R7, R20), oldest first.
#[derive(Debug, Clone)]
pub struct EndUnroutedStep {
    pub app: AppNo,
    pub reason: Reason,
    /// As in [`ExpireStep`].
    pub aged_from: Timestamp,
    pub limit: u32,
    /// As in [`ExpireStep`].
    pub notice: Option<Notice>,
}

/// The notices up to this number were carried on and are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub through: u64,
}

/// Routes unrouted messages of an application (R18); which endpoints take them is the caller's list.
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
    Kept,
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
