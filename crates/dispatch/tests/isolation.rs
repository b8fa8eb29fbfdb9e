//! Isolation in virtual time: how long a healthy lane's deliveries wait for a slot while others
//! hang, answer slowly or flood (R22).

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use gonets_core::{
    decide::Finished,
    fleet::Reached,
    ids::{AppNo, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome,
    profile::builtin,
    time::Timestamp,
};
use gonets_dispatch::{
    config::{Bounds, HostNo, LaneConfig},
    effect::{Effect, SendId},
    input::{Arrival, Input, Reply},
    shard::Shard,
};

const BEGIN: i64 = 1_800_000_000_000;

/// How the peers of a lane answer.
#[derive(Clone, Copy)]
enum Peer {
    /// 200 after 2 ms.
    Well,
    /// 200 after 9 s.
    Slow,
    /// Nothing until the time-out of 10 s.
    Hanging,
}

/// The machine with peers; memory is the whole store, so every window is found there.
struct Town {
    shard: Shard,
    now: Timestamp,
    peers: HashMap<EndpointNo, Peer>,
    answers: BTreeMap<(Timestamp, SendId), (EndpointNo, MessageId, Peer)>,
    stored: HashMap<EndpointNo, std::collections::BTreeSet<MessageId>>,
    arrived: HashMap<MessageId, Timestamp>,
    waits: Vec<Duration>,
    next_message: u64,
}

impl Town {
    fn new() -> Self {
        Self {
            shard: Shard::new(Bounds::default(), 7),
            now: Timestamp::from_millis(BEGIN),
            peers: HashMap::new(),
            answers: BTreeMap::new(),
            stored: HashMap::new(),
            arrived: HashMap::new(),
            waits: Vec::new(),
            next_message: 0,
        }
    }

    fn endpoint(&mut self, endpoint: u32, app: u32, host: u32, peer: Peer) {
        let endpoint = EndpointNo(endpoint);
        self.peers.insert(endpoint, peer);
        self.step(vec![Input::Lane(LaneConfig {
            endpoint,
            app: AppNo(app),
            environment: EnvironmentNo(0),
            host: HostNo(host),
            profile: Arc::new(builtin::standard()),
            concurrency: 32,
            throttle_rate: None,
            disabled: false,
            frozen: false,
            ordered: false,
        })]);
    }

    fn post(&mut self, endpoint: u32) {
        self.next_message += 1;
        let (endpoint, message) = (EndpointNo(endpoint), MessageId(self.next_message));
        self.arrived.insert(message, self.now);
        self.stored.entry(endpoint).or_default().insert(message);
        self.step(vec![Input::Arrived(Arrival { endpoint, message, critical: false, kind: 0, due: None })]);
    }

    fn step(&mut self, inputs: Vec<Input>) {
        let mut inputs = inputs;
        while !inputs.is_empty() {
            let mut effects = Vec::new();
            self.shard.step(self.now, std::mem::take(&mut inputs), &mut effects);
            for effect in effects {
                inputs.extend(self.carry_out(effect));
            }
        }
    }

    /// Commits and reads take no time here.
    fn carry_out(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Send(send) => {
                let peer = self.peers[&send.endpoint];
                let took = match peer {
                    Peer::Well => Duration::from_millis(2),
                    Peer::Slow => Duration::from_secs(9),
                    Peer::Hanging => Duration::from_secs(10),
                };
                if matches!(peer, Peer::Well) {
                    self.waits.push(self.now.since(self.arrived[&send.message]));
                }
                self.answers.insert((self.now + took, send.id), (send.endpoint, send.message, peer));
                None
            }
            Effect::Record(record) => {
                self.stored.get_mut(&record.endpoint)?.remove(&record.message);
                Some(Input::Durable {
                    endpoint: record.endpoint,
                    message: record.message,
                    by_hand: false,
                    next_due: None,
                })
            }
            Effect::Keep(_) => None,
            Effect::Load(load) => {
                let stored = self.stored.entry(load.endpoint).or_default();
                let fresh: Vec<_> = stored
                    .iter()
                    .take(load.fresh as usize)
                    .map(|message| gonets_dispatch::input::FreshItem {
                        message: *message,
                        critical: false,
                        kind: 0,
                    })
                    .collect();
                let fresh_end = fresh.len() < load.fresh as usize;
                let window = gonets_dispatch::input::Window { fresh, fresh_end, ..Default::default() };
                Some(Input::Loaded { endpoint: load.endpoint, window })
            }
        }
    }

    /// Lets `time` pass; answers come in their order.
    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let answer = self.answers.first_key_value().map(|((at, _), _)| *at);
            let next = [answer, self.shard.next_wake()].into_iter().flatten().min().filter(|at| *at <= until);
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            let due = self.answers.first_entry().filter(|entry| entry.key().0 <= self.now);
            match due {
                Some(entry) => {
                    let ((at, id), (_, message, peer)) = entry.remove_entry();
                    self.answer(at, id, message, peer);
                }
                None => self.wake(),
            }
        }
        self.now = until;
    }

    fn wake(&mut self) {
        let mut effects = Vec::new();
        self.shard.step(self.now, Vec::new(), &mut effects);
        let inputs = effects.into_iter().filter_map(|effect| self.carry_out(effect)).collect();
        self.step(inputs);
    }

    fn answer(&mut self, at: Timestamp, send: SendId, message: MessageId, peer: Peer) {
        let (outcome, took, timed_out) = match peer {
            Peer::Well => (Outcome::Delivered, 2, false),
            Peer::Slow => (Outcome::Delivered, 9_000, false),
            Peer::Hanging => (Outcome::Unavailable, 10_000, true),
        };
        let finished = Finished { outcome, retry_after: None, at };
        let took = Duration::from_millis(took);
        let ages_from = self.arrived[&message];
        self.step(vec![Input::Replied(Reply {
            send,
            finished,
            took,
            timed_out,
            reached: Reached::Yes,
            ages_from,
            expired: false,
        })]);
    }

    fn worst_wait(&self) -> Duration {
        *self.waits.iter().max().expect("healthy deliveries were made")
    }
}

