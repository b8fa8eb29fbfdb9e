//! What each operation does: guards first, then changes.

use std::{collections::BTreeSet, time::Duration};

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    outcome::Outcome as Came,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{Delivery, KeptKey, ModelState, Settled, Waiting};
use crate::{
    record::{AttemptRecord, Gate, MessageRecord, SettledState},
    tx::{
        Accept, CancelStep, GateWrite, HandRetry, Idempotency, KeyOrigin, Made, Outcome, Rejected, RouteStep,
        Source, Then, Tx, Verdict,
    },
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
            Tx::Gate(write) => {
                self.write_gate(write);
                Ok(Made::Gate)
            }
            Tx::Hand(retry) => self.hand(now, retry),
            Tx::Entity(write) => self.entity(now, write),
            Tx::Cancel(step) => Ok(self.cancel(now, *step)),
            Tx::Route(step) => self.route(step),
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
        let distinct: BTreeSet<_> = accept.routes.iter().collect();
        if self.messages.contains_key(&accept.id) || distinct.len() < accept.routes.len() {
            return Err(Rejected::Poisoned(String::from("the id or a route is there already")));
        }
        if let Some(key) = event_key {
            self.event_keys.insert(key, accept.id);
        }
        self.write_message(accept);
        if let Some(key) = &accept.idempotency {
            match key.origin {
                KeyOrigin::Auto => drop(self.auto_keys.insert(key.key, (accept.id, key.body))),
                KeyOrigin::Caller => self.keep_key(now, key, Made::ReplayedMessage(accept.id)),
            }
        }
        Ok(Made::Message(accept.id))
    }

    fn write_message(&mut self, accept: &Accept) {
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
                routes: accept.routes.len() as u32,
                meta: accept.meta.clone(),
                payload: Some(accept.payload.clone()),
            },
        );
        self.messages_of.insert((accept.app.0, accept.id));
        for endpoint in &accept.routes {
            self.write_route(*endpoint, accept.id, accept.critical, accept.deliver_at);
        }
        if accept.routes.is_empty() && accept.hold_unrouted {
            self.unrouted.insert((accept.app.0, accept.id));
        }
    }

    fn write_route(
        &mut self,
        endpoint: EndpointNo,
        message: MessageId,
        critical: bool,
        deliver_at: Option<Timestamp>,
    ) {
        let key = (endpoint.0, message);
        match deliver_at {
            None => drop(self.fresh.insert(key, critical)),
            Some(due) => {
                self.wait(
                    key,
                    Waiting { critical, due, rule: Rule::DeliverAt, progress: Progress::default() },
                );
            }
        }
    }

    fn wait(&mut self, key: Delivery, waiting: Waiting) {
        self.stop_waiting(key);
        self.due.insert((key.0, waiting.due, key.1));
        self.waiting.insert(key, waiting);
    }

    fn stop_waiting(&mut self, key: Delivery) -> Option<Waiting> {
        let waiting = self.waiting.remove(&key)?;
        self.due.remove(&(key.0, waiting.due, key.1));
        Some(waiting)
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

    pub(super) fn write_gate(&mut self, write: &GateWrite) {
        if write.gate == Gate::default() {
            self.gates.remove(&write.scope);
        } else {
            self.gates.insert(write.scope, write.gate.clone());
        }
    }

    fn outcome(&mut self, now: Timestamp, outcome: &Outcome) -> Verdict {
        let key = (outcome.endpoint.0, outcome.message);
        let there = match outcome.from {
            Source::Fresh => self.fresh.contains_key(&key),
            Source::Waiting => self.waiting.contains_key(&key),
            Source::Hand => self.hand.contains(&key),
        };
        let late = !there && outcome.attempt.is_some() && self.is_cancelled(key);
        if !there && !late {
            return Err(Rejected::Gone);
        }
        if outcome.attempt.as_ref().is_some_and(|attempt| self.attempts.contains_key(&attempt.id)) {
            return Err(Rejected::Poisoned(String::from("the attempt is there already")));
        }
        if outcome.from == Source::Hand {
            self.hand.remove(&key);
        }
        match &outcome.attempt {
            Some(attempt) if late => self.ended_late(now, key, outcome, attempt),
            _ => self.become_of(now, key, outcome),
        }
        if let Some(attempt) = &outcome.attempt {
            self.attempts_of.insert((attempt.message, attempt.id));
            self.attempts_at.insert((attempt.endpoint.0, attempt.id));
            self.attempts.insert(attempt.id, attempt.clone());
        }
        if let Some(gate) = &outcome.gate {
            self.write_gate(gate);
        }
        Ok(Made::Outcome(outcome.attempt.as_ref().map(|attempt| attempt.id)))
    }

    fn is_cancelled(&self, key: Delivery) -> bool {
        self.settled.get(&key).is_some_and(|settled| settled.state == SettledState::Cancelled)
    }

    /// What an attempt makes of a delivery that was cancelled while it was under way.
    fn ended_late(&mut self, now: Timestamp, key: Delivery, outcome: &Outcome, attempt: &AttemptRecord) {
        let Some(settled) = self.settled.get_mut(&key) else { return };
        settled.last_status = attempt.status;
        if attempt.outcome == Came::Delivered {
            settled.state = SettledState::Delivered;
            settled.reason = None;
            settled.at = now;
            settled.progress = outcome.progress;
        } else {
            settled.progress.attempts = outcome.progress.attempts;
        }
    }

    fn become_of(&mut self, now: Timestamp, key: Delivery, outcome: &Outcome) {
        match outcome.then {
            Then::Settled { state, reason } => {
                self.fresh.remove(&key);
                self.stop_waiting(key);
                let last_status = match &outcome.attempt {
                    Some(attempt) => attempt.status,
                    None => self.last_status(key),
                };
                let progress = outcome.progress;
                self.settled.insert(key, Settled { state, reason, at: now, last_status, progress });
            }
            Then::Waiting { due, rule } => {
                let critical = self.messages.get(&key.1).is_some_and(|message| message.critical);
                self.fresh.remove(&key);
                self.settled.remove(&key);
                self.wait(key, Waiting { critical, due, rule, progress: outcome.progress });
            }
            Then::Untouched if outcome.from == Source::Hand && outcome.attempt.is_some() => {
                let attempts = outcome.progress.attempts;
                if let Some(waiting) = self.waiting.get_mut(&key) {
                    waiting.progress.attempts = attempts;
                }
                if let Some(settled) = self.settled.get_mut(&key) {
                    settled.progress.attempts = attempts;
                }
            }
            Then::Untouched => {}
        }
    }

    /// The status of a delivery's last attempt.
    fn last_status(&self, key: Delivery) -> Option<u16> {
        self.attempts_of
            .range((key.1, super::AttemptId(0))..=(key.1, super::AttemptId(u64::MAX)))
            .rev()
            .filter_map(|(_, id)| self.attempts.get(id))
            .find(|attempt| attempt.endpoint.0 == key.0)?
            .status
    }

    fn hand(&mut self, now: Timestamp, retry: &HandRetry) -> Verdict {
        let keyed = retry.idempotency.as_deref();
        if let Some(verdict) = keyed.and_then(|(key, _)| self.replay(now, key)) {
            return verdict;
        }
        if self.messages.get(&retry.message).is_none_or(|message| message.payload.is_none()) {
            return Err(Rejected::Gone);
        }
        if retry.under_way || !self.hand.insert((retry.endpoint.0, retry.message)) {
            return Err(Rejected::Conflict);
        }
        if let Some((key, answer)) = keyed {
            self.keep_key(now, key, Made::ReplayedAnswer(answer.clone()));
        }
        Ok(Made::Hand)
    }

    fn cancel(&mut self, now: Timestamp, step: CancelStep) -> Made {
        let limit = step.limit as usize;
        let range = (step.endpoint.0, MessageId(0))..=(step.endpoint.0, step.through);
        let mut taken: Vec<Delivery> =
            self.fresh.range(range.clone()).map(|(key, _)| *key).take(limit).collect();
        taken.extend(self.waiting.range(range.clone()).map(|(key, _)| *key).take(limit));
        taken.sort_unstable();
        taken.truncate(limit);
        for key in &taken {
            self.cancel_one(now, *key, step.reason);
        }
        let by_hand: Vec<Delivery> = self.hand.range(range).copied().take(limit - taken.len()).collect();
        for key in &by_hand {
            self.hand.remove(key);
        }
        Made::Step((taken.len() + by_hand.len()) as u32)
    }

    fn cancel_one(&mut self, now: Timestamp, key: Delivery, reason: Reason) {
        let (progress, last_status) = match self.stop_waiting(key) {
            Some(waiting) => (waiting.progress, self.last_status(key)),
            None => (Progress::default(), None),
        };
        self.fresh.remove(&key);
        let settled =
            Settled { state: SettledState::Cancelled, reason: Some(reason), at: now, last_status, progress };
        self.settled.insert(key, settled);
    }

    fn route(&mut self, step: &RouteStep) -> Verdict {
        self.check_app(step.app, step.app_version)?;
        let mut routed = 0;
        for (message, endpoints) in &step.routes {
            if self.unrouted.remove(&(step.app.0, *message)) {
                self.route_one(*message, endpoints);
                routed += 1;
            }
        }
        Ok(Made::Step(routed))
    }

    fn route_one(&mut self, message: MessageId, endpoints: &[EndpointNo]) {
        let Some(record) = self.messages.get_mut(&message) else { return };
        record.routes = endpoints.len() as u32;
        let (critical, deliver_at) = (record.critical, record.deliver_at);
        for endpoint in endpoints {
            self.write_route(*endpoint, message, critical, deliver_at);
        }
    }

    fn check_app(&self, app: AppNo, version: u32) -> Result<(), Rejected> {
        match self.application(app) {
            None => Err(Rejected::Gone),
            Some(current) if current == version => Ok(()),
            Some(_) => Err(Rejected::Stale),
        }
    }
}
