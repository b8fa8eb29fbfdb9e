//! One delivery through the machine and a real store, in virtual time: its endpoint answers by a script,
//! attempts and commits take no time, and the clock goes from one wake-up to the next.
//!
//! What `gonets_dispatch::simulate` plays over one row in memory is played here over the tables, with the
//! operations that the engine writes: held without an endpoint, routed late, unrouted again, expired.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gonets_core::{
    decide::Finished,
    fleet::Reached,
    gate::{GateChange, GateWrite},
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, EnvironmentNo, MessageId},
    notice::{About, Notice, NoticeKind},
    outcome::Outcome,
    profile::Profile,
    rule::Reason,
    time::{Clock, Timestamp},
};
use gonets_dispatch::{
    config::{Bounds, HostNo, LaneConfig},
    effect::{Effect, Record, Send},
    input::{Input, Reply},
    shard::Shard,
};
use gonets_engine::operations;
use gonets_store::{
    committer::{GroupCommit, Job},
    engine::Engine,
    entity::{EntityKind, EntityRow},
    query::Queries,
    record::{AttemptRecord, DeliveryState},
    tx::{
        Accept, EndUnroutedStep, EntityWrite, ExpireStep, Made, Outcome as Recorded, RouteStep, Then, Tx,
        UnrouteStep, Verdict,
    },
};

use crate::clock::ManualClock;

const EVENT_TYPE: &str = "payment.status_changed";

/// What the endpoint answers at an attempt: the outcome, and the Retry-After.
pub type Peer = Box<dyn FnMut(usize, Timestamp) -> (Outcome, Option<Duration>)>;

/// An attempt as it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    pub at: Timestamp,
    pub outcome: Outcome,
    pub probe: bool,
    pub endpoint: EndpointNo,
}

/// One application with one message, and what befalls it.
pub struct Course {
    pub clock: ManualClock,
    pub tried: Vec<Tried>,
    pub message: MessageId,
    /// Disabled by the machine.
    pub disabled: bool,
    profile: Arc<Profile>,
    critical: bool,
    engine: Box<dyn Engine>,
    queries: Arc<dyn Queries>,
    group: GroupCommit,
    shard: Shard,
    app: AppNo,
    peer: Peer,
}

impl Course {
    /// Accepts a message for an application that has no endpoint yet, and holds it (R18).
    pub fn begin(
        (mut engine, queries): (Box<dyn Engine>, Arc<dyn Queries>),
        clock: ManualClock,
        profile: Arc<Profile>,
        critical: bool,
        peer: Peer,
    ) -> Self {
        let group = GroupCommit::new(engine.as_mut()).expect("a new store tells its last ids");
        let mut course = Self {
            clock,
            tried: Vec::new(),
            message: MessageId(0),
            disabled: false,
            profile,
            critical,
            engine,
            queries,
            group,
            shard: Shard::new(Bounds::default(), 1),
            app: AppNo(0),
            peer,
        };
        course.app = AppNo(course.entity(EntityKind::Application, None).0);
        course.message = course.accept();
        course
    }

    /// The application's first endpoint is made, and what waits is routed to it.
    pub fn endpoint(&mut self) -> EndpointNo {
        let endpoint = EndpointNo(self.entity(EntityKind::Endpoint, Some(self.app)).0);
        let waiting = self.queries.unrouted(self.app, 100).expect("the messages that wait");
        let routes = waiting.into_iter().map(|message| (message, vec![endpoint])).collect();
        let step = RouteStep { app: self.app, app_version: self.version(), routes };
        self.commit(Tx::Route(step)).expect("it is routed");
        let lane = Input::Lane(self.lane(endpoint));
        let now = Some(self.clock.now());
        self.step(vec![lane, Input::Backlog { endpoint, fresh: true, by_hand: false, next_due: now }]);
        endpoint
    }

    /// The last endpoint is deleted: what waits there waits for the next one.
    pub fn delete(&mut self, endpoint: EndpointNo) {
        self.step(vec![Input::LaneGone(endpoint)]);
        let step = UnrouteStep { app: self.app, endpoint, limit: 100 };
        self.commit(Tx::Unroute(step)).expect("it is unrouted");
    }

    /// Time passes, and whatever is due in it happens.
    pub fn pass(&mut self, until: Timestamp) {
        while let Some(next) = self.shard.next_wake().filter(|next| *next <= until) {
            self.clock.advance_to(next);
            self.step(Vec::new());
        }
        self.clock.advance_to(until);
        self.step(Vec::new());
    }

    /// What the engine's sweeper does: whatever is too old ends.
    pub fn sweep(&mut self, endpoint: Option<EndpointNo>) {
        let now = self.clock.now();
        let age = self.profile.max_age.as_millis() as i64;
        let aged_from = Timestamp::from_millis(now.as_millis() - age - 1);
        let notice = Notice::new(NoticeKind::MessageExpired, About::default(), now);
        let tx = match endpoint {
            Some(endpoint) => Tx::Expire(Box::new(ExpireStep { endpoint, aged_from, limit: 100, notice })),
            None => Tx::EndUnrouted(Box::new(EndUnroutedStep {
                app: self.app,
                reason: Reason::Expired,
                aged_from,
                limit: 100,
                notice: Some(notice),
            })),
        };
        self.commit(tx).expect("the step is taken");
    }

