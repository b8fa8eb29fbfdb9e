//! Profiles as they are in use, and what would come of a delivery by one.

mod list;
mod simulate;

pub use gonets_dispatch::simulate::{Attempt as SimulatedAttempt, Timeline};

pub use self::simulate::Simulation;
