//! What an attempt's end changes: the delivery by the rules of `core`, the lane's caps and pauses, its
//! health, the breaker, and the slot, in this order.

use gonets_core::{
    breaker::Change,
    decide::{Facts, INTERRUPTED_MAX, Next, after_attempt, after_probe},
    gate::{GateChange, Scope, Throttle},
    outcome::Outcome,
    retry_after::throttle_pause,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::{Shard, health, telling};
use crate::{
    circuit::Probed,
    effect::{Effect, Record, Source, Then},
    flight::{Flight, Purpose},
    input::{HandItem, Reply},
    lane::Lane,
    slots::Queue,
};

impl Shard {
    pub(super) fn replied(&mut self, now: Timestamp, reply: Reply, effects: &mut Vec<Effect>) {
        let Some(flight) = self.flights.end(reply.send) else { return };
        self.settle_slot(&flight, &reply);
        let Some((flight, reply)) = self.suspect_ourselves(now, flight, reply, effects) else { return };
        self.judge(now, &flight, &reply, effects);
    }

    /// Decides by the rules, records it, and gives the slot on.
    pub(super) fn judge(
        &mut self,
        now: Timestamp,
        flight: &Flight,
        reply: &Reply,
        effects: &mut Vec<Effect>,
    ) {
        let mut record = self.decide(flight, reply);
        if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
            if let Some(again) = interrupted_by_hand(flight, reply) {
                // Nothing came of it, so nothing is recorded: the row of the retry stays.
                lane.window.by_hand_again(again);
                return self.go_on(now, flight, effects);
            }
            settle_lane(lane, flight, reply, &mut record);
            health::learn(lane, reply, &mut record);
            telling::of_delivery(&lane.config, reply, &mut record);
        }
        let closed = self.breaker_learns(now, flight, reply, &mut record);
        effects.push(Effect::Record(record));
        if let Some(scope) = closed {
            self.release(now, scope, effects);
        }
        self.go_on(now, flight, effects);
    }

    fn decide(&mut self, flight: &Flight, reply: &Reply) -> Record {
        let mut record = record_of(flight, reply);
        if flight.source == Source::Hand {
            record.progress.attempts += 1;
            if reply.finished.outcome != Outcome::Delivered {
                record.then = Then::Untouched;
            }
            return record;
        }
        if reply.expired {
            record.then = Then::Failed(Reason::Expired);
            return record;
        }
        let facts = Facts { accepted_at: reply.ages_from, critical: flight.critical };
        let decide = if matches!(flight.purpose, Purpose::Probe(..)) { after_probe } else { after_attempt };
        let (progress, next) =
            decide(&flight.profile, &facts, &flight.progress, &reply.finished, self.luck.f64());
        record.progress = progress;
        record.then = match next {
            Next::Delivered => Then::Delivered,
            Next::Failed(reason) => Then::Failed(reason),
            Next::Again { at, rule } => Then::Again { due: at, rule },
            Next::Disable => {
                if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
                    health::gone(lane, reply.finished.at, &mut record);
                }
                Then::Again { due: reply.finished.at, rule: Rule::Interrupted }
            }
        };
        record
    }

    /// What the breaker makes of it; its scope, if it closed.
    fn breaker_learns(
        &mut self,
        now: Timestamp,
        flight: &Flight,
        reply: &Reply,
        record: &mut Record,
    ) -> Option<Scope> {
        let lane = self.lanes.get(&flight.endpoint);
        let throttles = lane.map_or(1, |lane| lane.throttle.in_a_row);
        let scope = match flight.purpose {
            Purpose::Probe(scope, _) => scope,
            Purpose::Ordinary | Purpose::Canary => lane?.circuit?,
        };
        let circuit = self.circuits.get_mut(&scope)?;
        let (outcome, at) = (reply.finished.outcome, reply.finished.at);
        let change = if flight.source == Source::Hand {
            if outcome == Outcome::Delivered { circuit.breaker.close(at) } else { Change::Unchanged }
        } else if let Purpose::Probe(_, probe) = flight.purpose {
            let at_least = if outcome == Outcome::Throttled {
                Some(throttle_pause(throttles, reply.finished.retry_after))
            } else {
                reply.finished.retry_after
            };
            let change = circuit.breaker.on_probe(&circuit.rules, probe, at, outcome, at_least);
            if change != Change::Unchanged {
                let answered = matches!(outcome, Outcome::Refused | Outcome::Gone | Outcome::Misdirected);
                circuit.last = answered.then_some(Probed {
                    endpoint: flight.endpoint,
                    message: flight.message,
                    kind: flight.kind,
                });
            }
            change
        } else {
            circuit.breaker.on_attempt(&circuit.rules, flight.started, at, outcome)
        };
        if flight.source != Source::Hand {
            circuit.pace.on_reply(
                outcome == Outcome::Delivered,
                matches!(outcome, Outcome::Unavailable | Outcome::Throttled),
            );
        }
        match change {
            Change::Unchanged => return None,
            Change::Opened { probe_at } => {
                circuit.pace.hold();
                self.circuit_timers.wake(scope, probe_at);
                self.opened(scope, outcome, at, record);
            }
            Change::ProbeAt { probe_at } => self.circuit_timers.wake(scope, probe_at),
            Change::Closed => {
                circuit.last = None;
                circuit.pace.release(now);
            }
        }
        let was_probe = matches!(flight.purpose, Purpose::Probe(..));
        self.tell_breaker(scope, change, was_probe, (outcome, at), record);
        (change == Change::Closed).then_some(scope)
    }

    /// The endpoints whose failures opened it are failing (R21).
    fn opened(&mut self, scope: Scope, outcome: Outcome, at: Timestamp, record: &mut Record) {
        let Some(circuit) = self.circuits.get(&scope) else { return };
        for endpoint in &circuit.lanes {
            if let Some(lane) = self.lanes.get_mut(endpoint) {
                health::breaker_opened(lane, outcome, at, record);
            }
        }
    }

    /// The slot is free, and its time is charged.
    fn settle_slot(&mut self, flight: &Flight, reply: &Reply) {
        if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
            lane.in_flight = lane.in_flight.saturating_sub(1);
        }
        self.slots.give_back(flight.host, flight.app, flight.grant);
        self.shares.end(flight.app, flight.endpoint, flight.charged, reply.took);
        // It may stand in line as what it was before this answer.
        self.slots.forget(flight.endpoint);
    }

    /// The lane goes on, and whoever waited for the slot.
    pub(super) fn go_on(&mut self, now: Timestamp, flight: &Flight, effects: &mut Vec<Effect>) {
        self.pump(now, flight.endpoint, effects);
        self.serve_line(now, Queue::Host(flight.host), effects);
        self.serve_line(now, Queue::Global, effects);
    }
}

