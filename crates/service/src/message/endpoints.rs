//! Deliveries seen from both sides: the endpoints of a message, and the messages of an endpoint.

use gonets_core::{
    ids::{EndpointNo, IdKind, MessageId},
    time::Timestamp,
};
use gonets_store::{
    query::{Answer, Order, Page, Paged, Queries},
    record::{DeliveryRecord, MessageRecord},
};

use super::{Message, MessageFilter, Status};
use crate::{
    access::AppAccess,
    endpoint::Endpoint,
    error::Error,
    page::{Listed, PageRequest, cut_numbers},
    service::Service,
};

/// Deliveries of an endpoint that are looked through for one page of a filtered list.
const LOOKED_THROUGH: usize = 5_000;
/// Deliveries that are read at once while looking.
const READ_AT_ONCE: u32 = 250;

/// An endpoint that a message goes to, with what stands of it there.
#[derive(Debug, Clone)]
pub struct AtEndpoint {
    pub endpoint: Endpoint,
    pub status: Status,
    pub next_attempt: Option<Timestamp>,
}

/// A message of an endpoint, with what stands of it there.
#[derive(Debug, Clone)]
pub struct MessageAt {
    pub message: Message,
    pub status: Status,
    pub next_attempt: Option<Timestamp>,
}

/// Which messages of an endpoint are listed.
#[derive(Debug, Clone, Default)]
pub struct EndpointMessageFilter {
    pub message: MessageFilter,
    pub status: Option<Status>,
}

impl EndpointMessageFilter {
    fn takes(&self, delivery: &DeliveryRecord, message: &MessageRecord) -> bool {
        let at = message.id.accepted_at();
        self.status.is_none_or(|status| status == Status::of(delivery).0)
            && self.message.before.is_none_or(|before| at < before)
            && self.message.after.is_none_or(|after| after < at)
            && self.message.takes_type(&message.event_type)
            && self.message.takes_meta(&message.meta)
    }
}

impl Service {
    /// The endpoints that a message was routed to, deleted ones too.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such message.
    pub async fn list_message_endpoints(
        &self,
        who: &AppAccess,
        message: &str,
        request: &PageRequest,
    ) -> Result<Listed<AtEndpoint>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Endpoint)?;
        let message = self.message(who, message).await?.id;
        let endpoints = self.directory().endpoints_of(who.app.no, true);
        let numbers: Vec<_> = endpoints.iter().map(|endpoint| endpoint.no).collect();
        let mut deliveries = self.engine().ask(move |store| store.deliveries_of(message, &numbers)).await?;
        deliveries.sort_by_key(|delivery| delivery.endpoint);
        let paged = cut_numbers(&page, deliveries, |delivery| delivery.endpoint.0);
        let listed = request.listed(
            paged,
            |delivery| ids.endpoint(delivery.endpoint),
            |delivery| {
                let (status, next_attempt) = Status::of(&delivery);
                let endpoint = endpoints.iter().find(|endpoint| endpoint.no == delivery.endpoint)?;
                Some(AtEndpoint { endpoint: Endpoint::of(ids, endpoint), status, next_attempt })
            },
        );
        // Deliveries were asked for of these endpoints only, so none is left out.
        Ok(Listed {
            data: listed.data.into_iter().flatten().collect(),
            iterator: listed.iterator,
            prev_iterator: listed.prev_iterator,
            done: listed.done,
        })
    }

    /// The messages that were routed to an endpoint.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such endpoint.
    pub async fn list_endpoint_messages(
        &self,
        who: &AppAccess,
        endpoint: &str,
        request: &PageRequest,
        filter: EndpointMessageFilter,
    ) -> Result<Listed<MessageAt>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Message)?;
        let endpoint = self.endpoint(who, endpoint)?.no;
        let paged = self.engine().ask(move |store| look_through(store, endpoint, page, &filter)).await?;
        Ok(request.listed(
            paged,
            |(delivery, _)| ids.message(delivery.message),
            |(delivery, record)| {
                let (status, next_attempt) = Status::of(&delivery);
                MessageAt { message: Message::of(ids, record), status, next_attempt }
            },
        ))
    }
}

/// Reads on from the page's start until it is full, nothing is left, or enough was looked through;
/// then the page is short and the list goes on behind it.
fn look_through(
    store: &dyn Queries,
    endpoint: EndpointNo,
    page: Page,
    filter: &EndpointMessageFilter,
) -> Answer<Paged<(DeliveryRecord, MessageRecord)>> {
    let mut rows = Vec::new();
    let mut reading = Page { limit: READ_AT_ONCE.max(page.limit), ..start(page, &filter.message) };
    let mut looked = 0;
    loop {
        let mut found = store.deliveries_at(endpoint, &reading)?;
        if page.backwards {
            // Pages come in the order of the list; backwards they are read from their end.
            found.rows.reverse();
        }
        let ids: Vec<MessageId> = found.rows.iter().map(|delivery| delivery.message).collect();
        let mut messages = store.messages(&ids)?;
        messages.sort_by_key(|message| message.id);
        looked += ids.len();
        reading.after = ids.last().map(|id| id.0).or(reading.after);
        for delivery in found.rows {
            let Ok(at) = messages.binary_search_by_key(&delivery.message, |message| message.id) else {
                continue;
            };
            if filter.takes(&delivery, &messages[at]) {
                rows.push((delivery, messages[at].clone()));
            }
        }
        let is_full = rows.len() > page.limit as usize;
        if is_full || !found.more || looked >= LOOKED_THROUGH {
            let mut paged = page.cut(rows);
            paged.more |= found.more && !is_full && !paged.rows.is_empty();
            return Ok(paged);
        }
    }
}

/// Where reading begins: a bound in time is a bound in ids.
fn start(page: Page, filter: &MessageFilter) -> Page {
    let bound = if page.order == Order::Descending && !page.backwards {
        filter.before.map(|at| MessageId::first_at(at).0)
    } else {
        None
    };
    let after = match (page.after, bound) {
        (Some(after), Some(bound)) => Some(after.min(bound)),
        (after, bound) => after.or(bound),
    };
    Page { after, ..page }
}
