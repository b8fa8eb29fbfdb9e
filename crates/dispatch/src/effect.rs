//! What a shard wants done, in the order in which it must be.

use gonets_core::{
    ids::{EndpointNo, MessageId},
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
    /// The endpoint's pause as it stands now, where this attempt changed it (R8).
    pub throttle: Option<Throttle>,
    /// The endpoint is to be disabled with this outcome (410 under `gone = "disable"`).
    pub disable: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    pub until: Option<Timestamp>,
    pub in_a_row: u32,
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
}
