//! Messages by their ids.

use gonets_core::ids::MessageId;
use gonets_store::record::MessageRecord;
use rusqlite::{Connection, OptionalExtension};

use crate::row::{self, int};

/// Those that are there, with their payloads if asked.
pub(super) fn by_id(
    conn: &Connection,
    ids: &[MessageId],
    with_payload: bool,
) -> rusqlite::Result<Vec<MessageRecord>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(one(conn, *id, with_payload)?);
    }
    Ok(found)
}

/// A message, with its payload if asked.
pub(super) fn one(
    conn: &Connection,
    id: MessageId,
    with_payload: bool,
) -> rusqlite::Result<Option<MessageRecord>> {
    let mut statement = conn.prepare_cached(MESSAGE_BY_ID)?;
    let found = statement.query_row([int(id.0)], row::message).optional()?;
    let Some(mut record) = found else { return Ok(None) };
    if with_payload {
        let mut statement = conn.prepare_cached("SELECT body FROM payload WHERE msg = ?1")?;
        let body: Option<Vec<u8>> = statement.query_row([int(id.0)], |row| row.get(0)).optional()?;
        record.payload = body.map(bytes::Bytes::from);
    }
    Ok(Some(record))
}

const MESSAGE_BY_ID: &str =
    "SELECT id, env, app, type, critical, occurred, deliver_at, routes, meta FROM message WHERE id = ?1";
