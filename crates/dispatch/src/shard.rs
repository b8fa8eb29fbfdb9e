//! The machine itself: inputs in, effects out.
//!
//! # One event's walk
//! `Arrived` puts a delivery into its lane's window; the lane is pumped: if it has room, is not
//! held and gets a slot, `Send` goes out. `Replied` brings the outcome: the rules of `core` say
//! what comes next, `Record` goes out, and only after it the slot is given to the next in line.
//! `Durable` forgets the delivery, or sets the lane's timer for its next attempt, which comes back
//! out of the store when it is due.
//!
//! # What holds a lane
//! Its own gate (disabled, frozen, throttled), the breaker of its circuit, and the whole fleet's pause.
//! While its circuit is open, or lets go of what it held, a lane does not start by itself: the circuit
//! chooses among all of its lanes.
//!
//! # Invariants
//! An outcome is in the committer's queue before its slot is free, and durable before its delivery
//! can be tried again. A lane that waits for anything is in exactly one place that will wake it: a
//! timer, a line for slots, a reply or a read under way.

mod configuring;
mod fleet;
mod health;
mod outcome;
mod probing;
mod release;
mod standing;
mod telling;

use std::collections::{HashMap, HashSet};

use gonets_core::{
    fleet::Fleet,
    gate::{Gate, Scope},
    ids::EndpointNo,
    time::Timestamp,
};

use self::fleet::Suspects;
use crate::{
    cap::Speed,
    circuit::Circuit,
    config::{Bounds, HostNo},
    effect::{Effect, Keep, Load, Send},
    flight::{Flight, Flights, Purpose},
    input::Input,
    lane::Lane,
    numbers::ByNo,
    share::{Shares, Used},
    slots::{Asker, Grant, Queue, Slots},
    timers::Timers,
    window::{Item, Turn},
};

/// How long after a failed read of a window it is tried again.
const READ_AGAIN_MS: i64 = 1_000;

/// Lanes that are offered a slot and cannot take it, before the line is left alone.
const IN_VAIN: u32 = 64;

/// The lanes of one shard.
#[derive(Debug)]
pub struct Shard {
    bounds: Bounds,
    lanes: ByNo<EndpointNo, Lane>,
    circuits: ByNo<Scope, Circuit>,
    fleet: Fleet<HostNo>,
    suspects: Suspects,
    /// Endpoints whose deliveries landed before their configuration did.
    early: HashSet<EndpointNo>,
    /// Gates from before the start, until their lanes and circuits are there.
    kept: HashMap<Scope, Gate>,
    flights: Flights,
    slots: Slots,
    shares: Shares,
    timers: Timers<EndpointNo>,
    circuit_timers: Timers<Scope>,
    luck: fastrand::Rng,
    draining: bool,
}

