//! The timeline that a profile gives a delivery whose endpoint answers by a script: for `gonets
//! simulate`, the API and the tests.
//!
//! It is the machine itself that runs, with one lane and a store of one row, in a time of its own: what
//! comes out here is what comes out of the engine. Attempts take no time, jitter is none, and the
//! endpoint gets nothing else.

mod script;

use std::{sync::Arc, time::Duration};

use gonets_core::{
    decide::{Facts, Finished},
    gate::GateChange,
    hold::Hold,
    ids::{AppNo, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome,
    profile::Profile,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

pub use self::script::{Meets, Script, UnknownAnswer};
use crate::{
    config::{Bounds, HostNo, LaneConfig},
    effect::{Effect, Load, Record, Send, Then},
    input::{Arrival, DueItem, FreshItem, Input, Reply, Window},
    shard::Shard,
};

/// Attempts after which a timeline is cut: a profile may try for ever.
const ATTEMPTS: usize = 2_000;
const ENDPOINT: EndpointNo = EndpointNo(1);
/// When the message is accepted. Any instant would do.
const ACCEPTED: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Plan {
    pub profile: Arc<Profile>,
    pub critical: bool,
    pub script: Script,
    /// The message waits so long for an endpoint (R18).
    pub held_for: Duration,
}

/// What came of it. Times are since acceptance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    pub attempts: Vec<Attempt>,
    pub end: End,
    pub ended_at: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub at: Duration,
    pub meets: Meets,
    pub outcome: Outcome,
    /// It was the breaker's probe (R12).
    pub probe: bool,
    /// What set its time; `None` for the first.
    pub rule: Option<Rule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Delivered,
    Failed(Reason),
    /// It is still held when nothing happens any more but its expiry.
    Held(Hold),
    /// It was cut here: there would be more attempts.
    Unfinished,
}

impl std::fmt::Display for End {
    /// As the API has it: `delivered`, `failed:expired`, `held:endpoint_disabled`, `unfinished`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Delivered => f.write_str("delivered"),
            Self::Failed(reason) => write!(f, "failed:{reason}"),
            Self::Held(hold) => write!(f, "held:{hold}"),
            Self::Unfinished => f.write_str("unfinished"),
        }
    }
}

/// Plays a script.
pub fn simulate(plan: &Plan) -> Timeline {
    Play::new(plan).run()
}

/// The one row of the store.
#[derive(Debug, Clone, Copy)]
enum Row {
    Fresh,
    Waiting { due: Timestamp, rule: Rule, progress: Progress },
    Ended(End),
}

struct Play<'a> {
    plan: &'a Plan,
    shard: Shard,
    now: Timestamp,
    message: MessageId,
    row: Row,
    attempts: Vec<Attempt>,
    /// The endpoint was disabled.
    disabled: bool,
}

impl<'a> Play<'a> {
    fn new(plan: &'a Plan) -> Self {
        let bounds = Bounds::default();
        Self {
            plan,
            shard: Shard::new(bounds, 0),
            now: ACCEPTED + plan.held_for,
            message: MessageId::first_at(ACCEPTED),
            row: Row::Fresh,
            attempts: Vec::new(),
            disabled: false,
        }
    }

    fn run(mut self) -> Timeline {
        let expires_at = self.facts().expires_at(&self.plan.profile);
        if self.now > expires_at {
            return self.ended(End::Failed(Reason::Expired), expires_at);
        }
        let arrival = Arrival {
            endpoint: ENDPOINT,
            message: self.message,
            critical: self.plan.critical,
            kind: 1,
            due: None,
        };
        self.step(vec![Input::Lane(self.lane()), Input::Arrived(arrival)]);
        loop {
            if let Row::Ended(end) = self.row {
                let at = self.now;
                return self.ended(end, at);
            }
            if self.attempts.len() >= ATTEMPTS {
                let at = self.now;
                return self.ended(End::Unfinished, at);
            }
            match self.shard.next_wake() {
                Some(next) if next <= expires_at && !self.disabled => {
                    self.now = self.now.max(next);
                    self.step(Vec::new());
                }
                // Nothing comes any more but its age, and nobody enables what was disabled.
                _ if self.disabled => {
                    let at = self.now;
                    return self.ended(End::Held(Hold::EndpointDisabled), at);
                }
                _ => return self.ended(End::Failed(Reason::Expired), expires_at),
            }
        }
    }

