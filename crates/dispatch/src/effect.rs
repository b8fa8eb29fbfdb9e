//! What a shard wants done, in the order in which it must be.

use gonets_core::{
    gate::GateWrite,
    ids::{EndpointNo, MessageId},
    notice::Notice,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

/// One attempt on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SendId(pub u64);

/// Which row of the store an attempt is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    Fresh,
    Waiting,
    Hand,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Make an attempt and come back with [`crate::input::Input::Replied`].
    Send(Send),
    /// Put the outcome into the committer's queue, before any effect that follows; come back with
    /// [`crate::input::Input::Durable`] when it is committed.
    Record(Record),
    /// Put changes of gates, and notices of them, into the committer's queue, before any effect that
    /// follows. Nothing comes back.
    Keep(Keep),
    /// Read a window and come back with [`crate::input::Input::Loaded`].
    Load(Load),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Send {
    pub id: SendId,
    pub endpoint: EndpointNo,
    pub message: MessageId,
    pub source: Source,
    /// Before this attempt.
    pub progress: Progress,
    /// It is a breaker's probe (R12).
    pub probe: bool,
}

/// Changes that come with no outcome: a probe's lease, a notice's time, the whole fleet's pause.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keep {
    pub gates: Vec<GateWrite>,
    pub notices: Vec<Notice>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub send: SendId,
    pub endpoint: EndpointNo,
    pub message: MessageId,
    pub source: Source,
    /// After this attempt.
    pub progress: Progress,
    pub then: Then,
    /// What this attempt changed in front of its neighbours: breaker, throttle, health, disabling.
    pub gates: Vec<GateWrite>,
    /// What is to be told of it.
    pub notices: Vec<Notice>,
    /// The attempt says nothing that may be kept of it: it was made while we suspected ourselves (R27),
    /// and its journal entry says so.
    pub suspect: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Delivered,
    Failed(Reason),
    Again {
        due: Timestamp,
        rule: Rule,
    },
    /// A retry by hand that failed: nothing changes.
    Untouched,
}

/// Limits of 0 ask for nothing of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub endpoint: EndpointNo,
    pub fresh: u32,
    pub due: u32,
    /// What is due at this instant.
    pub now: Timestamp,
    pub by_hand: u32,
    /// Of a lane in strict order: its head (R24), and no `fresh` or `due`.
    pub in_order: u32,
}
