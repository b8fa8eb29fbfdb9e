//! Test events: one request to an endpoint, made as any attempt is, that leaves no trace. It is not a
//! message, touches no lane, window, breaker or health (R21), and its answer goes to who asked.

use std::sync::Arc;

use bytes::Bytes;
use gonets_core::{ids::MessageId, progress::Progress};
use gonets_dispatch::effect::{Send, SendId, Source};
use gonets_store::record::AttemptRecord;

use crate::{
    bodies::Message,
    courier::{self, Errand},
    directory::Endpoint,
    handle::Engine,
    journal::Which,
};

/// Test events on their way at once; each may last as long as a time-out.
pub(crate) const AT_ONCE: usize = 32;

/// So many are on their way already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many test events are on their way")]
pub struct TooManyTrials;

impl Engine {
    /// Sends a test event to an endpoint, disabled or not. `None`: it came to nothing on our side, and
    /// no byte left.
    ///
    /// # Errors
    /// [`TooManyTrials`].
    pub async fn try_out(
        &self,
        endpoint: &Arc<Endpoint>,
        event_type: String,
        payload: Bytes,
    ) -> Result<Option<AttemptRecord>, TooManyTrials> {
        let _one = self.trials.try_acquire().map_err(|_| TooManyTrials)?;
        let Some(app) = self.directory.app(endpoint.app) else { return Ok(None) };
        let id = self.passing_id();
        let send = Send {
            id: SendId(0),
            endpoint: endpoint.no,
            message: id,
            source: Source::Hand,
            progress: Progress::default(),
        };
        let message = Message::passing(id, event_type, payload);
        let errand =
            Errand { send, endpoint: Arc::clone(endpoint), profile: Arc::clone(&app.profile), message: None };
        let which = Which {
            message: id,
            endpoint: endpoint.no,
            number: 1,
            by_hand: true,
            interrupted: 0,
            started: self.clock.wall(),
        };
        let (report, _) = courier::attempt(&self.road, &errand, Some(&message), which).await;
        Ok(report.attempt)
    }

    /// An id that no message has: of this millisecond, from the upper half of the counter, which
    /// no installation fills within one.
    fn passing_id(&self) -> MessageId {
        let first = MessageId::first_at(self.clock.wall()).0;
        let half = 1 << (gonets_core::ids::COUNTER_BITS - 1);
        MessageId(first + half + fastrand::u64(0..half))
    }
}
