//! What became of a message, whether it has deliveries or not (R18, R26).

use gonets_core::{hold::Hold, ids::EndpointNo, rule::Reason, time::Timestamp};
use gonets_store::{
    query::{Answer, Queries},
    record::{DeliveryRecord, MessageRecord, UnroutedEnd},
};

use super::{
    Delivery, Held,
    get::{Attempts, attempts},
};
use crate::{access::Reader, error::Error, service::Service};

/// Deliveries of one message that are explained at once.
const DELIVERIES: usize = 250;

/// A message and its deliveries.
#[derive(Debug, Clone)]
pub struct Explained {
    pub message_id: String,
    pub event_type: String,
    pub critical: bool,
    pub state: MessageState,
    /// When it is too old (R7).
    pub expires_at: Timestamp,
    /// The first of them by endpoint.
    pub deliveries: Vec<Delivery>,
    /// There are more deliveries than are shown.
    pub has_more: bool,
}

/// Where a message has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// It waits for a first endpoint (R18).
    Waiting(Held),
    /// No endpoint took its type.
    RoutedNowhere,
    /// Its deliveries say the rest.
    Routed,
    /// It waited for an endpoint in vain.
    Failed(Reason),
    Cancelled(Reason),
}

impl MessageState {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Waiting(_) => "waiting",
            Self::RoutedNowhere => "routed_nowhere",
            Self::Routed => "routed",
            Self::Failed(_) => "failed",
            Self::Cancelled(_) => "cancelled",
        }
    }

    /// One that waits again after its last endpoint was deleted may have had deliveries.
    fn of(is_unrouted: bool, has_deliveries: bool, end: Option<UnroutedEnd>) -> Self {
        match end.map(|end| end.reason) {
            _ if is_unrouted => Self::Waiting(Held { hold: Hold::NoEndpoint, until: None }),
            _ if has_deliveries => Self::Routed,
            None => Self::RoutedNowhere,
            Some(Reason::Expired) => Self::Failed(Reason::Expired),
            Some(reason) => Self::Cancelled(reason),
        }
    }
}

/// What the store knows of a message.
struct Found {
    deliveries: Vec<DeliveryRecord>,
    attempts: Attempts,
    state: MessageState,
}

impl Service {
    /// What became of a message: where it went, or why it went nowhere yet.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for a message of another application.
    pub async fn explain_message(&self, who: &Reader, name: &str) -> Result<Explained, Error> {
        let message = self.message(who, name).await?;
        let message = MessageRecord { payload: None, ..message };
        let asked = message.clone();
        let endpoints: Vec<EndpointNo> =
            self.directory().endpoints_of(who.app.no, true).iter().map(|endpoint| endpoint.no).collect();
        let mut found = self.engine().ask(move |store| find(store, &asked, &endpoints)).await?;
        let has_more = found.deliveries.len() > DELIVERIES;
        found.deliveries.truncate(DELIVERIES);
        let mut deliveries = Vec::with_capacity(found.deliveries.len());
        for record in found.deliveries {
            let of_it = found.attempts.rows.iter().filter(|attempt| attempt.endpoint == record.endpoint);
            let rows: Vec<_> = of_it.cloned().collect();
            let first = rows.first().map_or(record.progress.attempts, |attempt| attempt.number - 1);
            let attempts = Attempts { are_cut: found.attempts.are_cut && first > 0, rows };
            deliveries.push(self.delivery(who, &message, record, attempts).await?);
        }
        Ok(Explained {
            message_id: self.engine().ids().message(message.id),
            event_type: message.event_type.clone(),
            critical: message.critical,
            state: found.state,
            expires_at: message.ages_from() + who.app.profile.max_age,
            deliveries,
            has_more,
        })
    }
}

fn find(store: &dyn Queries, message: &MessageRecord, endpoints: &[EndpointNo]) -> Answer<Found> {
    let mut deliveries = store.deliveries_of(message.id, endpoints)?;
    deliveries.sort_by_key(|delivery| delivery.endpoint);
    let is_unrouted = store.is_unrouted(message.app, message.id)?;
    let end = store.unrouted_end(message.id)?;
    let state = MessageState::of(is_unrouted, !deliveries.is_empty(), end);
    Ok(Found { deliveries, attempts: attempts(store, message, None)?, state })
}
