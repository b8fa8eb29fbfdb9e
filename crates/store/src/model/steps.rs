//! What people and upkeep ask for: a retry by hand, and steps over what waits: cancelling, expiring,
//! routing, unrouting.

use gonets_core::{
    ids::{EndpointNo, MessageId},
    notice::Notice,
    progress::Progress,
    rule::Reason,
    time::Timestamp,
};

use super::{Delivery, ModelState, Settled, lanes::lane};
use crate::{
    record::{SettledState, UnroutedEnd},
    tx::{
        CancelStep, EndUnroutedStep, ExpireStep, HandRetry, Made, Rejected, RouteStep, UnrouteStep, Verdict,
    },
};

impl ModelState {
    pub(super) fn hand(&mut self, now: Timestamp, retry: &HandRetry) -> Verdict {
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

    pub(super) fn cancel(&mut self, now: Timestamp, step: CancelStep) -> Made {
        let limit = step.limit as usize;
        let taken = self.oldest_in_lane(step.endpoint, limit, |message| message <= step.through);
        for key in &taken {
            self.end(now, *key, SettledState::Cancelled, step.reason);
        }
        let range = (step.endpoint.0, MessageId(0))..=(step.endpoint.0, step.through);
        let by_hand: Vec<Delivery> = self.hand.range(range).copied().take(limit - taken.len()).collect();
        for key in &by_hand {
            self.hand.remove(key);
        }
        Made::Step((taken.len() + by_hand.len()) as u32)
    }

    pub(super) fn expire(&mut self, now: Timestamp, step: &ExpireStep) -> Made {
        let is_old = |message| self.ages_from(message) <= step.aged_from;
        let taken = self.oldest_in_lane(step.endpoint, step.limit as usize, is_old);
        for key in &taken {
            self.end(now, *key, SettledState::Failed, Reason::Expired);
        }
        self.tell_count(Some(&step.notice), taken.len());
        Made::Step(taken.len() as u32)
    }

    /// The oldest unfinished deliveries of an endpoint, by message.
    fn oldest_in_lane(
        &self,
        endpoint: EndpointNo,
        limit: usize,
        takes: impl Fn(MessageId) -> bool,
    ) -> Vec<Delivery> {
        let fresh = self.fresh.range(lane(endpoint)).map(|(key, _)| *key);
        let waiting = self.waiting.range(lane(endpoint)).map(|(key, _)| *key);
        let mut taken: Vec<Delivery> = fresh.filter(|key| takes(key.1)).take(limit).collect();
        taken.extend(waiting.filter(|key| takes(key.1)).take(limit));
        taken.sort_unstable();
        taken.truncate(limit);
        taken
    }

    fn ages_from(&self, message: MessageId) -> Timestamp {
        self.messages.get(&message).map_or(message.accepted_at(), |record| record.ages_from())
    }

    /// A delivery ends without another attempt: what was tried keeps its progress and last status.
    fn end(&mut self, now: Timestamp, key: Delivery, state: SettledState, reason: Reason) {
        let (progress, last_status) = match self.stop_waiting(key) {
            Some(waiting) => (waiting.progress, self.last_status(key)),
            None => (Progress::default(), None),
        };
        self.fresh.remove(&key);
        self.settled.insert(key, Settled { state, reason: Some(reason), at: now, last_status, progress });
    }

    /// Writes the notice of a step that handled something.
    fn tell_count(&mut self, notice: Option<&Notice>, count: usize) {
        let Some(notice) = notice.filter(|_| count > 0) else { return };
        let mut notice = notice.clone();
        notice.facts.count = Some(count as u64);
        self.write_notices(&[notice]);
    }

    pub(super) fn route(&mut self, step: &RouteStep) -> Verdict {
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

    /// An endpoint that has a delivery of the message already gets no second one.
    fn route_one(&mut self, message: MessageId, endpoints: &[EndpointNo]) {
        let mut added = 0;
        for endpoint in endpoints {
            let key = (endpoint.0, message);
            let has_one = self.fresh.contains_key(&key)
                || self.waiting.contains_key(&key)
                || self.settled.contains_key(&key);
            if !has_one {
                self.write_route(*endpoint, message);
                added += 1;
            }
        }
        if let Some(record) = self.messages.get_mut(&message) {
            record.routes += added;
        }
    }

    pub(super) fn unroute(&mut self, step: UnrouteStep) -> Verdict {
        if self.application(step.app).is_none() {
            return Err(Rejected::Gone);
        }
        let taken = self.oldest_in_lane(step.endpoint, step.limit as usize, |_| true);
        for key in &taken {
            self.fresh.remove(key);
            self.stop_waiting(*key);
            self.hand.remove(key);
            if let Some(record) = self.messages.get_mut(&key.1) {
                record.routes = record.routes.saturating_sub(1);
            }
            self.unrouted_ends.remove(&key.1);
            self.unrouted.insert((step.app.0, key.1));
        }
        Ok(Made::Step(taken.len() as u32))
    }

    pub(super) fn end_unrouted(&mut self, now: Timestamp, step: &EndUnroutedStep) -> Made {
        let range = (step.app.0, MessageId(0))..=(step.app.0, MessageId(u64::MAX));
        let of_app = self.unrouted.range(range).copied();
        let old = of_app.filter(|(_, message)| self.ages_from(*message) <= step.aged_from);
        let taken: Vec<(u32, MessageId)> = old.take(step.limit as usize).collect();
        for key in &taken {
            self.unrouted.remove(key);
            self.unrouted_ends.insert(key.1, UnroutedEnd { reason: step.reason, at: now });
        }
        self.tell_count(step.notice.as_ref(), taken.len());
        Made::Step(taken.len() as u32)
    }
}