impl Shard {
    /// `seed` feeds jitter only; the same seed and inputs give the same effects.
    pub fn new(bounds: Bounds, seed: u64) -> Self {
        Self {
            bounds,
            lanes: ByNo::default(),
            circuits: ByNo::default(),
            fleet: Fleet::default(),
            suspects: Suspects::default(),
            early: HashSet::new(),
            kept: HashMap::new(),
            flights: Flights::default(),
            slots: Slots::new(bounds.global_slots, bounds.host_slots),
            shares: Shares::default(),
            timers: Timers::default(),
            circuit_timers: Timers::default(),
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
        self.clear_old_suspects(now, effects);
        while let Some(scope) = self.circuit_timers.due(now) {
            self.pump_circuit(now, scope, effects);
        }
        while let Some(endpoint) = self.timers.due(now) {
            self.pump(now, endpoint, effects);
        }
        self.send_canary(now, effects);
    }

    /// When to call [`step`](Self::step) even if nothing happened.
    pub fn next_wake(&self) -> Option<Timestamp> {
        [self.timers.next(), self.circuit_timers.next(), self.next_fleet_wake()].into_iter().flatten().min()
    }

    fn take(&mut self, now: Timestamp, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Arrived(arrival) => {
                let early = arrival.critical || self.is_released(arrival.endpoint);
                match self.lanes.get_mut(&arrival.endpoint) {
                    Some(lane) => {
                        lane.arrived(&arrival, self.bounds.window, early);
                        self.pump(now, arrival.endpoint, effects);
                    }
                    None => {
                        self.early.insert(arrival.endpoint);
                    }
                }
            }
            Input::Replied(reply) => self.replied(now, reply, effects),
            Input::Durable { endpoint, message, by_hand, next_due } => {
                self.with_lane(now, endpoint, effects, |lane| {
                    lane.window.durable(message, by_hand, next_due);
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
            Input::LaneGone(endpoint) => self.forget(now, endpoint, effects),
            Input::Backlog { endpoint, fresh, by_hand, next_due } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.backlog(fresh, by_hand, next_due));
            }
            Input::Gate { scope, gate } => self.restore(now, scope, gate, effects),
            Input::Reset { scope } => self.reset(now, scope, effects),
            Input::Lifted { endpoint } => self.lift(now, endpoint, effects),
            Input::Ended { endpoint } => {
                self.with_lane(now, endpoint, effects, |lane| lane.window.ended());
            }
            Input::Drain => {
                self.draining = true;
                self.clear_all_suspects(now, effects);
            }
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

    /// Starts what the lane may start now, and sees to it that it is woken for the rest.
    fn pump(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        self.pump_called(now, endpoint, None, effects);
        // It may have been refused for someone further ahead: then it is their turn.
        if let Some(queue) = self.slots.waits_at(endpoint) {
            self.serve_line(now, queue, effects);
        }
    }

    /// One that was called from the line goes by the place it had there.
    fn pump_called(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        called: Option<(Used, Used)>,
        effects: &mut Vec<Effect>,
    ) {
        if !self.wake_lane(now, endpoint, effects) {
            return;
        }
        let mut place = called;
        while self.start_by_hand(now, endpoint, &mut place, effects) {}
        if self.fleet.is_paused() {
            return;
        }
        match self.lanes.get(&endpoint).and_then(|lane| lane.circuit) {
            Some(scope) if !self.is_quiet(scope) => self.pump_circuit(now, scope, effects),
            _ => while self.start_next(now, endpoint, &mut place, effects) {},
        }
    }

    /// What time brings to a lane, and what it is to be woken for; false if nothing may go out.
    fn wake_lane(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) -> bool {
        if self.draining {
            return false;
        }
        self.health_in_time(now, endpoint, effects);
        let Some(lane) = self.lanes.get_mut(&endpoint).filter(|lane| !lane.is_shut()) else { return false };
        lane.end_pause(now);
        if let Some(write) = lane.release_to_keep(now) {
            effects.push(Effect::Keep(Keep { gates: vec![write], notices: Vec::new() }));
        }
        read_ahead(lane, now, self.bounds.window, effects);
        // A due time that has passed is waited for by the read under way, not by a timer.
        let due = [lane.window.next_due(), lane.window.critical_due()].into_iter().flatten();
        let wakes = due.chain(lane.throttle.until).filter(|at| *at > now);
        for at in wakes {
            self.timers.wake(endpoint, at);
        }
        true
    }

    fn start_by_hand(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        called: &mut Option<(Used, Used)>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let bound = self.bounds.window;
        let Some(lane) = self.lanes.get(&endpoint) else { return false };
        if !lane.window.has_by_hand() || !lane.has_room(bound) || !self.may_start_by_pace(now, endpoint) {
            return false;
        }
        let Some(grant) = self.slot(endpoint, called) else { return false };
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return false };
        let Some(item) = lane.window.next_by_hand() else {
            self.slots.give_back(lane.config.host, lane.config.app, grant);
            return false;
        };
        self.launch(now, endpoint, item, grant, Purpose::Ordinary, effects);
        true
    }

    /// Starts the lane's next attempt in turn, if it may.
    fn start_next(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        called: &mut Option<(Used, Used)>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(lane) = self.lanes.get(&endpoint).filter(|lane| lane.may_start(self.bounds.window)) else {
            return false;
        };
        let Some(turn) = lane.first() else { return false };
        if !self.may_start_by_pace(now, endpoint) {
            return false;
        }
        let Some(grant) = self.slot(endpoint, called) else { return false };
        self.start(now, endpoint, turn, grant, Purpose::Ordinary, effects)
    }

    /// Whether the lane's own rate lets it start now; else it is woken when it does.
    fn may_start_by_pace(&mut self, now: Timestamp, endpoint: EndpointNo) -> bool {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return false };
        match lane.pace.check(now) {
            Ok(()) => true,
            Err(later) => {
                self.timers.wake(endpoint, later);
                false
            }
        }
    }

    /// A slot for the lane, unless it stands in line, or now gets there.
    fn slot(&mut self, endpoint: EndpointNo, called: &mut Option<(Used, Used)>) -> Option<Grant> {
        let lane = self.lanes.get(&endpoint)?;
        if self.slots.is_waiting(endpoint) {
            return None;
        }
        let app = lane.config.app;
        let asker = Asker {
            endpoint,
            app,
            speed: lane.cap.speed(),
            idle: lane.in_flight == 0,
            place: called.take().unwrap_or_else(|| self.shares.place(app, endpoint)),
        };
        self.slots.take(lane.config.host, &asker)
    }

    /// Takes a delivery that is ready and sends it. False if it is not there any more; then the slot is
    /// free again.
    fn start(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        turn: Turn,
        grant: Grant,
        purpose: Purpose,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return false };
        let Some(item) = lane.window.take(turn) else {
            self.slots.give_back(lane.config.host, lane.config.app, grant);
            return false;
        };
        self.launch(now, endpoint, item, grant, purpose, effects);
        true
    }

    fn launch(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        item: Item,
        grant: Grant,
        purpose: Purpose,
        effects: &mut Vec<Effect>,
    ) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        lane.pace.spend(now);
        lane.in_flight += 1;
        let charged = match lane.cap.speed() {
            Speed::Unproven => lane.config.profile.timeout,
            Speed::Quick | Speed::Slow => lane.cap.usual(),
        };
        self.shares.start(lane.config.app, endpoint, charged);
        let id = self.flights.start(Flight {
            endpoint,
            app: lane.config.app,
            host: lane.config.host,
            message: item.message,
            source: item.source,
            critical: item.critical,
            kind: item.kind,
            started: now,
            purpose,
            progress: item.progress,
            profile: std::sync::Arc::clone(&lane.config.profile),
            grant,
            charged,
        });
        effects.push(Effect::Send(Send {
            id,
            endpoint,
            message: item.message,
            source: item.source,
            progress: item.progress,
            probe: matches!(purpose, Purpose::Probe(..)),
        }));
        read_ahead(lane, now, self.bounds.window, effects);
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
    if let Some(wish) = lane.wish(now, bound) {
        effects.push(Effect::Load(Load {
            endpoint: lane.config.endpoint,
            fresh: wish.fresh,
            due: wish.due,
            now,
            by_hand: wish.by_hand,
            in_order: wish.in_order,
        }));
    }
}
