//! What a breaker held comes out again: at one pace for all of its lanes, the best first (R15).

use gonets_core::{gate::Scope, ids::EndpointNo, time::Timestamp};

use super::{Shard, read_ahead};
use crate::{effect::Effect, flight::Purpose, window::Turn};

impl Shard {
    /// Whether a lane lets go of what it held, alone or with its circuit.
    pub(super) fn is_released(&self, endpoint: EndpointNo) -> bool {
        let Some(lane) = self.lanes.get(&endpoint) else { return false };
        let circuit = lane.circuit.and_then(|scope| self.circuits.get(&scope));
        lane.pace.is_releasing() || circuit.is_some_and(|circuit| circuit.pace.is_releasing())
    }

    /// The breaker has closed: everything held and due goes out, paced.
    pub(super) fn release(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) {
        let Some(circuit) = self.circuits.get(&scope) else { return };
        for endpoint in &circuit.lanes {
            if let Some(lane) = self.lanes.get_mut(endpoint).filter(|lane| !lane.is_shut()) {
                read_ahead(lane, now, self.bounds.window, effects);
            }
        }
        self.pump_circuit(now, scope, effects);
    }

    /// Starts what the pace allows. When it holds nothing back any more, the lanes go by themselves.
    pub(super) fn let_go(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) {
        loop {
            let Some(circuit) = self.circuits.get_mut(&scope) else { return };
            if !circuit.pace.is_releasing() {
                return;
            }
            if let Err(later) = circuit.pace.check(now) {
                return self.circuit_timers.wake(scope, later);
            }
            if !circuit.pace.is_releasing() {
                break;
            }
            let Some((endpoint, turn)) = self.next_released(now, scope) else { return };
            // One that stands in line is passed over.
            let Some(grant) = self.slot(endpoint, &mut None) else { continue };
            if let Some(circuit) = self.circuits.get_mut(&scope) {
                circuit.pace.spend(now);
            }
            self.start(now, endpoint, turn, grant, Purpose::Ordinary, effects);
        }
        let lanes: Vec<_> =
            self.circuits.get(&scope).map(|c| c.lanes.clone()).into_iter().flatten().collect();
        for endpoint in lanes {
            self.pump(now, endpoint, effects);
        }
    }

    /// The best over the lanes of a circuit: critical, then oldest; of live traffic, when it is its
    /// turn and there is some.
    fn next_released(&mut self, now: Timestamp, scope: Scope) -> Option<(EndpointNo, Turn)> {
        let circuit = self.circuits.get(&scope)?;
        let live = circuit.pace.live_turn();
        let mut best: [Option<(Turn, EndpointNo)>; 2] = [None; 2];
        for endpoint in &circuit.lanes {
            let Some(lane) = self.lanes.get_mut(endpoint) else { continue };
            if self.slots.is_waiting(*endpoint) || !lane.may_start(self.bounds.window) {
                continue;
            }
            if let Err(later) = lane.pace.check(now) {
                self.timers.wake(*endpoint, later);
                continue;
            }
            let of_lane = [live.and_then(|from| lane.window.first_live(from)), lane.window.first(None)];
            for (best, turn) in best.iter_mut().zip(of_lane) {
                *best = [*best, turn.map(|turn| (turn, *endpoint))].into_iter().flatten().min();
            }
        }
        best.into_iter().flatten().next().map(|(turn, endpoint)| (endpoint, turn))
    }
}
