//! The rules of delivery as plain functions of state, event and time.
//!
//! Everything that decides what becomes of a delivery is here, once, with the number of its rule
//! (R1, R2, …). Nothing in this crate does I/O, is async, reads a clock or signs: whoever calls it
//! says what happened and when, and is told what is to be done. The same functions run in the
//! engine, in `gonets simulate` and in the tests.
//!
//! | question | module |
//! |---|---|
//! | what did an attempt come to? | [`outcome`], [`retry_after`] |
//! | what happens to the delivery next? | [`decide`], with [`progress`] and [`rule`] |
//! | by which values? | [`profile`], [`limits`], [`duration`] |
//! | is the message critical, and who gets it? | [`critical`], [`routing`], [`names`] |
//! | why does a delivery wait? | [`hold`], [`breaker`], [`gate`] |
//! | how is the endpoint, and how are we ourselves? | [`health`], [`fleet`] |
//! | who is told? | [`notice`] |
//! | when, and which one? | [`time`], [`clock`], [`ids`] |

pub mod breaker;
pub mod clock;
pub mod critical;
pub mod decide;
pub mod duration;
pub mod error;
pub mod fleet;
pub mod gate;
pub mod health;
pub mod hold;
pub mod ids;
pub mod limits;
pub mod names;
pub mod notice;
pub mod outcome;
pub mod profile;
pub mod progress;
pub mod retry_after;
pub mod routing;
pub mod rule;
pub mod time;

pub use error::Error;
