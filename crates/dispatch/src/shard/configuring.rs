//! Lanes come, change and go, and with them the circuits that they belong to.

use gonets_core::{
    breaker::Change,
    gate::{GateChange, GateWrite, Scope, Throttle},
    ids::EndpointNo,
    time::Timestamp,
};

use super::Shard;
use crate::{
    circuit::Circuit,
    config::LaneConfig,
    effect::{Effect, Keep},
    lane::Lane,
};

impl Shard {
    pub(super) fn configure(&mut self, now: Timestamp, config: LaneConfig, effects: &mut Vec<Effect>) {
        let endpoint = config.endpoint;
        let scope = Circuit::scope_of(&config);
        let mut moved = false;
        match self.lanes.get_mut(&endpoint) {
            Some(lane) => {
                moved = lane.config.host != config.host;
                lane.configure(config, now);
                // It may stand in the line of its old host.
                self.slots.forget(endpoint);
            }
            None => {
                let kept = self.kept.remove(&Scope::Endpoint(endpoint)).unwrap_or_default();
                if kept.breaker.is_some() {
                    self.kept.insert(Scope::Endpoint(endpoint), kept);
                }
                let mut lane = Lane::new(config, &kept, now);
                if self.early.remove(&endpoint) {
                    lane.window.backlog(true, true, Some(now));
                }
                self.lanes.insert(endpoint, lane);
            }
        }
        self.join(now, endpoint, scope, effects);
        if moved && let Some(scope) = scope {
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
            self.leave(endpoint, effects);
        }
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        lane.circuit = scope;
        let Some(scope) = scope else { return };
        let kept = &mut self.kept;
        let circuit = match self.circuits.entry(scope) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let state = kept.remove(&scope).and_then(|gate| gate.breaker);
                let Some(circuit) = Circuit::new(scope, &lane.config, Circuit::restored(state, now)) else {
                    return;
                };
                entry.insert(circuit)
            }
        };
        circuit.configure(&lane.config.profile);
        circuit.lanes.insert(endpoint);
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
        if circuit.breaker.reset(&circuit.rules, now) != Change::Unchanged {
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
