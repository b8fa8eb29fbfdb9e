//! What an attempt's end changes: the delivery by the rules of `core`, the lane's caps and pauses, its
//! health, the breaker, and the slot, in this order.

use gonets_core::{
    breaker::Change,
    decide::{Facts, INTERRUPTED_MAX, Next, after_attempt, after_probe},
    gate::{GateChange, Scope, Throttle},
    outcome::{Outcome, Weight},
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
        let (endpoint, host) = (flight.endpoint, flight.host);
        if let Some((flight, reply)) = self.suspect_ourselves(now, flight, reply, effects) {
            self.judge(now, flight, &reply, effects);
        }
        // The lane goes on, and whoever waited for the slot.
        self.pump(now, endpoint, effects);
        self.serve_line(now, Queue::Host(host), effects);
        self.serve_line(now, Queue::Global, effects);
    }

    /// Decides by the rules and records it.
    pub(super) fn judge(
        &mut self,
        now: Timestamp,
        mut flight: Flight,
        reply: &Reply,
        effects: &mut Vec<Effect>,
    ) {
        self.see_lease(&mut flight, reply);
        let flight = &flight;
        let mut record = self.decide(flight, reply);
        if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
            if let Some(again) = interrupted_by_hand(flight, reply) {
                // Nothing came of it, so nothing is recorded: the row of the retry stays.
                lane.window.by_hand_again(again);
                return;
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
    }

    /// A probe whose lease ran out is an attempt like any other (R12).
    fn see_lease(&self, flight: &mut Flight, reply: &Reply) {
        if let Purpose::Probe(scope, probe) = flight.purpose {
            let circuit = self.circuits.get(&scope);
            if !circuit.is_some_and(|circuit| circuit.breaker.awaits(probe, reply.finished.at)) {
                flight.purpose = Purpose::Ordinary;
            }
        }
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
            let answered = matches!(outcome, Outcome::Refused | Outcome::Gone | Outcome::Misdirected);
            let probed = Probed { endpoint: flight.endpoint, message: flight.message, kind: flight.kind };
            // One that said nothing of the server is no probe to differ from.
            if !matches!(outcome, Outcome::Blocked | Outcome::Interrupted) {
                circuit.last = answered.then_some(probed);
            }
            change
        } else {
            circuit.breaker.on_attempt(&circuit.rules, flight.started, at, outcome)
        };
        circuit.count(flight.source == Source::Hand, outcome);
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
    match outcome.weight() {
        Weight::Success => lane.failed = false,
        Weight::Failed if flight.source != Source::Hand => lane.failed = true,
        Weight::Failed | Weight::Reachable | Weight::NotCounted => {}
    }
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
