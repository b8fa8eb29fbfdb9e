//! Test events: one request to an endpoint, made as any attempt is, that leaves no trace. It is not a
//! message, touches no lane, window, breaker or health (R21), and its answer goes to who asked.

use std::sync::Arc;

use bytes::Bytes;
use gonets_core::{
    ids::{AppNo, MessageId},
    progress::Progress,
};
use gonets_dispatch::effect::{Send, SendId, Source};
use gonets_store::record::AttemptRecord;
use parking_lot::Mutex;

use crate::{
    bodies::Message,
    courier::{self, Errand},
    directory::Endpoint,
    handle::Engine,
    journal::Which,
};

/// Test events on their way at once, over everything; each may last as long as a time-out.
const AT_ONCE: usize = 32;
/// Of one application.
const OF_ONE: usize = 2;

/// Why a test event was not sent, or came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTried {
    #[error("too many test events are on their way")]
    TooMany,
    #[error("the application is not there any more")]
    Gone,
    #[error("the request was cut short on our side before a byte had left")]
    Interrupted,
}

/// The test events on their way, by application.
#[derive(Debug, Default)]
pub(crate) struct Trials(Mutex<Vec<AppNo>>);

/// One of them, until it is dropped.
struct Trial<'t> {
    all: &'t Trials,
    app: AppNo,
}

impl Trials {
    fn begin(&self, app: AppNo) -> Option<Trial<'_>> {
        let mut apps = self.0.lock();
        let of_app = apps.iter().filter(|one| **one == app).count();
        if apps.len() >= AT_ONCE || of_app >= OF_ONE {
            return None;
        }
        apps.push(app);
        Some(Trial { all: self, app })
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        let mut apps = self.all.0.lock();
        if let Some(at) = apps.iter().position(|one| *one == self.app) {
            apps.swap_remove(at);
        }
    }
}

impl Engine {
    /// Sends a test event to an endpoint, disabled or not.
    ///
    /// # Errors
    /// [`NotTried`].
    pub async fn try_out(
        &self,
        endpoint: &Arc<Endpoint>,
        event_type: String,
        payload: Bytes,
    ) -> Result<AttemptRecord, NotTried> {
        let _one = self.trials.begin(endpoint.app).ok_or(NotTried::TooMany)?;
        let app = self.directory.app(endpoint.app).ok_or(NotTried::Gone)?;
        let id = self.passing_id();
        let send = Send {
            id: SendId(0),
            endpoint: endpoint.no,
            message: id,
            source: Source::Hand,
            progress: Progress::default(),
            probe: false,
        };
        let message = Message::passing(id, event_type, payload);
        let errand =
            Errand { send, endpoint: Arc::clone(endpoint), profile: Arc::clone(&app.profile), message: None };
        let which = Which {
            message: id,
            endpoint: endpoint.no,
            number: 1,
            by_hand: true,
            probe: false,
            interrupted: 0,
            started: self.clock.wall(),
        };
        let (report, _) = courier::attempt(&self.road, &errand, Some(&message), which).await;
        report.attempt.ok_or(NotTried::Interrupted)
    }

    /// An id of this millisecond that no list shows.
    fn passing_id(&self) -> MessageId {
        let first = MessageId::first_at(self.clock.wall()).0;
        MessageId(first + fastrand::u64(0..1 << gonets_core::ids::COUNTER_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_application_cannot_take_all_test_events() {
        let all = Trials::default();
        let of_one: Vec<_> =
            (0..OF_ONE).map(|_| all.begin(AppNo(1)).expect("a first and a second")).collect();
        assert!(all.begin(AppNo(1)).is_none());
        let others: Vec<_> = (2..).map_while(|app| all.begin(AppNo(app))).collect();
        assert_eq!(of_one.len() + others.len(), AT_ONCE);
        drop(of_one);
        assert!(all.begin(AppNo(1)).is_some(), "what has ended makes room");
    }
}