/// The record of an attempt before anything is decided.
pub(super) fn record_of(flight: &Flight, reply: &Reply) -> Record {
    Record {
        send: reply.send,
        endpoint: flight.endpoint,
        message: flight.message,
        source: flight.source,
        progress: flight.progress,
        then: Then::Delivered,
        gates: Vec::new(),
        notices: Vec::new(),
        suspect: false,
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
    lane.cap.on_reply(reply.took, reply.timed_out, delivered);
    lane.pace.on_reply(delivered, matches!(outcome, Outcome::Unavailable | Outcome::Throttled));
    if flight.source == Source::Hand {
        return;
    }
    if outcome == Outcome::Throttled {
        let in_a_row = lane.throttle.in_a_row + 1;
        let pause = throttle_pause(in_a_row, reply.finished.retry_after);
        let until = reply.finished.at + pause;
        let until = lane.throttle.until.map_or(until, |other| other.max(until));
        lane.pace.hold();
        lane.throttle = Throttle {
            until: Some(until),
            in_a_row,
            pause_ms: u64::try_from(until.since(reply.finished.at).as_millis()).unwrap_or(u64::MAX),
        };
    } else if lane.throttle.in_a_row > 0 && outcome != Outcome::Interrupted {
        lane.throttle.in_a_row = 0;
        if lane.throttle.until.is_none() {
            lane.throttle = Throttle::default();
        }
    } else {
        return;
    }
    record.gates.push(lane.write(GateChange::Throttle(lane.throttle)));
}
