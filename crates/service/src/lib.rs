//! What can be asked of Gonets: one operation per file, the caller's permission in its signature.
//!
//! The API, the portal and the command line all call the same operations, so what is allowed, what
//! is checked and what is answered is decided here once. This crate knows no HTTP, no HTML and no
//! command line; it decides no rule of delivery either (those are `gonets-core`'s).
//!
//! - [`service`]: the [`Service`] itself and its settings.
//! - [`access`]: who is asking, and what they may reach.
//! - [`error`]: why something was not done, for the caller and for the log.
//! - [`page`], [`idempotency`]: how lists are paged and POSTs are repeated.
//! - [`room`]: how much of large answers is in memory at once.
//! - [`application`], [`endpoint`], [`event_type`], [`key`], [`environment`]: configuration.
//! - [`message`], [`delivery`], [`attempt`]: what was sent and what came of it.
//! - [`breaker`], [`freeze`], [`balance`]: what holds an application's deliveries back, and its books.
//! - [`profile`]: the values that the rules are computed with.
//! - [`operational`]: where an environment's own people are told what happens in it.
//!
//! Reading configuration is a look into memory and so not async; the journal is read from the
//! store, on threads that may block.

pub mod access;
pub mod application;
pub mod attempt;
pub mod balance;
pub mod breaker;
pub mod delivery;
pub mod endpoint;
pub mod environment;
pub mod error;
pub mod event_type;
mod field;
pub mod freeze;
pub mod idempotency;
pub mod key;
pub mod message;
pub mod operational;
pub mod page;
pub mod profile;
pub mod room;
pub mod service;
mod turns;
mod write;

pub use access::{Admin, AppAccess, Caller, Producer, Reader};
pub use error::{Error, Problem};
pub use service::{Service, Settings};
