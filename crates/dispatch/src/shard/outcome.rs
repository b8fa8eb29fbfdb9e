//! What an attempt's end changes: the delivery by the rules of `core`, the lane's caps and pauses,
//! and the slot, in this order.

use gonets_core::{
    decide::{Facts, INTERRUPTED_MAX, Next, after_attempt},
    gate::{Disabled, DisabledBy, GateChange, GateWrite, Scope, Throttle},
    notice::{About, Facts as Known, Notice, NoticeKind},
    outcome::Outcome,
    retry_after::throttle_pause,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::Shard;
use crate::{
    effect::{Effect, Record, Source, Then},
    flight::Flight,
    input::{HandItem, Reply},
    lane::Lane,
    slots::Queue,
};

impl Shard {
    pub(super) fn replied(&mut self, now: Timestamp, reply: &Reply, effects: &mut Vec<Effect>) {
        let Some(flight) = self.flights.end(reply.send) else { return };
        let (mut record, disables) = self.decide(&flight, reply);
        if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
            settle_lane(lane, &flight, reply, &mut record);
            if disables {
                disable(lane, reply, &mut record);
            }
            if let Some(again) = interrupted_by_hand(&flight, reply) {
                // Nothing came of it, so nothing is recorded: the row of the retry stays.
                lane.window.by_hand_again(again);
                return self.give_back(now, &flight, reply, effects);
            }
        }
        effects.push(Effect::Record(record));
        self.give_back(now, &flight, reply, effects);
    }

    /// The record, and whether the answer disables the endpoint.
    fn decide(&mut self, flight: &Flight, reply: &Reply) -> (Record, bool) {
        let mut record = Record {
            send: reply.send,
            endpoint: flight.endpoint,
            message: flight.message,
            source: flight.source,
            progress: flight.progress,
            then: Then::Delivered,
            gates: Vec::new(),
            notices: Vec::new(),
            suspect: false,
        };
        if flight.source == Source::Hand {
            record.progress.attempts += 1;
            if reply.finished.outcome != Outcome::Delivered {
                record.then = Then::Untouched;
            }
            return (record, false);
        }
        if reply.expired {
            record.then = Then::Failed(Reason::Expired);
            return (record, false);
        }
        let facts = Facts { accepted_at: reply.ages_from, critical: flight.critical };
        let (progress, next) =
            after_attempt(&flight.profile, &facts, &flight.progress, &reply.finished, self.luck.f64());
        record.progress = progress;
        let mut disables = false;
        record.then = match next {
            Next::Delivered => Then::Delivered,
            Next::Failed(reason) => Then::Failed(reason),
            Next::Again { at, rule } => Then::Again { due: at, rule },
            Next::Disable => {
                disables = true;
                Then::Again { due: reply.finished.at, rule: Rule::Interrupted }
            }
        };
        (record, disables)
    }

    fn give_back(&mut self, now: Timestamp, flight: &Flight, reply: &Reply, effects: &mut Vec<Effect>) {
        self.slots.give_back(flight.host, flight.app, flight.grant);
        self.shares.end(flight.app, flight.endpoint, flight.charged, reply.took);
        // It may stand in line as what it was before this answer.
        self.slots.forget(flight.endpoint);
        self.pump(now, flight.endpoint, effects);
        self.serve_line(now, Queue::Host(flight.host), effects);
        self.serve_line(now, Queue::Global, effects);
    }
}

/// A retry by hand that our own fault cut short is made again, twice (R1, R9).
fn interrupted_by_hand(flight: &Flight, reply: &Reply) -> Option<HandItem> {
    let interrupted = flight.progress.interrupted + 1;
    let again = flight.source == Source::Hand
        && reply.finished.outcome == Outcome::Interrupted
        && interrupted < INTERRUPTED_MAX;
    again.then_some(HandItem {
        message: flight.message,
        critical: flight.critical,
        kind: flight.kind,
        attempts: flight.progress.attempts,
        interrupted,
    })
}

/// Caps, pace and pauses of the lane; pauses that change are written with the outcome.
fn settle_lane(lane: &mut Lane, flight: &Flight, reply: &Reply, record: &mut Record) {
    let outcome = reply.finished.outcome;
    let delivered = outcome == Outcome::Delivered;
    lane.in_flight -= 1;
    lane.cap.on_reply(reply.took, reply.timed_out, delivered);
    lane.pace.on_reply(delivered, matches!(outcome, Outcome::Unavailable | Outcome::Throttled));
    if flight.source == Source::Hand {
        return;
    }
    if outcome == Outcome::Throttled {
        let in_a_row = lane.throttle.in_a_row.saturating_add(1);
        let pause = throttle_pause(in_a_row, reply.finished.retry_after);
        let until = reply.finished.at + pause;
        let longer = lane.throttle.until.is_none_or(|other| until > other);
        lane.throttle = Throttle {
            until: if longer { Some(until) } else { lane.throttle.until },
            in_a_row,
            pause_ms: if longer { millis(pause) } else { lane.throttle.pause_ms },
        };
        record.gates.push(gate(lane, GateChange::Throttle(lane.throttle)));
    } else if lane.throttle.in_a_row > 0 && outcome != Outcome::Interrupted {
        lane.throttle.in_a_row = 0;
        record.gates.push(gate(lane, GateChange::Throttle(lane.throttle)));
    }
}

/// R1, R19: the endpoint said that it is gone; said once.
fn disable(lane: &mut Lane, reply: &Reply, record: &mut Record) {
    if lane.disabled {
        return;
    }
    lane.disabled = true;
    let at = reply.finished.at;
    let disabled = Disabled { since: at, why: DisabledBy::Gone };
    record.gates.push(gate(lane, GateChange::Disabled(Some(disabled))));
    let about = About {
        environment: Some(lane.config.environment),
        app: Some(lane.config.app),
        endpoint: Some(lane.config.endpoint),
        message: None,
    };
    let facts = Known { reason: Some(DisabledBy::Gone.name().into()), ..Known::default() };
    record.notices.push(Notice::new(NoticeKind::EndpointDisabled, about, at).with(facts));
}

fn gate(lane: &Lane, change: GateChange) -> GateWrite {
    GateWrite { scope: Scope::Endpoint(lane.config.endpoint), change }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
