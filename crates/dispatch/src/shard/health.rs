//! The health of a lane's endpoint (R21): what an attempt's end and what time alone changes.

use gonets_core::{
    gate::{Disabled, DisabledBy, GateChange},
    health::HealthChange,
    ids::EndpointNo,
    notice::{Facts, Notice, NoticeKind},
    outcome::Outcome,
    rule::Reason,
    time::Timestamp,
};

use super::Shard;
use crate::{
    effect::{Effect, Keep, Record, Source, Then},
    input::Reply,
    lane::Lane,
};

impl Shard {
    /// Time has passed for an endpoint that fails: its people may be told, or it is disabled. While we
    /// suspect ourselves, or sending is frozen, this time stands still.
    pub(super) fn health_in_time(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if lane.health.first_failure.is_none() || lane.is_shut() || self.fleet.is_paused() {
            return;
        }
        let rules = &lane.config.profile.health;
        let Some(at) = lane.health.next_at(rules) else { return };
        if at > now {
            return self.timers.wake(endpoint, at);
        }
        let before = lane.health;
        let mut keep = Keep::default();
        let told = lane.health.notice_due(rules, now);
        let change = lane.health.on_time(rules, now);
        if told.is_some() {
            keep.notices.push(notice(lane, NoticeKind::EndpointWarned, now, None));
        }
        if lane.health != before {
            keep.gates.push(lane.write(GateChange::Health(lane.health)));
        }
        if change.disable {
            disable(lane, DisabledBy::Failing, now, &mut keep);
        }
        let next = lane.health.next_at(&lane.config.profile.health).filter(|at| *at > now);
        if keep != Keep::default() {
            effects.push(Effect::Keep(keep));
        }
        if let Some(at) = next {
            self.timers.wake(endpoint, at);
        }
    }
}

/// What the end of an attempt says of its endpoint.
pub(super) fn learn(lane: &mut Lane, reply: &Reply, record: &mut Record) {
    let outcome = reply.finished.outcome;
    if record.source == Source::Hand && outcome != Outcome::Delivered {
        return;
    }
    let spent = [Reason::OutageExhausted, Reason::RefusalsExhausted];
    let exhausted = matches!(record.then, Then::Failed(reason) if spent.contains(&reason));
    let before = lane.health;
    let at = reply.finished.at;
    let change = lane.health.on_attempt(&lane.config.profile.health, outcome, exhausted, at);
    if lane.health == before {
        return;
    }
    let mut keep =
        Keep { gates: std::mem::take(&mut record.gates), notices: std::mem::take(&mut record.notices) };
    tell(lane, change, outcome, at, &mut keep);
    keep.gates.push(lane.write(GateChange::Health(lane.health)));
    if change.disable && !lane.disabled {
        disable(lane, DisabledBy::Failing, at, &mut keep);
    }
    record.gates = keep.gates;
    record.notices = keep.notices;
}

/// The breaker opened over this endpoint's failures.
pub(super) fn breaker_opened(lane: &mut Lane, outcome: Outcome, at: Timestamp, record: &mut Record) {
    if !lane.failed {
        return;
    }
    let before = lane.health;
    let change = lane.health.on_breaker_opened(at);
    if change.failing {
        record.notices.push(notice(lane, NoticeKind::EndpointFailing, at, Some(outcome)));
    }
    if lane.health != before {
        record.gates.push(lane.write(GateChange::Health(lane.health)));
    }
}

/// 410, where that means that the endpoint is gone (R1): it is disabled at once, and once.
pub(super) fn gone(lane: &mut Lane, at: Timestamp, record: &mut Record) {
    if !lane.disabled {
        let mut keep = Keep::default();
        disable(lane, DisabledBy::Gone, at, &mut keep);
        record.gates.append(&mut keep.gates);
        record.notices.append(&mut keep.notices);
    }
}

fn tell(lane: &Lane, change: HealthChange, outcome: Outcome, at: Timestamp, keep: &mut Keep) {
    if change.failing {
        keep.notices.push(notice(lane, NoticeKind::EndpointFailing, at, Some(outcome)));
    }
    if change.recovered {
        keep.notices.push(notice(lane, NoticeKind::EndpointRecovered, at, None));
    }
}

fn disable(lane: &mut Lane, why: DisabledBy, since: Timestamp, keep: &mut Keep) {
    lane.disabled = true;
    keep.gates.push(lane.write(GateChange::Disabled(Some(Disabled { since, why }))));
    let mut told = notice(lane, NoticeKind::EndpointDisabled, since, None);
    told.facts.reason = Some(why.name().to_owned());
    keep.notices.push(told);
}

fn notice(lane: &Lane, kind: NoticeKind, at: Timestamp, outcome: Option<Outcome>) -> Notice {
    Notice::new(kind, lane.about(), at).with(Facts {
        since: lane.health.first_failure,
        count: (lane.health.failures > 0).then_some(u64::from(lane.health.failures)),
        outcome: outcome.map(|outcome| outcome.name().to_owned()),
        ..Facts::default()
    })
}
