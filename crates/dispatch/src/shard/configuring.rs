//! Lanes come, change and go, and with them the circuits that they belong to.

use gonets_core::{
    gate::{Gate, GateChange, GateWrite, Scope, Throttle},
    ids::EndpointNo,
    time::Timestamp,
};

use super::Shard;
use crate::{
    circuit::Circuit,
    config::LaneConfig,
    effect::{Effect, Keep},
    lane::{Configured, Lane},
};

impl Shard {
    pub(super) fn configure(&mut self, now: Timestamp, config: LaneConfig, effects: &mut Vec<Effect>) {
        let endpoint = config.endpoint;
        let scope = Circuit::scope_of(&config);
        let mut configured = Configured::default();
        match self.lanes.get_mut(&endpoint) {
            Some(lane) => {
                configured = lane.configure(config);
                // It may stand in the line of its old host.
                self.slots.forget(endpoint);
            }
            None => {
                let kept = self.kept.get(&Scope::Endpoint(endpoint)).copied().unwrap_or_default();
                let mut lane = Lane::new(config, &kept, now);
                if self.early.remove(&endpoint) {
                    lane.window.backlog(true, true, Some(now));
                }
                self.lanes.insert(endpoint, lane);
            }
        }
        self.join(now, endpoint, scope, effects);
        self.let_out(now, endpoint, configured, effects);
        if configured.moved
            && let Some(scope) = scope
        {
            // Another URL may be another server (R17).
            self.reset_one(now, scope, effects);
        }
        self.pump(now, endpoint, effects);
    }

    /// Puts a lane into the circuit of `scope`, and takes it out of the one before.
    fn join(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        scope: Option<Scope>,
        effects: &mut Vec<Effect>,
    ) {
        let before = self.lanes.get(&endpoint).and_then(|lane| lane.circuit);
        if before != scope {
            let was_quiet = before.is_none_or(|before| self.is_quiet(before));
            self.leave(endpoint, effects);
            if let Some(lane) = self.lanes.get_mut(&endpoint).filter(|_| !was_quiet) {
                // What the other breaker held comes out gently.
                lane.release(now);
            }
        }
        self.join_circuit(now, endpoint, scope);
        self.drop_kept(endpoint, effects);
    }

