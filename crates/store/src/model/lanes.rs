//! What the dispatcher asks.

use std::{collections::BTreeMap, ops::RangeInclusive};

use gonets_core::{
    gate::{Gate, Scope},
    ids::{AppNo, AttemptId, EndpointNo, MessageId},
    names::kind_of,
    notice::Notice,
    rule::Rule,
    time::Timestamp,
};

use super::{Delivery, Fresh, Model, Waiting};
use crate::{
    query::{
        Answer, DueRows, FreshRow, HandRow, LaneBacklog, Lanes, Oldest, OrderedRow, OrderedRows, WaitingRow,
    },
    record::MessageRecord,
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
        for (endpoint, _, due, _) in &state.due {
            let next = &mut lanes.entry(*endpoint).or_insert_with(|| of(*endpoint)).next_due;
            *next = Some(next.map_or(*due, |next| next.min(*due)));
        }
        Ok(lanes.into_values().collect())
    }

    fn fresh(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<FreshRow>> {
        let state = self.state.lock();
        let rows = || state.fresh.range(lane(endpoint)).map(|(key, fresh)| fresh_row(key.1, fresh));
        let critical_first = rows().filter(|row| row.critical).chain(rows().filter(|row| !row.critical));
        Ok(critical_first.take(limit as usize).collect())
    }

    fn due(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<DueRows> {
        let state = self.state.lock();
        let first = (endpoint.0, false, Timestamp::from_millis(i64::MIN), MessageId(0));
        let last = (endpoint.0, true, Timestamp::MAX, MessageId(u64::MAX));
        let mut answer = DueRows::default();
        for (_, _, due, message) in state.due.range(first..=last) {
            if *due > now || answer.rows.len() == limit as usize {
                answer.next_due = Some(answer.next_due.map_or(*due, |next: Timestamp| next.min(*due)));
            } else {
                let waiting = &state.waiting[&(endpoint.0, *message)];
                answer.rows.push(waiting_row(*message, waiting));
            }
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
        let row = |message: &MessageId| {
            let record = state.messages.get(message)?;
            let (critical, kind) = (record.critical, kind_of(&record.event_type));
            Some(HandRow { message: *message, critical, kind, attempts: attempts(*message) })
        };
        Ok(rows.filter_map(|(_, message)| row(message)).collect())
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

    fn in_order(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<OrderedRows> {
        let state = self.state.lock();
        let mut line: BTreeMap<MessageId, OrderedRow> = BTreeMap::new();
        let mut next_due: Option<Timestamp> = None;
        for (key, fresh) in state.fresh.range(lane(endpoint)) {
            line.insert(key.1, OrderedRow::Fresh(fresh_row(key.1, fresh)));
        }
        for (key, waiting) in state.waiting.range(lane(endpoint)) {
            if waiting.rule == Rule::DeliverAt && waiting.due > now {
                next_due = Some(next_due.map_or(waiting.due, |next| next.min(waiting.due)));
            } else {
                line.insert(key.1, OrderedRow::Waiting(waiting_row(key.1, waiting)));
            }
        }
        Ok(OrderedRows { rows: line.into_values().take(limit as usize).collect(), next_due })
    }

    fn oldest(&self, endpoint: EndpointNo) -> Answer<Oldest> {
        let state = self.state.lock();
        let fresh = state.fresh.range(lane(endpoint)).map(|(key, fresh)| (key.1, fresh.critical));
        let waiting = state.waiting.range(lane(endpoint)).map(|(key, waiting)| (key.1, waiting.critical));
        let mut oldest = Oldest::default();
        for (message, critical) in fresh.chain(waiting) {
            oldest.any = Some(oldest.any.map_or(message, |first| first.min(message)));
            if critical {
                oldest.critical = Some(oldest.critical.map_or(message, |first| first.min(message)));
            }
        }
        Ok(oldest)
    }

    fn unrouted_apps(&self) -> Answer<Vec<(AppNo, MessageId)>> {
        let state = self.state.lock();
        let mut oldest = BTreeMap::new();
        for (app, message) in &state.unrouted {
            oldest.entry(AppNo(*app)).or_insert(*message);
        }
        Ok(oldest.into_iter().collect())
    }

    fn notices(&self, after: u64, limit: u32) -> Answer<Vec<(u64, Notice)>> {
        let state = self.state.lock();
        let further = state.notices.range(after.saturating_add(1)..).take(limit as usize);
        Ok(further.map(|(no, notice)| (*no, notice.clone())).collect())
    }

    fn gates(&self) -> Answer<Vec<(Scope, Gate)>> {
        Ok(self.state.lock().gates.iter().map(|(scope, gate)| (*scope, *gate)).collect())
    }
}

fn fresh_row(message: MessageId, fresh: &Fresh) -> FreshRow {
    FreshRow { message, critical: fresh.critical, kind: fresh.kind }
}

fn waiting_row(message: MessageId, waiting: &Waiting) -> WaitingRow {
    WaitingRow {
        message,
        critical: waiting.critical,
        kind: waiting.kind,
        due: waiting.due,
        rule: waiting.rule,
        progress: waiting.progress,
    }
}
