//! An open breaker's one delivery at a time (R12).

use gonets_core::{breaker::ProbeCandidate, gate::Scope, ids::EndpointNo, time::Timestamp};

use super::{Shard, read_ahead};
use crate::{
    effect::{Effect, Keep},
    flight::Purpose,
    window::Turn,
};

/// Who is best, so far.
struct Best {
    rank: ProbeCandidate,
    endpoint: EndpointNo,
    turn: Turn,
}

impl Shard {
    /// Whether the lanes of a circuit go by themselves.
    pub(super) fn is_quiet(&self, scope: Scope) -> bool {
        self.circuits.get(&scope).is_none_or(|circuit| circuit.is_quiet())
    }

    /// Whether a breaker holds the lanes of a circuit.
    pub(super) fn is_open(&self, scope: Option<Scope>) -> bool {
        scope.and_then(|scope| self.circuits.get(&scope)).is_some_and(|circuit| circuit.breaker.is_open())
    }

    /// Starts what a circuit may start: its probe, or what it lets go.
    pub(super) fn pump_circuit(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) {
        if self.draining || self.fleet.is_paused() {
            return;
        }
        let Some(circuit) = self.circuits.get(&scope) else { return };
        match circuit.breaker.probe_at() {
            Some(due) if due > now => self.circuit_timers.wake(scope, due),
            Some(_) => while self.try_probe(now, scope, effects) {},
            None => self.let_go(now, scope, effects),
        }
        if let Some(write) = self.circuits.get_mut(&scope).and_then(|circuit| circuit.release_to_keep(now)) {
            effects.push(Effect::Keep(Keep { gates: vec![write], notices: Vec::new() }));
        }
    }

    /// Sends the probe, if there is one to send. True if someone else has to be looked for: the best
    /// one stands in a line for slots now, and is passed over.
    fn try_probe(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) -> bool {
        let Some(best) = self.best_probe(now, scope, effects) else { return false };
        let Some(grant) = self.slot(best.endpoint, &mut None) else { return true };
        let Some(circuit) = self.circuits.get_mut(&scope) else { return false };
        let lease = circuit.lease();
        let Some(probe) = circuit.breaker.take_probe(now, lease) else { return false };
        // The lease is kept before the probe goes out: whatever happens to us then, there is no other
        // before it ends.
        effects.push(Effect::Keep(Keep { gates: vec![circuit.gate()], notices: Vec::new() }));
        self.circuit_timers.wake(scope, now.saturating_add(lease));
        self.start(now, best.endpoint, best.turn, grant, Purpose::Probe(scope, probe), effects);
        false
    }

    /// The best delivery that is due; `None` also while a lane is read that might have a better one.
    fn best_probe(&mut self, now: Timestamp, scope: Scope, effects: &mut Vec<Effect>) -> Option<Best> {
        let lanes: Vec<EndpointNo> = self.circuits.get(&scope)?.lanes.iter().copied().collect();
        let mut best: Option<Best> = None;
        for endpoint in lanes {
            if self.slots.is_waiting(endpoint) {
                continue;
            }
            let Some(lane) = self.lanes.get_mut(&endpoint) else { continue };
            lane.end_pause(now);
            if !lane.may_start(self.bounds.window) {
                continue;
            }
            // What became due at this very instant is a candidate too.
            read_ahead(lane, now, self.bounds.window, effects);
            if lane.window.is_loading() {
                return None;
            }
            if let Err(later) = lane.pace.check(now) {
                self.timers.wake(endpoint, later);
                continue;
            }
            let circuit = self.circuits.get(&scope)?;
            let endpoint_failed = lane.failed;
            let of_lane = lane.window.candidates().map(|(turn, kind, outage)| Best {
                rank: ProbeCandidate {
                    endpoint_failed,
                    variety: circuit.variety(endpoint, turn.message, kind),
                    critical: !turn.later,
                    outage,
                    message: turn.message,
                },
                endpoint,
                turn,
            });
            best = best.into_iter().chain(of_lane).min_by(|one, other| one.rank.cmp(&other.rank));
        }
        best
    }
}