    fn ended(self, end: End, at: Timestamp) -> Timeline {
        Timeline { attempts: self.attempts, end, ended_at: at.since(ACCEPTED) }
    }

    fn facts(&self) -> Facts {
        Facts { accepted_at: ACCEPTED, critical: self.plan.critical }
    }

    /// The profile without its jitter.
    fn lane(&self) -> LaneConfig {
        let mut profile = Profile::clone(&self.plan.profile);
        profile.outage.jitter = (0.0, 0.0);
        LaneConfig {
            endpoint: ENDPOINT,
            app: AppNo(1),
            environment: EnvironmentNo(1),
            host: HostNo(1),
            profile: Arc::new(profile),
            concurrency: 1,
            throttle_rate: None,
            disabled: false,
            frozen: false,
            ordered: false,
        }
    }

    fn step(&mut self, inputs: Vec<Input>) {
        let mut inputs = inputs;
        loop {
            let mut effects = Vec::new();
            self.shard.step(self.now, std::mem::take(&mut inputs), &mut effects);
            for effect in effects {
                match effect {
                    Effect::Send(send) => inputs.push(self.send(&send)),
                    Effect::Record(record) => inputs.push(self.record(&record)),
                    Effect::Load(load) => inputs.push(self.load(load)),
                    Effect::Keep(keep) => self.gates(&keep.gates),
                }
            }
            if inputs.is_empty() || self.attempts.len() >= ATTEMPTS {
                return;
            }
        }
    }

    fn send(&mut self, send: &Send) -> Input {
        let meets = self.plan.script.answer(self.attempts.len());
        let (outcome, retry_after) = meets.outcome(self.plan.profile.retry_after_cap, self.now);
        let rule = match self.row {
            Row::Waiting { rule, .. } => Some(rule),
            Row::Fresh | Row::Ended(_) => None,
        };
        let at = self.now.since(ACCEPTED);
        self.attempts.push(Attempt { at, meets, outcome, probe: send.probe, rule });
        Input::Replied(Reply {
            send: send.id,
            finished: Finished { outcome, retry_after, at: self.now },
            took: Duration::ZERO,
            timed_out: false,
            reached: gonets_core::fleet::Reached::Unknown,
            ages_from: ACCEPTED,
            expired: false,
        })
    }

    fn record(&mut self, record: &Record) -> Input {
        self.gates(&record.gates);
        let mut next_due = None;
        self.row = match record.then {
            Then::Delivered => Row::Ended(End::Delivered),
            Then::Failed(reason) => Row::Ended(End::Failed(reason)),
            Then::Again { due, rule } => {
                next_due = Some(due);
                Row::Waiting { due, rule, progress: record.progress }
            }
            Then::Untouched => self.row,
        };
        Input::Durable { endpoint: ENDPOINT, message: self.message, by_hand: false, next_due }
    }

    fn gates(&mut self, gates: &[gonets_core::gate::GateWrite]) {
        self.disabled |= gates.iter().any(|gate| matches!(gate.change, GateChange::Disabled(Some(_))));
    }

    fn load(&self, load: Load) -> Input {
        let mut window = Window { fresh_end: true, hand_end: true, order_end: true, ..Window::default() };
        match self.row {
            Row::Fresh if load.fresh > 0 => {
                window.fresh.push(FreshItem { message: self.message, critical: self.plan.critical, kind: 1 })
            }
            Row::Waiting { due, progress, .. } if load.due > 0 && due <= load.now => {
                window.due.push(DueItem {
                    message: self.message,
                    critical: self.plan.critical,
                    kind: 1,
                    due,
                    progress,
                });
            }
            Row::Waiting { due, .. } if load.due > 0 => window.next_due = Some(due),
            _ => {}
        }
        Input::Loaded { endpoint: ENDPOINT, window }
    }
}
