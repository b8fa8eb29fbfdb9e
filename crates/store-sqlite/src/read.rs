//! The reading half of the store: a few connections, short read transactions.
//!
//! Every question is one read transaction, so what it puts together (index and tail, lanes and
//! journal) is of one moment. A read that takes over its limit is interrupted, because the log
//! cannot start over below it.

mod books;
mod deliveries;
mod entities;
mod journal;
mod lanes;
mod messages;
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

/// Readers that lists and searches leave to delivery: a page with a filter may take up to the read
/// limit, and no delivery is to wait for it.
const RESERVED: usize = 1;

/// The queries of the store.
pub struct SqliteReaders {
    dir: PathBuf,
    clock: Arc<dyn Clock>,
    read_limit: Duration,
    idle: Mutex<Vec<Reader>>,
    /// One is idle: delivery may have it.
    any_returned: Condvar,
    /// More are idle than are kept for delivery.
    spare_returned: Condvar,
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
        let readers = (0..options.readers.max(RESERVED + 1))
            .map(|_| Reader::open(dir, Arc::clone(&options.clock)))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let last_no: Option<u32> =
            readers[0].conn.query_row("SELECT max(no) FROM entity", [], |row| row.get(0))?;
        Ok(Self {
            dir: dir.to_owned(),
            clock: options.clock,
            read_limit: options.read_limit,
            idle: Mutex::new(readers),
            any_returned: Condvar::new(),
            spare_returned: Condvar::new(),
            facts: Mutex::new(None),
            last_no: AtomicU32::new(last_no.unwrap_or(0)),
        })
    }

    /// Asks in one read transaction.
    fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Answer<T> {
        self.read_with(self.take(RESERVED, &self.spare_returned), ask)
    }

    /// As [`Self::read`], for what delivery waits for: it has a reader where lists hold the others.
    fn read_for_delivery<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Answer<T> {
        self.read_with(self.take(0, &self.any_returned), ask)
    }

    fn read_with<T>(
        &self,
        reader: Reader,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Answer<T> {
        let deadline = self.clock.now().saturating_add(self.read_limit);
        reader.deadline.store(deadline.as_millis(), Ordering::Relaxed);
        let answer = reader.ask(ask);
        self.put_back(reader);
        answer.map_err(error::query)
    }

    /// A reader, once more than `kept` are idle.
    fn take(&self, kept: usize, returned: &Condvar) -> Reader {
        let mut idle = self.idle.lock();
        loop {
            if idle.len() > kept
                && let Some(reader) = idle.pop()
            {
                return reader;
            }
            returned.wait(&mut idle);
        }
    }

    fn put_back(&self, reader: Reader) {
        let mut idle = self.idle.lock();
        idle.push(reader);
        let has_spare = idle.len() > RESERVED;
        drop(idle);
        self.any_returned.notify_one();
        if has_spare {
            self.spare_returned.notify_one();
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

#[cfg(test)]
mod tests {
    use gonets_core::clock::SystemClock;
    use gonets_store::query::Lanes;

    use super::*;

    #[test]
    fn delivery_reads_while_lists_hold_all_other_readers() {
        let dir = tempfile::tempdir().expect("a directory");
        schema::writer(dir.path()).expect("the file is made");
        for readers in [0, 1, 4] {
            let options = Options { readers, ..Options::new(Arc::new(SystemClock::start())) };
            let store = SqliteReaders::start(dir.path(), options).expect("the readers open");
            let spare = store.idle.lock().len() - RESERVED;
            assert_eq!(spare, readers.max(2) - RESERVED);
            let held: Vec<Reader> = (0..spare).map(|_| store.take(RESERVED, &store.spare_returned)).collect();
            assert_eq!(store.gates().expect("delivery is answered"), []);
            assert_eq!(store.idle.lock().len(), RESERVED, "which a list would not get");
            held.into_iter().for_each(|reader| store.put_back(reader));
            assert_eq!(store.read(|_| Ok(7)).expect("lists are answered again"), 7);
        }
    }

    #[test]
    fn a_list_that_waits_goes_on_when_a_reader_comes_back() {
        let dir = tempfile::tempdir().expect("a directory");
        schema::writer(dir.path()).expect("the file is made");
        let options = Options { readers: 2, ..Options::new(Arc::new(SystemClock::start())) };
        let store = SqliteReaders::start(dir.path(), options).expect("the readers open");
        let held = store.take(RESERVED, &store.spare_returned);
        std::thread::scope(|scope| {
            let lists: Vec<_> = (0..8).map(|_| scope.spawn(|| store.read(|_| Ok(())))).collect();
            assert_eq!(store.gates().expect("delivery is answered meanwhile"), []);
            store.put_back(held);
            for list in lists {
                list.join().expect("no panic").expect("an answer");
            }
        });
        assert_eq!(store.idle.lock().len(), 2);
    }
}
