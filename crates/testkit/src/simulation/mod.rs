//! The shard machine with a real store, under seeded disorder.
//!
//! # What runs
//! The production machine ([`gonets_dispatch::shard::Shard`]), the production group commit and a
//! real store engine (the model or SQLite). The loop, the peers and the time are the simulation's.
//! From the seed come: who posts when, in which order commits, hand-overs, reads and answers take
//! their turns, how peers answer, and when the process dies. After a crash everything in memory is
//! gone, including operations that were queued but not committed; the store is opened again and the
//! machine recovers as in production. Time moves only when nothing else can.
//!
//! # What must hold
//! See [`laws`]. At the end all peers are well and the world runs until it rests; then every
//! message that was acknowledged must have come to its end at every endpoint.
//!
//! # Sabotage
//! A check that cannot fail is worth nothing, so the world can be built wrong on purpose
//! ([`Sabotage`]); tests show that the laws catch each of these.

mod disk;
mod laws;
mod peers;
mod world;

pub use self::{
    disk::{Disk, ModelDisk},
    laws::Broken,
    world::{Plan, Summary, run},
};

/// A world that is built wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Nothing is wrong.
    None,
    /// The caller gets its 202 when the operation is queued, not when it is committed.
    AckBeforeCommit,
    /// A retry is made possible before the outcome of the attempt before is committed.
    RetryBeforeRecord,
    /// At restart the due times of waiting deliveries are not taken up.
    ForgetDueTimes,
}
