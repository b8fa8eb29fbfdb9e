//! The outcome of an attempt: the row it was made from, its journal, what becomes of the delivery.

use gonets_core::{names::kind_of, outcome::Outcome as Came, rule::Reason, time::Timestamp};

use super::{Delivery, ModelState, Settled, Waiting};
use crate::{
    record::{AttemptRecord, SettledState},
    tx::{Made, Outcome, Rejected, Source, Then, Verdict},
};

impl ModelState {
    pub(super) fn outcome(&mut self, now: Timestamp, outcome: &Outcome) -> Verdict {
        let key = (outcome.endpoint.0, outcome.message);
        let there = match outcome.from {
            Source::Fresh => self.fresh.contains_key(&key),
            Source::Waiting => self.waiting.contains_key(&key),
            Source::Hand => self.hand.contains(&key),
        };
        let late = !there && outcome.attempt.is_some() && self.was_ended(key);
        if !there && !late {
            self.write_gates(&outcome.gates);
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
        self.write_gates(&outcome.gates);
        self.write_notices(&outcome.notices);
        Ok(Made::Outcome(outcome.attempt.as_ref().map(|attempt| attempt.id)))
    }

    /// Whether a step ended the delivery, which may have been under way then.
    fn was_ended(&self, key: Delivery) -> bool {
        self.settled.get(&key).is_some_and(|settled| {
            settled.state == SettledState::Cancelled
                || (settled.state == SettledState::Failed && settled.reason == Some(Reason::Expired))
        })
    }

    /// What an attempt makes of a delivery that a step ended while it was under way.
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
                let was_fresh = self.fresh.remove(&key).is_some();
                let waited = self.stop_waiting(key).is_some();
                // Sent by hand to an endpoint that it was never routed to: now it was.
                if !was_fresh
                    && !waited
                    && !self.settled.contains_key(&key)
                    && let Some(message) = self.messages.get_mut(&key.1)
                {
                    message.routes += 1;
                }
                let last_status = match &outcome.attempt {
                    Some(attempt) => attempt.status,
                    None => self.last_status(key),
                };
                let progress = outcome.progress;
                self.settled.insert(key, Settled { state, reason, at: now, last_status, progress });
            }
            Then::Waiting { due, rule } => {
                let message = self.messages.get(&key.1);
                let critical = message.is_some_and(|message| message.critical);
                let kind = message.map_or(0, |message| kind_of(&message.event_type));
                self.fresh.remove(&key);
                self.settled.remove(&key);
                self.wait(key, Waiting { critical, kind, due, rule, progress: outcome.progress });
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
    pub(super) fn last_status(&self, key: Delivery) -> Option<u16> {
        self.attempts_of
            .range((key.1, super::AttemptId(0))..=(key.1, super::AttemptId(u64::MAX)))
            .rev()
            .filter_map(|(_, id)| self.attempts.get(id))
            .find(|attempt| attempt.endpoint.0 == key.0)?
            .status
    }
}
