//! Upkeep: the owner-keyed indexes behind the journal, keys that have expired. The log is
//! [`crate::checkpoint`]'s.
//!
//! Up to [`BLOCK`] rows of the tail are sorted by owner in memory and inserted in slices, so that a
//! slice touches few leaves; `indexed` moves when the block is whole. A crash in between costs a
//! repetition: rows that are there already are ignored. A reader takes what the index has up to
//! `indexed` and the rest from the tail, in one read transaction, so it never misses or repeats.
//!
//! When idle, slices are commits of their own. Under load they would cost a sync each; so once the
//! tail is longer than [`TAIL_LIMIT`], every batch carries a slice that is larger than what the
//! batch itself added.

use gonets_core::time::Timestamp;
use gonets_store::{
    engine::{Load, Tended},
    tx::{Made, Tx, Verdict},
};
use rusqlite::Connection;

use crate::writer::{SqliteEngine, last_dead_hour};

/// Rows that are sorted at once.
const BLOCK: i64 = 10_000;
/// Rows of a slice.
const SLICE: usize = 300;
/// A longer tail is worked off even when busy.
const TAIL_LIMIT: u64 = 20_000;
/// A shorter tail is left alone while something is written.
const WORTH_INDEXING: u64 = 256;
/// Expired keys that one call forgets.
const KEYS_AT_ONCE: i64 = 500;

/// What upkeep knows.
#[derive(Debug)]
pub(crate) struct Upkeep {
    /// Rows that are not indexed yet.
    messages: u64,
    attempts: u64,
    block: Option<Block>,
    /// Something was committed since the last look.
    written: bool,
    /// The last hour whose keys are all forgotten.
    keys_dead_through: i64,
}

/// Rows that an operation batch added to the tail.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    messages: u64,
    attempts: u64,
}

/// A slice that was inserted, but is not committed yet: the block's next row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    next: usize,
}

#[derive(Debug)]
struct Block {
    rows: Rows,
    next: usize,
    /// The last id in the block.
    through: i64,
}

#[derive(Debug)]
enum Rows {
    /// Application, message, type.
    Messages(Vec<(u32, i64, String)>),
    /// Endpoint, attempt, message, outcome, status.
    Attempts(Vec<(u32, i64, i64, u8, Option<u16>)>),
}

impl Rows {
    fn len(&self) -> usize {
        match self {
            Self::Messages(rows) => rows.len(),
            Self::Attempts(rows) => rows.len(),
        }
    }
}

impl Upkeep {
    pub(crate) fn start(conn: &Connection) -> rusqlite::Result<Self> {
        let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
        Ok(Self {
            messages: count("SELECT count(*) FROM message WHERE id > (SELECT message FROM indexed)")? as u64,
            attempts: count("SELECT count(*) FROM attempt WHERE id > (SELECT attempt FROM indexed)")? as u64,
            block: None,
            written: false,
            keys_dead_through: i64::MIN,
        })
    }

    fn tail(&self) -> u64 {
        self.messages + self.attempts
    }

    /// What a batch added to the tail.
    pub(crate) fn count(&self, batch: &[Tx], verdicts: &[Verdict]) -> Written {
        let mut written = Written::default();
        for (operation, verdict) in batch.iter().zip(verdicts) {
            match (operation, verdict) {
                (Tx::Accept(_), Ok(Made::Message(_))) => written.messages += 1,
                (Tx::Outcome(_), Ok(Made::Outcome(Some(_)))) => written.attempts += 1,
                _ => {}
            }
        }
        written
    }

    /// Inside a batch's transaction: a slice, if the tail is too long.
    pub(crate) fn catch_up(
        &mut self,
        conn: &Connection,
        written: Written,
    ) -> rusqlite::Result<Option<Slice>> {
        if self.tail() <= TAIL_LIMIT {
            return Ok(None);
        }
        let added = (written.messages + written.attempts) as usize;
        self.insert_slice(conn, SLICE.max(added + added / 2)).map(Some)
    }

    /// The transaction is committed.
    pub(crate) fn landed(&mut self, written: Written, slice: Option<Slice>) {
        self.written = true;
        self.messages += written.messages;
        self.attempts += written.attempts;
        if let Some(slice) = slice {
            self.advance(slice);
        }
    }

    /// After a rollback: the block may hold rows that are not there.
    pub(crate) fn forget_block(&mut self) {
        self.block = None;
    }

    fn advance(&mut self, slice: Slice) {
        let Some(block) = &mut self.block else { return };
        block.next = slice.next;
        if block.next < block.rows.len() {
            return;
        }
        let done = block.rows.len() as u64;
        match block.rows {
            Rows::Messages(_) => self.messages = self.messages.saturating_sub(done),
            Rows::Attempts(_) => self.attempts = self.attempts.saturating_sub(done),
        }
        self.block = None;
    }

