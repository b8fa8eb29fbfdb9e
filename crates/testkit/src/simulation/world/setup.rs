//! Opening the world, killing it, and opening it again.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use gonets_core::{
    gate::Scope,
    ids::{AppNo, EndpointNo, EntityNo, EnvironmentNo},
    time::Timestamp,
};
use gonets_dispatch::{
    config::{HostNo, LaneConfig},
    input::Input,
    shard::Shard,
};
use gonets_store::{
    committer::{GroupCommit, Job},
    engine::Engine,
    entity::{EntityKind, EntityRow},
    query::Queries,
    tx::{EntityWrite, Tx},
};

use super::{Ack, Plan, World};
use crate::{
    clock::ManualClock,
    simulation::{Broken, Sabotage, disk::Disk, laws::Laws, peers::Peer},
};

/// 2027-01-15T08:00:00Z.
const BEGIN: Timestamp = Timestamp::from_millis(1_800_000_000_000);

impl<'a> World<'a> {
    pub(super) fn new(plan: Plan, disk: &'a mut dyn Disk) -> Self {
        let clock = ManualClock::at(BEGIN);
        let mut luck = fastrand::Rng::with_seed(plan.seed);
        let (mut engine, queries) = disk.open();
        let mut group = GroupCommit::new(engine.as_mut()).expect("a new store tells its last ids");
        let (app, endpoints) = configure(engine.as_mut(), queries.as_ref(), &mut group, plan.endpoints);
        let peers = endpoints.iter().map(|no| (*no, Peer::new(luck.u64(..), BEGIN))).collect();
        let span = u64::try_from(plan.span.as_millis()).expect("a span of some hours");
        let mut times: Vec<_> =
            (0..plan.posts).map(|_| BEGIN + Duration::from_millis(luck.u64(0..=span))).collect();
        times.sort();
        Self {
            shard: Shard::new(plan.bounds, plan.seed),
            posts: times.into_iter().zip(0..).collect(),
            began: BEGIN,
            engine: Some(engine),
            queue: VecDeque::new(),
            landings: VecDeque::new(),
            windows: Vec::new(),
            flights: std::collections::BTreeMap::new(),
            kept_back: Vec::new(),
            laws: Laws::default(),
            attempts: 0,
            crashes: 0,
            plan,
            luck,
            clock,
            disk,
            queries,
            group,
            app,
            endpoints,
            peers,
            disabled: std::collections::BTreeSet::new(),
            frozen: std::collections::BTreeSet::new(),
            healed: false,
        }
    }

    /// The process dies between two steps and comes back: memory is gone, the disk is not.
    pub(super) fn crash(&mut self) -> Result<(), Broken> {
        self.crashes += 1;
        self.laws.crashed();
        let engine = self.engine.take().expect("the store is open between steps");
        self.disk.crash(engine);
        self.queue.clear();
        self.landings.clear();
        self.windows.clear();
        self.flights.clear();
        self.kept_back.clear();
        let (mut engine, queries) = self.disk.open();
        self.group = GroupCommit::new(engine.as_mut()).expect("a store that was opened tells its last ids");
        self.engine = Some(engine);
        self.queries = queries;
        self.shard = Shard::new(self.plan.bounds, self.luck.u64(..));
        let inputs = self.recovery();
        self.step(inputs)
    }

    /// What the machine is told at start.
    pub(super) fn recovery(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        let gates = self.queries.gates().expect("gates can be read");
        self.laws.restored(&gates);
        inputs.extend(gates.into_iter().map(|(scope, gate)| Input::Gate { scope, gate }));
        for endpoint in &self.endpoints {
            inputs.push(Input::Lane(self.lane(*endpoint)));
        }
        let forget = self.plan.sabotage == Sabotage::ForgetDueTimes;
        for lane in self.queries.backlog().expect("the backlog can be read") {
            inputs.push(Input::Backlog {
                endpoint: lane.endpoint,
                fresh: lane.fresh,
                by_hand: lane.by_hand,
                next_due: lane.next_due.filter(|_| !forget),
            });
        }
        inputs
    }

    pub(super) fn lane(&self, endpoint: EndpointNo) -> LaneConfig {
        let gates = self.queries.gates().expect("gates can be read");
        let is_disabled =
            gates.iter().any(|(scope, gate)| *scope == Scope::Endpoint(endpoint) && gate.disabled.is_some());
        LaneConfig {
            endpoint,
            app: self.app,
            environment: EnvironmentNo(1),
            host: HostNo(endpoint.0 % 3),
            profile: Arc::clone(&self.plan.profile),
            concurrency: 8,
            throttle_rate: endpoint.0.is_multiple_of(4).then_some(20),
            disabled: is_disabled || self.disabled.contains(&endpoint),
            frozen: self.frozen.contains(&endpoint),
            ordered: endpoint.0.is_multiple_of(5),
        }
    }

    pub(super) fn app_version(&self) -> u32 {
        let rows = self.queries.entities().expect("entities can be read");
        rows.iter().find(|row| row.no.0 == self.app.0).expect("the application is there").version
    }
}

/// One application with its endpoints, through the same commits as everything else.
fn configure(
    engine: &mut dyn Engine,
    queries: &dyn Queries,
    group: &mut GroupCommit,
    endpoints: u32,
) -> (AppNo, Vec<EndpointNo>) {
    let app = AppNo(write(engine, queries, group, EntityKind::Application, EntityNo(0)).0);
    let endpoints = (0..endpoints)
        .map(|_| EndpointNo(write(engine, queries, group, EntityKind::Endpoint, EntityNo(app.0)).0))
        .collect();
    (app, endpoints)
}

fn write(
    engine: &mut dyn Engine,
    queries: &dyn Queries,
    group: &mut GroupCommit,
    kind: EntityKind,
    owner: EntityNo,
) -> EntityNo {
    let no = queries.next_no().expect("a number can be had");
    let row = EntityRow {
        kind,
        no,
        environment: EnvironmentNo(1),
        owner,
        uid: None,
        version: 1,
        deleted: false,
        doc: b"{}".to_vec(),
    };
    let touches = (kind == EntityKind::Endpoint).then_some(AppNo(owner.0));
    let tx = Tx::Entity(Box::new(EntityWrite {
        row,
        expected: None,
        touches,
        gates: Vec::new(),
        notices: Vec::new(),
        idempotency: None,
    }));
    let job = Job { tx, ack: Ack::Post(0, Vec::new()) };
    let landing = group.commit(engine, BEGIN, vec![job]).expect("the set-up commits");
    assert!(landing.landed.iter().all(|landed| landed.verdict.is_ok()), "{landing:?}");
    no
}
