//! Black-box tests: the real binary, real sockets, real files.
//!
//! Everything here starts `gonets` as a user would and looks at it from outside. What happens inside
//! is tested beside the code.

#![allow(clippy::print_stdout, reason = "measured figures are part of a test run's report")]

mod bytes;
mod client;
mod crash;
mod delivery;
mod demo;
mod dns;
mod guard;
mod handles;
mod healthy;
mod hostile;
mod memory;
mod peer;
mod receiver;
mod reuse;
mod rules;
mod sdk;
mod server;
mod sync;
mod trial;
mod world;
