//! What people ask about messages and attempts.

use gonets_core::{
    ids::{AppNo, AttemptId, EndpointNo, MessageId},
    notice::Notice,
    outcome::Outcome,
    time::Timestamp,
};
use gonets_store::{
    query::{Answer, AttemptFilter, Journal, MessageFilter, Page, Paged},
    record::{AttemptRecord, Books, DeliveryRecord, MessageRecord, UnroutedEnd},
};
use rusqlite::{Connection, OptionalExtension};

use super::{
    SqliteReaders, books, deliveries, messages,
    range::{Place, Range, indexed},
};
use crate::row::{self, int, message_id};

impl Journal for SqliteReaders {
    fn message_by_event_id(&self, app: AppNo, event_id: &str) -> Answer<Option<MessageId>> {
        self.read(|conn| {
            conn.prepare_cached("SELECT msg FROM event_key WHERE app = ?1 AND event_id = ?2")?
                .query_row((app.0, event_id), |row| Ok(message_id(row.get(0)?)))
                .optional()
        })
    }

    fn messages_shown(&self, ids: &[MessageId], with_payload: bool) -> Answer<Vec<MessageRecord>> {
        self.read(|conn| messages::by_id(conn, ids, with_payload))
    }

    fn messages_of(&self, app: AppNo, page: &Page, filter: &MessageFilter) -> Answer<Paged<MessageRecord>> {
        self.read(|conn| messages_of(conn, app, page, filter))
    }

    fn attempt(&self, id: AttemptId) -> Answer<Option<AttemptRecord>> {
        self.read(|conn| attempt(conn, int(id.0)))
    }

