//! Simulated time and scripted peers, for tests only.
//!
//! - [`clock`]: a clock that a test moves by hand.
//! - [`simulation`]: the shard machine with a real store under seeded disorder: crashes between any
//!   two steps, late reads, peers of all tempers, and checks of what must always hold.

pub mod clock;
pub mod simulation;
