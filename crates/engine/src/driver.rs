//! The loop around the shard machine: what landed, what was answered, what was read goes in; what
//! is to be recorded, sent and read comes out.
//!
//! One task owns the machine and the messages in memory, so neither needs a lock. It is woken once
//! for everything that has gathered. Records go into the committer's queue before anything is sent,
//! which is the order of the effects.

mod effects;
pub(crate) mod landing;

use std::{collections::HashMap, sync::Arc, time::Duration};

use gonets_core::{
    gate::Scope,
    hold::Hold,
    ids::{EndpointNo, MessageId},
    time::Timestamp,
};
use gonets_dispatch::{
    effect::{self, Effect, SendId},
    input::{Input, Window},
    shard::Shard,
};
use gonets_store::{
    committer::{Committer, Landing},
    record::AttemptRecord,
    tx::{Tx, Verdict},
};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::{
    bodies::{Bodies, Message},
    courier::{Replied, Road},
};

/// What an operation's asker wants back.
#[derive(Debug)]
pub enum Ack {
    /// Someone waits for the verdict.
    Caller(oneshot::Sender<Verdict>),
    /// An outcome; `bare` when its attempt's details were left out because the store choked on them.
    Outcome { bare: bool },
    /// A probe goes out when its lease is durable.
    Lease(effect::Send),
    /// The engine's own upkeep.
    None,
}

/// What the driver is told.
pub(crate) enum Happening {
    Landed(Landing<Ack>),
    Replied(Box<Replied>),
    Read(Box<Read>),
    /// How a delivery stands in memory.
    Asked(EndpointNo, MessageId, oneshot::Sender<Standing>),
    /// Something is to be done by hand; answered when it is durable.
    Ordered(Order, oneshot::Sender<Verdict>),
}

/// How a delivery stands in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// An attempt of it is under way, or not yet durably recorded.
    pub is_under_way: bool,
    /// What holds its lane, and until when if that is known.
    pub hold: Option<(Hold, Option<Timestamp>)>,
}

/// What people may do to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// R17: a breaker's pause starts over, and a probe is due at once.
    Reset(Scope),
    /// R8: an endpoint's throttle pause ends.
    Lift(EndpointNo),
}

/// A window as it was read, with the messages of its head.
pub(crate) struct Read {
    pub(crate) endpoint: EndpointNo,
    pub(crate) window: Option<Window>,
    pub(crate) messages: Vec<Message>,
}

pub(crate) struct Driver {
    pub(crate) shard: Shard,
    pub(crate) road: Arc<Road>,
    pub(crate) committer: Arc<Committer<Ack>>,
    pub(crate) happenings: mpsc::UnboundedReceiver<Happening>,
    pub(crate) bodies: Bodies,
    pub(crate) drain: watch::Receiver<bool>,
    pub(crate) drained: watch::Sender<bool>,
    inputs: Vec<Input>,
    effects: Vec<Effect>,
    /// The journal's part of attempts that the machine is judging in this turn.
    attempts: HashMap<SendId, AttemptRecord>,
    /// Those who wait for what they ordered.
    orders: Vec<oneshot::Sender<Verdict>>,
    /// Told when there is a notice to carry on.
    pub(crate) noticed: Arc<Notify>,
    /// People are written to.
    mails: bool,
    /// Upkeep that found the committer's queue full.
    deferred: Vec<Tx>,
}

/// How many happenings one turn takes at most.
const TURN: usize = 1024;

impl Driver {
    pub(crate) fn new(
        shard: Shard,
        road: Arc<Road>,
        committer: Arc<Committer<Ack>>,
        happenings: mpsc::UnboundedReceiver<Happening>,
        bodies: Bodies,
        (noticed, mails): (Arc<Notify>, bool),
        (drain, drained): (watch::Receiver<bool>, watch::Sender<bool>),
    ) -> Self {
        Self {
            shard,
            road,
            committer,
            happenings,
            bodies,
            drain,
            drained,
            inputs: Vec::new(),
            effects: Vec::new(),
            attempts: HashMap::new(),
            orders: Vec::new(),
            noticed,
            mails,
            deferred: Vec::new(),
        }
    }

    /// Runs until everything that sends to it is gone. Starts with `first`.
    pub(crate) async fn run(mut self, first: Vec<Input>) {
        self.inputs = first;
        let mut gathered = Vec::with_capacity(TURN);
        let mut draining = false;
        loop {
            self.turn();
            if draining && self.shard.in_flight() == 0 {
                let _ = self.drained.send(true);
            }
            let wait = self.shard.next_wake().map(|at| at.since(self.road.clock.now()));
            tokio::select! {
                biased;
                took = self.happenings.recv_many(&mut gathered, TURN) => {
                    if took == 0 {
                        return;
                    }
                }
                () = sleep(wait) => {}
                changed = self.drain.changed(), if !draining => {
                    if changed.is_err() {
                        return;
                    }
                    draining = true;
                    self.inputs.push(Input::Drain);
                }
            }
            for happening in gathered.drain(..) {
                self.take(happening);
            }
        }
    }

    fn turn(&mut self) {
        let now: Timestamp = self.road.clock.now();
        let mut effects = std::mem::take(&mut self.effects);
        self.shard.step(now, self.inputs.drain(..), &mut effects);
        self.carry_out(&mut effects);
        self.effects = effects;
        self.road.directory.set_sending_paused(self.shard.sending_paused_since());
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Landed(landing) => self.landed(landing),
            Happening::Replied(replied) => {
                if let Some(attempt) = replied.attempt {
                    self.attempts.insert(replied.reply.send, attempt);
                }
                self.inputs.push(Input::Replied(replied.reply));
            }
            Happening::Asked(endpoint, message, answer) => {
                let standing = Standing {
                    is_under_way: self.shard.is_busy(endpoint, message),
                    hold: self.shard.hold(endpoint, message),
                };
                // Who asked may be gone.
                let _ = answer.send(standing);
            }
            Happening::Ordered(order, reply) => {
                self.inputs.push(match order {
                    Order::Reset(scope) => Input::Reset { scope },
                    Order::Lift(endpoint) => Input::Lifted { endpoint },
                });
                self.orders.push(reply);
            }
            Happening::Read(read) => {
                for message in read.messages {
                    self.bodies.put(message, 1);
                }
                let endpoint = read.endpoint;
                self.inputs.push(match read.window {
                    Some(window) => Input::Loaded { endpoint, window },
                    None => Input::NotLoaded { endpoint },
                });
            }
        }
    }
}

async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
