//! What is to be told of an attempt's end: of its delivery, and of the breaker in front of it.

use gonets_core::{
    breaker::Change,
    gate::Scope,
    notice::{About, FAILING_ATTEMPTS, Facts, Notice, NoticeKind},
    outcome::Outcome,
    rule::Reason,
    time::Timestamp,
};

use super::Shard;
use crate::{
    config::LaneConfig,
    effect::{Record, Then},
    input::Reply,
};

/// A delivery that begins to fail, fails for good, or comes through after all.
pub(super) fn of_delivery(config: &LaneConfig, reply: &Reply, record: &mut Record) {
    let attempts = record.progress.attempts;
    let kind = match record.then {
        Then::Delivered if attempts > FAILING_ATTEMPTS => NoticeKind::AttemptRecovered,
        Then::Failed(Reason::Expired) => NoticeKind::MessageExpired,
        Then::Failed(_) => NoticeKind::AttemptExhausted,
        Then::Again { .. } if attempts == FAILING_ATTEMPTS => NoticeKind::AttemptFailing,
        Then::Delivered | Then::Again { .. } | Then::Untouched => return,
    };
    let about = About {
        environment: Some(config.environment),
        app: Some(config.app),
        endpoint: Some(record.endpoint),
        message: Some(record.message),
    };
    let reason = match record.then {
        Then::Failed(reason) => Some(reason.name().to_owned()),
        _ => None,
    };
    let until = match record.then {
        Then::Again { due, .. } => Some(due),
        _ => None,
    };
    let facts = Facts {
        reason,
        until,
        count: Some(u64::from(attempts)),
        outcome: Some(reply.finished.outcome.name().to_owned()),
        ..Facts::default()
    };
    record.notices.push(Notice::new(kind, about, reply.finished.at).with(facts));
}

impl Shard {
    /// A breaker changed: its gate is written and its people are told, with the outcome that did it.
    pub(super) fn tell_breaker(
        &self,
        scope: Scope,
        change: Change,
        was_probe: bool,
        (outcome, at): (Outcome, Timestamp),
        record: &mut Record,
    ) {
        let Some(circuit) = self.circuits.get(&scope) else { return };
        let (kind, until) = match change {
            Change::Unchanged => return,
            Change::Opened { probe_at } => (Some(NoticeKind::BreakerOpened), Some(probe_at)),
            Change::ProbeAt { probe_at } => (was_probe.then_some(NoticeKind::BreakerProbed), Some(probe_at)),
            Change::Closed => (Some(NoticeKind::BreakerClosed), None),
        };
        record.gates.push(circuit.gate());
        let Some(kind) = kind else { return };
        let lane = circuit.lanes.first().and_then(|endpoint| self.lanes.get(endpoint));
        let about = About {
            environment: lane.map(|lane| lane.config.environment),
            app: Some(circuit.app),
            endpoint: match scope {
                Scope::Endpoint(endpoint) => Some(endpoint),
                _ => None,
            },
            message: None,
        };
        let facts = Facts {
            until,
            count: (circuit.failures > 0).then_some(circuit.failures),
            outcome: Some(outcome.name().to_owned()),
            ..Facts::default()
        };
        record.notices.push(Notice::new(kind, about, at).with(facts));
    }
}
