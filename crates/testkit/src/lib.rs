//! Simulated time and scripted peers, for tests only.
//!
//! - [`clock`]: a clock that a test moves by hand.
//! - [`course`]: one delivery through the machine and a real store, by a script.
//! - [`simulation`]: the shard machine with a real store under seeded disorder: crashes between any
//!   two steps, late reads, peers of all tempers, and checks of what must always hold.

pub mod clock;
pub mod course;
pub mod simulation;
