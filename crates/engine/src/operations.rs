//! Between the machine's language and the store's: the same for the driver and the simulation.

use gonets_core::time::Timestamp;
use gonets_dispatch::{
    effect::{self, Load, Record},
    input::{DueItem, FreshItem, HandItem, Window},
};
use gonets_store::{
    query::{Answer, Queries},
    record::{AttemptRecord, Disabled, DisabledBy, Gate, SettledState},
    tx::{GateWrite, Outcome, Source, Then},
};

/// The operation that records an outcome.
pub fn outcome(record: &Record, attempt: Option<AttemptRecord>, gate: Option<GateWrite>) -> Outcome {
    Outcome {
        endpoint: record.endpoint,
        message: record.message,
        from: match record.source {
            effect::Source::Fresh => Source::Fresh,
            effect::Source::Waiting => Source::Waiting,
            effect::Source::Hand => Source::Hand,
        },
        attempt,
        progress: record.progress,
        then: match record.then {
            effect::Then::Delivered => Then::Settled { state: SettledState::Delivered, reason: None },
            effect::Then::Failed(reason) => {
                Then::Settled { state: SettledState::Failed, reason: Some(reason) }
            }
            effect::Then::Again { due, rule } => Then::Waiting { due, rule },
            effect::Then::Untouched => Then::Untouched,
        },
        gate,
    }
}

/// Reads the window that the machine asked for.
///
/// # Errors
/// As the store's questions.
pub fn window(queries: &dyn Queries, load: Load) -> Answer<Window> {
    let mut window = Window::default();
    if load.by_hand > 0 {
        let rows = queries.by_hand(load.endpoint, load.by_hand)?;
        window.hand_end = rows.len() < load.by_hand as usize;
        for row in rows {
            window.by_hand.push(HandItem {
                message: row.message,
                critical: row.critical,
                attempts: row.attempts,
                interrupted: 0,
            });
        }
    }
    if load.due > 0 {
        let due = queries.due(load.endpoint, load.now, load.due)?;
        window.next_due = due.next_due;
        window.due = due
            .rows
            .into_iter()
            .map(|row| DueItem {
                message: row.message,
                critical: row.critical,
                due: row.due,
                progress: row.progress,
            })
            .collect();
    }
    if load.fresh > 0 {
        let rows = queries.fresh(load.endpoint, load.fresh)?;
        window.fresh_end = rows.len() < load.fresh as usize;
        window.fresh =
            rows.into_iter().map(|row| FreshItem { message: row.message, critical: row.critical }).collect();
    }
    Ok(window)
}

/// The endpoint's gate as an outcome leaves it; `None` where it changes nothing.
pub fn gate(before: Gate, record: &Record, now: Timestamp) -> Option<Gate> {
    let mut gate = before.clone();
    if let Some(throttle) = record.throttle {
        gate.throttled_until = throttle.until;
        gate.throttles = throttle.in_a_row;
    }
    if record.disable && gate.disabled.is_none() {
        gate.disabled = Some(Disabled { since: now, why: DisabledBy::Gone });
    }
    (gate != before).then_some(gate)
}
