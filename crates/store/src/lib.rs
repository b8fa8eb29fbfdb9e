//! What is kept, and how it gets there.
//!
//! - [`tx`]: the operations that change the store; a batch of them is one durable commit.
//! - [`record`]: what journal rows hold.
//! - [`entity`]: configuration as versioned documents.
//! - [`engine`]: the trait of a store engine, one writer's side.
//! - [`query`]: the questions that can be asked of it, one small trait for each.
//! - [`committer`]: group commit over any engine: queues, batches, acks, hand-over.
//! - [`model`]: an engine in memory, for tests and simulation.
//! - [`conformance`]: the tests that every engine passes.
//!
//! This crate decides no rule: what a delivery comes to is computed before it gets here.

pub mod committer;
pub mod conformance;
pub mod engine;
pub mod entity;
pub mod model;
pub mod query;
pub mod record;
pub mod tx;
