//! How far a delivery has come: the budgets it has used. A small `Copy` value, kept in the lane
//! and in the store beside the delivery, and changed by [`crate::decide::after_attempt`] only.

use crate::time::Timestamp;

/// What a delivery has used so far. A fresh one is `Progress::default()`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Steps spent on the outage ladder: failures counted by it, the last one included (R3).
    pub outage: u16,
    /// Steps spent on the refusal ladder (R4).
    pub refusals: u16,
    /// When the first refusal came; the refusal ladder's span runs from here (R4).
    pub first_refusal: Option<Timestamp>,
    /// Attempts of any outcome, blocked and interrupted ones included.
    pub attempts: u32,
    /// Interrupted attempts in a row; the third counts as unavailable (R1).
    pub interrupted: u8,
    /// Blocked attempts in a row; they double the time until the address is looked at again (R1).
    pub blocked: u8,
}
