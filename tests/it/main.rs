//! Black-box tests: the real binary, real sockets, real files.
//!
//! Everything here starts `gonets` as a user would and looks at it from outside. What happens inside
//! is tested beside the code.

mod client;
mod crash;
mod delivery;
mod memory;
mod receiver;
mod sdk;
mod server;
mod sync;
mod world;
