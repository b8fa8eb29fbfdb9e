//! What the dispatcher asks.

use gonets_core::{
    gate::{Gate, Scope},
    ids::{AppNo, EndpointNo, MessageId},
    names::kind_of,
    notice::Notice,
    time::Timestamp,
};
use gonets_store::{
    query::{
        Answer, DueRows, FreshRow, HandRow, LaneBacklog, Lanes, Oldest, OrderedRow, OrderedRows, WaitingRow,
    },
    record::MessageRecord,
};
use rusqlite::{Connection, OptionalExtension, Row, types::ValueRef};

use super::{SqliteReaders, messages};
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
            skip_scan(conn, include_str!("../sql/next_waiting.sql"), |endpoint, found| {
                lanes.entry(endpoint).or_insert_with(|| of(endpoint)).next_due = row::instant(found, 1)?;
                Ok(())
            })?;
            Ok(lanes.into_values().collect())
        })
    }

    fn fresh(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<FreshRow>> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT msg, later, kind FROM fresh WHERE endpoint = ?1 ORDER BY later, msg LIMIT ?2",
            )?;
            statement.query_map((endpoint.0, limit), fresh)?.collect()
        })
    }

    fn due(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<DueRows> {
        self.read_for_delivery(|conn| due(conn, endpoint, now, limit))
    }

    fn by_hand(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<HandRow>> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(include_str!("../sql/by_hand.sql"))?;
            statement
                .query_map((endpoint.0, limit), |row| {
                    Ok(HandRow {
                        message: message_id(row.get(0)?),
                        critical: row.get(1)?,
                        kind: kind_of(row.get_ref(2)?.as_str()?),
                        attempts: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    fn in_order(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<OrderedRows> {
        self.read_for_delivery(|conn| {
            let mut head = conn.prepare_cached(include_str!("../sql/in_order.sql"))?;
            let rows = head
                .query_map((endpoint.0, now.as_millis(), limit), ordered)?
                .collect::<rusqlite::Result<_>>()?;
            let mut next = conn.prepare_cached(include_str!("../sql/next_in_line.sql"))?;
            let next_due = next.query_row((endpoint.0, now.as_millis()), |row| row::instant(row, 0))?;
            Ok(OrderedRows { rows, next_due })
        })
    }

    fn oldest(&self, endpoint: EndpointNo) -> Answer<Oldest> {
        self.read_for_delivery(|conn| {
            let mut statement = conn.prepare_cached(include_str!("../sql/oldest.sql"))?;
            let mut first = |later: bool| {
                statement
                    .query_row((endpoint.0, later), |row| Ok(row.get::<_, Option<i64>>(0)?.map(message_id)))
            };
            let (critical, other) = (first(false)?, first(true)?);
            Ok(Oldest { any: [critical, other].into_iter().flatten().min(), critical })
        })
    }

    fn messages(&self, ids: &[MessageId]) -> Answer<Vec<MessageRecord>> {
        self.read_for_delivery(|conn| messages::by_id(conn, ids, true))
    }

    fn unrouted(&self, app: AppNo, limit: u32) -> Answer<Vec<MessageId>> {
        self.read_for_delivery(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT msg FROM unrouted WHERE app = ?1 ORDER BY msg LIMIT ?2")?;
            statement.query_map((app.0, limit), |row| Ok(message_id(row.get(0)?)))?.collect()
        })
    }

    fn unrouted_apps(&self) -> Answer<Vec<(AppNo, MessageId)>> {
        self.read_for_delivery(|conn| {
            let mut apps = Vec::new();
            skip_scan(conn, NEXT_UNROUTED, |app, found| {
                apps.push((AppNo(app), message_id(found.get(1)?)));
                Ok(())
            })?;
            Ok(apps)
        })
    }

    fn notices(&self, after: u64, limit: u32) -> Answer<Vec<(u64, Notice)>> {
        self.read_for_delivery(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT id, doc FROM notice WHERE id > ?1 ORDER BY id LIMIT ?2")?;
            statement
                .query_map((row::at_most(after), limit), |row| {
                    Ok((row.get::<_, i64>(0)? as u64, row::from_json(row, 1)?))
                })?
                .collect()
        })
    }

    fn gates(&self) -> Answer<Vec<(Scope, Gate)>> {
        self.read_for_delivery(|conn| {
            let mut gates: Vec<(Scope, Gate)> = Vec::new();
            let mut statement = conn.prepare_cached("SELECT scope, doc FROM gate ORDER BY scope, facet")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (scope, change) = row::gate(row)?;
                match gates.last_mut() {
                    Some((last, gate)) if *last == scope => gate.apply(change),
                    _ => {
                        let mut gate = Gate::default();
                        gate.apply(change);
                        gates.push((scope, gate));
                    }
                }
            }
            Ok(gates)
        })
    }
}

const NEXT_FRESH: &str = "SELECT endpoint FROM fresh WHERE endpoint > ?1 ORDER BY endpoint LIMIT 1";
const NEXT_BY_HAND: &str = "SELECT endpoint FROM hand WHERE endpoint > ?1 ORDER BY endpoint LIMIT 1";
const NEXT_UNROUTED: &str = "SELECT app, msg FROM unrouted WHERE app > ?1 ORDER BY app, msg LIMIT 1";

/// One seek for each owner (the first column) that has rows, whatever their number.
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
        let owner: u32 = row.get(0)?;
        found(owner, row)?;
        last = i64::from(owner);
    }
}

/// Columns: msg, later, kind.
fn fresh(row: &Row<'_>) -> rusqlite::Result<FreshRow> {
    Ok(FreshRow { message: message_id(row.get(0)?), critical: !row.get::<_, bool>(1)?, kind: row.get(2)? })
}

/// Columns: msg, later, kind, due, rule, and those of the progress.
fn waiting(row: &Row<'_>) -> rusqlite::Result<WaitingRow> {
    Ok(WaitingRow {
        message: message_id(row.get(0)?),
        critical: !row.get::<_, bool>(1)?,
        kind: row.get(2)?,
        due: Timestamp::from_millis(row.get(3)?),
        rule: row::rule(row, 4)?,
        progress: row::progress(row, 5)?,
    })
}

/// As [`waiting`], with no `due` for what was never tried.
fn ordered(row: &Row<'_>) -> rusqlite::Result<OrderedRow> {
    Ok(match row.get_ref(3)? {
        ValueRef::Null => OrderedRow::Fresh(fresh(row)?),
        _ => OrderedRow::Waiting(waiting(row)?),
    })
}

/// The two halves of a lane, one after the other, each in the order of its index.
fn due(conn: &Connection, endpoint: EndpointNo, now: Timestamp, limit: u32) -> rusqlite::Result<DueRows> {
    let mut answer = DueRows::default();
    let mut head = conn.prepare_cached(include_str!("../sql/due.sql"))?;
    let mut next = conn.prepare_cached(
        "SELECT due FROM waiting WHERE endpoint = ?1 AND later = ?2 AND (due, msg) > (?3, ?4)
         ORDER BY due, msg LIMIT 1",
    )?;
    for later in [false, true] {
        let room = limit - answer.rows.len() as u32;
        let rows: Vec<WaitingRow> = head
            .query_map((endpoint.0, later, now.as_millis(), room), waiting)?
            .collect::<rusqlite::Result<_>>()?;
        let last = rows.last().map_or((i64::MIN, 0), |row| (row.due.as_millis(), int(row.message.0)));
        let beyond = next
            .query_row((endpoint.0, later, last.0, last.1), |row| Ok(Timestamp::from_millis(row.get(0)?)))
            .optional()?;
        answer.next_due = [answer.next_due, beyond].into_iter().flatten().min();
        answer.rows.extend(rows);
    }
    Ok(answer)
}
