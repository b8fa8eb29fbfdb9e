//! Group commit: everything that is queued when the writer is free becomes one durable commit.
//!
//! # Why it is so
//! A sync to disk costs a millisecond whether it covers one operation or a thousand. So the writer
//! blocks for the first operation, takes all that have gathered meanwhile (up to a count and a
//! size), commits them together and only then lets anyone know. There is no timer: a lone operation
//! is committed at once, and under load batches grow by themselves to what the disk needs.
//!
//! # Handing over
//! Whoever asked may hang up between commit and answer. Therefore the committer, not the caller,
//! hands what landed to its `landed` callback, once per commit: the engine learns of every accepted
//! message from the same place that made it durable. The callers' acks travel along and are
//! answered there, inside the runtime, so that a commit costs one wake-up however many wait for it.
//!
//! # Order
//! Outcomes go first: they free memory and end work. Among themselves operations stay in order.
//! Outcomes are never refused (lanes stop sending when too many of theirs wait); other operations
//! are refused with [`Full`] when the queue is, which callers are told as 503.

mod batch;
mod queue;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use gonets_core::time::{Clock, Timestamp};
use parking_lot::{Condvar, Mutex};

use self::queue::Queue;
pub use self::{batch::GroupCommit, queue::Full};
use crate::{
    engine::{Engine, Fatal, Load, Tended},
    tx::{Tx, Verdict},
};

/// An operation on its way, with what its asker wants back.
#[derive(Debug)]
pub struct Job<A> {
    pub tx: Tx,
    pub ack: A,
}

/// An operation that has been through a commit.
#[derive(Debug)]
pub struct Landed<A> {
    /// As committed, with its ids.
    pub tx: Tx,
    pub verdict: Verdict,
    pub ack: A,
}

/// One commit's worth of them, in order.
#[derive(Debug)]
pub struct Landing<A> {
    pub at: Timestamp,
    pub landed: Vec<Landed<A>>,
}

/// How much may wait and how much one commit takes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub batch_ops: usize,
    pub batch_bytes: usize,
    pub queue_ops: usize,
    pub queue_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        // A commit of 256 costs little more for each operation than one of 1,024, and takes a
        // quarter of the time: that is how long the next caller waits.
        Self { batch_ops: 256, batch_bytes: 4 << 20, queue_ops: 16_384, queue_bytes: 64 << 20 }
    }
}

/// How long the writer must have had nothing to do before it looks for upkeep.
const QUIET: Duration = Duration::from_millis(200);

/// The handle of the writer's thread. Cheap to share; closing is explicit.
pub struct Committer<A> {
    shared: Arc<Shared<A>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared<A> {
    queue: Mutex<Queue<A>>,
    wake: Condvar,
}

impl<A: Send + 'static> Committer<A> {
    /// Starts the writer on a thread of its own.
    ///
    /// `landed` is called on that thread, once per commit. `fatal` is called when the store cannot
    /// go on; nothing is committed or acknowledged after it.
    ///
    /// # Errors
    /// When the engine cannot tell its last ids, or no thread can be started.
    pub fn start(
        mut engine: Box<dyn Engine>,
        clock: Arc<dyn Clock>,
        bounds: Bounds,
        landed: impl FnMut(Landing<A>) + Send + 'static,
        fatal: impl FnOnce(Fatal) + Send + 'static,
    ) -> Result<Self, Fatal> {
        let group = GroupCommit::new(engine.as_mut())?;
        let shared = Arc::new(Shared { queue: Mutex::new(Queue::new(bounds)), wake: Condvar::new() });
        let writer = Writer { engine, group, clock, shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new()
            .name("gonets-writer".into())
            .spawn(move || {
                // A writer that panicked is a store that cannot go on: it must not look alive.
                let ended = catch_unwind(AssertUnwindSafe(|| writer.run(landed)));
                let panicked =
                    |_| Err(Fatal { message: "the store's writer panicked; the log says where".into() });
                if let Err(cause) = ended.unwrap_or_else(panicked) {
                    fatal(cause);
                }
            })
            .map_err(|cause| Fatal {
                message: format!("the store's writer thread could not be started: {cause}"),
            })?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Queues an operation.
    ///
    /// # Errors
    /// [`Full`], with the job given back, when too much is waiting or the committer is closing.
    pub fn submit(&self, job: Job<A>) -> Result<(), Full<A>> {
        let asleep = {
            let mut queue = self.shared.queue.lock();
            queue.push(job)?;
            std::mem::take(&mut queue.asleep)
        };
        if asleep {
            self.shared.wake.notify_one();
        }
        Ok(())
    }

    /// Queues outcomes, ahead of everything else; never refused.
    pub fn submit_outcomes(&self, jobs: impl Iterator<Item = Job<A>>) {
        let asleep = {
            let mut queue = self.shared.queue.lock();
            queue.push_outcomes(jobs);
            !queue.is_empty() && std::mem::take(&mut queue.asleep)
        };
        if asleep {
            self.shared.wake.notify_one();
        }
    }

    /// How many operations wait for their commit.
    pub fn waiting(&self) -> usize {
        self.shared.queue.lock().len()
    }

    /// Commits what is queued, closes the store and ends the thread. Blocks until then. What is
    /// submitted afterwards is refused.
    pub fn close(&self) {
        {
            let mut queue = self.shared.queue.lock();
            queue.closing = true;
        }
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the writer was reported by its hook; there is nothing to add here.
            let _ = thread.join();
        }
    }
}

struct Writer<A> {
    engine: Box<dyn Engine>,
    group: GroupCommit,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared<A>>,
}

/// What the writer found when it looked into the queue.
enum Work<A> {
    Batch(Vec<Job<A>>),
    Upkeep,
    Close,
}

impl<A: Send + 'static> Writer<A> {
    fn run(mut self, mut landed: impl FnMut(Landing<A>)) -> Result<(), Fatal> {
        let mut upkeep = Tended::More;
        loop {
            match self.next_work(upkeep) {
                Work::Batch(jobs) => {
                    let landing = self.group.commit(self.engine.as_mut(), self.clock.now(), jobs)?;
                    landed(landing);
                    self.engine.tend(self.clock.now(), Load::Busy)?;
                    upkeep = Tended::More;
                }
                Work::Upkeep => upkeep = self.engine.tend(self.clock.now(), Load::Idle)?,
                Work::Close => return self.engine.close(),
            }
        }
    }

    fn next_work(&mut self, upkeep: Tended) -> Work<A> {
        let mut queue = self.shared.queue.lock();
        let mut quiet = false;
        loop {
            if !queue.is_empty() {
                return Work::Batch(queue.take_batch());
            }
            if queue.closing {
                return Work::Close;
            }
            if quiet {
                return Work::Upkeep;
            }
            queue.asleep = true;
            match upkeep {
                Tended::More => quiet = self.shared.wake.wait_for(&mut queue, QUIET).timed_out(),
                Tended::Done => self.shared.wake.wait(&mut queue),
            }
            queue.asleep = false;
        }
    }
}
