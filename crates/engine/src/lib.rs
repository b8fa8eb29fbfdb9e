//! Drives the shard machine: sends what it wants sent, records what came of it, reads what it
//! wants read, and starts and stops in order.
//!
//! - [`directory`]: the configuration in memory, as the last commit left it.
//! - [`handle`]: how the service commits, asks and listens.
//! - `driver`: the loop: landings, replies and windows in, effects out.
//! - `courier`: one attempt on the wire.
//! - `journal`: what an attempt's record says.
//! - `trial`: test events.
//! - `unrouted`, `expiry`: what waits without an endpoint, and what has waited too long.
//! - `audit`: adds the books up from time to time.
//! - `notices`: carries notices on, as operational events and by mail.
//! - `bodies`: payloads in memory between acceptance and the first attempt.
//!
//! It holds no rule: what a delivery comes to is decided in `core`, who goes next in `dispatch`.

mod audit;
mod bodies;
mod courier;
pub mod directory;
mod driver;
mod expiry;
pub mod handle;
mod journal;
mod notices;
pub mod operations;
mod start;
mod trial;
mod unrouted;

pub use driver::{Order, Standing};
pub use handle::Engine;
pub use start::{Parts, StartError, start};
pub use trial::NotTried;
