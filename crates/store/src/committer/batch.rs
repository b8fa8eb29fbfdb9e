//! One batch through an engine: ids in, verdicts out. The simulation drives this same piece.

use gonets_core::{
    ids::{AttemptId, IdSequence, MessageId},
    time::Timestamp,
};

use super::{Job, Landed, Landing};
use crate::{
    engine::{Engine, Fatal},
    tx::Tx,
};

/// Makes ids in commit order and commits batches.
#[derive(Debug)]
pub struct GroupCommit {
    messages: IdSequence,
    attempts: IdSequence,
}

impl GroupCommit {
    /// Continues after the ids that the engine has seen.
    ///
    /// # Errors
    /// When the engine cannot tell them.
    pub fn new(engine: &mut dyn Engine) -> Result<Self, Fatal> {
        let (message, attempt) = engine.last_ids()?;
        Ok(Self { messages: IdSequence::after(message.0), attempts: IdSequence::after(attempt.0) })
    }

    /// Commits `jobs` in order; durable on return.
    ///
    /// # Errors
    /// [`Fatal`] from the engine: none of the jobs may be acknowledged.
    pub fn commit<A>(
        &mut self,
        engine: &mut dyn Engine,
        now: Timestamp,
        jobs: Vec<Job<A>>,
    ) -> Result<Landing<A>, Fatal> {
        let (mut batch, acks): (Vec<Tx>, Vec<A>) = jobs.into_iter().map(|job| (job.tx, job.ack)).unzip();
        for tx in &mut batch {
            self.name(now, tx);
        }
        let verdicts = engine.commit(now, &batch)?;
        assert_eq!(verdicts.len(), batch.len(), "an engine answers every operation");
        let landed = batch
            .into_iter()
            .zip(verdicts)
            .zip(acks)
            .map(|((tx, verdict), ack)| Landed { tx, verdict, ack })
            .collect();
        Ok(Landing { at: now, landed })
    }

    fn name(&mut self, now: Timestamp, tx: &mut Tx) {
        match tx {
            Tx::Accept(accept) => accept.id = MessageId(self.messages.next(now)),
            Tx::Outcome(outcome) => {
                if let Some(attempt) = &mut outcome.attempt {
                    attempt.id = AttemptId(self.attempts.next(now));
                }
            }
            Tx::Keep(_) | Tx::Hand(_) | Tx::Entity(_) | Tx::Cancel(_) | Tx::Expire(_) => {}
            Tx::Route(_) | Tx::Unroute(_) | Tx::EndUnrouted(_) | Tx::Told(_) => {}
        }
    }
}
