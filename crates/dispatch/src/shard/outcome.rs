//! What an attempt's end changes: the delivery by the rules of `core`, the lane's caps and pauses,
//! and the slot, in this order.

use gonets_core::{
    decide::{Facts, INTERRUPTED_MAX, Next, after_attempt},
    outcome::Outcome,
    retry_after::throttle_pause,
    rule::{Reason, Rule},
    time::Timestamp,
};

use super::Shard;
use crate::{
    effect::{Effect, Record, Source, Then, Throttle},
    flight::Flight,
    input::{HandItem, Reply},
    lane::Lane,
    slots::Queue,
};

impl Shard {
    pub(super) fn replied(&mut self, now: Timestamp, reply: &Reply, effects: &mut Vec<Effect>) {
        let Some(flight) = self.flights.end(reply.send) else { return };
        let mut record = self.decide(&flight, reply);
        if let Some(lane) = self.lanes.get_mut(&flight.endpoint) {
            settle_lane(lane, &flight, reply, &mut record);
            if let Some(again) = interrupted_by_hand(&flight, reply) {
                // Nothing came of it, so nothing is recorded: the row of the retry stays.
                lane.window.by_hand_again(again);
                return self.give_back(now, &flight, reply, effects);
            }
        }
        effects.push(Effect::Record(record));
        self.give_back(now, &flight, reply, effects);
    }

    fn decide(&mut self, flight: &Flight, reply: &Reply) -> Record {
        let mut record = Record {
            send: reply.send,
            endpoint: flight.endpoint,
            message: flight.message,
            source: flight.source,
            progress: flight.progress,
            then: Then::Delivered,
            throttle: None,
            disable: false,
        };
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
        let (progress, next) =
            after_attempt(&flight.profile, &facts, &flight.progress, &reply.finished, self.luck.f64());
        record.progress = progress;
        record.then = match next {
            Next::Delivered => Then::Delivered,
            Next::Failed(reason) => Then::Failed(reason),
            Next::Again { at, rule } => Then::Again { due: at, rule },
            Next::Disable => {
                record.disable = true;
                Then::Again { due: reply.finished.at, rule: Rule::Interrupted }
            }
        };
        record
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
    if record.disable {
        lane.disabled = true;
    }
    if flight.source == Source::Hand {
        return;
    }
    if outcome == Outcome::Throttled {
        lane.throttle.in_a_row += 1;
        let until = reply.finished.at + throttle_pause(lane.throttle.in_a_row, reply.finished.retry_after);
        lane.throttle.until = Some(lane.throttle.until.map_or(until, |other| other.max(until)));
        record.throttle = Some(Throttle { until: lane.throttle.until, in_a_row: lane.throttle.in_a_row });
    } else if lane.throttle.in_a_row > 0 && outcome != Outcome::Interrupted {
        lane.throttle.in_a_row = 0;
        record.throttle = Some(Throttle { until: lane.throttle.until, in_a_row: 0 });
    }
}
