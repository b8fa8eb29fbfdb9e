//! R27 for the lanes: failures that may be our own are put off, and while sending pauses only a canary
//! goes out now and then. When it pauses and why is [`gonets_core::fleet`]'s.

use std::collections::{HashSet, VecDeque};

use gonets_core::{
    fleet::{FleetChange, Reached, SUSPECT_FOR},
    ids::EndpointNo,
    notice::{About, Facts, Notice, NoticeKind},
    rule::Rule,
    time::Timestamp,
};

use super::Shard;
use crate::{
    config::HostNo,
    effect::{Effect, Keep, SendId, Source, Then},
    flight::{Flight, Purpose},
    input::Reply,
};

/// Judgements that are put off at once; beyond them the oldest is judged.
const PUT_OFF: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Suspects {
    /// In the order in which they ended.
    put_off: VecDeque<(Flight, Reply)>,
    sends: HashSet<SendId>,
    /// The lane that was tried last while sending pauses.
    canary: Option<(HostNo, EndpointNo)>,
}

impl Shard {
    /// Since when sending pauses as a whole.
    pub fn sending_paused_since(&self) -> Option<Timestamp> {
        self.fleet.paused_since()
    }

    /// Whether the judgement of an attempt is put off.
    pub fn is_put_off(&self, send: SendId) -> bool {
        self.suspects.sends.contains(&send)
    }

    /// Whether an end may be our own fault. What is to be judged now comes back; the rest is seen to.
    pub(super) fn suspect_ourselves(
        &mut self,
        now: Timestamp,
        flight: Flight,
        reply: Reply,
        effects: &mut Vec<Effect>,
    ) -> Option<(Flight, Reply)> {
        let at = reply.finished.at;
        let is_suspect = reply.reached == Reached::No
            && flight.source != Source::Hand
            && !reply.expired
            && (self.fleet.is_paused() || (!self.draining && self.fleet.is_suspect(flight.host, at)));
        let change = self.fleet.on_result(flight.host, reply.reached, at);
        if reply.reached == Reached::Yes && change == FleetChange::Unchanged {
            self.clear_suspects(now, &flight, effects);
        }
        let judged = if !is_suspect {
            Some((flight, reply))
        } else if self.fleet.is_paused() {
            self.excuse(&flight, &reply, effects);
            None
        } else {
            self.suspects.put_off(flight, reply)
        };
        match change {
            FleetChange::Unchanged => {}
            FleetChange::Paused => self.pause_sending(at, effects),
            FleetChange::Resumed => self.resume_sending(now, effects),
        }
        judged
    }

    /// An answer shows that our network works: whoever failed before that attempt began has failed.
    fn clear_suspects(&mut self, now: Timestamp, answered: &Flight, effects: &mut Vec<Effect>) {
        let is_cleared = |(flight, reply): &(Flight, Reply)| {
            reply.finished.at <= answered.started && flight.host != answered.host
        };
        while let Some((flight, reply)) = self.suspects.take_first(is_cleared) {
            self.judge_late(now, flight, &reply, effects);
        }
    }

    /// Nothing is put off for ever.
    pub(super) fn clear_old_suspects(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        while let Some((_, reply)) = self.suspects.put_off.front()
            && reply.finished.at.saturating_add(SUSPECT_FOR) <= now
        {
            let Some((flight, reply)) = self.suspects.take_first(|_| true) else { return };
            self.judge_late(now, flight, &reply, effects);
        }
    }

    /// Whoever is to end does not wait for what others come to.
    pub(super) fn clear_all_suspects(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        while let Some((flight, reply)) = self.suspects.take_first(|_| true) {
            self.judge_late(now, flight, &reply, effects);
        }
    }

    fn judge_late(&mut self, now: Timestamp, flight: Flight, reply: &Reply, effects: &mut Vec<Effect>) {
        let endpoint = flight.endpoint;
        self.judge(now, flight, reply, effects);
        self.pump(now, endpoint, effects);
    }

    pub(super) fn next_fleet_wake(&self) -> Option<Timestamp> {
        let suspect = self.suspects.put_off.front().map(|(_, reply)| reply.finished.at + SUSPECT_FOR);
        let canary = self.fleet.canary_at().filter(|_| !self.draining);
        [suspect, canary].into_iter().flatten().min()
    }

