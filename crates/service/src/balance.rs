//! The books of an application (R29): what was accepted in a span of time, and what became of it.

use std::time::Duration;

use gonets_core::{ids::EndpointNo, time::Timestamp};
use gonets_store::record::EndpointBooks;

use crate::{
    access::Reader,
    error::{Error, Problem},
    service::Service,
};

/// The span where nobody chose one: the day before now.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The books of a span, `from <= accepted < to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    pub from: Timestamp,
    pub to: Timestamp,
    /// Messages accepted.
    pub messages: u64,
    /// Messages that no endpoint took.
    pub routed_nowhere: u64,
    /// Messages that wait for an endpoint.
    pub unrouted: u64,
    /// Messages that waited for an endpoint in vain.
    pub unrouted_ended: u64,
    /// Deliveries that were made of the messages.
    pub deliveries: u64,
    pub endpoints: Vec<EndpointBalance>,
    /// Every message and every delivery is accounted for.
    pub is_balanced: bool,
}

/// The books of one endpoint, in deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointBalance {
    pub endpoint_id: String,
    pub delivered: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub skipped: u64,
    pub waiting: u64,
    /// All of them.
    pub accepted: u64,
}

impl EndpointBalance {
    fn of(endpoint_id: String, books: &EndpointBooks) -> Self {
        Self {
            endpoint_id,
            delivered: books.delivered,
            failed: books.failed,
            cancelled: books.cancelled,
            skipped: books.skipped,
            waiting: books.waiting,
            accepted: books.accepted(),
        }
    }
}

impl Service {
    /// The books of an application. `to` is now if not said, `from` a day before that.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a span that ends before it begins; [`Error::TooLong`].
    pub async fn get_balance(
        &self,
        who: &Reader,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Result<Balance, Error> {
        let to = to.unwrap_or_else(|| self.now());
        let day_before = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
        let from = from.unwrap_or_else(|| Timestamp::from_millis(to.as_millis().saturating_sub(day_before)));
        if to < from {
            return Err(Problem::query("to", format!("to is {to}, which is before from, {from}.")).into());
        }
        let app = who.app.no;
        let endpoints: Vec<EndpointNo> =
            self.directory().endpoints_of(app, true).iter().map(|endpoint| endpoint.no).collect();
        let books = self.engine().ask(move |store| store.books(app, &endpoints, from, to)).await?;
        let ids = self.engine().ids();
        Ok(Balance {
            from,
            to,
            messages: books.messages,
            routed_nowhere: books.routed_nowhere,
            unrouted: books.unrouted,
            unrouted_ended: books.unrouted_ended,
            deliveries: books.routed,
            endpoints: books
                .endpoints
                .iter()
                .map(|one| EndpointBalance::of(ids.endpoint(one.endpoint), one))
                .collect(),
            is_balanced: books.is_balanced(),
        })
    }
}
