//! The accept loop, limits and drain that every HTTP front stands on.
//!
//! `axum::serve` sets no time-out on request heads, knows no limit on connections and no end of a
//! drain, so the loop is our own, over hyper's HTTP/1. It is on the path of every message: one
//! task per connection, no task per request, no layer between hyper and the router but a trailing
//! slash taken off.
//!
//! - [`serve`]: the loop and the drain.
//! - [`limits`]: what a client may take.
//! - `outward`: clients that take no answer, and the end of a connection.
//! - `refusal`: what is said to those who send no HTTP.
//! - [`slash`]: a trailing slash is optional everywhere.
//!
//! It knows no operation: what is served is whatever service it is given.

mod connection;
pub mod limits;
mod outward;
mod refusal;
mod serve;
pub mod slash;

pub use limits::Limits;
pub use serve::{Drained, serve};
