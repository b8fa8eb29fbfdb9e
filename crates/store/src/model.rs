//! An engine in memory: what the operations and queries mean, without a database.
//!
//! It is the other half of the conformance suite (every engine gives the answers that this one
//! gives) and the store of the simulation, which crashes it at any commit: [`Model::snapshot`] is
//! what was durable, [`Model::restore`] the process that starts again from it. It is not for
//! production: nothing is on disk and nothing is ever forgotten but expired keys.

mod apply;
mod books;
mod configuration;
mod journal;
mod lanes;
mod outcome;
mod steps;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use gonets_core::{
    gate::{Gate, Scope},
    ids::{AttemptId, MessageId},
    notice::Notice,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};
use parking_lot::Mutex;

use crate::{
    engine::{BackupDone, Engine, Fatal, Load, Tended},
    entity::EntityRow,
    record::{AttemptRecord, MessageRecord, SettledState, UnroutedEnd},
    tx::{Made, Tx, Verdict},
};

/// The store in memory; clones share it, so one can be the engine and others ask.
#[derive(Debug, Clone)]
pub struct Model {
    state: Arc<Mutex<ModelState>>,
}

/// Everything that the store holds.
#[derive(Debug, Clone, Default)]
pub struct ModelState {
    messages: BTreeMap<MessageId, MessageRecord>,
    messages_of: BTreeSet<(u32, MessageId)>,
    fresh: BTreeMap<Delivery, Fresh>,
    waiting: BTreeMap<Delivery, Waiting>,
    /// `waiting` by endpoint, whether it is not critical, and due time.
    due: BTreeSet<(u32, bool, Timestamp, MessageId)>,
    unrouted: BTreeSet<(u32, MessageId)>,
    unrouted_ends: BTreeMap<MessageId, UnroutedEnd>,
    hand: BTreeSet<Delivery>,
    settled: BTreeMap<Delivery, Settled>,
    attempts: BTreeMap<AttemptId, AttemptRecord>,
    attempts_of: BTreeSet<(MessageId, AttemptId)>,
    attempts_at: BTreeSet<(u32, AttemptId)>,
    gates: BTreeMap<Scope, Gate>,
    notices: BTreeMap<u64, Notice>,
    /// By application (0: all), time and number.
    transitions: BTreeMap<(u32, Timestamp, u64), Notice>,
    /// The number of the last notice that was ever written.
    last_notice: u64,
    event_keys: BTreeMap<(u32, String), MessageId>,
    /// Keys that SDKs invented: the last message they made, and its body.
    auto_keys: BTreeMap<[u8; 16], (MessageId, [u8; 16])>,
    keys: BTreeMap<[u8; 16], KeptKey>,
    entities: BTreeMap<u32, EntityRow>,
    facts: BTreeMap<String, Vec<u8>>,
    last_no: u32,
}

/// Endpoint and message.
type Delivery = (u32, MessageId);

#[derive(Debug, Clone, Copy)]
struct Fresh {
    critical: bool,
    kind: u32,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    critical: bool,
    kind: u32,
    due: Timestamp,
    rule: Rule,
    progress: Progress,
}

#[derive(Debug, Clone, Copy)]
struct Settled {
    state: SettledState,
    reason: Option<Reason>,
    at: Timestamp,
    last_status: Option<u16>,
    progress: Progress,
}

#[derive(Debug, Clone)]
struct KeptKey {
    body: [u8; 16],
    expires: Timestamp,
    made: Made,
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Model {
    pub fn new() -> Self {
        Self::restore(ModelState::default())
    }

    /// Everything committed so far: what a crash at this moment would leave.
    pub fn snapshot(&self) -> ModelState {
        self.state.lock().clone()
    }

    /// A store that starts from what a crash left.
    pub fn restore(state: ModelState) -> Self {
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

impl Engine for Model {
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal> {
        let mut state = self.state.lock();
        Ok(batch.iter().map(|operation| state.apply(now, operation)).collect())
    }

    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal> {
        let state = self.state.lock();
        let message = state.messages.last_key_value().map_or(MessageId(0), |(id, _)| *id);
        let attempt = state.attempts.last_key_value().map_or(AttemptId(0), |(id, _)| *id);
        Ok((message, attempt))
    }

    fn shift_due(&mut self, after: Timestamp, by: Duration) -> Result<(), Fatal> {
        self.state.lock().shift_due(after, by);
        Ok(())
    }

    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal> {
        if load == Load::Idle {
            self.state.lock().keys.retain(|_, key| key.expires > now);
        }
        Ok(Tended::Done)
    }

    fn start_backup(&mut self, target: &Path, done: BackupDone) {
        done(Err(format!("a store in memory cannot be copied to {}", target.display())));
    }

    fn close(self: Box<Self>) -> Result<(), Fatal> {
        Ok(())
    }
}