    /// Recorded as made, but it costs nothing: no step, no health, no breaker.
    fn excuse(&mut self, flight: &Flight, reply: &Reply, effects: &mut Vec<Effect>) {
        let mut record = super::outcome::record_of(flight, reply);
        record.progress.attempts += 1;
        record.suspect = true;
        record.then = Then::Again { due: reply.finished.at, rule: Rule::SendingPaused };
        effects.push(Effect::Record(record));
        if let Purpose::Probe(scope, probe) = flight.purpose
            && let Some(circuit) = self.circuits.get_mut(&scope)
        {
            // It said nothing of the server.
            let outcome = gonets_core::outcome::Outcome::Interrupted;
            circuit.breaker.on_probe(&circuit.rules, probe, reply.finished.at, outcome, None);
            effects.push(Effect::Keep(Keep { gates: vec![circuit.gate()], notices: Vec::new() }));
        }
    }

    fn pause_sending(&mut self, at: Timestamp, effects: &mut Vec<Effect>) {
        for (flight, reply) in std::mem::take(&mut self.suspects).put_off {
            self.excuse(&flight, &reply, effects);
        }
        let facts = Facts { since: Some(at), ..Facts::default() };
        tell(NoticeKind::SendingPaused, at, facts, effects);
    }

    fn resume_sending(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        tell(NoticeKind::SendingResumed, now, Facts::default(), effects);
        self.suspects.canary = None;
        let mut lanes: Vec<_> = self.lanes.keys().copied().collect();
        lanes.sort();
        for endpoint in &lanes {
            if let Some(lane) = self.lanes.get_mut(endpoint) {
                lane.start_gently(now);
            }
        }
        for endpoint in lanes {
            self.pump(now, endpoint, effects);
        }
    }

    /// While sending pauses: one attempt, over different hosts in turn.
    pub(super) fn send_canary(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.draining || self.fleet.canary_at().is_none_or(|at| at > now) {
            return;
        }
        // The next look is later whether there is someone to send to or not.
        self.fleet.canary_sent(now);
        let mut lanes: Vec<_> = self
            .lanes
            .values()
            .filter(|lane| lane.may_start(self.bounds.window) && lane.window.first(None).is_some())
            .filter(|lane| !self.is_open(lane.circuit))
            .map(|lane| (lane.config.host, lane.config.endpoint))
            .collect();
        lanes.sort();
        let last = self.suspects.canary;
        let next = lanes
            .iter()
            .find(|(host, _)| last.is_none_or(|(tried, _)| *host > tried))
            .or(lanes.first())
            .copied();
        let Some((host, endpoint)) = next else { return };
        self.suspects.canary = Some((host, endpoint));
        let turn = self.lanes.get(&endpoint).and_then(|lane| lane.window.first(None));
        if let (Some(turn), Some(grant)) = (turn, self.slot(endpoint, &mut None)) {
            self.start(now, endpoint, turn, grant, Purpose::Canary, effects);
        }
    }
}

impl Suspects {
    /// Puts a judgement off; the oldest comes back when there are too many.
    fn put_off(&mut self, flight: Flight, reply: Reply) -> Option<(Flight, Reply)> {
        self.sends.insert(reply.send);
        self.put_off.push_back((flight, reply));
        if self.put_off.len() > PUT_OFF { self.take_first(|_| true) } else { None }
    }

    fn take_first(&mut self, mut is_meant: impl FnMut(&(Flight, Reply)) -> bool) -> Option<(Flight, Reply)> {
        let place = self.put_off.iter().position(&mut is_meant)?;
        let taken = self.put_off.remove(place)?;
        self.sends.remove(&taken.1.send);
        Some(taken)
    }
}

fn tell(kind: NoticeKind, at: Timestamp, facts: Facts, effects: &mut Vec<Effect>) {
    let notice = Notice::new(kind, About::default(), at).with(facts);
    effects.push(Effect::Keep(Keep { gates: Vec::new(), notices: vec![notice] }));
}
