//! Deliveries as they stand: in a lane, or ended.

use std::collections::BTreeSet;

use gonets_core::{
    ids::{EndpointNo, MessageId},
    progress::Progress,
    time::Timestamp,
};
use gonets_store::{
    query::{Page, Paged},
    record::{DeliveryRecord, DeliveryState},
};
use rusqlite::{Connection, OptionalExtension, Row};

use super::range::{Range, indexed};
use crate::row::{self, int, message_id};

/// One delivery, wherever it is.
pub(super) fn delivery(
    conn: &Connection,
    message: MessageId,
    endpoint: EndpointNo,
) -> rusqlite::Result<Option<DeliveryRecord>> {
    let key = (endpoint.0, int(message.0));
    let record = |state, progress| DeliveryRecord { message, endpoint, progress, state };
    let fresh = "SELECT 1 FROM fresh WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2";
    if conn.prepare_cached(fresh)?.exists(key)? {
        return Ok(Some(record(DeliveryState::Fresh, Progress::default())));
    }
    let waits = conn
        .prepare_cached(
            "SELECT due, rule, outage, refusals, first_refusal, attempts, interrupted, blocked
             FROM waiting WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2",
        )?
        .query_row(key, |row| Ok(record(waiting_state(row)?, row::progress(row, 2)?)))
        .optional()?;
    match waits {
        Some(found) => Ok(Some(found)),
        None => settled(conn, message, endpoint),
    }
}

fn waiting_state(row: &Row<'_>) -> rusqlite::Result<DeliveryState> {
    Ok(DeliveryState::Waiting { due: Timestamp::from_millis(row.get(0)?), rule: row::rule(row, 1)? })
}

fn settled(
    conn: &Connection,
    message: MessageId,
    endpoint: EndpointNo,
) -> rusqlite::Result<Option<DeliveryRecord>> {
    conn.prepare_cached(
        "SELECT state, reason, settled, last_status, outage, refusals, first_refusal, attempts, interrupted,
         blocked FROM delivery WHERE endpoint = ?1 AND msg = ?2",
    )?
    .query_row((endpoint.0, int(message.0)), |row| {
        let state = DeliveryState::Settled {
            state: row::state(row, 0)?,
            reason: row::reason(row, 1)?,
            at: Timestamp::from_millis(row.get(2)?),
            last_status: row.get(3)?,
        };
        Ok(DeliveryRecord { message, endpoint, progress: row::progress(row, 4)?, state })
    })
    .optional()
}

/// An endpoint's deliveries: the lane's two tables, then what has ended, put in order.
pub(super) fn at(
    conn: &Connection,
    endpoint: EndpointNo,
    page: &Page,
) -> rusqlite::Result<Paged<DeliveryRecord>> {
    let range = Range::of(page, None, None);
    let wanted = page.limit as usize + 1;
    let mut messages = lane(conn, "fresh", endpoint, range, wanted)?;
    messages.extend(lane(conn, "waiting", endpoint, range, wanted)?);
    messages.extend(ended(conn, endpoint, range, wanted)?);
    messages.sort_unstable();
    messages.dedup();
    if range.down {
        messages.reverse();
    }
    let mut found = Vec::with_capacity(wanted.min(messages.len()));
    for message in messages.into_iter().take(wanted) {
        found.extend(delivery(conn, message_id(message), endpoint)?);
    }
    Ok(page.cut(found))
}

fn lane(
    conn: &Connection,
    table: &str,
    endpoint: EndpointNo,
    range: Range,
    wanted: usize,
) -> rusqlite::Result<Vec<i64>> {
    let half = |later| {
        format!("SELECT msg FROM {table} WHERE endpoint = ?1 AND later = {later} AND msg > ?2 AND msg < ?3")
    };
    let sql = format!("{} UNION ALL {}", half(0), half(1));
    let mut statement = conn.prepare_cached(&format!("{} LIMIT ?4", range.ordered(&sql, "msg")))?;
    statement.query_map((endpoint.0, range.low, range.high, wanted as i64), |row| row.get(0))?.collect()
}

/// The first `wanted` messages whose delivery has ended. The index by endpoint and the attempts of
/// the tail say where to look; they know more than has ended. CROSS JOIN: that order and no other.
fn ended(
    conn: &Connection,
    endpoint: EndpointNo,
    range: Range,
    wanted: usize,
) -> rusqlite::Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    let sql = "SELECT i.msg FROM delivery_by_endpoint i
               CROSS JOIN delivery d ON d.msg = i.msg AND d.endpoint = i.endpoint
               WHERE i.endpoint = ?1 AND i.msg > ?2 AND i.msg < ?3";
    let sql = format!("{} LIMIT ?4", range.ordered(sql, "i.msg"));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((endpoint.0, range.low, range.high, wanted as i64))?;
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?);
    }
    let mut statement = conn.prepare_cached(
        "SELECT DISTINCT a.msg FROM attempt a CROSS JOIN delivery d ON d.msg = a.msg AND d.endpoint = a.endpoint
         WHERE a.id > ?1 AND a.endpoint = ?2 AND a.msg > ?3 AND a.msg < ?4",
    )?;
    let mut rows = statement.query((indexed(conn)?.1, endpoint.0, range.low, range.high))?;
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?);
    }
    Ok(found)
}
