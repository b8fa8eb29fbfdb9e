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

    /// Outcomes first, then the rest, each in its order, up to the bounds of one commit; at least
    /// one. While others wait, outcomes take no more than half: a flood of them (a thousand
    /// endpoints that refuse at once) must not keep callers from their answers.
    pub(super) fn take_batch(&mut self) -> Vec<Job<A>> {
        let most = self.bounds.batch_ops;
        let reserved = self.others.len().min(most / 2);
        let mut batch = Vec::with_capacity(self.len().min(most));
        let mut bytes = 0;
        while batch.len() < most && (batch.is_empty() || bytes < self.bounds.batch_bytes) {
            let outcome = if batch.len() < most - reserved { self.outcomes.pop_front() } else { None };
            let Some(job) = outcome.or_else(|| self.pop_other()) else { break };
            bytes += weight(&job.tx);
            batch.push(job);
        }
        batch
    }

    fn pop_other(&mut self) -> Option<Job<A>> {
        let job = self.others.pop_front()?;
        self.bytes -= weight(&job.tx);
        Some(job)
    }
}

/// Bytes that an operation brings to the disk, roughly.
fn weight(tx: &Tx) -> usize {
    const ROW: usize = 256;
    match tx {
        Tx::Accept(accept) => ROW + accept.payload.len() + accept.meta.len(),
        Tx::Outcome(outcome) => ROW + outcome.attempt.as_ref().map_or(0, |a| a.answer.len() + a.detail.len()),
        Tx::Entity(write) => ROW + write.row.doc.len(),
        Tx::Keep(keep) => ROW * (keep.gates.len() + keep.notices.len()),
        Tx::Hand(_) | Tx::Cancel(_) | Tx::Expire(_) | Tx::Told(_) => ROW,
        Tx::Unroute(_) | Tx::EndUnrouted(_) => ROW,
        Tx::Route(step) => ROW + step.routes.len() * 16,
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::{
        ids::{EndpointNo, MessageId},
        rule::Reason,
    };

    use super::*;
    use crate::tx::CancelStep;

    /// Any operation will do: what it is does not matter to the queue.
    fn job(ack: u32) -> Job<u32> {
        let step = CancelStep {
            endpoint: EndpointNo(1),
            reason: Reason::Cancelled,
            through: MessageId(1),
            limit: 1,
        };
        Job { tx: Tx::Cancel(step), ack }
    }

    fn queue() -> Queue<u32> {
        Queue::new(Bounds { batch_ops: 8, queue_ops: 10, ..Bounds::default() })
    }

    fn acks(batch: Vec<Job<u32>>) -> Vec<u32> {
        batch.into_iter().map(|job| job.ack).collect()
    }

    #[test]
    fn a_flood_of_outcomes_leaves_half_of_each_commit_to_those_who_wait() {
        let mut queue = queue();
        queue.push_outcomes((0..100).map(job));
        (100..106).for_each(|n| assert!(queue.push(job(n)).is_ok()));
        assert_eq!(acks(queue.take_batch()), [0, 1, 2, 3, 100, 101, 102, 103]);
        assert_eq!(acks(queue.take_batch()), [4, 5, 6, 7, 8, 9, 104, 105]);
        assert_eq!(acks(queue.take_batch()), [10, 11, 12, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn a_full_queue_gives_the_job_back_and_a_commit_makes_room() {
        let mut queue = queue();
        (0..10).for_each(|n| assert!(queue.push(job(n)).is_ok()));
        assert!(matches!(queue.push(job(10)), Err(Full(job)) if job.ack == 10));
        queue.take_batch();
        assert!(queue.push(job(10)).is_ok());
    }
}
