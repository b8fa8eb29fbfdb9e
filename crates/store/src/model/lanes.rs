//! What the dispatcher asks.

use std::{collections::BTreeMap, ops::RangeInclusive};

use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, MessageId},
    time::Timestamp,
};

use super::{Delivery, Model};
use crate::{
    query::{Answer, DueRows, FreshRow, HandRow, LaneBacklog, Lanes, WaitingRow},
    record::{Gate, MessageRecord, Scope},
};

/// All deliveries of an endpoint.
pub(super) fn lane(endpoint: EndpointNo) -> RangeInclusive<Delivery> {
    (endpoint.0, MessageId(0))..=(endpoint.0, MessageId(u64::MAX))
}

impl Lanes for Model {
    fn backlog(&self) -> Answer<Vec<LaneBacklog>> {
        let state = self.state.lock();
        let mut lanes: BTreeMap<u32, LaneBacklog> = BTreeMap::new();
        let of = |endpoint: u32| LaneBacklog {
            endpoint: EndpointNo(endpoint),
            fresh: false,
            by_hand: false,
            next_due: None,
        };
        for (endpoint, _) in state.fresh.keys() {
            lanes.entry(*endpoint).or_insert_with(|| of(*endpoint)).fresh = true;
        }
        for (endpoint, _) in &state.hand {
            lanes.entry(*endpoint).or_insert_with(|| of(*endpoint)).by_hand = true;
        }
        for (endpoint, due, _) in &state.due {
            lanes.entry(*endpoint).or_insert_with(|| of(*endpoint)).next_due.get_or_insert(*due);
        }
        Ok(lanes.into_values().collect())
    }

    fn fresh(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<FreshRow>> {
        let state = self.state.lock();
        let rows = state.fresh.range(lane(endpoint)).take(limit as usize);
        Ok(rows.map(|((_, message), critical)| FreshRow { message: *message, critical: *critical }).collect())
    }

    fn due(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<DueRows> {
        let state = self.state.lock();
        let first = (endpoint.0, Timestamp::from_millis(i64::MIN), MessageId(0));
        let last = (endpoint.0, Timestamp::MAX, MessageId(u64::MAX));
        let mut answer = DueRows::default();
        for (_, due, message) in state.due.range(first..=last) {
            if *due > now || answer.rows.len() == limit as usize {
                answer.next_due = Some(*due);
                break;
            }
            let waiting = &state.waiting[&(endpoint.0, *message)];
            answer.rows.push(WaitingRow {
                message: *message,
                critical: waiting.critical,
                due: *due,
                rule: waiting.rule,
                progress: waiting.progress,
            });
        }
        Ok(answer)
    }

    fn by_hand(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<HandRow>> {
        let state = self.state.lock();
        let attempts = |message: MessageId| {
            let of = state.attempts_of.range((message, AttemptId(0))..=(message, AttemptId(u64::MAX)));
            of.filter(|(_, id)| state.attempts[id].endpoint == endpoint).count() as u32
        };
        let rows = state.hand.range(lane(endpoint)).take(limit as usize);
        Ok(rows
            .map(|(_, message)| HandRow {
                message: *message,
                critical: state.messages.get(message).is_some_and(|record| record.critical),
                attempts: attempts(*message),
            })
            .collect())
    }

    fn messages(&self, ids: &[MessageId]) -> Answer<Vec<MessageRecord>> {
        let state = self.state.lock();
        Ok(ids.iter().filter_map(|id| state.messages.get(id).cloned()).collect())
    }

    fn unrouted(&self, app: AppNo, limit: u32) -> Answer<Vec<MessageId>> {
        let state = self.state.lock();
        let rows = state.unrouted.range((app.0, MessageId(0))..=(app.0, MessageId(u64::MAX)));
        Ok(rows.take(limit as usize).map(|(_, message)| *message).collect())
    }

    fn gates(&self) -> Answer<Vec<(Scope, Gate)>> {
        Ok(self.state.lock().gates.iter().map(|(scope, gate)| (*scope, gate.clone())).collect())
    }
}
