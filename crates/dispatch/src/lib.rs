//! The shard machine: which delivery goes next, as plain data.
//!
//! [`Shard::step`](shard::Shard::step) takes what happened and answers with what is to be done. It
//! knows no sockets, no SQL, no runtime and no clock: the same machine runs in production, in tests
//! and in simulation, and the same inputs always give the same effects.
//!
//! - [`input`] and [`effect`]: its two languages.
//! - [`config`]: what it must know of an endpoint.
//! - [`shard`]: the machine.
//! - `lane`: one endpoint's queue, with a bounded window of the store in memory.
//! - `circuit`: what shares one breaker.
//! - `slots`, `share`: who may hold a request's slot when slots run short (R22).
//! - `cap`, `pace`: how many at once, how many a second.
//! - `timers`: when to look again.
//! - `numbers`: maps by our own numbers, which every step looks into.
//! - [`simulate`]: the timeline that a profile gives, from the same machine.

mod cap;
mod circuit;
pub mod config;
pub mod effect;
mod flight;
pub mod input;
mod lane;
mod numbers;
mod pace;
pub mod shard;
mod share;
pub mod simulate;
mod slots;
mod timers;
mod window;
