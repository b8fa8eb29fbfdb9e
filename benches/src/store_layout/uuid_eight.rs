//! The usual layout: random keys, a row per delivery that changes its state, eight secondary indexes.
//!
//! Every row lands on random leaves of its table's key and of most indexes, so a commit of twenty
//! operations touches some hundred pages.

use rusqlite::{Connection, Result, TransactionBehavior};

use crate::layout::{BODY, DELIVERED, DURATION_US, FIRST, Ids, Layout, PENDING, STATUS, TYPE_NAME};

type Uuid = [u8; 16];

const ACCEPT: &str = "INSERT INTO message (id, app, type, created, body) VALUES (?, ?, ?, ?, ?)";
const QUEUE: &str =
    "INSERT INTO delivery (id, msg, endpoint, state, due, attempts, created) VALUES (?, ?, ?, ?, ?, 0, ?)";
const SETTLE: &str =
    "UPDATE delivery SET state = ?2, due = NULL, attempts = ?3, last_status = ?4, settled = ?5 WHERE id = ?1";
const ATTEMPT: &str = "INSERT INTO attempt (id, delivery, endpoint, n, outcome, status, duration_us, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

#[derive(Debug)]
struct Waiting {
    delivery: Uuid,
    endpoint: u32,
}

/// See the module.
#[derive(Debug)]
pub struct UuidEight {
    connection: Connection,
    random: fastrand::Rng,
    clock: Ids,
    in_flight: Vec<Waiting>,
}

impl UuidEight {
    /// Makes the tables.
    pub fn new(connection: Connection) -> Result<Self> {
        connection.execute_batch(include_str!("sql/uuid_eight.sql"))?;
        let random = fastrand::Rng::with_seed(4);
        Ok(Self { connection, random, clock: Ids::default(), in_flight: Vec::new() })
    }
}

/// The key of the `no`-th owner: fixed, and as scattered as a random one.
fn owner(no: u32) -> Uuid {
    fastrand::Rng::with_seed(u64::from(no)).u128(..).to_be_bytes()
}

impl Layout for UuidEight {
    fn name(&self) -> &'static str {
        "UUID keys, the usual eight secondary indexes"
    }

    fn commit(&mut self, endpoints: &[u32]) -> Result<()> {
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut new_key = || self.random.u128(..).to_be_bytes();

        let mut settle = tx.prepare_cached(SETTLE)?;
        let mut attempt = tx.prepare_cached(ATTEMPT)?;
        for done in self.in_flight.drain(..) {
            let now = self.clock.now_ms();
            settle.execute((done.delivery, DELIVERED, FIRST, STATUS, now))?;
            let values =
                (new_key(), done.delivery, owner(done.endpoint), FIRST, DELIVERED, STATUS, DURATION_US, now);
            attempt.execute(values)?;
        }

        let mut accept = tx.prepare_cached(ACCEPT)?;
        let mut queue = tx.prepare_cached(QUEUE)?;
        for &endpoint in endpoints {
            self.clock.next();
            let now = self.clock.now_ms();
            let (msg, delivery) = (new_key(), new_key());
            accept.execute((msg, owner(endpoint), TYPE_NAME, now, BODY.as_slice()))?;
            queue.execute((delivery, msg, owner(endpoint), PENDING, now, now))?;
            self.in_flight.push(Waiting { delivery, endpoint });
        }

        drop((settle, attempt, accept, queue));
        tx.commit()
    }

    #[cfg(test)]
    fn connection(&self) -> &Connection {
        &self.connection
    }
}