    fn attempts_of_message(
        &self,
        message: MessageId,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>> {
        self.read(|conn| attempts_of_message(conn, message, page, filter))
    }

    fn attempts_of_endpoint(
        &self,
        endpoint: EndpointNo,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>> {
        self.read(|conn| attempts_of_endpoint(conn, endpoint, page, filter))
    }

    fn deliveries_of(&self, message: MessageId, endpoints: &[EndpointNo]) -> Answer<Vec<DeliveryRecord>> {
        self.read(|conn| {
            let mut found = Vec::new();
            for endpoint in endpoints {
                found.extend(deliveries::delivery(conn, message, *endpoint)?);
            }
            Ok(found)
        })
    }

    fn deliveries_at(&self, endpoint: EndpointNo, page: &Page) -> Answer<Paged<DeliveryRecord>> {
        self.read(|conn| deliveries::at(conn, endpoint, page))
    }

    fn is_unrouted(&self, app: AppNo, message: MessageId) -> Answer<bool> {
        self.read(|conn| {
            conn.prepare_cached("SELECT 1 FROM unrouted WHERE app = ?1 AND msg = ?2")?
                .exists((app.0, int(message.0)))
        })
    }

    fn transitions(&self, app: AppNo, from: Timestamp, to: Timestamp, limit: u32) -> Answer<Vec<Notice>> {
        self.read(|conn| {
            conn.prepare_cached(include_str!("../sql/transitions.sql"))?
                .query_map((app.0, from.as_millis(), to.as_millis(), limit), |row| row::from_json(row, 0))?
                .collect()
        })
    }

    fn unrouted_end(&self, message: MessageId) -> Answer<Option<UnroutedEnd>> {
        self.read(|conn| {
            conn.prepare_cached("SELECT reason, at FROM unrouted_end WHERE msg = ?1")?
                .query_row([int(message.0)], row::unrouted_end)
                .optional()
        })
    }

    fn books(&self, app: AppNo, endpoints: &[EndpointNo], from: Timestamp, to: Timestamp) -> Answer<Books> {
        self.read(|conn| books::books(conn, app, endpoints, Range::accepted(from, to)))
    }
}

fn messages_of(
    conn: &Connection,
    app: AppNo,
    page: &Page,
    filter: &MessageFilter,
) -> rusqlite::Result<Paged<MessageRecord>> {
    let mut filling = page.filling();
    for (place, range) in Range::of(page, filter.before, filter.after).split(indexed(conn)?.0) {
        let sql = match place {
            Place::Index => "SELECT id, type FROM message_by_app WHERE app = ?1 AND id > ?2 AND id < ?3",
            Place::Tail => "SELECT id, type FROM message WHERE app = ?1 AND id > ?2 AND id < ?3",
        };
        let mut statement = conn.prepare_cached(&range.ordered(sql, "id"))?;
        let mut rows = statement.query((app.0, range.low, range.high))?;
        while !filling.is_over()
            && let Some(row) = rows.next()?
        {
            if !filter.takes_type(row.get_ref(1)?.as_str()?) {
                continue;
            }
            let message = messages::one(conn, message_id(row.get(0)?), filter.with_payload)?;
            if let Some(message) = message.filter(|message| filter.takes_meta(&message.meta)) {
                let bytes = message.content_bytes();
                filling.push(message, bytes);
            }
        }
    }
    Ok(filling.paged())
}

fn attempt(conn: &Connection, id: i64) -> rusqlite::Result<Option<AttemptRecord>> {
    conn.prepare_cached(
        "SELECT id, msg, endpoint, n, by_hand, outcome, status, started, duration_us, detail, answer
         FROM attempt WHERE id = ?1",
    )?
    .query_row([id], row::attempt)
    .optional()
}

fn attempts_of_message(
    conn: &Connection,
    message: MessageId,
    page: &Page,
    filter: &AttemptFilter,
) -> rusqlite::Result<Paged<AttemptRecord>> {
    if !message_taken(conn, message, filter)? {
        return Ok(page.cut(Vec::new()));
    }
    let mut filling = page.filling();
    let range = Range::of(page, filter.before, filter.after);
    let sql = "SELECT id, endpoint FROM attempt_of WHERE msg = ?1 AND id > ?2 AND id < ?3";
    let mut statement = conn.prepare_cached(&range.ordered(sql, "id"))?;
    let mut rows = statement.query((int(message.0), range.low, range.high))?;
    while !filling.is_over()
        && let Some(row) = rows.next()?
    {
        let at: u32 = row.get(1)?;
        if filter.endpoint.is_some_and(|endpoint| endpoint.0 != at) {
            continue;
        }
        let attempt = attempt(conn, row.get(0)?)?;
        if let Some(attempt) = attempt.filter(|one| filter.takes(one.endpoint, one.outcome, one.status)) {
            let bytes = attempt.content_bytes();
            filling.push(attempt, bytes);
        }
    }
    Ok(filling.paged())
}

fn attempts_of_endpoint(
    conn: &Connection,
    endpoint: EndpointNo,
    page: &Page,
    filter: &AttemptFilter,
) -> rusqlite::Result<Paged<AttemptRecord>> {
    let mut filling = page.filling();
    for (place, range) in Range::of(page, filter.before, filter.after).split(indexed(conn)?.1) {
        let sql = match place {
            Place::Index => {
                "SELECT id, outcome, status FROM attempt_by_endpoint WHERE endpoint = ?1 AND id > ?2 AND id < ?3"
            }
            Place::Tail => {
                "SELECT id, outcome, status FROM attempt WHERE endpoint = ?1 AND id > ?2 AND id < ?3"
            }
        };
        let mut statement = conn.prepare_cached(&range.ordered(sql, "id"))?;
        let mut rows = statement.query((endpoint.0, range.low, range.high))?;
        while !filling.is_over()
            && let Some(row) = rows.next()?
        {
            let outcome: Outcome = row::outcome(row, 1)?;
            if !filter.takes(endpoint, outcome, row.get(2)?) {
                continue;
            }
            let Some(attempt) = attempt(conn, row.get(0)?)? else { continue };
            if message_taken(conn, attempt.message, filter)? {
                let bytes = attempt.content_bytes();
                filling.push(attempt, bytes);
            }
        }
    }
    Ok(filling.paged())
}

/// Whether a filter takes the attempts of a message for what the message is.
fn message_taken(conn: &Connection, message: MessageId, filter: &AttemptFilter) -> rusqlite::Result<bool> {
    if !filter.asks_message() {
        return Ok(true);
    }
    let message = messages::one(conn, message, false)?;
    Ok(message.is_some_and(|message| filter.takes_message(&message.event_type, &message.meta)))
}