    /// The delivery at an endpoint, as the store has it.
    pub fn delivery(&self, endpoint: EndpointNo) -> Option<DeliveryState> {
        let all = self.queries.deliveries_of(self.message, &[endpoint]).expect("deliveries can be read");
        all.first().map(|delivery| delivery.state)
    }

    pub fn is_unrouted(&self) -> bool {
        self.queries.is_unrouted(self.app, self.message).expect("it can be asked")
    }

    /// Why the message ended without an endpoint, if it did.
    pub fn ended_unrouted(&self) -> Option<Reason> {
        self.queries.unrouted_end(self.message).expect("it can be asked").map(|end| end.reason)
    }

    fn accept(&mut self) -> MessageId {
        let accept = Accept {
            id: MessageId(0),
            environment: EnvironmentNo(1),
            app: self.app,
            app_version: self.version(),
            event_type: EVENT_TYPE.into(),
            critical: self.critical,
            occurred: None,
            deliver_at: None,
            meta: b"{}".to_vec(),
            event_id: None,
            idempotency: None,
            payload: Bytes::from_static(b"{}"),
            routes: Vec::new(),
            skips: Vec::new(),
            hold_unrouted: true,
        };
        match self.commit(Tx::Accept(Box::new(accept))) {
            Ok(Made::Message(id)) => id,
            other => panic!("the message came to {other:?}"),
        }
    }

    fn entity(&mut self, kind: EntityKind, app: Option<AppNo>) -> EntityNo {
        let no = self.queries.next_no().expect("a number can be had");
        let row = EntityRow {
            kind,
            no,
            environment: EnvironmentNo(1),
            owner: EntityNo(app.map_or(0, |app| app.0)),
            uid: None,
            version: 1,
            deleted: false,
            doc: b"{}".to_vec(),
        };
        let write = EntityWrite {
            row,
            expected: None,
            touches: app,
            gates: Vec::new(),
            notices: Vec::new(),
            idempotency: None,
        };
        self.commit(Tx::Entity(Box::new(write))).expect("it is made");
        no
    }

    fn version(&self) -> u32 {
        let rows = self.queries.entities().expect("entities can be read");
        rows.iter().find(|row| row.no.0 == self.app.0).map_or(1, |row| row.version)
    }

    fn commit(&mut self, tx: Tx) -> Verdict {
        let now = self.clock.now();
        let landing = self
            .group
            .commit(self.engine.as_mut(), now, vec![Job { tx, ack: () }])
            .expect("the store commits");
        landing.landed.into_iter().next().expect("one operation").verdict
    }

    fn lane(&self, endpoint: EndpointNo) -> LaneConfig {
        LaneConfig {
            endpoint,
            app: self.app,
            environment: EnvironmentNo(1),
            host: HostNo(endpoint.0),
            profile: Arc::clone(&self.profile),
            concurrency: 32,
            throttle_rate: None,
            disabled: false,
            frozen: false,
            ordered: false,
        }
    }

    fn step(&mut self, mut inputs: Vec<Input>) {
        loop {
            let mut effects = Vec::new();
            self.shard.step(self.clock.now(), std::mem::take(&mut inputs), &mut effects);
            for effect in effects {
                inputs.extend(self.carry_out(effect));
            }
            if inputs.is_empty() {
                return;
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Send(send) => Some(self.send(&send)),
            Effect::Record(record) => Some(self.record(record)),
            Effect::Keep(keep) => {
                self.see(&keep.gates);
                self.commit(Tx::Keep(Box::new(operations::keep(keep)))).expect("it is kept");
                None
            }
            Effect::Load(load) => {
                let window = operations::window(self.queries.as_ref(), load).expect("a window can be read");
                Some(Input::Loaded { endpoint: load.endpoint, window })
            }
        }
    }

    fn send(&mut self, send: &Send) -> Input {
        let now = self.clock.now();
        let (outcome, retry_after) = (self.peer)(self.tried.len(), now);
        self.tried.push(Tried { at: now, outcome, probe: send.probe, endpoint: send.endpoint });
        Input::Replied(Reply {
            send: send.id,
            finished: Finished { outcome, retry_after, at: now },
            took: Duration::ZERO,
            timed_out: false,
            reached: Reached::Unknown,
            ages_from: send.message.accepted_at(),
            expired: false,
        })
    }

    fn record(&mut self, record: Record) -> Input {
        self.see(&record.gates);
        let (endpoint, message) = (record.endpoint, record.message);
        let attempt = AttemptRecord {
            id: AttemptId(0),
            message,
            endpoint,
            number: record.progress.attempts,
            by_hand: false,
            outcome: self.tried.last().map_or(Outcome::Interrupted, |tried| tried.outcome),
            status: None,
            started: self.clock.now(),
            duration_us: 0,
            detail: b"{}".to_vec(),
            answer: Bytes::new(),
        };
        let outcome: Recorded = operations::outcome(record, Some(attempt));
        let next_due = match outcome.then {
            Then::Waiting { due, .. } => Some(due),
            Then::Settled { .. } | Then::Untouched => None,
        };
        self.commit(Tx::Outcome(Box::new(outcome))).expect("it is recorded");
        Input::Durable { endpoint, message, by_hand: false, next_due }
    }

    fn see(&mut self, gates: &[GateWrite]) {
        self.disabled |= gates.iter().any(|gate| matches!(gate.change, GateChange::Disabled(Some(_))));
    }
}
