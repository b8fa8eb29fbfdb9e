//! The books of an application (R29): what was accepted in a span of time, and what became of it.

use std::time::Duration;

use gonets_core::{ids::EndpointNo, time::Timestamp};
use gonets_store::record::{Books, EndpointBooks};

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
    pub endpoints: Vec<EndpointBalance>,
    /// Every message is accounted for.
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
        }
    }

    /// Deliveries that were made for what was accepted.
    pub const fn accepted(&self) -> u64 {
        self.delivered + self.failed + self.cancelled + self.skipped + self.waiting
    }
}

/// Whether each message is accounted for: those without a delivery are told one by one, and each of the
/// others has at least one, at most one for each endpoint.
fn is_balanced(books: &Books) -> bool {
    let without = books.routed_nowhere + books.unrouted + books.unrouted_ended;
    let Some(with) = books.messages.checked_sub(without) else { return false };
    let of = |one: &EndpointBooks| EndpointBalance::of(String::new(), one).accepted();
    let (most, sum) = books.endpoints.iter().map(of).fold((0, 0), |(most, sum), n| (n.max(most), sum + n));
    // A message that waits again for an endpoint may have had deliveries that ended.
    with <= sum && most <= with + books.unrouted + books.unrouted_ended
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
            endpoints: books
                .endpoints
                .iter()
                .map(|one| EndpointBalance::of(ids.endpoint(one.endpoint), one))
                .collect(),
            is_balanced: is_balanced(&books),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books(messages: u64, waiting: &[u64]) -> Books {
        let of = |(no, waiting): (usize, &u64)| EndpointBooks {
            endpoint: EndpointNo(no as u32),
            waiting: *waiting,
            ..EndpointBooks::default()
        };
        let endpoints = waiting.iter().enumerate().map(of).collect();
        Books { messages, routed_nowhere: 1, unrouted: 1, unrouted_ended: 1, endpoints }
    }

    #[test]
    fn r29_a_message_that_is_nowhere_unbalances_the_books() {
        assert!(is_balanced(&books(3, &[])));
        assert!(is_balanced(&books(5, &[2, 1])) && is_balanced(&books(5, &[1, 1])));
        assert!(!is_balanced(&books(5, &[1])), "one of the two is nowhere");
        assert!(!is_balanced(&books(5, &[5, 2])), "more deliveries than messages");
        assert!(!is_balanced(&books(2, &[])), "more ended than came");
    }
}
