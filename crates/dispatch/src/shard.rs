//! The machine itself: inputs in, effects out.
//!
//! # One event's walk
//! `Arrived` puts a delivery into its lane's window; the lane is pumped: if it has room, is not
//! held and gets a slot, `Send` goes out. `Replied` brings the outcome: the rules of `core` say
//! what comes next, `Record` goes out, and only after it the slot is given to the next in line.
//! `Durable` forgets the delivery, or sets the lane's timer for its next attempt, which comes back
//! out of the store when it is due.
//!
//! # Invariants
//! An outcome is in the committer's queue before its slot is free, and durable before its delivery
//! can be tried again. A lane that waits for anything is in exactly one place that will wake it: a
//! timer, a line for slots, a reply or a read under way.

mod outcome;

use std::collections::{BTreeMap, HashSet};

use gonets_core::{ids::EndpointNo, time::Timestamp};

use crate::{
    cap::Speed,
    config::{Bounds, LaneConfig},
    effect::{Effect, Load, Send},
    flight::{Flight, Flights},
    input::{HandItem, Input},
    lane::{Lane, Throttled},
    share::Shares,
    slots::{Asker, Queue, Slots},
    timers::Timers,
    window::Item,
};

/// How long after a failed read of a window it is tried again.
const READ_AGAIN_MS: i64 = 1_000;

/// The lanes of one shard.
#[derive(Debug)]
pub struct Shard {
    bounds: Bounds,
    lanes: BTreeMap<EndpointNo, Lane>,
    /// Endpoints whose deliveries landed before their configuration did.
    early: HashSet<EndpointNo>,
    flights: Flights,
    slots: Slots,
    shares: Shares,
    timers: Timers,
    luck: fastrand::Rng,
    draining: bool,
}

impl Shard {
    /// `seed` feeds jitter only; the same seed and inputs give the same effects.
    pub fn new(bounds: Bounds, seed: u64) -> Self {
        Self {
            bounds,
            lanes: BTreeMap::new(),
            early: HashSet::new(),
            flights: Flights::default(),
            slots: Slots::new(bounds.global_slots, bounds.host_slots),
            shares: Shares::default(),
            timers: Timers::default(),
            luck: fastrand::Rng::with_seed(seed),
            draining: false,
        }
    }

    /// Takes what happened, in order, at `now`; appends what is to be done, in order.
    pub fn step(
        &mut self,
        now: Timestamp,
        inputs: impl IntoIterator<Item = Input>,
        effects: &mut Vec<Effect>,
    ) {
        for input in inputs {
            self.take(now, input, effects);
        }
        while let Some(endpoint) = self.timers.due(now) {
            self.pump(now, endpoint, effects);
        }
    }

    /// When to call [`step`](Self::step) even if nothing happened.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Attempts under way.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Until when an endpoint's pause lasts, if it is paused (R8).
    pub fn throttled_until(&self, endpoint: EndpointNo) -> Option<Timestamp> {
        self.lanes.get(&endpoint)?.throttle.until
    }

