//! The machine with a store in memory, peers that answer as they are told, and a time of its own.
//!
//! Commits and reads take no time unless a test says so; what is kept is kept as the engine would.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use gonets_core::{
    decide::Finished,
    fleet::Reached,
    gate::{Gate, GateWrite, Scope},
    ids::{AppNo, EndpointNo, EnvironmentNo, MessageId},
    notice::{Notice, NoticeKind},
    outcome::Outcome,
    profile::Profile,
    progress::Progress,
    time::Timestamp,
};
use gonets_dispatch::{
    config::{Bounds, HostNo, LaneConfig},
    effect::{Effect, Record, Send, SendId, Source, Then},
    input::{Arrival, Input, Reply},
    shard::Shard,
};

use crate::laws::Laws;
pub use crate::store::{Row, Stored};

pub const BEGIN: Timestamp = Timestamp::from_millis(1_800_000_000_000);
pub const ENVIRONMENT: EnvironmentNo = EnvironmentNo(1);

/// What a peer does with an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub retry_after: Option<Duration>,
    pub took: Duration,
    pub reached: Reached,
    pub expired: bool,
}

impl Answer {
    /// After 20 ms.
    pub fn of(outcome: Outcome) -> Self {
        let reached = match outcome {
            Outcome::Blocked | Outcome::Interrupted => Reached::Unknown,
            _ => Reached::Yes,
        };
        Self { outcome, retry_after: None, took: Duration::from_millis(20), reached, expired: false }
    }

    pub fn unreached() -> Self {
        Self { reached: Reached::No, ..Self::of(Outcome::Unavailable) }
    }

    pub fn asking(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }

    pub fn after(self, took: Duration) -> Self {
        Self { took, ..self }
    }
}

pub type Peer = Box<dyn FnMut(&Send, Timestamp) -> Answer>;

/// An attempt that was made.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub at: Timestamp,
    pub send: Send,
}

/// What the store comes back with in a while.
enum Late {
    /// A window, as it was when it was asked for.
    Loaded(Input),
    /// An outcome is committed then, in the order in which they were handed over.
    Commit(Record),
}

pub struct World {
    pub shard: Shard,
    pub now: Timestamp,
    pub peer: Peer,
    pub made: Vec<Made>,
    pub records: Vec<(Timestamp, Record)>,
    pub notices: Vec<Notice>,
    pub gates: HashMap<Scope, Gate>,
    pub writes: Vec<(Timestamp, GateWrite)>,
    pub stored: BTreeMap<EndpointNo, Stored>,
    pub lanes: BTreeMap<EndpointNo, LaneConfig>,
    answers: BTreeMap<(Timestamp, SendId), (Send, Answer)>,
    laws: Laws,
    /// How long commits and reads take at most.
    pub lag: Duration,
    late: BTreeMap<(Timestamp, u64), Late>,
    committed: Timestamp,
    numbers: u64,
    bounds: Bounds,
    last_message: u64,
}

impl World {
    pub fn new(peer: impl FnMut(&Send, Timestamp) -> Answer + 'static) -> Self {
        Self::with_bounds(Bounds::default(), peer)
    }

    pub fn with_bounds(bounds: Bounds, peer: impl FnMut(&Send, Timestamp) -> Answer + 'static) -> Self {
        Self {
            shard: Shard::new(bounds, 7),
            now: BEGIN,
            peer: Box::new(peer),
            made: Vec::new(),
            records: Vec::new(),
            notices: Vec::new(),
            gates: HashMap::new(),
            writes: Vec::new(),
            stored: BTreeMap::new(),
            lanes: BTreeMap::new(),
            answers: BTreeMap::new(),
            laws: Laws::default(),
            lag: Duration::ZERO,
            late: BTreeMap::new(),
            committed: BEGIN,
            numbers: 0,
            bounds,
            last_message: 0,
        }
    }

    /// An endpoint at a host of its own number.
    pub fn endpoint(&mut self, endpoint: u32, app: u32, profile: &Arc<Profile>) {
        let config = LaneConfig {
            endpoint: EndpointNo(endpoint),
            app: AppNo(app),
            environment: ENVIRONMENT,
            host: HostNo(endpoint),
            profile: Arc::clone(profile),
            concurrency: 32,
            throttle_rate: None,
            disabled: false,
            frozen: false,
            ordered: false,
        };
        self.configure(config);
    }

