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
    access::Reader,
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
    fn takes(&self, status: Status, message: &MessageRecord) -> bool {
        let at = message.id.accepted_at();
        self.status.is_none_or(|wanted| status == wanted)
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
        who: &Reader,
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
        let endpoint_of = |delivery: &DeliveryRecord| {
            let at = endpoints.binary_search_by_key(&delivery.endpoint, |endpoint| endpoint.no).ok()?;
            Some(&endpoints[at])
        };
        let weight = |delivery: &DeliveryRecord| endpoint_of(delivery).map_or(0, |one| one.row.doc.len());
        let paged = cut_numbers(&page, deliveries, |delivery| delivery.endpoint.0, weight);
        let now = self.now();
        let listed = request.listed(
            paged,
            |delivery| ids.endpoint(delivery.endpoint),
            |delivery| {
                let endpoint = endpoint_of(&delivery)?;
                let held = self.lane_hold(&who.app, endpoint);
                let (status, next_attempt) = Status::of(&delivery, held, now);
                Some(AtEndpoint { endpoint: self.shown_endpoint(endpoint), status, next_attempt })
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
        who: &Reader,
        endpoint: &str,
        request: &PageRequest,
        filter: EndpointMessageFilter,
    ) -> Result<Listed<MessageAt>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Message)?;
        let endpoint = self.endpoint_read(who, endpoint)?;
        let (no, held, now) = (endpoint.no, self.lane_hold(&who.app, &endpoint), self.now());
        let standing = move |delivery: &DeliveryRecord| Status::of(delivery, held, now);
        let look = move |store: &dyn Queries| look_through(store, no, page, &filter, standing);
        let looked = self.engine().ask(look).await?;
        let listed = request.listed(
            looked.found,
            |(delivery, _)| ids.message(delivery.message),
            |(delivery, record)| {
                let (status, next_attempt) = standing(&delivery);
                MessageAt { message: Message::of(ids, record), status, next_attempt }
            },
        );
        Ok(match looked.stopped_at {
            Some(last) => listed.going_on_at(ids.message(last), page.backwards),
            None => listed,
        })
    }
}

/// A part of a filtered list.
struct Looked {
    found: Paged<(DeliveryRecord, MessageRecord)>,
    /// The last message that was looked at, where the list goes on although the page is not full.
    stopped_at: Option<MessageId>,
}

/// Reads on from the page's start until it is full, nothing is left, or enough was looked through;
/// then the page is short, maybe empty, and the list goes on behind the last that was looked at.
fn look_through(
    store: &dyn Queries,
    endpoint: EndpointNo,
    page: Page,
    filter: &EndpointMessageFilter,
    standing: impl Fn(&DeliveryRecord) -> (Status, Option<Timestamp>),
) -> Answer<Looked> {
    let mut filling = page.filling();
    let mut reading = Page { limit: READ_AT_ONCE.max(page.limit), ..start(page, &filter.message) };
    let mut looked = 0;
    loop {
        let mut found = store.deliveries_at(endpoint, &reading)?;
        if page.backwards {
            // Pages come in the order of the list; backwards they are read from their end.
            found.rows.reverse();
        }
        let ids: Vec<MessageId> = found.rows.iter().map(|delivery| delivery.message).collect();
        // Payloads only of those that are shown: a page of the others may be large, too.
        let mut messages = store.messages_shown(&ids, false)?;
        messages.sort_by_key(|message| message.id);
        looked += ids.len();
        reading.after = ids.last().map(|id| id.0).or(reading.after);
        for delivery in found.rows {
            let Ok(at) = messages.binary_search_by_key(&delivery.message, |message| message.id) else {
                continue;
            };
            if !filter.takes(standing(&delivery).0, &messages[at]) {
                continue;
            }
            let mut message = messages[at].clone();
            if filter.message.with_payload {
                let shown = store.messages_shown(&[message.id], true)?.pop();
                message.payload = shown.and_then(|message| message.payload);
            }
            let bytes = message.content_bytes();
            filling.push((delivery, message), bytes);
            if filling.is_over() {
                break;
            }
        }
        let is_full = filling.is_over();
        if is_full || !found.more || looked >= LOOKED_THROUGH {
            let stopped_at = (found.more && !is_full).then_some(reading.after).flatten().map(MessageId);
            let mut found = filling.paged();
            found.more |= stopped_at.is_some();
            return Ok(Looked { found, stopped_at });
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gonets_store::{
        conformance::{Opened, Trial, operations::accept},
        model::Model,
        tx::{Accept, Tx},
    };

    use super::*;

    /// The messages of an endpoint with one of type `rare`, the oldest but one; their ids by age.
    fn messages(trial: &mut Trial<'_>, count: usize) -> Vec<MessageId> {
        let app = trial.app();
        let named = |at| if at == 1 { "rare" } else { "order.paid" };
        let mut batch: Vec<Tx> = (0..count)
            .map(|at| Accept { event_type: named(at).to_owned(), ..accept(app, &[7]) }.tx())
            .collect();
        trial.pass(Duration::from_secs(1));
        trial.name(&mut batch);
        assert!(trial.commit(batch.clone()).iter().all(Result::is_ok));
        batch.iter().filter_map(|tx| if let Tx::Accept(one) = tx { Some(one.id) } else { None }).collect()
    }

    #[test]
    fn a_part_without_a_match_goes_on_behind_the_last_that_was_looked_at() {
        let model = Model::new();
        let open = || -> Opened { (Box::new(model.clone()), std::sync::Arc::new(model.clone())) };
        let mut trial = Trial::start(&open);
        let ids = messages(&mut trial, 5_300);
        let filter = EndpointMessageFilter {
            message: MessageFilter { event_types: vec!["rare".into()], ..MessageFilter::default() },
            status: None,
        };
        let pending = |_: &DeliveryRecord| (Status::Pending, None);
        for (order, backwards) in [(Order::Descending, false), (Order::Ascending, true)] {
            let page = Page { limit: 2, order, after: None, backwards, bytes: usize::MAX };
            let look = |after: Option<MessageId>| {
                let page = Page { after: after.map(|id| id.0), ..page };
                look_through(trial.ask(), EndpointNo(7), page, &filter, pending).unwrap()
            };
            let first = look(None);
            assert!(first.found.rows.is_empty() && first.found.more);
            assert_eq!(first.stopped_at, Some(ids[300]), "5,000 were looked through");
            let second = look(first.stopped_at);
            let found: Vec<_> = second.found.rows.iter().map(|(delivery, _)| delivery.message).collect();
            assert_eq!((found, second.found.more), (vec![ids[1]], false));
            assert_eq!(second.stopped_at, None);
        }
    }
}
