//! The loop: one step at a time, in an order that the seed chooses.

mod meddling;
mod setup;
mod turns;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use gonets_core::{
    ids::{AppNo, EndpointNo},
    profile::Profile,
    time::{Clock, Timestamp},
};
use gonets_dispatch::{
    config::Bounds,
    effect::{Effect, SendId},
    input::{Input, Window},
    shard::Shard,
};
use gonets_store::{
    committer::{GroupCommit, Job, Landing},
    engine::Engine,
    query::Queries,
};

use super::{
    Broken, Sabotage,
    disk::Disk,
    laws::{Key, Laws, Post},
    peers::{Answer, Peer},
};
use crate::clock::ManualClock;

/// What a run is made of.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub endpoints: u32,
    pub posts: u32,
    /// Posts come at random within this time.
    pub span: Duration,
    pub crashes: u32,
    pub bounds: Bounds,
    pub profile: Arc<Profile>,
    pub sabotage: Sabotage,
}

/// What a run came to, if no law was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub posts: u32,
    pub ended: usize,
    pub attempts: u64,
    pub duplicates: usize,
    pub crashes: u32,
    /// Virtual time.
    pub lasted: Duration,
}

/// What an operation's asker wants back, in the simulation.
#[derive(Debug, Clone)]
enum Ack {
    Post(Post, Vec<EndpointNo>),
    Outcome(Key),
    Hand(Key),
    Keep,
}

struct Flight {
    key: Key,
    by_hand: bool,
    answers_at: Timestamp,
    answer: Answer,
}

struct World<'a> {
    plan: Plan,
    luck: fastrand::Rng,
    clock: ManualClock,
    began: Timestamp,
    disk: &'a mut dyn Disk,
    engine: Option<Box<dyn Engine>>,
    queries: Arc<dyn Queries>,
    group: GroupCommit,
    shard: Shard,
    app: AppNo,
    endpoints: Vec<EndpointNo>,
    peers: BTreeMap<EndpointNo, Peer>,
    /// What people do to lanes: disabled and frozen ones.
    disabled: BTreeSet<EndpointNo>,
    frozen: BTreeSet<EndpointNo>,
    healed: bool,
    posts: VecDeque<(Timestamp, Post)>,
    queue: VecDeque<Job<Ack>>,
    landings: VecDeque<Landing<Ack>>,
    windows: Vec<(EndpointNo, Window)>,
    flights: BTreeMap<SendId, Flight>,
    /// Sabotage only: records that are kept back until the retry is out.
    kept_back: Vec<Job<Ack>>,
    laws: Laws,
    attempts: u64,
    crashes: u32,
}

/// What can be done next.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Post,
    /// Someone presses "send again" on a delivery.
    Hand,
    /// Someone resets a breaker, lifts a pause, freezes, thaws, disables or enables.
    Meddle,
    Commit,
    Land,
    Answer(SendId),
    Read(usize),
    Tend,
}

/// Runs a plan to its end.
///
/// # Errors
/// The first law that did not hold.
///
/// # Panics
/// When the store cannot be opened or the world does not come to rest.
pub fn run(plan: Plan, disk: &mut dyn Disk) -> Result<Summary, Broken> {
    let mut world = World::new(plan, disk);
    let recovered = world.recovery();
    world.step(recovered)?;
    let mut turns_left: u64 = 3_000_000;
    let crash_every = u64::from(world.plan.posts) * 8 / u64::from(world.plan.crashes.max(1));
    let mut until_crash = world.luck.u64(1..=crash_every.max(2));
    loop {
        turns_left -= 1;
        assert!(turns_left > 0, "the world of seed {} does not come to rest", world.plan.seed);
        // The last crash is kept for a quiet time.
        if world.crashes + 1 < world.plan.crashes {
            until_crash -= 1;
            if until_crash == 0 {
                until_crash = world.luck.u64(1..=crash_every.max(2));
                world.crash()?;
            }
        }
        if let Some(turn) = world.choose() {
            world.take(turn)?;
        } else if !world.wait()? {
            break;
        }
    }
    world.laws.at_rest()?;
    world.no_retry_is_left()?;
    world.the_books_balance()?;
    Ok(world.summary())
}

impl World<'_> {
    /// One of the things that can be done now, as the seed says.
    fn choose(&mut self) -> Option<Turn> {
        let now = self.clock.now();
        let mut turns = Vec::new();
        if self.posts.front().is_some_and(|(at, _)| *at <= now) {
            turns.push(Turn::Post);
        }
        if !self.queue.is_empty() {
            turns.push(Turn::Commit);
        }
        if !self.landings.is_empty() {
            turns.push(Turn::Land);
        }
        turns.extend((0..self.windows.len()).map(Turn::Read));
        turns.extend(
            self.flights
                .iter()
                .filter(|(_, flight)| flight.answers_at <= now)
                .map(|(id, _)| Turn::Answer(*id)),
        );
        if turns.is_empty() {
            return None;
        }
        match self.luck.u8(..) {
            0 => return Some(Turn::Tend),
            1..4 if !self.posts.is_empty() => return Some(Turn::Hand),
            4..6 if !self.posts.is_empty() => return Some(Turn::Meddle),
            _ => {}
        }
        Some(turns[self.luck.usize(0..turns.len())])
    }

    /// Moves the time to whatever comes next; false when nothing does.
    fn wait(&mut self) -> Result<bool, Broken> {
        if self.posts.is_empty() && self.crashes >= self.plan.crashes && !self.healed {
            self.healed = true;
            self.peers.values_mut().for_each(Peer::heal);
        }
        let next = [
            self.posts.front().map(|(at, _)| *at),
            self.flights.values().map(|flight| flight.answers_at).min(),
            self.shard.next_wake(),
        ]
        .into_iter()
        .flatten()
        .min();
        let Some(next) = next else { return self.let_go_of_all() };
        // Quiet times are when forgotten things stay forgotten: no later event covers them up.
        if self.posts.is_empty() && self.crashes < self.plan.crashes && self.luck.u8(0..8) == 0 {
            self.crash()?;
            return Ok(true);
        }
        self.clock.advance_to(next);
        self.step(Vec::new())?;
        Ok(true)
    }

    fn summary(&self) -> Summary {
        Summary {
            posts: self.plan.posts,
            ended: self.laws.ended(),
            attempts: self.attempts,
            duplicates: self.laws.duplicates,
            crashes: self.crashes,
            lasted: self.clock.now().since(self.began),
        }
    }

    /// Puts inputs through the machine and carries out what it wants.
    fn step(&mut self, inputs: Vec<Input>) -> Result<(), Broken> {
        let mut effects: Vec<Effect> = Vec::new();
        self.shard.step(self.clock.now(), inputs, &mut effects);
        for effect in effects {
            self.carry_out(effect)?;
        }
        self.laws.bounds(self.shard.in_flight(), self.plan.bounds.global_slots)
    }
}