/// 200 messages a second in turn over all endpoints, for a minute.
fn traffic(town: &mut Town, endpoints: u32) {
    for n in 0..12_000 {
        town.post(n % endpoints);
        town.pass(Duration::from_millis(5));
    }
}

#[test]
fn r22_fifty_slow_applications_at_the_same_host_do_not_delay_fifty_healthy_ones() {
    let mut town = Town::new();
    for n in 0..100 {
        town.endpoint(n, n, 1, if n < 50 { Peer::Slow } else { Peer::Well });
    }
    traffic(&mut town, 100);
    assert!(town.waits.len() >= 5_900, "{}", town.waits.len());
    assert!(town.worst_wait() <= Duration::from_millis(2), "{:?}", town.worst_wait());
}

#[test]
fn r22_a_thousand_hanging_endpoints_of_one_application_do_not_delay_another() {
    let mut town = Town::new();
    for n in 0..1_000 {
        town.endpoint(n, 1, 1, Peer::Hanging);
    }
    town.endpoint(1_000, 2, 1, Peer::Well);
    for n in 0..20_000 {
        town.post(n % 1_000);
        if n % 20 == 0 {
            town.post(1_000);
        }
        town.pass(Duration::from_millis(2));
    }
    assert!(town.worst_wait() <= Duration::from_millis(2), "{:?}", town.worst_wait());
}

#[test]
fn r22_a_flood_to_hanging_endpoints_everywhere_leaves_a_quarter_to_the_quick() {
    let mut town = Town::new();
    for n in 0..2_000 {
        town.endpoint(n, n, n, Peer::Hanging);
    }
    town.endpoint(5_000, 5_000, 5_000, Peer::Well);
    for n in 0..20_000 {
        town.post(n % 2_000);
        if n % 10 == 0 {
            town.post(5_000);
        }
        town.pass(Duration::from_millis(1));
    }
    assert!(town.worst_wait() <= Duration::from_millis(2), "{:?}", town.worst_wait());
    assert!(town.shard.in_flight() <= 4096);
}

#[test]
fn a_backlog_beyond_the_window_is_delivered_whole() {
    let mut town = Town::new();
    town.endpoint(1, 1, 1, Peer::Well);
    for _ in 0..5_000 {
        town.post(1);
    }
    town.pass(Duration::from_secs(30));
    assert_eq!(town.waits.len(), 5_000);
    assert!(town.stored[&EndpointNo(1)].is_empty());
}

#[test]
fn r22_a_newcomer_at_a_host_that_two_quick_backlogs_keep_busy_gets_its_share() {
    let mut town = Town::new();
    town.endpoint(1, 1, 1, Peer::Well);
    town.endpoint(2, 2, 1, Peer::Well);
    for _ in 0..3_000 {
        town.post(1);
        town.post(2);
    }
    town.pass(Duration::from_millis(20));
    assert_eq!(town.shard.in_flight(), 64, "the host is busy");
    town.endpoint(3, 3, 1, Peer::Well);
    town.waits.clear();
    let begun = town.now;
    town.post(3);
    let newest = MessageId(town.next_message);
    while !town.answers.values().any(|(_, message, _)| *message == newest) {
        town.pass(Duration::from_millis(1));
        assert!(town.now.since(begun) <= Duration::from_millis(5), "it waits behind two backlogs");
    }
}
