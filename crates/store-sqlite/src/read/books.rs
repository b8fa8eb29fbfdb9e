//! The books of an application (R29), counted anew each time, row by row: no sum is kept on the side,
//! and memory holds one row and the counts.

use std::collections::HashMap;

use gonets_core::ids::{AppNo, EndpointNo};
use gonets_store::record::{Books, EndpointBooks};
use rusqlite::{Connection, types::ValueRef};

use super::range::{Place, Range, indexed};
use crate::row;

/// Deliveries by endpoint, as far as they are asked for.
type Counts = HashMap<u32, EndpointBooks>;

pub(super) fn books(
    conn: &Connection,
    app: AppNo,
    endpoints: &[EndpointNo],
    span: Range,
) -> rusqlite::Result<Books> {
    let empty = |endpoint: &EndpointNo| EndpointBooks { endpoint: *endpoint, ..EndpointBooks::default() };
    let mut counts: Counts = endpoints.iter().map(|endpoint| (endpoint.0, empty(endpoint))).collect();
    let mut books = Books::default();
    for (place, range) in span.split(indexed(conn)?.0) {
        count_messages(conn, app, place, range, &mut books)?;
        count_ended(conn, app, place, range, &mut counts)?;
    }
    for of_one in counts.values_mut() {
        count_waiting(conn, app, span, of_one)?;
    }
    books.endpoints = endpoints.iter().filter_map(|endpoint| counts.get(&endpoint.0)).copied().collect();
    Ok(books)
}

/// The table that names the application's messages.
const fn messages_in(place: Place) -> &'static str {
    match place {
        Place::Index => "message_by_app",
        Place::Tail => "message",
    }
}

fn count_messages(
    conn: &Connection,
    app: AppNo,
    place: Place,
    range: Range,
    books: &mut Books,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT
             message.routes = 0,
             EXISTS (SELECT 1 FROM unrouted WHERE unrouted.app = ?1 AND unrouted.msg = message.id),
             EXISTS (SELECT 1 FROM unrouted_end WHERE unrouted_end.msg = message.id),
             message.routes
         FROM {} AS of_app CROSS JOIN message ON message.id = of_app.id
         WHERE of_app.app = ?1 AND of_app.id > ?2 AND of_app.id < ?3",
        messages_in(place)
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((app.0, range.low, range.high))?;
    while let Some(row) = rows.next()? {
        books.messages += 1;
        books.routed += row.get::<_, i64>(3)? as u64;
        match (row.get(0)?, row.get(1)?, row.get(2)?) {
            (_, true, _) => books.unrouted += 1,
            (_, _, true) => books.unrouted_ended += 1,
            (true, ..) => books.routed_nowhere += 1,
            (false, ..) => {}
        }
    }
    Ok(())
}

/// What has ended, with what waits again.
fn count_ended(
    conn: &Connection,
    app: AppNo,
    place: Place,
    range: Range,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT delivery.endpoint, delivery.state
         FROM {} AS of_app CROSS JOIN delivery ON delivery.msg = of_app.id
         WHERE of_app.app = ?1 AND of_app.id > ?2 AND of_app.id < ?3",
        messages_in(place)
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((app.0, range.low, range.high))?;
    while let Some(row) = rows.next()? {
        if let Some(of_one) = counts.get_mut(&row.get(0)?) {
            *of_one.ended(row::state(row, 1)?) += 1;
        }
    }
    Ok(())
}

/// What waits, taken off from what has ended.
fn count_waiting(
    conn: &Connection,
    app: AppNo,
    range: Range,
    of_one: &mut EndpointBooks,
) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(include_str!("../sql/books_of_lane.sql"))?;
    let mut rows = statement.query((of_one.endpoint.0, app.0, range.low, range.high))?;
    while let Some(row) = rows.next()? {
        of_one.waiting += 1;
        if row.get_ref(0)? != ValueRef::Null {
            *of_one.ended(row::state(row, 0)?) -= 1;
        }
    }
    Ok(())
}
