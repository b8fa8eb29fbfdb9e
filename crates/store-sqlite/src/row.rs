//! Between rows and records: how ids, scopes, progress and gates are written as columns.

use bytes::Bytes;
use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};
use gonets_store::{
    entity::{EntityKind, EntityRow},
    record::{AttemptRecord, Disabled, DisabledBy, Gate, MessageRecord, Scope, SettledState},
};
use rusqlite::{Row, types::Type};

/// Ids have 63 bits, so they fit SQLite's signed integers in the same order.
pub(crate) const fn int(id: u64) -> i64 {
    id as i64
}

pub(crate) const fn message_id(column: i64) -> MessageId {
    MessageId(column as u64)
}

pub(crate) fn millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millis)
}

pub(crate) fn instant(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

/// A stored code that no version has written: the file was changed by something else.
fn unknown(column: usize, what: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, format!("an unknown {what}").into())
}

pub(crate) fn rule(row: &Row<'_>, column: usize) -> rusqlite::Result<Rule> {
    Rule::from_code(row.get(column)?).ok_or_else(|| unknown(column, "rule"))
}

pub(crate) fn reason(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Reason>> {
    match row.get::<_, Option<u8>>(column)? {
        None => Ok(None),
        Some(code) => Reason::from_code(code).map(Some).ok_or_else(|| unknown(column, "reason")),
    }
}

pub(crate) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<SettledState> {
    SettledState::from_code(row.get(column)?).ok_or_else(|| unknown(column, "state of a delivery"))
}

pub(crate) fn outcome(row: &Row<'_>, column: usize) -> rusqlite::Result<Outcome> {
    Outcome::from_code(row.get(column)?).ok_or_else(|| unknown(column, "outcome"))
}

/// Six columns from `first`: outage, refusals, first_refusal, attempts, interrupted, blocked.
pub(crate) fn progress(row: &Row<'_>, first: usize) -> rusqlite::Result<Progress> {
    Ok(Progress {
        outage: row.get(first)?,
        refusals: row.get(first + 1)?,
        first_refusal: instant(row, first + 2)?,
        attempts: row.get(first + 3)?,
        interrupted: row.get(first + 4)?,
        blocked: row.get(first + 5)?,
    })
}

/// Columns: id, env, app, type, critical, occurred, deliver_at, routes, meta. Without its payload.
pub(crate) fn message(row: &Row<'_>) -> rusqlite::Result<MessageRecord> {
    Ok(MessageRecord {
        id: message_id(row.get(0)?),
        environment: EnvironmentNo(row.get(1)?),
        app: AppNo(row.get(2)?),
        event_type: row.get(3)?,
        critical: row.get(4)?,
        occurred: instant(row, 5)?,
        deliver_at: instant(row, 6)?,
        routes: row.get(7)?,
        meta: row.get(8)?,
        payload: None,
    })
}

/// Columns: id, msg, endpoint, n, by_hand, outcome, status, started, duration_us, detail, answer.
pub(crate) fn attempt(row: &Row<'_>) -> rusqlite::Result<AttemptRecord> {
    Ok(AttemptRecord {
        id: AttemptId(row.get::<_, i64>(0)? as u64),
        message: message_id(row.get(1)?),
        endpoint: EndpointNo(row.get(2)?),
        number: row.get(3)?,
        by_hand: row.get(4)?,
        outcome: outcome(row, 5)?,
        status: row.get(6)?,
        started: Timestamp::from_millis(row.get(7)?),
        duration_us: row.get::<_, i64>(8)? as u64,
        detail: row.get(9)?,
        answer: Bytes::from(row.get::<_, Vec<u8>>(10)?),
    })
}

pub(crate) fn entity(row: &Row<'_>) -> rusqlite::Result<EntityRow> {
    Ok(EntityRow {
        no: gonets_core::ids::EntityNo(row.get(0)?),
        kind: EntityKind::from_code(row.get(1)?).ok_or_else(|| unknown(1, "kind of document"))?,
        environment: EnvironmentNo(row.get(2)?),
        owner: gonets_core::ids::EntityNo(row.get(3)?),
        uid: row.get(4)?,
        version: row.get(5)?,
        deleted: row.get(6)?,
        doc: row.get(7)?,
    })
}

const SCOPE_SHIFT: u32 = 32;

/// The kind in the upper 32 bits, the number in the lower.
pub(crate) fn scope_column(scope: Scope) -> i64 {
    let (kind, no) = match scope {
        Scope::Everything => (0, 0),
        Scope::Environment(no) => (1, no.0),
        Scope::Application(no) => (2, no.0),
        Scope::Endpoint(no) => (3, no.0),
    };
    (kind << SCOPE_SHIFT) | i64::from(no)
}

fn scope(row: &Row<'_>, column: usize) -> rusqlite::Result<Scope> {
    let stored: i64 = row.get(column)?;
    let no = stored as u32;
    Ok(match stored >> SCOPE_SHIFT {
        0 => Scope::Everything,
        1 => Scope::Environment(EnvironmentNo(no)),
        2 => Scope::Application(AppNo(no)),
        3 => Scope::Endpoint(EndpointNo(no)),
        _ => return Err(unknown(column, "scope")),
    })
}

/// All columns of `gate` in the order of the schema.
pub(crate) fn gate(row: &Row<'_>) -> rusqlite::Result<(Scope, Gate)> {
    let probe = match (row.get::<_, Option<u32>>(4)?, row.get::<_, Option<i64>>(5)?) {
        (Some(endpoint), Some(message)) => Some((EndpointNo(endpoint), message_id(message))),
        _ => None,
    };
    let disabled = match (instant(row, 12)?, row.get::<_, Option<u8>>(13)?) {
        (Some(since), Some(why)) => {
            let why = DisabledBy::from_code(why).ok_or_else(|| unknown(13, "cause of disabling"))?;
            Some(Disabled { since, why })
        }
        _ => None,
    };
    let gate = Gate {
        breaker: row.get(1)?,
        pause_ms: row.get::<_, i64>(2)? as u64,
        until: instant(row, 3)?,
        probe,
        lease_until: instant(row, 6)?,
        throttled_until: instant(row, 7)?,
        throttles: row.get(8)?,
        failing_since: instant(row, 9)?,
        failures: row.get(10)?,
        noticed: row.get(11)?,
        disabled,
        frozen: row.get(14)?,
        cancel_through: row.get::<_, Option<i64>>(15)?.map(message_id),
    };
    Ok((scope(row, 0)?, gate))
}
