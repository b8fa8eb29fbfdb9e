//! What the dispatcher asks.

use gonets_core::{
    ids::{AppNo, EndpointNo, MessageId},
    time::Timestamp,
};
use gonets_store::{
    query::{Answer, DueRows, FreshRow, HandRow, LaneBacklog, Lanes, WaitingRow},
    record::{Gate, MessageRecord, Scope},
};
use rusqlite::{Connection, OptionalExtension, Row};

use super::SqliteReaders;
use crate::row::{self, int, message_id};

impl Lanes for SqliteReaders {
    fn backlog(&self) -> Answer<Vec<LaneBacklog>> {
        self.read_for_delivery(|conn| {
            let mut lanes = std::collections::BTreeMap::new();
            let of = |endpoint| LaneBacklog {
                endpoint: EndpointNo(endpoint),
                fresh: false,
                by_hand: false,
                next_due: None,
            };
            skip_scan(conn, NEXT_FRESH, |endpoint, _| {
                lanes.entry(endpoint).or_insert_with(|| of(endpoint)).fresh = true;
                Ok(())
            })?;
            skip_scan(conn, NEXT_BY_HAND, |endpoint, _| {
                lanes.entry(endpoint).or_insert_with(|| of(endpoint)).by_hand = true;
                Ok(())
            })?;
            skip_scan(conn, NEXT_WAITING, |endpoint, found| {
                lanes.entry(endpoint).or_insert_with(|| of(endpoint)).next_due = row::instant(found, 1)?;
                Ok(())
            })?;
            Ok(lanes.into_values().collect())
        })
    }

    fn fresh(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<FreshRow>> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT msg, critical FROM fresh WHERE endpoint = ?1 ORDER BY msg LIMIT ?2",
            )?;
            statement
                .query_map((endpoint.0, limit), |row| {
                    Ok(FreshRow { message: message_id(row.get(0)?), critical: row.get(1)? })
                })?
                .collect()
        })
    }

    fn due(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<DueRows> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(include_str!("../sql/due.sql"))?;
            let rows: Vec<WaitingRow> = statement
                .query_map((endpoint.0, now.as_millis(), limit), waiting)?
                .collect::<rusqlite::Result<_>>()?;
            let last = rows.last().map_or((i64::MIN, 0), |row| (row.due.as_millis(), int(row.message.0)));
            let mut next = conn.prepare_cached(
                "SELECT due FROM waiting WHERE endpoint = ?1 AND (due, msg) > (?2, ?3) ORDER BY due, msg LIMIT 1",
            )?;
            let next_due = next
                .query_row((endpoint.0, last.0, last.1), |row| Ok(Timestamp::from_millis(row.get(0)?)))
                .optional()?;
            Ok(DueRows { rows, next_due })
        })
    }

    fn by_hand(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<HandRow>> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(include_str!("../sql/by_hand.sql"))?;
            statement
                .query_map((endpoint.0, limit), |row| {
                    Ok(HandRow {
                        message: message_id(row.get(0)?),
                        critical: row.get(1)?,
                        attempts: row.get(2)?,
                    })
                })?
                .collect()
        })
    }

    fn messages(&self, ids: &[MessageId]) -> Answer<Vec<MessageRecord>> {
        self.read_for_delivery(|conn| messages(conn, ids, true))
    }

    fn unrouted(&self, app: AppNo, limit: u32) -> Answer<Vec<MessageId>> {
        self.read_for_delivery(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT msg FROM unrouted WHERE app = ?1 ORDER BY msg LIMIT ?2")?;
            statement.query_map((app.0, limit), |row| Ok(message_id(row.get(0)?)))?.collect()
        })
    }

    fn gates(&self) -> Answer<Vec<(Scope, Gate)>> {
        self.read_for_delivery(|conn| {
            conn.prepare_cached(include_str!("../sql/gates.sql"))?.query_map([], row::gate)?.collect()
        })
    }
}

const NEXT_FRESH: &str = "SELECT endpoint FROM fresh WHERE endpoint > ?1 ORDER BY endpoint LIMIT 1";
const NEXT_BY_HAND: &str = "SELECT endpoint FROM hand WHERE endpoint > ?1 ORDER BY endpoint LIMIT 1";
const NEXT_WAITING: &str = "SELECT endpoint, due FROM waiting INDEXED BY waiting_due WHERE endpoint > ?1
                            ORDER BY endpoint, due LIMIT 1";

/// One seek for each endpoint that has rows, whatever their number.
fn skip_scan(
    conn: &Connection,
    next: &str,
    mut found: impl FnMut(u32, &Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(next)?;
    let mut last = -1;
    loop {
        let mut rows = statement.query([last])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let endpoint: u32 = row.get(0)?;
        found(endpoint, row)?;
        last = i64::from(endpoint);
    }
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<WaitingRow> {
    Ok(WaitingRow {
        message: message_id(row.get(0)?),
        critical: row.get(1)?,
        due: Timestamp::from_millis(row.get(2)?),
        rule: row::rule(row, 3)?,
        progress: row::progress(row, 4)?,
    })
}

/// Those that are there, with their payloads if asked.
pub(super) fn messages(
    conn: &Connection,
    ids: &[MessageId],
    with_payload: bool,
) -> rusqlite::Result<Vec<MessageRecord>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(message(conn, *id, with_payload)?);
    }
    Ok(found)
}

/// A message, with its payload if asked.
pub(super) fn message(
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
