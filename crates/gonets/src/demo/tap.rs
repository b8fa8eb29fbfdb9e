//! What the demo shows is what was committed: a store engine around the real one that repeats each
//! accepted message and each outcome once it is durable.
//!
//! It changes nothing and costs a copy of each outcome, which only a demo pays.

use std::{path::Path, time::Duration};

use gonets_core::{
    ids::{AttemptId, MessageId},
    time::Timestamp,
};
use gonets_store::{
    engine::{BackupDone, Engine, Fatal, Load, Tended},
    tx::{Outcome, Tx, Verdict},
};
use tokio::sync::mpsc::UnboundedSender;

/// Something that is on disk now.
#[derive(Debug)]
pub enum Told {
    Accepted { message: MessageId, event_type: String, critical: bool },
    Outcome { at: Timestamp, outcome: Box<Outcome> },
}

/// The engine inside, and who listens.
pub struct Tapped {
    inner: Box<dyn Engine>,
    listener: UnboundedSender<Told>,
}

impl Tapped {
    pub fn new(inner: Box<dyn Engine>, listener: UnboundedSender<Told>) -> Self {
        Self { inner, listener }
    }

    fn tell(&self, at: Timestamp, tx: &Tx) {
        let told = match tx {
            Tx::Accept(accept) => Told::Accepted {
                message: accept.id,
                event_type: accept.event_type.clone(),
                critical: accept.critical,
            },
            Tx::Outcome(outcome) => Told::Outcome { at, outcome: outcome.clone() },
            _ => return,
        };
        // Nobody listens any more when the demo is ending.
        let _ = self.listener.send(told);
    }
}

impl Engine for Tapped {
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal> {
        let verdicts = self.inner.commit(now, batch)?;
        let kept = batch.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_ok());
        kept.for_each(|(tx, _)| self.tell(now, tx));
        Ok(verdicts)
    }

    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal> {
        self.inner.last_ids()
    }

    fn shift_due(&mut self, after: Timestamp, by: Duration) -> Result<(), Fatal> {
        self.inner.shift_due(after, by)
    }

    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal> {
        self.inner.tend(now, load)
    }

    fn start_backup(&mut self, target: &Path, done: BackupDone) {
        self.inner.start_backup(target, done);
    }

    fn close(self: Box<Self>) -> Result<(), Fatal> {
        self.inner.close()
    }
}
