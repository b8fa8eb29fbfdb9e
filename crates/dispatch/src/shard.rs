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

use std::collections::{BTreeMap, HashMap, HashSet};

use gonets_core::{
    gate::{Gate, Scope},
    hold::Hold,
    ids::{EndpointNo, MessageId},
    time::Timestamp,
};

use crate::{
    cap::Speed,
    config::{Bounds, LaneConfig},
    effect::{Effect, Load, Send, SendId},
    flight::{Flight, Flights},
    input::Input,
    lane::Lane,
    share::{Shares, Used},
    slots::{Asker, Grant, Queue, Slots},
    timers::Timers,
    window::Item,
};

/// How long after a failed read of a window it is tried again.
const READ_AGAIN_MS: i64 = 1_000;

/// Lanes that are offered a slot and cannot take it, before the line is left alone.
const IN_VAIN: u32 = 64;

/// The lanes of one shard.
#[derive(Debug)]
pub struct Shard {
    bounds: Bounds,
    lanes: BTreeMap<EndpointNo, Lane>,
    /// Endpoints whose deliveries landed before their configuration did.
    early: HashSet<EndpointNo>,
    /// Gates that came before their lanes.
    gates: HashMap<EndpointNo, Gate>,
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
            gates: HashMap::new(),
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

    /// Whether an attempt of the delivery is under way or not yet durably recorded.
    pub fn is_busy(&self, endpoint: EndpointNo, message: MessageId) -> bool {
        self.lanes.get(&endpoint).is_some_and(|lane| lane.window.is_busy(message))
    }

    /// What holds a lane now, and until when if that is known.
    pub fn hold(&self, endpoint: EndpointNo, _message: MessageId) -> Option<(Hold, Option<Timestamp>)> {
        let lane = self.lanes.get(&endpoint)?;
        if lane.disabled {
            return Some((Hold::EndpointDisabled, None));
        }
        lane.throttle.until.map(|until| (Hold::Throttled, Some(until)))
    }

    /// Whether the judgement of an attempt that has ended is put off (R27).
    pub fn is_put_off(&self, _send: SendId) -> bool {
        false
    }

    /// Since when sending pauses as a whole (R27).
    pub fn sending_paused_since(&self) -> Option<Timestamp> {
        None
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
            Input::Lane(config) => self.configure(now, config, effects),
            Input::LaneGone(endpoint) => self.forget(endpoint),
            Input::Backlog { endpoint, fresh, by_hand, next_due } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.backlog(fresh, by_hand, next_due));
            }
            Input::Gate { scope: Scope::Endpoint(endpoint), gate } => match self.lanes.get_mut(&endpoint) {
                Some(lane) => lane.throttle = gate.throttle.restored(now),
                None => _ = self.gates.insert(endpoint, gate),
            },
            Input::Gate { .. } | Input::Reset { .. } => {}
            Input::Lifted { endpoint } => {
                self.with_lane(now, endpoint, effects, |lane| lane.lift(now));
            }
            Input::Ended { endpoint } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.read_again(now));
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
            Some(lane) => {
                lane.configure(config, now);
                // It may stand in the line of its old host.
                self.slots.forget(endpoint);
            }
            None => {
                let mut lane = Lane::new(config);
                if let Some(gate) = self.gates.remove(&endpoint) {
                    lane.throttle = gate.throttle.restored(now);
                }
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
        self.pump_called(now, endpoint, None, effects);
        // It may have been refused for someone further ahead: then it is their turn.
        if let Some(queue) = self.slots.waits_at(endpoint) {
            self.serve_line(now, queue, effects);
        }
    }

    fn pump_called(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        called: Option<(Used, Used)>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if self.draining || lane.disabled {
            return;
        }
        lane.end_pause(now);
        read_ahead(lane, now, self.bounds.window, effects);
        // A due time that has passed is waited for by the read under way, not by a timer.
        if let Some(due) = lane.window.next_due().filter(|due| *due > now) {
            self.timers.wake(endpoint, due);
        }
        if let Some(until) = lane.throttle.until {
            self.timers.wake(endpoint, until);
        }
        let mut place = called;
        while self.start_one(now, endpoint, place.take(), effects) {}
    }

    /// Starts one attempt of the lane, if it may. One that was called from the line goes by the
    /// place it had there.
    fn start_one(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        called: Option<(Used, Used)>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return false };
        if !lane.wants_slot()
            || lane.window.unrecorded() >= self.bounds.window
            || self.slots.is_waiting(endpoint)
        {
            return false;
        }
        if let Err(later) = lane.pace.check(now) {
            self.timers.wake(endpoint, later);
            return false;
        }
        let asker = Asker {
            endpoint,
            app: lane.config.app,
            speed: lane.cap.speed(),
            idle: lane.in_flight == 0,
            place: called.unwrap_or_else(|| self.shares.place(lane.config.app, endpoint)),
        };
        let Some(grant) = self.slots.take(lane.config.host, &asker) else { return false };
        let Some(item) = lane.next() else {
            self.slots.give_back(lane.config.host, lane.config.app, grant);
            return false;
        };
        lane.pace.spend(now);
        effects.push(launch(lane, &mut self.flights, &mut self.shares, item, grant));
        read_ahead(lane, now, self.bounds.window, effects);
        true
    }

    /// Offers what came back to those in line, the host's first.
    fn serve_line(&mut self, now: Timestamp, queue: Queue, effects: &mut Vec<Effect>) {
        let mut in_vain = 0;
        while in_vain < IN_VAIN
            && let Some((endpoint, place)) = self.slots.next(queue)
        {
            self.shares.served(place);
            self.pump_called(now, endpoint, Some(place), effects);
            if self.slots.waits_at(endpoint) == Some(queue) {
                in_vain += 1;
            }
        }
    }
}

/// Asks the store for more of the lane, if there is more and room for it.
fn read_ahead(lane: &mut Lane, now: Timestamp, bound: usize, effects: &mut Vec<Effect>) {
    if let Some(wish) = lane.window.wish(now, bound) {
        let endpoint = lane.config.endpoint;
        effects.push(Effect::Load(Load {
            endpoint,
            fresh: wish.fresh,
            due: wish.due,
            now,
            by_hand: wish.by_hand,
            in_order: 0,
        }));
    }
}

fn launch(lane: &mut Lane, flights: &mut Flights, shares: &mut Shares, item: Item, grant: Grant) -> Effect {
    let charged =
        if lane.cap.speed() == Speed::Unproven { lane.config.profile.timeout } else { lane.cap.usual() };
    lane.in_flight += 1;
    shares.start(lane.config.app, lane.config.endpoint, charged);
    let id = flights.start(Flight {
        endpoint: lane.config.endpoint,
        app: lane.config.app,
        host: lane.config.host,
        message: item.message,
        source: item.source,
        critical: item.critical,
        kind: item.kind,
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
        probe: false,
    })
}
