//! The reading half of the store: a few connections, short read transactions.
//!
//! Every question is one read transaction, so what it puts together (index and tail, lanes and
//! journal) is of one moment. A read that takes over its limit is interrupted, because the log
//! cannot start over below it.

mod deliveries;
mod entities;
mod journal;
mod lanes;
mod range;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use gonets_core::time::Clock;
use gonets_store::query::Answer;
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use crate::{error, open::Options, schema};

/// Virtual machine instructions between two looks at the clock: well under a millisecond.
const LOOK_EVERY: i32 = 20_000;

/// The queries of the store.
pub struct SqliteReaders {
    dir: PathBuf,
    clock: Arc<dyn Clock>,
    read_limit: Duration,
    idle: Mutex<Vec<Reader>>,
    returned: Condvar,
    /// Writes facts; opened when first needed.
    facts: Mutex<Option<Connection>>,
    last_no: AtomicU32,
}

struct Reader {
    conn: Connection,
    /// Milliseconds; a read that runs later is interrupted.
    deadline: Arc<AtomicI64>,
}

impl SqliteReaders {
    pub(crate) fn start(dir: &Path, options: Options) -> rusqlite::Result<Self> {
        let readers = (0..options.readers.max(1))
            .map(|_| Reader::open(dir, Arc::clone(&options.clock)))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let last_no: Option<u32> =
            readers[0].conn.query_row("SELECT max(no) FROM entity", [], |row| row.get(0))?;
        Ok(Self {
            dir: dir.to_owned(),
            clock: options.clock,
            read_limit: options.read_limit,
            idle: Mutex::new(readers),
            returned: Condvar::new(),
            facts: Mutex::new(None),
            last_no: AtomicU32::new(last_no.unwrap_or(0)),
        })
    }

    /// Asks in one read transaction.
    fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Answer<T> {
        let reader = self.take();
        let deadline = self.clock.now().saturating_add(self.read_limit);
        reader.deadline.store(deadline.as_millis(), Ordering::Relaxed);
        let answer = reader.ask(ask);
        self.idle.lock().push(reader);
        self.returned.notify_one();
        answer.map_err(error::query)
    }

    fn take(&self) -> Reader {
        let mut idle = self.idle.lock();
        loop {
            if let Some(reader) = idle.pop() {
                return reader;
            }
            self.returned.wait(&mut idle);
        }
    }
}

impl Reader {
    fn open(dir: &Path, clock: Arc<dyn Clock>) -> rusqlite::Result<Self> {
        let mut conn = schema::reader(dir)?;
        let deadline = Arc::new(AtomicI64::new(i64::MAX));
        let until = Arc::clone(&deadline);
        let late = move || clock.now().as_millis() > until.load(Ordering::Relaxed);
        conn.progress_handler(LOOK_EVERY, Some(late))?;
        Ok(Self { conn, deadline })
    }

    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        self.conn.prepare_cached("BEGIN")?.execute([])?;
        let answer = ask(&self.conn);
        self.deadline.store(i64::MAX, Ordering::Relaxed);
        if !self.conn.is_autocommit() {
            self.conn.prepare_cached("COMMIT")?.execute([])?;
        }
        answer
    }
}