    fn take(&mut self, now: Timestamp, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Arrived(arrival) => match self.lanes.get_mut(&arrival.endpoint) {
                Some(lane) => {
                    lane.window.arrived(&arrival, self.bounds.window, now);
                    self.pump(now, arrival.endpoint, effects);
                }
                None => {
                    self.early.insert(arrival.endpoint);
                }
            },
            Input::Replied(reply) => self.replied(now, &reply, effects),
            Input::Durable { endpoint, message, by_hand, next_due } => {
                self.with_lane(now, endpoint, effects, |lane| {
                    lane.window.durable(message, by_hand, next_due)
                });
            }
            Input::Loaded { endpoint, window } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.loaded(window, now));
            }
            Input::NotLoaded { endpoint } => {
                if let Some(lane) = self.lanes.get_mut(&endpoint) {
                    lane.window.not_loaded();
                    self.timers.wake(endpoint, Timestamp::from_millis(now.as_millis() + READ_AGAIN_MS));
                }
            }
            Input::ByHand { endpoint, message, critical, attempts } => {
                let item = HandItem { message, critical, attempts };
                self.with_lane(now, endpoint, effects, |lane| lane.window.by_hand(item));
            }
            Input::Lane(config) => self.configure(now, config, effects),
            Input::LaneGone(endpoint) => self.forget(endpoint),
            Input::Backlog { endpoint, fresh, by_hand, next_due } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.backlog(fresh, by_hand, next_due));
            }
            Input::Throttled { endpoint, until, in_a_row } => {
                self.with_lane(now, endpoint, effects, |lane| {
                    lane.throttle = Throttled { until: Some(until), in_a_row };
                });
            }
            Input::Drain => self.draining = true,
        }
    }

    fn with_lane(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut Lane),
    ) {
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            change(lane);
            self.pump(now, endpoint, effects);
        }
    }

    fn configure(&mut self, now: Timestamp, config: LaneConfig, effects: &mut Vec<Effect>) {
        let endpoint = config.endpoint;
        match self.lanes.get_mut(&endpoint) {
            Some(lane) => lane.configure(config, now),
            None => {
                let mut lane = Lane::new(config);
                if self.early.remove(&endpoint) {
                    lane.window.backlog(true, true, Some(now));
                }
                self.lanes.insert(endpoint, lane);
            }
        }
        self.pump(now, endpoint, effects);
    }

    fn forget(&mut self, endpoint: EndpointNo) {
        self.lanes.remove(&endpoint);
        self.early.remove(&endpoint);
        self.slots.forget(endpoint);
        self.timers.forget(endpoint);
        self.shares.forget_lane(endpoint);
    }

    /// Starts what the lane may start now, and sees to it that it is woken for the rest.
    fn pump(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if self.draining || lane.disabled {
            return;
        }
        lane.end_pause(now);
        if let Some(wish) = lane.window.wish(now, self.bounds.window) {
            effects.push(Effect::Load(Load {
                endpoint,
                fresh: wish.fresh,
                due: wish.due,
                now,
                by_hand: wish.by_hand,
            }));
        }
        // A due time that has passed is waited for by the read under way, not by a timer.
        if let Some(due) = lane.window.next_due().filter(|due| *due > now) {
            self.timers.wake(endpoint, due);
        }
        self.start_by_hand(endpoint, effects);
        self.start_in_turn(now, endpoint, effects);
    }

    /// Retries by hand pass every hold of the lane and take no slot: a person waits for them, and
    /// there are few (R9).
    fn start_by_hand(&mut self, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        while let Some(item) = lane.window.next_by_hand() {
            effects.push(launch(lane, &mut self.flights, &mut self.shares, item, None));
        }
    }

    fn start_in_turn(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if let Some(until) = lane.throttle.until {
            self.timers.wake(endpoint, until);
            return;
        }
        while lane.window.has_ready() && lane.has_room() && !self.slots.is_waiting(endpoint) {
            let asker = Asker {
                endpoint,
                app: lane.config.app,
                speed: lane.cap.speed(),
                idle: lane.in_flight == 0,
                place: self.shares.place(lane.config.app, endpoint),
            };
            let Some(grant) = self.slots.take(lane.config.host, &asker) else { return };
            if let Err(later) = lane.pace.take(now) {
                self.slots.give_back(lane.config.host, lane.config.app, grant);
                self.timers.wake(endpoint, later);
                return;
            }
            let Some(item) = lane.window.next() else {
                self.slots.give_back(lane.config.host, lane.config.app, grant);
                return;
            };
            effects.push(launch(lane, &mut self.flights, &mut self.shares, item, Some(grant)));
            if lane.window.has_ready() {
                continue;
            }
            if let Some(wish) = lane.window.wish(now, self.bounds.window) {
                effects.push(Effect::Load(Load {
                    endpoint,
                    fresh: wish.fresh,
                    due: wish.due,
                    now,
                    by_hand: wish.by_hand,
                }));
            }
        }
    }

    /// Offers what came back to those in line, the host's first.
    fn serve_line(&mut self, now: Timestamp, queue: Queue, effects: &mut Vec<Effect>) {
        while let Some((endpoint, place)) = self.slots.next(queue) {
            self.shares.served(place);
            self.pump(now, endpoint, effects);
            if self.slots.waits_at(endpoint) == Some(queue) {
                return;
            }
        }
    }
}

fn launch(
    lane: &mut Lane,
    flights: &mut Flights,
    shares: &mut Shares,
    item: Item,
    grant: Option<crate::slots::Grant>,
) -> Effect {
    let charged =
        if lane.cap.speed() == Speed::Unproven { lane.config.profile.timeout } else { lane.cap.usual() };
    if grant.is_some() {
        lane.in_flight += 1;
        shares.start(lane.config.app, lane.config.endpoint, charged);
    }
    let id = flights.start(Flight {
        endpoint: lane.config.endpoint,
        app: lane.config.app,
        host: lane.config.host,
        message: item.message,
        source: item.source,
        critical: item.critical,
        progress: item.progress,
        profile: std::sync::Arc::clone(&lane.config.profile),
        grant,
        charged,
    });
    Effect::Send(Send {
        id,
        endpoint: lane.config.endpoint,
        message: item.message,
        source: item.source,
        progress: item.progress,
    })
}
