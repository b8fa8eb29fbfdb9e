//! What each operation does: guards first, then changes.

use std::{collections::BTreeSet, time::Duration};

use gonets_core::{
    gate::GateWrite,
    ids::{AppNo, EndpointNo, MessageId},
    names::kind_of,
    notice::{Notice, TRANSITIONS_KEPT},
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{Delivery, Fresh, KeptKey, ModelState, Settled, Waiting};
use crate::{
    record::{MessageRecord, SettledState},
    tx::{Accept, Idempotency, KeyOrigin, Made, Rejected, Told, Tx, Verdict},
};

const fn lifetime(origin: KeyOrigin) -> Duration {
    match origin {
        KeyOrigin::Auto => Duration::from_mins(10),
        KeyOrigin::Caller => Duration::from_hours(12),
    }
}

impl ModelState {
    pub(super) fn apply(&mut self, now: Timestamp, operation: &Tx) -> Verdict {
        match operation {
            Tx::Accept(accept) => self.accept(now, accept),
            Tx::Outcome(outcome) => self.outcome(now, outcome),
            Tx::Keep(keep) => {
                self.write_gates(&keep.gates);
                self.write_notices(&keep.notices);
                Ok(Made::Kept)
            }
            Tx::Hand(retry) => self.hand(now, retry),
            Tx::Entity(write) => self.entity(now, write),
            Tx::Cancel(step) => Ok(self.cancel(now, *step)),
            Tx::Expire(step) => Ok(self.expire(now, step)),
            Tx::Route(step) => self.route(step),
            Tx::Unroute(step) => self.unroute(*step),
            Tx::EndUnrouted(step) => Ok(self.end_unrouted(now, step)),
            Tx::Told(told) => Ok(self.told(*told)),
        }
    }

    fn accept(&mut self, now: Timestamp, accept: &Accept) -> Verdict {
        if let Some(key) = &accept.idempotency {
            let replay = match key.origin {
                KeyOrigin::Auto => self.replay_auto(now, key),
                KeyOrigin::Caller => self.replay(now, key),
            };
            if let Some(verdict) = replay {
                return verdict;
            }
        }
        self.check_app(accept.app, accept.app_version)?;
        let event_key = accept.event_id.clone().map(|event_id| (accept.app.0, event_id));
        if let Some(first) = event_key.as_ref().and_then(|key| self.event_keys.get(key)) {
            return Err(Rejected::Duplicate(*first));
        }
        let distinct: BTreeSet<_> = accept.routes.iter().chain(&accept.skips).collect();
        let named = accept.routes.len() + accept.skips.len();
        if self.messages.contains_key(&accept.id) || distinct.len() < named {
            return Err(Rejected::Poisoned(String::from("the id or a route is there already")));
        }
        if let Some(key) = event_key {
            self.event_keys.insert(key, accept.id);
        }
        self.write_message(now, accept);
        if let Some(key) = &accept.idempotency {
            match key.origin {
                KeyOrigin::Auto => drop(self.auto_keys.insert(key.key, (accept.id, key.body))),
                KeyOrigin::Caller => self.keep_key(now, key, Made::ReplayedMessage(accept.id)),
            }
        }
        Ok(Made::Message(accept.id))
    }

    fn write_message(&mut self, now: Timestamp, accept: &Accept) {
        self.messages.insert(
            accept.id,
            MessageRecord {
                id: accept.id,
                environment: accept.environment,
                app: accept.app,
                event_type: accept.event_type.clone(),
                critical: accept.critical,
                occurred: accept.occurred,
                deliver_at: accept.deliver_at,
                routes: (accept.routes.len() + accept.skips.len()) as u32,
                meta: accept.meta.clone(),
                payload: Some(accept.payload.clone()),
            },
        );
        self.messages_of.insert((accept.app.0, accept.id));
        for endpoint in &accept.routes {
            self.write_route(*endpoint, accept.id);
        }
        for endpoint in &accept.skips {
            self.settled.insert((endpoint.0, accept.id), skipped(now));
        }
        if accept.routes.is_empty() && accept.skips.is_empty() && accept.hold_unrouted {
            self.unrouted.insert((accept.app.0, accept.id));
        }
    }

    /// A new delivery of a message that is there: never tried, or due at its `deliver_at`.
    pub(super) fn write_route(&mut self, endpoint: EndpointNo, message: MessageId) {
        let Some(record) = self.messages.get(&message) else { return };
        let (critical, kind) = (record.critical, kind_of(&record.event_type));
        let key = (endpoint.0, message);
        match record.deliver_at {
            None => drop(self.fresh.insert(key, Fresh { critical, kind })),
            Some(due) => {
                let (rule, progress) = (Rule::DeliverAt, Progress::default());
                self.wait(key, Waiting { critical, kind, due, rule, progress });
            }
        }
    }

    pub(super) fn wait(&mut self, key: Delivery, waiting: Waiting) {
        self.stop_waiting(key);
        self.due.insert((key.0, !waiting.critical, waiting.due, key.1));
        self.waiting.insert(key, waiting);
    }

    pub(super) fn stop_waiting(&mut self, key: Delivery) -> Option<Waiting> {
        let waiting = self.waiting.remove(&key)?;
        self.due.remove(&(key.0, !waiting.critical, waiting.due, key.1));
        Some(waiting)
    }

    pub(super) fn shift_due(&mut self, after: Timestamp, by: Duration) {
        let later: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.due > after && waiting.rule != Rule::DeliverAt)
            .map(|(key, waiting)| (*key, Waiting { due: waiting.due + by, ..*waiting }))
            .collect();
        for (key, waiting) in later {
            self.wait(key, waiting);
        }
    }

    fn replay_auto(&self, now: Timestamp, key: &Idempotency) -> Option<Verdict> {
        let (id, body) = self.auto_keys.get(&key.key)?;
        if now.since(id.accepted_at()) >= lifetime(KeyOrigin::Auto) {
            return None;
        }
        Some(if *body == key.body {
            Ok(Made::ReplayedMessage(*id))
        } else {
            Err(Rejected::IdempotencyConflict)
        })
    }

    pub(super) fn replay(&self, now: Timestamp, key: &Idempotency) -> Option<Verdict> {
        let kept = self.keys.get(&key.key).filter(|kept| kept.expires > now)?;
        Some(if kept.body == key.body { Ok(kept.made.clone()) } else { Err(Rejected::IdempotencyConflict) })
    }

    pub(super) fn keep_key(&mut self, now: Timestamp, key: &Idempotency, made: Made) {
        let expires = now.saturating_add(lifetime(key.origin));
        self.keys.insert(key.key, KeptKey { body: key.body, expires, made });
    }

    pub(super) fn write_gates(&mut self, writes: &[GateWrite]) {
        for write in writes {
            let gate = self.gates.entry(write.scope).or_default();
            gate.apply(write.change);
            if gate.is_default() {
                self.gates.remove(&write.scope);
            }
        }
    }

    pub(super) fn write_notices(&mut self, notices: &[Notice]) {
        for notice in notices {
            self.last_notice += 1;
            self.notices.insert(self.last_notice, notice.clone());
            if notice.kind.is_transition() {
                let app = notice.about.app.map_or(0, |app| app.0);
                let old = notice.at.as_millis() - TRANSITIONS_KEPT.as_millis() as i64;
                self.transitions.retain(|(of, at, _), _| *of != app || at.as_millis() >= old);
                self.transitions.insert((app, notice.at, self.last_notice), notice.clone());
            }
        }
    }

    fn told(&mut self, told: Told) -> Made {
        let left = self.notices.split_off(&told.through.saturating_add(1));
        Made::Step(std::mem::replace(&mut self.notices, left).len() as u32)
    }

    pub(super) fn check_app(&self, app: AppNo, version: u32) -> Result<(), Rejected> {
        match self.application(app) {
            None => Err(Rejected::Gone),
            Some(current) if current == version => Ok(()),
            Some(_) => Err(Rejected::Stale),
        }
    }
}

/// The delivery to an endpoint that is skipped while it is disabled (R19).
fn skipped(now: Timestamp) -> Settled {
    Settled {
        state: SettledState::Skipped,
        reason: Some(Reason::EndpointDisabled),
        at: now,
        last_status: None,
        progress: Progress::default(),
    }
}