    /// Inserts up to `limit` rows of the block, a new one if there is none.
    fn insert_slice(&mut self, conn: &Connection, limit: usize) -> rusqlite::Result<Slice> {
        let block = match self.block.take() {
            Some(block) => block,
            None if self.messages >= self.attempts => messages(conn)?,
            None => attempts(conn)?,
        };
        let block = self.block.insert(block);
        let end = block.rows.len().min(block.next + limit);
        match &block.rows {
            Rows::Messages(rows) => insert_messages(conn, &rows[block.next..end])?,
            Rows::Attempts(rows) => insert_attempts(conn, &rows[block.next..end])?,
        }
        if end == block.rows.len() {
            let sql = match block.rows {
                Rows::Messages(_) => "UPDATE indexed SET message = ?1",
                Rows::Attempts(_) => "UPDATE indexed SET attempt = ?1",
            };
            conn.prepare_cached(sql)?.execute([block.through])?;
        }
        Ok(Slice { next: end })
    }
}

/// The oldest rows of the tail of messages, sorted by application.
fn messages(conn: &Connection) -> rusqlite::Result<Block> {
    let mut statement = conn.prepare_cached(
        "SELECT app, id, type FROM message WHERE id > (SELECT message FROM indexed) ORDER BY id LIMIT ?1",
    )?;
    let rows = statement.query_map([BLOCK], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut rows: Vec<(u32, i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
    let through = match rows.last() {
        Some(last) => last.1,
        None => conn.query_row("SELECT message FROM indexed", [], |row| row.get(0))?,
    };
    rows.sort_unstable_by_key(|row| (row.0, row.1));
    Ok(Block { rows: Rows::Messages(rows), next: 0, through })
}

/// The oldest rows of the tail of attempts, sorted by endpoint.
fn attempts(conn: &Connection) -> rusqlite::Result<Block> {
    let mut statement = conn.prepare_cached(
        "SELECT endpoint, id, msg, outcome, status FROM attempt
         WHERE id > (SELECT attempt FROM indexed) ORDER BY id LIMIT ?1",
    )?;
    let rows = statement
        .query_map([BLOCK], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    let mut rows: Vec<(u32, i64, i64, u8, Option<u16>)> = rows.collect::<rusqlite::Result<_>>()?;
    let through = match rows.last() {
        Some(last) => last.1,
        None => conn.query_row("SELECT attempt FROM indexed", [], |row| row.get(0))?,
    };
    rows.sort_unstable_by_key(|row| (row.0, row.1));
    Ok(Block { rows: Rows::Attempts(rows), next: 0, through })
}

fn insert_messages(conn: &Connection, rows: &[(u32, i64, String)]) -> rusqlite::Result<()> {
    let mut insert =
        conn.prepare_cached("INSERT OR IGNORE INTO message_by_app (app, id, type) VALUES (?1, ?2, ?3)")?;
    for (app, id, event_type) in rows {
        insert.execute((app, id, event_type))?;
    }
    Ok(())
}

fn insert_attempts(conn: &Connection, rows: &[(u32, i64, i64, u8, Option<u16>)]) -> rusqlite::Result<()> {
    let mut attempt = conn.prepare_cached(
        "INSERT OR IGNORE INTO attempt_by_endpoint (endpoint, id, outcome, status) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut delivery =
        conn.prepare_cached("INSERT OR IGNORE INTO delivery_by_endpoint (endpoint, msg) VALUES (?1, ?2)")?;
    for (endpoint, id, message, outcome, status) in rows {
        attempt.execute((endpoint, id, outcome, status))?;
        delivery.execute((endpoint, message))?;
    }
    Ok(())
}

impl SqliteEngine {
    pub(crate) fn tend_to(&mut self, now: Timestamp, load: Load) -> rusqlite::Result<Tended> {
        self.checkpoints.tend(&self.conn, load)?;
        if load == Load::Busy {
            return Ok(Tended::Done);
        }
        let quiet = !std::mem::take(&mut self.upkeep.written);
        let tail = self.upkeep.tail();
        if tail >= WORTH_INDEXING || (tail > 0 && quiet) {
            let tx = self.conn.unchecked_transaction()?;
            let slice = self.upkeep.insert_slice(&self.conn, SLICE)?;
            tx.commit()?;
            self.upkeep.advance(slice);
        }
        let keys_left = self.forget_keys(now)?;
        Ok(if self.upkeep.tail() > 0 || self.checkpoints.is_unfinished() || keys_left {
            Tended::More
        } else {
            Tended::Done
        })
    }

    /// Forgets the keys of hours that are over; true if some are left.
    fn forget_keys(&mut self, now: Timestamp) -> rusqlite::Result<bool> {
        let through = last_dead_hour(now);
        if self.upkeep.keys_dead_through >= through {
            return Ok(false);
        }
        let forgotten = self
            .conn
            .prepare_cached(include_str!("sql/forget_keys.sql"))?
            .execute((through, KEYS_AT_ONCE))?;
        let left = forgotten as i64 == KEYS_AT_ONCE;
        if !left {
            self.upkeep.keys_dead_through = through;
        }
        Ok(left)
    }
}