    /// The circuit comes into being with its first lane, as it was kept.
    fn join_circuit(&mut self, now: Timestamp, endpoint: EndpointNo, scope: Option<Scope>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        lane.circuit = scope;
        let Some(scope) = scope else { return };
        let kept = &mut self.kept;
        let circuit = match self.circuits.entry(scope) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let kept = kept.get_mut(&scope);
                let (state, releasing) =
                    kept.map_or((None, None), |gate| (gate.breaker.take(), gate.breaker_releasing.take()));
                let breaker = Circuit::restored(state, &lane.config.profile, now);
                let Some(mut circuit) = Circuit::new(scope, &lane.config, breaker) else { return };
                circuit.take_up_release(releasing.is_some(), now);
                entry.insert(circuit)
            }
        };
        circuit.configure(&lane.config.profile);
        circuit.lanes.insert(endpoint);
    }

    /// What was kept of a lane is taken up; a breaker of another scope than its profile's is no more.
    fn drop_kept(&mut self, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        if self.kept.is_empty() {
            return;
        }
        let Some(lane) = self.lanes.get(&endpoint) else { return };
        for scope in [Scope::Endpoint(endpoint), Scope::Application(lane.config.app)] {
            let Some(kept) = self.kept.remove(&scope) else { continue };
            if kept.breaker.is_some() {
                keep(effects, GateWrite { scope, change: GateChange::Breaker(None) });
            }
            if kept.breaker_releasing.is_some() {
                keep(effects, GateWrite { scope, change: GateChange::BreakerReleasing(None) });
            }
        }
    }

    /// What was held while a lane was disabled or frozen comes out gently (R19, R28). An application's
    /// lanes that share a breaker share a server: they thaw at one pace.
    fn let_out(
        &mut self,
        now: Timestamp,
        endpoint: EndpointNo,
        configured: Configured,
        effects: &mut Vec<Effect>,
    ) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if configured.enabled && !configured.well {
            keep(effects, lane.write(GateChange::Health(lane.health)));
        }
        let shared = lane.circuit.filter(|scope| matches!(scope, Scope::Application(_)));
        match shared.and_then(|scope| self.circuits.get_mut(&scope)) {
            _ if !configured.thawed => {}
            Some(circuit) if circuit.is_quiet() => circuit.pace.release(now),
            Some(_) => {}
            None => lane.release(now),
        }
        if configured.enabled {
            lane.release(now);
        }
    }

    /// A gate from before the start. Its lanes may be there already.
    pub(super) fn restore(&mut self, now: Timestamp, scope: Scope, gate: Gate, effects: &mut Vec<Effect>) {
        if let Scope::Endpoint(endpoint) = scope
            && let Some(lane) = self.lanes.get_mut(&endpoint)
        {
            lane.throttle = gate.throttle.restored(now);
            lane.health = gate.health;
            lane.failed = gate.health.first_failure.is_some();
            if gate.lane_releasing.is_some() {
                lane.release(now);
            }
        }
        let lanes: Vec<_> = match self.circuits.get_mut(&scope) {
            Some(circuit) => {
                circuit.breaker = Circuit::restored(gate.breaker, &circuit.profile, now);
                circuit.take_up_release(gate.breaker_releasing.is_some(), now);
                circuit.lanes.iter().copied().collect()
            }
            None => {
                self.kept.insert(scope, gate);
                return;
            }
        };
        for endpoint in lanes {
            self.pump(now, endpoint, effects);
        }
    }

    /// Takes a lane out of its circuit; one without lanes is no more, and neither is its breaker.
    fn leave(&mut self, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(scope) = self.lanes.get_mut(&endpoint).and_then(|lane| lane.circuit.take()) else { return };
        let Some(circuit) = self.circuits.get_mut(&scope) else { return };
        circuit.lanes.remove(&endpoint);
        if circuit.lanes.is_empty() {
            if circuit.breaker.is_open() {
                keep(effects, GateWrite { scope, change: GateChange::Breaker(None) });
            }
            self.circuits.remove(&scope);
            self.circuit_timers.forget(scope);
        }
    }

    pub(super) fn forget(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let scope = self.lanes.get(&endpoint).and_then(|lane| lane.circuit);
        self.leave(endpoint, effects);
        self.lanes.remove(&endpoint);
        self.early.remove(&endpoint);
        self.slots.forget(endpoint);
        self.timers.forget(endpoint);
        self.shares.forget_lane(endpoint);
        // It may have been the one whose turn it was.
        if let Some(scope) = scope {
            self.pump_circuit(now, scope, effects);
        }
    }

    /// R17: by hand. An application's scope means its breakers, of whichever scope they are.
    pub(super) fn reset(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) {
        let meant: Vec<Scope> = match scope {
            Scope::Application(app) => {
                let mut all: Vec<_> =
                    self.circuits.values().filter(|circuit| circuit.app == app).map(|c| c.scope).collect();
                all.sort();
                all
            }
            other => vec![other],
        };
        for scope in meant {
            self.reset_one(now, scope, effects);
        }
    }

    fn reset_one(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) {
        let Some(circuit) = self.circuits.get_mut(&scope) else { return };
        circuit.breaker.reset(&circuit.rules, now);
        if circuit.breaker.is_open() {
            keep(effects, circuit.gate());
        }
        self.pump_circuit(now, scope, effects);
    }

    /// R8: the endpoint's pause ends now, by hand.
    pub(super) fn lift(&mut self, now: Timestamp, endpoint: EndpointNo, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        if lane.throttle == Throttle::default() {
            return;
        }
        lane.throttle = Throttle::default();
        lane.release(now);
        keep(effects, lane.write(GateChange::Throttle(lane.throttle)));
        self.pump(now, endpoint, effects);
    }
}

/// A change of one gate that comes with nothing else.
fn keep(effects: &mut Vec<Effect>, write: GateWrite) {
    effects.push(Effect::Keep(Keep { gates: vec![write], notices: Vec::new() }));
}
