//! The layout that Gonets has: hot tables keyed by time, lanes of their own, indexes filled behind.
//!
//! A commit touches the right edge of each hot table and a few leaves of the small `fresh` table;
//! the indexes by owner get at most one slice of sorted rows. When operations come faster than
//! that fills the indexes, further slices get commits of their own, and their time counts too.

use rusqlite::{Connection, Result, TransactionBehavior};

use crate::layout::{BODY, DELIVERED, DURATION_US, FIRST, Ids, Layout, STATUS, TYPE_NO};
use crate::tail::{LIMIT_ROWS, Row, Tail};

const ACCEPT: &str = "INSERT INTO message (id, app, type, occurred) VALUES (?, ?, ?, ?)";
const PAYLOAD: &str = "INSERT INTO payload (msg, body) VALUES (?, ?)";
const QUEUE: &str = "INSERT INTO fresh (endpoint, msg) VALUES (?, ?)";
const UNQUEUE: &str = "DELETE FROM fresh WHERE endpoint = ? AND msg = ?";
const ATTEMPT: &str =
    "INSERT INTO attempt (id, msg, endpoint, n, outcome, status, duration_us) VALUES (?, ?, ?, ?, ?, ?, ?)";
const ATTEMPT_OF: &str = "INSERT INTO attempt_of (msg, endpoint, n, id) VALUES (?, ?, ?, ?)";
const SETTLE: &str =
    "INSERT INTO delivery (msg, endpoint, state, attempts, last_status, settled) VALUES (?, ?, ?, ?, ?, ?)";

const MESSAGES: usize = 0;
const DELIVERIES: usize = 1;
const ATTEMPTS: usize = 2;

/// See the module.
#[derive(Debug)]
pub struct FilledBehind {
    connection: Connection,
    slice_rows: usize,
    ids: Ids,
    in_flight: Vec<(i64, u32)>,
    tails: [Tail; 3],
}

impl FilledBehind {
    /// Makes the tables; a commit writes at most `slice_rows` index rows.
    pub fn new(connection: Connection, slice_rows: usize) -> Result<Self> {
        connection.execute_batch(include_str!("sql/filled_behind.sql"))?;
        let tails = ["message_by_app", "delivery_by_endpoint", "attempt_by_endpoint"].map(Tail::new);
        Ok(Self { connection, slice_rows, ids: Ids::default(), in_flight: Vec::new(), tails })
    }

    /// Slices in commits of their own, until every tail is within its limit again.
    fn catch_up(&mut self) -> Result<()> {
        while self.tails.iter().any(|tail| tail.len() > LIMIT_ROWS) {
            let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(tail) = longest(&mut self.tails) {
                tail.write_slice(&tx, self.slice_rows)?;
            }
            tx.commit()?;
        }
        Ok(())
    }
}

/// The longest tail that has a slice to write.
fn longest(tails: &mut [Tail; 3]) -> Option<&mut Tail> {
    tails.iter_mut().filter(|tail| tail.is_ready()).max_by_key(|tail| tail.len())
}

impl Layout for FilledBehind {
    fn name(&self) -> &'static str {
        "integer keys, hot tables keyed by time, owner-keyed indexes filled behind"
    }

    fn commit(&mut self, endpoints: &[u32]) -> Result<()> {
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;

        let mut unqueue = tx.prepare_cached(UNQUEUE)?;
        let mut attempt = tx.prepare_cached(ATTEMPT)?;
        let mut attempt_of = tx.prepare_cached(ATTEMPT_OF)?;
        let mut settle = tx.prepare_cached(SETTLE)?;
        for (msg, endpoint) in self.in_flight.drain(..) {
            let (now, id) = (self.ids.now_ms(), self.ids.next());
            unqueue.execute((endpoint, msg))?;
            attempt.execute((id, msg, endpoint, FIRST, DELIVERED, STATUS, DURATION_US))?;
            attempt_of.execute((msg, endpoint, FIRST, id))?;
            settle.execute((msg, endpoint, DELIVERED, FIRST, STATUS, now))?;
            self.tails[DELIVERIES].push(Row { owner: endpoint, id: msg, detail: DELIVERED });
            self.tails[ATTEMPTS].push(Row { owner: endpoint, id, detail: STATUS });
        }

        let mut accept = tx.prepare_cached(ACCEPT)?;
        let mut payload = tx.prepare_cached(PAYLOAD)?;
        let mut queue = tx.prepare_cached(QUEUE)?;
        for &endpoint in endpoints {
            let (now, msg) = (self.ids.now_ms(), self.ids.next());
            accept.execute((msg, endpoint, TYPE_NO, now))?;
            payload.execute((msg, BODY.as_slice()))?;
            queue.execute((endpoint, msg))?;
            self.in_flight.push((msg, endpoint));
            self.tails[MESSAGES].push(Row { owner: endpoint, id: msg, detail: TYPE_NO });
        }

        if let Some(tail) = longest(&mut self.tails) {
            tail.write_slice(&tx, self.slice_rows)?;
        }
        drop((unqueue, attempt, attempt_of, settle, accept, payload, queue));
        tx.commit()?;
        self.catch_up()
    }

    #[cfg(test)]
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(layout: &FilledBehind, sql: &str) -> usize {
        let rows: i64 = layout.connection.query_row(sql, [], |row| row.get(0)).unwrap();
        usize::try_from(rows).unwrap()
    }

    /// Commits of 500 accepts over 1,000 endpoints, 60 times: more than the tails may hold.
    fn overflowing() -> FilledBehind {
        let mut layout = FilledBehind::new(Connection::open_in_memory().unwrap(), 300).unwrap();
        for round in 0..60_u32 {
            let endpoints: Vec<u32> = (0..500).map(|no| (no * 7 + round) % 1000).collect();
            layout.commit(&endpoints).unwrap();
            assert!(layout.tails.iter().all(|tail| tail.len() <= LIMIT_ROWS));
        }
        layout
    }

    #[test]
    fn index_and_tail_together_miss_nothing() {
        let layout = overflowing();
        for (tail, index, table) in [
            (MESSAGES, "message_by_app", "message"),
            (DELIVERIES, "delivery_by_endpoint", "delivery"),
            (ATTEMPTS, "attempt_by_endpoint", "attempt"),
        ] {
            let indexed = count(&layout, &format!("SELECT count(*) FROM {index}"));
            assert!(indexed > 0, "{index} is filled");
            let written = count(&layout, &format!("SELECT count(*) FROM {table}"));
            assert_eq!(indexed + layout.tails[tail].len(), written, "{index}");
        }
    }

    #[test]
    fn every_row_up_to_the_watermark_is_in_the_index() {
        let layout = overflowing();
        let below = "FROM message WHERE id <= (SELECT through FROM indexed WHERE name = 'message_by_app')";
        assert!(count(&layout, &format!("SELECT count(*) {below}")) > 0);
        let missing = format!("SELECT count(*) {below} AND id NOT IN (SELECT id FROM message_by_app)");
        assert_eq!(count(&layout, &missing), 0);
    }

    #[test]
    fn a_settled_delivery_leaves_its_lane() {
        let layout = overflowing();
        assert_eq!(count(&layout, "SELECT count(*) FROM fresh"), 500);
        let both = "SELECT count(*) FROM fresh JOIN delivery USING (endpoint, msg)";
        assert_eq!(count(&layout, both), 0);
    }
}
