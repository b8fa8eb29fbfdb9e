//! Half the way: keys that grow with time, but the three indexes by owner kept with every row.
//!
//! The tables' own pages are shared by all rows of a commit; what remains is a leaf of each index
//! per row, two for the delivery, whose place in the index moves with its state.

use rusqlite::{Connection, Result, TransactionBehavior};

use crate::layout::{BODY, DELIVERED, DURATION_US, FIRST, Ids, Layout, PENDING, STATUS, TYPE_NO};

const ACCEPT: &str = "INSERT INTO message (id, app, type, occurred, body) VALUES (?, ?, ?, ?, ?)";
const QUEUE: &str = "INSERT INTO delivery (msg, endpoint, state, attempts) VALUES (?, ?, ?, 0)";
const SETTLE: &str = "UPDATE delivery SET state = ?3, attempts = ?4, last_status = ?5, settled = ?6 WHERE msg = ?1 AND endpoint = ?2";
const ATTEMPT: &str =
    "INSERT INTO attempt (id, msg, endpoint, n, outcome, status, duration_us) VALUES (?, ?, ?, ?, ?, ?, ?)";

/// See the module.
#[derive(Debug)]
pub struct IntegerEager {
    connection: Connection,
    ids: Ids,
    in_flight: Vec<(i64, u32)>,
}

impl IntegerEager {
    /// Makes the tables.
    pub fn new(connection: Connection) -> Result<Self> {
        connection.execute_batch(include_str!("sql/integer_eager.sql"))?;
        Ok(Self { connection, ids: Ids::default(), in_flight: Vec::new() })
    }
}

impl Layout for IntegerEager {
    fn name(&self) -> &'static str {
        "integer keys, three eager indexes"
    }

    fn commit(&mut self, endpoints: &[u32]) -> Result<()> {
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;

        let mut settle = tx.prepare_cached(SETTLE)?;
        let mut attempt = tx.prepare_cached(ATTEMPT)?;
        for (msg, endpoint) in self.in_flight.drain(..) {
            settle.execute((msg, endpoint, DELIVERED, FIRST, STATUS, self.ids.now_ms()))?;
            attempt.execute((self.ids.next(), msg, endpoint, FIRST, DELIVERED, STATUS, DURATION_US))?;
        }

        let mut accept = tx.prepare_cached(ACCEPT)?;
        let mut queue = tx.prepare_cached(QUEUE)?;
        for &endpoint in endpoints {
            let (now, msg) = (self.ids.now_ms(), self.ids.next());
            accept.execute((msg, endpoint, TYPE_NO, now, BODY.as_slice()))?;
            queue.execute((msg, endpoint, PENDING))?;
            self.in_flight.push((msg, endpoint));
        }

        drop((settle, attempt, accept, queue));
        tx.commit()
    }

    #[cfg(test)]
    fn connection(&self) -> &Connection {
        &self.connection
    }
}