    pub fn configure(&mut self, config: LaneConfig) {
        self.stored.entry(config.endpoint).or_default();
        self.lanes.insert(config.endpoint, config.clone());
        let config = self.with_gate(&config);
        self.step(vec![Input::Lane(config)]);
    }

    /// What Gonets disabled is disabled, whatever the owner says.
    fn with_gate(&self, config: &LaneConfig) -> LaneConfig {
        let disabled = config.disabled || self.gate(Scope::Endpoint(config.endpoint)).disabled.is_some();
        LaneConfig { disabled, ..config.clone() }
    }

    /// By hand.
    pub fn enable(&mut self, endpoint: u32) {
        if let Some(gate) = self.gates.get_mut(&Scope::Endpoint(EndpointNo(endpoint))) {
            gate.disabled = None;
        }
        self.change(endpoint, |config| config.disabled = false);
    }

    pub fn change(&mut self, endpoint: u32, change: impl FnOnce(&mut LaneConfig)) {
        let mut config = self.lanes[&EndpointNo(endpoint)].clone();
        change(&mut config);
        self.configure(config);
    }

    pub fn post(&mut self, endpoint: u32, critical: bool) -> MessageId {
        self.post_kind(endpoint, critical, 1)
    }

    pub fn post_kind(&mut self, endpoint: u32, critical: bool, kind: u32) -> MessageId {
        self.last_message = (self.last_message + 1).max(MessageId::first_at(self.now).0);
        let (endpoint, message) = (EndpointNo(endpoint), MessageId(self.last_message));
        let row = Row { critical, kind, accepted: self.now, due: None, progress: Progress::default() };
        self.stored.entry(endpoint).or_default().waiting.insert(message, row);
        self.step(vec![Input::Arrived(Arrival { endpoint, message, critical, kind, due: None })]);
        message
    }

    pub fn retry_by_hand(&mut self, endpoint: u32, message: MessageId) {
        let endpoint = EndpointNo(endpoint);
        self.stored.entry(endpoint).or_default().by_hand.insert(message);
        self.step(vec![Input::Backlog { endpoint, fresh: false, by_hand: true, next_due: None }]);
    }

    /// The process dies and starts again after `down`: what is not in the store is lost.
    pub fn restart(&mut self, down: Duration) {
        self.answers.clear();
        self.late.clear();
        self.now = self.now + down;
        self.laws.restart(self.now);
        self.shard = Shard::new(self.bounds, 8);
        let mut inputs: Vec<_> =
            self.gates.iter().map(|(scope, gate)| Input::Gate { scope: *scope, gate: *gate }).collect();
        for config in self.lanes.values() {
            inputs.push(Input::Lane(self.with_gate(config)));
        }
        for (endpoint, stored) in &self.stored {
            inputs.push(Input::Backlog {
                endpoint: *endpoint,
                fresh: stored.waiting.values().any(|row| row.due.is_none()),
                by_hand: !stored.by_hand.is_empty(),
                next_due: stored.waiting.values().filter_map(|row| row.due).min(),
            });
        }
        self.step(inputs);
    }

    pub fn step(&mut self, inputs: Vec<Input>) {
        let mut inputs: VecDeque<_> = inputs.into();
        loop {
            let mut effects = Vec::new();
            self.shard.step(self.now, inputs.drain(..), &mut effects);
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
            Effect::Send(send) => {
                self.laws.on_send(&send, self.now, &self.lanes[&send.endpoint], &self.stored, &self.gates);
                self.made.push(Made { at: self.now, send });
                let answer = self.answer_to(&send);
                self.answers.insert((self.now + answer.took, send.id), (send, answer));
                None
            }
            Effect::Keep(keep) => {
                self.keep(&keep.gates, keep.notices);
                None
            }
            Effect::Record(record) => {
                self.keep(&record.gates, record.notices.clone());
                self.records.push((self.now, record.clone()));
                if self.lag.is_zero() {
                    return Some(self.record(&record));
                }
                self.committed = self.committed.max(self.now + self.some_lag());
                self.late.insert((self.committed, self.numbers), Late::Commit(record));
                None
            }
            Effect::Load(load) => {
                let loaded = Input::Loaded {
                    endpoint: load.endpoint,
                    window: self.stored[&load.endpoint].window(load),
                };
                if self.lag.is_zero() {
                    return Some(loaded);
                }
                let at = self.now + self.some_lag();
                self.late.insert((at, self.numbers), Late::Loaded(loaded));
                None
            }
        }
    }

