//! The writer's side of a store engine.

use std::{path::Path, time::Duration};

use gonets_core::{
    ids::{AttemptId, MessageId},
    time::Timestamp,
};

use crate::tx::{Tx, Verdict};

/// A store engine as its one writer sees it. All calls come from the committer's thread.
pub trait Engine: Send + 'static {
    /// Commits a batch: in order, durable on return, one verdict for each operation. Ids in the
    /// operations are already made. An operation that the engine cannot write fails alone
    /// ([`crate::tx::Rejected::Poisoned`]): the batch is redone without it.
    ///
    /// # Errors
    /// [`Fatal`]: nothing may be answered any more; the process ends (a failed sync, a full disk
    /// that also refuses to roll back, a lost lock).
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal>;

    /// The largest ids ever used, for the id sequences to continue after.
    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal>;

    /// Moves the due times of waiting deliveries that are later than `after` by `by`: the wall clock was
    /// set forward while nothing ran, and pauses keep their length (R25). A `deliverAt` is an instant and
    /// stays. Durable on return; only before anything is committed.
    fn shift_due(&mut self, after: Timestamp, by: Duration) -> Result<(), Fatal>;

    /// Work that no one waits for: owner-keyed indexes, checkpoints, retention, steps of a backup.
    /// Bounded to a few milliseconds a call.
    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal>;

    /// Starts a copy of the whole store into `target` while running; `tend` does the steps and
    /// calls `done` at the end.
    fn start_backup(&mut self, target: &Path, done: BackupDone);

    /// Everything is on disk and closed when this returns.
    fn close(self: Box<Self>) -> Result<(), Fatal>;
}

pub type BackupDone = Box<dyn FnOnce(Result<(), String>) + Send>;

/// How busy the writer is when it asks for upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Operations are waiting: only what must be done.
    Busy,
    /// Nothing is waiting.
    Idle,
}

/// Whether upkeep is left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tended {
    /// Nothing to do until something is written.
    Done,
    /// More of it when there is time.
    More,
}

/// The store cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fatal {
    /// What happened, where, and what the operator can do.
    pub message: String,
}
