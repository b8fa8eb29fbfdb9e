//! Between the machine's language and the store's: the same for the driver and the simulation.

use gonets_dispatch::{
    effect::{self, Load, Record},
    input::{DueItem, FreshItem, HandItem, OrderedItem, Window},
};
use gonets_store::{
    query::{Answer, FreshRow, OrderedRow, Queries, WaitingRow},
    record::{AttemptRecord, SettledState},
    tx::{Keep, Outcome, Source, Then},
};

/// The operation that records an outcome.
pub fn outcome(record: Record, attempt: Option<AttemptRecord>) -> Outcome {
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
        gates: record.gates,
        notices: record.notices,
    }
}

/// The operation that keeps what came with no outcome.
pub fn keep(keep: effect::Keep) -> Keep {
    Keep { gates: keep.gates, notices: keep.notices }
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
                kind: row.kind,
                attempts: row.attempts,
                interrupted: 0,
            });
        }
    }
    if load.due > 0 {
        let due = queries.due(load.endpoint, load.now, load.due)?;
        window.next_due = due.next_due;
        window.due = due.rows.into_iter().map(due_item).collect();
    }
    if load.fresh > 0 {
        let rows = queries.fresh(load.endpoint, load.fresh)?;
        window.fresh_end = rows.len() < load.fresh as usize;
        window.fresh = rows.into_iter().map(fresh_item).collect();
    }
    if load.in_order > 0 {
        let head = queries.in_order(load.endpoint, load.now, load.in_order)?;
        window.order_end = head.rows.len() < load.in_order as usize;
        window.next_due = head.next_due;
        window.in_order = head
            .rows
            .into_iter()
            .map(|row| match row {
                OrderedRow::Fresh(row) => OrderedItem::Fresh(fresh_item(row)),
                OrderedRow::Waiting(row) => OrderedItem::Waiting(due_item(row)),
            })
            .collect();
    }
    Ok(window)
}

fn fresh_item(row: FreshRow) -> FreshItem {
    FreshItem { message: row.message, critical: row.critical, kind: row.kind }
}

fn due_item(row: WaitingRow) -> DueItem {
    DueItem {
        message: row.message,
        critical: row.critical,
        kind: row.kind,
        due: row.due,
        progress: row.progress,
    }
}
