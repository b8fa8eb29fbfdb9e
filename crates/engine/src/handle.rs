//! How the service commits, asks and waits.

use std::sync::Arc;

use gonets_core::{
    ids::{EndpointNo, IdCodec, MessageId},
    time::Clock,
};
use gonets_store::{
    committer::{Committer, Job},
    query::{Answer, Queries, QueryError},
    tx::{Tx, Verdict},
};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use crate::{
    courier::Road,
    directory::Directory,
    driver::{Ack, Happening, Order, Standing},
    trial::Trials,
};

/// Questions that are asked of the store at once; the others wait without a thread.
pub(crate) const QUESTIONS: usize = 16;

/// A running engine. Cheap to share.
pub struct Engine {
    pub(crate) committer: Arc<Committer<Ack>>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) queries: Arc<dyn Queries>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdCodec,
    pub(crate) road: Arc<Road>,
    pub(crate) trials: Trials,
    pub(crate) questions: Arc<Semaphore>,
    pub(crate) happenings: mpsc::UnboundedSender<Happening>,
    pub(crate) drain: watch::Sender<bool>,
    pub(crate) drained: watch::Receiver<bool>,
}

/// Why an operation was not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Too much is waiting for the disk; ask again after a second.
    #[error("too many operations are waiting for the disk; try again in a second")]
    Busy,
    /// The store has failed or is closing: whether the operation was written is not known.
    #[error(
        "the store is closing; whether this was written is not known, so ask again with the same idempotency key"
    )]
    Closing,
}

impl Engine {
    /// Commits one operation; durable when this returns. The change is in the directory by then.
    ///
    /// # Errors
    /// [`Unavailable`]; a refusal by the store is an `Ok(Err(Rejected))`.
    pub async fn commit(&self, tx: Tx) -> Result<Verdict, Unavailable> {
        let (reply, verdict) = oneshot::channel();
        self.committer.submit(Job { tx, ack: Ack::Caller(reply) }).map_err(|_| Unavailable::Busy)?;
        verdict.await.map_err(|_| Unavailable::Closing)
    }

    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The codec of public ids.
    pub fn ids(&self) -> &IdCodec {
        &self.ids
    }

    /// Asks the store, on a thread that may block. Whoever hangs up leaves the question behind, so the
    /// number of questions is bounded here, not by their askers: the threads are needed for delivery.
    ///
    /// # Errors
    /// As the question.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Queries) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let queries = Arc::clone(&self.queries);
        let turn = Arc::clone(&self.questions).acquire_owned().await;
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            question(queries.as_ref())
        })
        .await
        .unwrap_or_else(|cause| Err(QueryError::Unreadable(cause.to_string())))
    }

    /// The store's questions, for those that may block.
    pub fn queries(&self) -> &Arc<dyn Queries> {
        &self.queries
    }

    /// How a delivery stands in memory: whether it is under way, and what holds it.
    pub async fn standing(&self, endpoint: EndpointNo, message: MessageId) -> Standing {
        let (reply, answer) = oneshot::channel();
        // Without a driver the process is ending, and nothing is under way for long.
        let _ = self.happenings.send(Happening::Asked(endpoint, message, reply));
        answer.await.unwrap_or_default()
    }

    /// Has something done by hand; durable when this returns.
    ///
    /// # Errors
    /// [`Unavailable::Closing`].
    pub async fn order(&self, order: Order) -> Result<(), Unavailable> {
        let (reply, done) = oneshot::channel();
        let _ = self.happenings.send(Happening::Ordered(order, reply));
        done.await.map(drop).map_err(|_| Unavailable::Closing)
    }

    /// Ends in phases: nothing new is sent, what is in flight may end (each attempt has its own
    /// deadline), its outcomes are committed, then the store is closed. Callers have stopped
    /// accepting before.
    pub async fn shut_down(&self) {
        // The driver may have ended already, with the store.
        let _ = self.drain.send(true);
        let mut drained = self.drained.clone();
        let _ = drained.wait_for(|drained| *drained).await;
        let committer = Arc::clone(&self.committer);
        let _ = tokio::task::spawn_blocking(move || committer.close()).await;
    }
}
