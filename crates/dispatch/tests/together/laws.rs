//! What must hold at every attempt of every test here.

use std::collections::{BTreeMap, HashMap, HashSet};

use gonets_core::{
    gate::{Gate, Scope},
    ids::{EndpointNo, MessageId},
    limits::PROBE_LEASE_EXTRA,
    profile::BreakerScope,
    progress::Progress,
    time::Timestamp,
};
use gonets_dispatch::{
    config::LaneConfig,
    effect::{Record, Send, SendId, Source},
};

use crate::world::Stored;

#[derive(Default)]
pub struct Laws {
    in_flight: HashSet<(EndpointNo, MessageId)>,
    before: HashMap<SendId, Progress>,
    /// The probe in flight of each breaker, and when its lease ends.
    probes: HashMap<Scope, (SendId, Timestamp)>,
    /// When the process started again.
    started: Option<Timestamp>,
}

impl Laws {
    pub fn on_send(
        &mut self,
        send: &Send,
        now: Timestamp,
        lane: &LaneConfig,
        stored: &BTreeMap<EndpointNo, Stored>,
        gates: &HashMap<Scope, Gate>,
    ) {
        let key = (send.endpoint, send.message);
        assert!(self.in_flight.insert(key), "two attempts of one delivery at once: {send:?}");
        assert!(!lane.disabled && !lane.frozen, "something went out of a lane that is shut");
        self.before.insert(send.id, send.progress);
        if send.source == Source::Hand {
            return;
        }
        let row = stored[&send.endpoint].waiting.get(&send.message).expect("it waits in the store");
        assert_eq!(row.due.is_none(), send.source == Source::Fresh);
        assert!(row.due.is_none_or(|due| due <= now), "before its due time: {row:?} at {now}");
        let of = |scope| gates.get(&scope).copied().unwrap_or_default();
        let gate = of(Scope::Endpoint(send.endpoint));
        assert!(gate.disabled.is_none(), "the endpoint is disabled");
        let until = self.started.map_or(gate.throttle, |started| gate.throttle.restored(started)).until;
        assert!(until.is_none_or(|until| until <= now), "within the pause it asked for");
        let scope = lane.profile.breaker.as_ref().map(|rules| match rules.scope {
            BreakerScope::Application => Scope::Application(lane.app),
            BreakerScope::Endpoint => Scope::Endpoint(lane.endpoint),
        });
        match scope.map(|scope| (scope, of(scope).breaker)) {
            Some((scope, Some(state))) => {
                assert!(send.probe, "an open breaker lets nothing through but its probe");
                let lease = now + lane.profile.timeout + PROBE_LEASE_EXTRA;
                assert_eq!(state.probe_at, lease, "the lease is kept before the probe goes out");
                let other = self.probes.insert(scope, (send.id, lease));
                assert!(other.is_none_or(|(_, lease)| lease <= now), "two probes at once");
            }
            _ => assert!(!send.probe),
        }
        if lane.ordered {
            let head = stored[&send.endpoint].waiting.keys().next();
            assert_eq!(head, Some(&send.message), "in strict order the oldest goes first");
        }
    }

    pub fn on_answer(&mut self, send: &Send) {
        if send.source == Source::Hand {
            // One that was interrupted is made again without a record.
            self.in_flight.remove(&(send.endpoint, send.message));
        }
        self.probes.retain(|_, (probe, _)| *probe != send.id);
    }

    pub fn on_record(&mut self, record: &Record) {
        self.in_flight.remove(&(record.endpoint, record.message));
        let Some(before) = self.before.remove(&record.send) else { panic!("recorded twice: {record:?}") };
        let steps = (record.progress.outage - before.outage, record.progress.refusals - before.refusals);
        assert!(matches!(steps, (0 | 1, 0) | (0, 1)), "the two budgets are separate: {record:?}");
        if record.suspect || record.source == Source::Hand {
            assert_eq!(steps, (0, 0));
        }
        if record.suspect {
            assert!(record.gates.is_empty() && record.notices.is_empty());
        }
    }

    /// The process died and started again.
    pub fn restart(&mut self, now: Timestamp) {
        *self = Self { started: Some(now), ..Self::default() };
    }
}
