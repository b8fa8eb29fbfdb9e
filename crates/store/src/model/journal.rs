//! What people ask about what happened.

use std::collections::BTreeSet;

use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, MessageId},
    notice::Notice,
    progress::Progress,
    time::Timestamp,
};

use super::{Delivery, Model, ModelState, lanes::lane};
use crate::{
    query::{Answer, AttemptFilter, Journal, Lanes, MessageFilter, Page, Paged},
    record::{AttemptRecord, Books, DeliveryRecord, DeliveryState, MessageRecord, UnroutedEnd},
};

impl Journal for Model {
    fn message_by_event_id(&self, app: AppNo, event_id: &str) -> Answer<Option<MessageId>> {
        Ok(self.state.lock().event_keys.get(&(app.0, event_id.to_owned())).copied())
    }

    fn messages_shown(&self, ids: &[MessageId], with_payload: bool) -> Answer<Vec<MessageRecord>> {
        let mut found = self.messages(ids)?;
        if !with_payload {
            found.iter_mut().for_each(|message| message.payload = None);
        }
        Ok(found)
    }

    fn messages_of(&self, app: AppNo, page: &Page, filter: &MessageFilter) -> Answer<Paged<MessageRecord>> {
        let state = self.state.lock();
        let ids = state.messages_of.range((app.0, MessageId(0))..=(app.0, MessageId(u64::MAX)));
        let ids = within(page, filter.before, filter.after, ids.map(|(_, id)| id.0));
        let found = ids.into_iter().filter_map(|id| state.messages.get(&MessageId(id)));
        let taken = found.filter(|one| filter.takes_type(&one.event_type) && filter.takes_meta(&one.meta));
        let shown = taken.map(|one| MessageRecord {
            payload: one.payload.clone().filter(|_| filter.with_payload),
            ..one.clone()
        });
        Ok(fill(page, shown, MessageRecord::content_bytes))
    }

    fn attempt(&self, id: AttemptId) -> Answer<Option<AttemptRecord>> {
        Ok(self.state.lock().attempts.get(&id).cloned())
    }

    fn attempts_of_message(
        &self,
        message: MessageId,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>> {
        let state = self.state.lock();
        let of = state.attempts_of.range((message, AttemptId(0))..=(message, AttemptId(u64::MAX)));
        Ok(state.attempts(page, filter, of.map(|(_, id)| id.0)))
    }

    fn attempts_of_endpoint(
        &self,
        endpoint: EndpointNo,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>> {
        let state = self.state.lock();
        let at = state.attempts_at.range((endpoint.0, AttemptId(0))..=(endpoint.0, AttemptId(u64::MAX)));
        Ok(state.attempts(page, filter, at.map(|(_, id)| id.0)))
    }

    fn deliveries_of(&self, message: MessageId, endpoints: &[EndpointNo]) -> Answer<Vec<DeliveryRecord>> {
        let state = self.state.lock();
        Ok(endpoints.iter().filter_map(|endpoint| state.delivery((endpoint.0, message))).collect())
    }

    fn deliveries_at(&self, endpoint: EndpointNo, page: &Page) -> Answer<Paged<DeliveryRecord>> {
        let state = self.state.lock();
        let mut messages: BTreeSet<u64> = state.fresh.range(lane(endpoint)).map(|(key, _)| key.1.0).collect();
        messages.extend(state.waiting.range(lane(endpoint)).map(|(key, _)| key.1.0));
        messages.extend(state.settled.range(lane(endpoint)).map(|(key, _)| key.1.0));
        let ids = within(page, None, None, messages.into_iter());
        let found = ids.into_iter().filter_map(|id| state.delivery((endpoint.0, MessageId(id))));
        Ok(page.cut(found.take(page.limit as usize + 1).collect()))
    }

    fn is_unrouted(&self, app: AppNo, message: MessageId) -> Answer<bool> {
        Ok(self.state.lock().unrouted.contains(&(app.0, message)))
    }

    fn transitions(&self, app: AppNo, from: Timestamp, to: Timestamp, limit: u32) -> Answer<Vec<Notice>> {
        if to < from {
            return Ok(Vec::new());
        }
        let state = self.state.lock();
        let mut all: Vec<_> = [0, app.0]
            .into_iter()
            .flat_map(|of| state.transitions.range((of, from, 0)..=(of, to, u64::MAX)))
            .map(|((_, at, number), notice)| (*at, *number, notice.clone()))
            .collect();
        all.sort_by_key(|(at, number, _)| (*at, *number));
        let passed = all.len().saturating_sub(limit as usize);
        Ok(all.into_iter().skip(passed).map(|(_, _, notice)| notice).collect())
    }

    fn unrouted_end(&self, message: MessageId) -> Answer<Option<UnroutedEnd>> {
        Ok(self.state.lock().unrouted_ends.get(&message).copied())
    }

    fn books(&self, app: AppNo, endpoints: &[EndpointNo], from: Timestamp, to: Timestamp) -> Answer<Books> {
        Ok(self.state.lock().books(app, endpoints, from, to))
    }
}

/// The ids of a page and beyond, in the order of reading.
fn within(
    page: &Page,
    before: Option<Timestamp>,
    after: Option<Timestamp>,
    ids: impl Iterator<Item = u64>,
) -> Vec<u64> {
    let (low, high) = page.bounds(before, after);
    let mut ids: Vec<u64> = ids.filter(|id| *id > low && *id < high).collect();
    if page.reads_down() {
        ids.reverse();
    }
    ids
}

/// A page of rows that come in the order of reading.
fn fill<T>(page: &Page, rows: impl Iterator<Item = T>, bytes: impl Fn(&T) -> usize) -> Paged<T> {
    let mut filling = page.filling();
    for row in rows {
        let weight = bytes(&row);
        filling.push(row, weight);
        if filling.is_over() {
            break;
        }
    }
    filling.paged()
}

impl ModelState {
    fn attempts(
        &self,
        page: &Page,
        filter: &AttemptFilter,
        ids: impl Iterator<Item = u64>,
    ) -> Paged<AttemptRecord> {
        let ids = within(page, filter.before, filter.after, ids);
        let found = ids.into_iter().filter_map(|id| self.attempts.get(&AttemptId(id)));
        let taken = found.filter(|one| filter.takes(one.endpoint, one.outcome, one.status));
        let taken = taken.filter(|one| {
            !filter.asks_message()
                || self
                    .messages
                    .get(&one.message)
                    .is_some_and(|message| filter.takes_message(&message.event_type, &message.meta))
        });
        fill(page, taken.cloned(), AttemptRecord::content_bytes)
    }

    pub(super) fn delivery(&self, key: Delivery) -> Option<DeliveryRecord> {
        let record =
            |state, progress| DeliveryRecord { message: key.1, endpoint: EndpointNo(key.0), progress, state };
        if self.fresh.contains_key(&key) {
            return Some(record(DeliveryState::Fresh, Progress::default()));
        }
        if let Some(waiting) = self.waiting.get(&key) {
            let state = DeliveryState::Waiting { due: waiting.due, rule: waiting.rule };
            return Some(record(state, waiting.progress));
        }
        let settled = self.settled.get(&key)?;
        let state = DeliveryState::Settled {
            state: settled.state,
            reason: settled.reason,
            at: settled.at,
            last_status: settled.last_status,
        };
        Some(record(state, settled.progress))
    }
}