    /// The courier sends nothing of a message that is too old (R7).
    fn answer_to(&mut self, send: &Send) -> Answer {
        let row = self.stored[&send.endpoint].waiting.get(&send.message);
        let max_age = self.lanes[&send.endpoint].profile.max_age;
        if send.source != Source::Hand && row.is_some_and(|row| self.now > row.accepted + max_age) {
            return Answer { expired: true, ..Answer::of(Outcome::Interrupted) };
        }
        (self.peer)(send, self.now)
    }

    /// Different each time, the same in every run.
    fn some_lag(&mut self) -> Duration {
        self.numbers += 1;
        self.lag * (self.numbers.wrapping_mul(2_654_435_761) % 97) as u32 / 97
    }

    fn keep(&mut self, gates: &[GateWrite], notices: Vec<Notice>) {
        for write in gates {
            self.gates.entry(write.scope).or_default().apply(write.change);
            self.writes.push((self.now, *write));
        }
        self.notices.extend(notices);
    }

    fn record(&mut self, record: &Record) -> Input {
        self.laws.on_record(record);
        let stored = self.stored.entry(record.endpoint).or_default();
        let by_hand = record.source == Source::Hand;
        if by_hand {
            assert!(stored.by_hand.remove(&record.message), "a retry by hand is recorded once");
        }
        let mut next_due = None;
        match record.then {
            Then::Untouched => {}
            Then::Again { due, .. } => {
                let row = stored.waiting.get_mut(&record.message).expect("it waits");
                row.due = Some(due);
                row.progress = record.progress;
                next_due = Some(due);
            }
            Then::Delivered | Then::Failed(_) => {
                if let Some(mut row) = stored.waiting.remove(&record.message) {
                    row.progress = record.progress;
                    stored.ended.insert(record.message, (record.then, row, self.now));
                }
            }
        }
        Input::Durable { endpoint: record.endpoint, message: record.message, by_hand, next_due }
    }

    /// Lets `time` pass; answers come in their order.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        let mut at_once = 0;
        loop {
            let answer = self.answers.first_key_value().map(|((at, _), _)| *at);
            let late = self.late.first_key_value().map(|((at, _), _)| *at);
            let next =
                [answer, late, self.shard.next_wake()].into_iter().flatten().min().filter(|at| *at <= until);
            let Some(next) = next else { break };
            at_once = if next <= self.now { at_once + 1 } else { 0 };
            assert!(at_once < 100_000, "the machine wakes for nothing");
            self.now = self.now.max(next);
            if let Some(entry) = self.late.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let input = match entry.remove() {
                    Late::Loaded(input) => input,
                    Late::Commit(record) => self.record(&record),
                };
                self.step(vec![input]);
                continue;
            }
            match self.answers.first_entry().filter(|entry| entry.key().0 <= self.now) {
                Some(entry) => {
                    let ((at, _), (send, answer)) = entry.remove_entry();
                    self.answer(at, send, answer);
                }
                None => self.step(Vec::new()),
            }
        }
        self.now = until;
    }

    fn answer(&mut self, at: Timestamp, send: Send, answer: Answer) {
        let ages_from = self.stored[&send.endpoint].waiting.get(&send.message).map_or(at, |row| row.accepted);
        self.laws.on_answer(&send);
        self.step(vec![Input::Replied(Reply {
            send: send.id,
            finished: Finished { outcome: answer.outcome, retry_after: answer.retry_after, at },
            took: answer.took,
            timed_out: false,
            reached: answer.reached,
            ages_from,
            expired: answer.expired,
        })]);
    }

    /// Attempts made from `from` on, and before `to`, since the beginning.
    pub fn made_between(&self, from: Duration, to: Duration) -> Vec<Made> {
        self.made.iter().filter(|made| made.at >= BEGIN + from && made.at < BEGIN + to).copied().collect()
    }

    pub fn count(&self, kind: NoticeKind) -> usize {
        self.notices.iter().filter(|notice| notice.kind == kind).count()
    }

    pub fn since_begin(&self) -> Duration {
        self.now.since(BEGIN)
    }

    pub fn gate(&self, scope: Scope) -> Gate {
        self.gates.get(&scope).copied().unwrap_or_default()
    }
}

pub const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Answers with one outcome until `until` since the beginning, then with another.
pub fn turning(first: Answer, until: Duration, then: Answer) -> impl FnMut(&Send, Timestamp) -> Answer {
    move |_, now| if now < BEGIN + until { first } else { then }
}
