//! How a delivery stands: its state, what holds it back, and when it is tried next.

use gonets_core::{
    gate::Scope,
    hold::Hold,
    ids::EndpointNo,
    profile::BreakerScope,
    rule::{Reason, Rule},
    time::Timestamp,
};
use gonets_engine::{Standing, directory::App};
use gonets_store::record::{DeliveryRecord, DeliveryState, SettledState};

use super::{Held, Next, State};
use crate::service::Service;

pub(super) fn state(record: &DeliveryRecord) -> (State, Option<Reason>) {
    match record.state {
        DeliveryState::Fresh | DeliveryState::Waiting { .. } => (State::Waiting, None),
        DeliveryState::Settled { state, reason, .. } => (ended(state), reason),
    }
}

pub(super) const fn ended(state: SettledState) -> State {
    match state {
        SettledState::Delivered => State::Delivered,
        SettledState::Failed => State::Failed,
        SettledState::Cancelled => State::Cancelled,
        SettledState::Skipped => State::Skipped,
    }
}

/// What holds it back. An address that was not allowed holds only its own delivery, not the lane (R1).
pub(super) fn hold(record: &DeliveryRecord, in_memory: &Standing) -> Option<Held> {
    let due = match record.state {
        DeliveryState::Settled { .. } => return None,
        DeliveryState::Waiting { due, rule: Rule::AddressRecheck } => Some(due),
        DeliveryState::Fresh | DeliveryState::Waiting { .. } => None,
    };
    let own = due.map(|due| Held { hold: Hold::AddressNotAllowed, until: Some(due) });
    // Under way is not held, whatever stands before the others.
    let lane = in_memory.hold.filter(|_| !in_memory.is_under_way);
    lane.map(|(hold, until)| Held { hold, until }).or(own)
}

/// When it is tried next: not before it is due, nor before what holds it ends. What is over says nothing
/// about when, and a hold whose end nobody knows leaves it open.
pub(super) fn next(record: &DeliveryRecord, held: Option<Held>, now: Timestamp) -> Option<Next> {
    let set = match record.state {
        DeliveryState::Settled { .. } => return None,
        DeliveryState::Fresh => None,
        DeliveryState::Waiting { due, rule } => Some(Next { at: due, rule: Some(rule) }),
    };
    let next = match held {
        None => set?,
        Some(Held { hold, until }) => {
            let end = Next { at: until?, rule: rule_of(hold) };
            set.filter(|set| end.at <= set.at).unwrap_or(end)
        }
    };
    Some(next).filter(|next| now < next.at)
}

/// The rule by which a hold ends, where it has one.
const fn rule_of(hold: Hold) -> Option<Rule> {
    match hold {
        Hold::BreakerOpen => Some(Rule::Breaker),
        Hold::Throttled => Some(Rule::RetryAfter),
        Hold::AddressNotAllowed => Some(Rule::AddressRecheck),
        Hold::NoEndpoint
        | Hold::EndpointDisabled
        | Hold::BehindAnother
        | Hold::Frozen
        | Hold::SendingPaused => None,
    }
}

impl Service {
    /// Since when something holds an endpoint's deliveries, as far as that is known.
    pub(super) fn held_since(&self, app: &App, endpoint: EndpointNo, hold: Hold) -> Option<Timestamp> {
        let directory = self.directory();
        match hold {
            Hold::EndpointDisabled => {
                let gate = directory.gate(Scope::Endpoint(endpoint));
                let by_owner = directory.endpoint(endpoint).and_then(|endpoint| endpoint.doc.disabled_since);
                by_owner.or(gate.disabled.map(|disabled| disabled.since))
            }
            Hold::Frozen => directory.frozen(app.row.environment, app.no).map(|(_, since)| since),
            Hold::SendingPaused => directory.sending_paused(),
            Hold::BreakerOpen => self.breaker_opened(app, endpoint),
            Hold::NoEndpoint | Hold::Throttled | Hold::AddressNotAllowed | Hold::BehindAnother => None,
        }
    }

    /// Since when the breaker of an endpoint's deliveries is open.
    fn breaker_opened(&self, app: &App, endpoint: EndpointNo) -> Option<Timestamp> {
        let scope = match app.profile.breaker.as_ref()?.scope {
            BreakerScope::Application => Scope::Application(app.no),
            BreakerScope::Endpoint => Scope::Endpoint(endpoint),
        };
        Some(self.directory().gate(scope).breaker?.opened_at)
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::{ids::MessageId, progress::Progress};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(5);

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn record(state: DeliveryState) -> DeliveryRecord {
        DeliveryRecord {
            message: MessageId(1),
            endpoint: EndpointNo(2),
            progress: Progress::default(),
            state,
        }
    }

    fn waiting(due: i64, rule: Rule) -> DeliveryRecord {
        record(DeliveryState::Waiting { due: at(due), rule })
    }

    fn held(hold: Hold, until: Option<i64>) -> Option<Held> {
        Some(Held { hold, until: until.map(at) })
    }

    #[test]
    fn r26_the_next_attempt_is_the_later_of_schedule_and_hold() {
        let waiting = waiting(20, Rule::OutageLadder);
        let ladder = Some(Next { at: at(20), rule: Some(Rule::OutageLadder) });
        assert_eq!(next(&waiting, None, NOW), ladder);
        assert_eq!(next(&waiting, held(Hold::BreakerOpen, Some(20)), NOW), ladder);
        let probe = Some(Next { at: at(30), rule: Some(Rule::Breaker) });
        assert_eq!(next(&waiting, held(Hold::BreakerOpen, Some(30)), NOW), probe);
        assert_eq!(next(&record(DeliveryState::Fresh), held(Hold::BreakerOpen, Some(30)), NOW), probe);
    }

    #[test]
    fn r26_without_a_known_end_of_the_hold_there_is_no_next_attempt() {
        assert_eq!(next(&waiting(20, Rule::OutageLadder), held(Hold::Frozen, None), NOW), None);
        assert_eq!(next(&record(DeliveryState::Fresh), None, NOW), None);
        assert_eq!(next(&waiting(5, Rule::OutageLadder), None, NOW), None, "it is over");
    }

    #[test]
    fn r01_an_address_that_is_not_allowed_is_a_hold_of_its_own() {
        let blocked = waiting(20, Rule::AddressRecheck);
        assert_eq!(hold(&blocked, &Standing::default()), held(Hold::AddressNotAllowed, Some(20)));
        let frozen = Standing { is_under_way: false, hold: Some((Hold::Frozen, None)) };
        assert_eq!(hold(&blocked, &frozen), held(Hold::Frozen, None));
        let probing = Standing { is_under_way: true, hold: Some((Hold::BreakerOpen, None)) };
        assert_eq!(hold(&waiting(1, Rule::OutageLadder), &probing), None, "it is the probe");
    }
}
