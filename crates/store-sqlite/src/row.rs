//! Between rows and records: how ids, scopes, progress and gates are written as columns.

use std::time::Duration;

use bytes::Bytes;
use gonets_core::{
    gate::{GateChange, Scope},
    ids::{AppNo, AttemptId, EndpointNo, EnvironmentNo, MessageId},
    outcome::Outcome,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};
use gonets_store::{
    entity::{EntityKind, EntityRow},
    record::{AttemptRecord, MessageRecord, SettledState, UnroutedEnd},
};
use rusqlite::{Row, types::Type};
use serde::{Serialize, de::DeserializeOwned};

/// An id that may be larger than any that was made.
pub(crate) fn at_most(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// The first id of a message accepted after an instant.
pub(crate) fn first_after(at: Timestamp) -> i64 {
    int(MessageId::first_at(at.saturating_add(Duration::from_millis(1))).0)
}

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

/// Columns: reason, at.
pub(crate) fn unrouted_end(row: &Row<'_>) -> rusqlite::Result<UnroutedEnd> {
    let reason = reason(row, 0)?.ok_or_else(|| unknown(0, "reason"))?;
    Ok(UnroutedEnd { reason, at: Timestamp::from_millis(row.get(1)?) })
}

/// Columns: scope, doc.
pub(crate) fn gate(row: &Row<'_>) -> rusqlite::Result<(Scope, GateChange)> {
    Ok((scope(row, 0)?, from_json(row, 1)?))
}

/// A small document as it is stored.
pub(crate) fn as_json(document: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(document).map_err(|cause| rusqlite::Error::ToSqlConversionFailure(cause.into()))
}

pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|cause| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, cause.into()))
}
