//! What waits for the next commit.

use std::collections::VecDeque;

use super::{Bounds, Job};
use crate::tx::Tx;

/// The queue is full or closing; the job comes back untouched.
#[derive(Debug)]
pub struct Full<A>(pub Job<A>);

pub(super) struct Queue<A> {
    outcomes: VecDeque<Job<A>>,
    others: VecDeque<Job<A>>,
    bytes: usize,
    bounds: Bounds,
    pub(super) closing: bool,
    /// Whether the writer waits to be woken; whoever clears it does the waking.
    pub(super) asleep: bool,
}

impl<A> Queue<A> {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            outcomes: VecDeque::new(),
            others: VecDeque::new(),
            bytes: 0,
            bounds,
            closing: false,
            asleep: false,
        }
    }

    pub(super) fn push(&mut self, job: Job<A>) -> Result<(), Full<A>> {
        let bytes = weight(&job.tx);
        if self.closing
            || self.others.len() >= self.bounds.queue_ops
            || (self.bytes > 0 && self.bytes + bytes > self.bounds.queue_bytes)
        {
            return Err(Full(job));
        }
        self.bytes += bytes;
        self.others.push_back(job);
        Ok(())
    }

    pub(super) fn push_outcomes(&mut self, jobs: impl Iterator<Item = Job<A>>) {
        self.outcomes.extend(jobs);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outcomes.is_empty() && self.others.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.outcomes.len() + self.others.len()
    }

    /// Outcomes first, then the rest in order, up to the bounds of one commit; at least one.
    pub(super) fn take_batch(&mut self) -> Vec<Job<A>> {
        let mut batch = Vec::with_capacity(self.len().min(self.bounds.batch_ops));
        let mut bytes = 0;
        while batch.len() < self.bounds.batch_ops && (batch.is_empty() || bytes < self.bounds.batch_bytes) {
            let job = match self.outcomes.pop_front() {
                Some(job) => job,
                None => match self.others.pop_front() {
                    Some(job) => {
                        self.bytes -= weight(&job.tx);
                        job
                    }
                    None => break,
                },
            };
            bytes += weight(&job.tx);
            batch.push(job);
        }
        batch
    }
}

/// Bytes that an operation brings to the disk, roughly.
fn weight(tx: &Tx) -> usize {
    const ROW: usize = 256;
    match tx {
        Tx::Accept(accept) => ROW + accept.payload.len() + accept.meta.len(),
        Tx::Outcome(outcome) => ROW + outcome.attempt.as_ref().map_or(0, |a| a.answer.len() + a.detail.len()),
        Tx::Entity(write) => ROW + write.row.doc.len(),
        Tx::Gate(_) | Tx::Hand(_) | Tx::Cancel(_) => ROW,
        Tx::Route(step) => ROW + step.routes.len() * 16,
    }
}
