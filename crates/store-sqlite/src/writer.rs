//! The writer: one batch of operations, one durable transaction.
//!
//! Guards come before writes in every operation, so a refusal leaves nothing and costs no savepoint. (But
//! the gates of an outcome whose row is gone: they say what the attempt showed of the endpoint.)
//! Should SQLite itself fail on an operation, the batch is rolled back and redone with a savepoint
//! for each, and only the one it cannot write is refused.
//!
//! The writer remembers two things: the version of every application (so that routing with an old
//! configuration is refused without a read) and the recent keys of SDKs ([`recent`]). Both are
//! rebuilt from the tables, at the start and after a rollback.

mod accept;
mod apps;
mod ended;
mod entity;
mod gate;
mod hand;
mod lane;
mod outcome;
mod recent;
mod route;
mod statements;
mod steps;

pub(crate) use accept::last_dead_hour;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use gonets_core::{
    ids::{AttemptId, MessageId},
    rule::Rule,
    time::Timestamp,
};
use gonets_store::{
    engine::{BackupDone, Engine, Fatal, Load, Tended},
    tx::{Rejected, Tx, Verdict},
};
use rusqlite::{Connection, wal::CheckpointMode};

use self::{apps::Apps, recent::Recent, statements::Statements};
use crate::{
    backup::Backups,
    checkpoint::{Checkpointer, Checkpoints},
    error,
    lock::Lock,
    tend::Upkeep,
};

/// The writing half of the store; it lives on the committer's thread.
pub struct SqliteEngine {
    /// First, so that its thread has ended when the rest is dropped.
    pub(crate) checkpoints: Checkpointer,
    pub(crate) conn: Connection,
    pub(crate) dir: PathBuf,
    memory: Memory,
    pub(crate) upkeep: Upkeep,
    pub(crate) backups: Backups,
    _lock: Lock,
}

/// What the writer remembers between operations.
#[derive(Debug)]
struct Memory {
    apps: Apps,
    recent: Recent,
}

/// One transaction under way.
struct Batch<'a> {
    conn: &'a Connection,
    sql: Statements<'a>,
    memory: &'a mut Memory,
    now: Timestamp,
}

impl SqliteEngine {
    pub(crate) fn start(
        dir: &Path,
        mut conn: Connection,
        lock: Lock,
        checkpoints: Checkpoints,
    ) -> rusqlite::Result<Self> {
        let checkpoints = Checkpointer::start(dir, &mut conn, checkpoints)?;
        let memory = Memory { apps: Apps::load(&conn)?, recent: Recent::load(&conn)? };
        let upkeep = Upkeep::start(&conn)?;
        Ok(Self {
            checkpoints,
            conn,
            dir: dir.to_owned(),
            memory,
            upkeep,
            backups: Backups::new(dir),
            _lock: lock,
        })
    }

    pub(crate) fn fatal(&self, doing: &str, error: &rusqlite::Error) -> Fatal {
        error::fatal(&self.dir, doing, error)
    }

    /// The whole batch in one go: the normal way.
    fn together(&mut self, now: Timestamp, batch: &[Tx]) -> rusqlite::Result<Vec<Verdict>> {
        begin(&self.conn)?;
        let mut tx =
            Batch { conn: &self.conn, sql: Statements::prepare(&self.conn)?, memory: &mut self.memory, now };
        let mut verdicts = Vec::with_capacity(batch.len());
        for operation in batch {
            verdicts.push(tx.run(operation)?);
        }
        drop(tx);
        let written = self.upkeep.count(batch, &verdicts);
        let slice = self.upkeep.catch_up(&self.conn, written)?;
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        self.upkeep.landed(written, slice);
        Ok(verdicts)
    }

    /// The batch again after one of its operations failed: each in its own savepoint.
    fn one_by_one(&mut self, now: Timestamp, batch: &[Tx]) -> rusqlite::Result<Vec<Verdict>> {
        begin(&self.conn)?;
        let mut verdicts = Vec::with_capacity(batch.len());
        for operation in batch {
            self.conn.execute_batch("SAVEPOINT operation")?;
            let mut tx = Batch {
                conn: &self.conn,
                sql: Statements::prepare(&self.conn)?,
                memory: &mut self.memory,
                now,
            };
            match tx.run(operation) {
                Ok(verdict) => {
                    drop(tx);
                    self.conn.execute_batch("RELEASE operation")?;
                    verdicts.push(verdict);
                }
                Err(cause) if error::ends_the_store(&cause) => return Err(cause),
                Err(cause) => {
                    drop(tx);
                    tracing::error!(%cause, "an operation cannot be written and is refused");
                    self.conn.execute_batch("ROLLBACK TO operation; RELEASE operation")?;
                    self.memory.apps = Apps::load(&self.conn)?;
                    verdicts.push(Err(Rejected::Poisoned(cause.to_string())));
                }
            }
        }
        let written = self.upkeep.count(batch, &verdicts);
        self.conn.execute_batch("COMMIT")?;
        self.upkeep.landed(written, None);
        Ok(verdicts)
    }

    /// Takes back what was begun; SQLite may have done so itself.
    fn roll_back(&mut self) -> rusqlite::Result<()> {
        if !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK")?;
        }
        self.memory.apps = Apps::load(&self.conn)?;
        self.upkeep.forget_block();
        Ok(())
    }
}

fn begin(conn: &Connection) -> rusqlite::Result<()> {
    conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    Ok(())
}

impl Batch<'_> {
    fn run(&mut self, operation: &Tx) -> rusqlite::Result<Verdict> {
        match operation {
            Tx::Accept(accept) => self.accept(accept),
            Tx::Outcome(outcome) => self.outcome(outcome),
            Tx::Keep(keep) => self.keep(keep),
            Tx::Hand(retry) => self.hand(retry),
            Tx::Entity(write) => self.entity(write),
            Tx::Cancel(step) => self.cancel(*step),
            Tx::Expire(step) => self.expire(step),
            Tx::Route(step) => self.route(step),
            Tx::Unroute(step) => self.unroute(*step),
            Tx::EndUnrouted(step) => self.end_unrouted(step),
            Tx::Told(told) => self.told(*told),
        }
    }
}

impl Engine for SqliteEngine {
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal> {
        let failed = match self.together(now, batch) {
            Ok(verdicts) => return Ok(verdicts),
            Err(cause) => cause,
        };
        if error::ends_the_store(&failed) {
            return Err(self.fatal("committing", &failed));
        }
        tracing::warn!(cause = %failed, operations = batch.len(), "a batch is redone, operation by operation");
        self.roll_back().map_err(|cause| self.fatal("rolling back", &cause))?;
        self.one_by_one(now, batch).map_err(|cause| self.fatal("committing", &cause))
    }

    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal> {
        let last = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let message = last("SELECT max(id) FROM message").map_err(|cause| self.fatal("reading", &cause))?;
        let attempt = last("SELECT max(id) FROM attempt").map_err(|cause| self.fatal("reading", &cause))?;
        Ok((MessageId(message.unwrap_or(0) as u64), AttemptId(attempt.unwrap_or(0) as u64)))
    }

    fn shift_due(&mut self, after: Timestamp, by: Duration) -> Result<(), Fatal> {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.conn
            .execute(
                "UPDATE waiting SET due = due + ?1 WHERE due > ?2 AND rule <> ?3",
                (by, after.as_millis(), Rule::DeliverAt.code()),
            )
            .map(drop)
            .map_err(|cause| self.fatal("moving due times", &cause))
    }

    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal> {
        self.tend_to(now, load).map_err(|cause| self.fatal("tending to its indexes and log", &cause))
    }

    fn start_backup(&mut self, target: &Path, done: BackupDone) {
        self.backups.start(target, done);
    }

    fn close(mut self: Box<Self>) -> Result<(), Fatal> {
        self.backups.stop();
        self.checkpoints.stop();
        // Every commit is on disk already; this only tidies up. Whoever reads the file meanwhile
        // is not waited for: the log stays, and the next start takes it up.
        let tidied = self
            .conn
            .busy_timeout(Duration::ZERO)
            .and_then(|()| self.conn.wal_checkpoint_v2(Some("main"), CheckpointMode::TRUNCATE));
        match tidied {
            Ok(_) => {}
            Err(cause) if error::is_busy(&cause) => {
                tracing::info!("another program reads the store, so its log is left as it is");
            }
            Err(cause) => return Err(self.fatal("closing", &cause)),
        }
        let dir = self.dir.clone();
        self.conn.close().map_err(|(_, cause)| error::fatal(&dir, "closing", &cause))
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::{gate::Scope, ids::EndpointNo, time::Timestamp};
    use gonets_store::{
        conformance::operations::{freeze, keep},
        engine::Engine,
        tx::Tx,
    };

    use crate::{checkpoint::Checkpoints, lock::Lock, schema, writer::SqliteEngine};

    #[test]
    fn a_full_disk_ends_the_store_and_says_what_to_do() {
        let dir = tempfile::tempdir().expect("a directory");
        let conn = schema::writer(dir.path()).expect("the file opens");
        let lock = Lock::take(dir.path()).expect("no one else is here");
        let mut engine =
            SqliteEngine::start(dir.path(), conn, lock, Checkpoints::Aside).expect("the engine starts");
        let batch = |from: u32| -> Vec<Tx> {
            (from..from + 500).map(|no| keep(vec![freeze(Scope::Endpoint(EndpointNo(no)))])).collect()
        };
        let now = Timestamp::from_millis(0);
        engine.commit(now, &batch(0)).expect("there is room");
        let pages: u32 = engine.conn.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a count");
        engine.conn.execute_batch(&format!("PRAGMA max_page_count = {pages}")).expect("the disk is full now");
        let fatal = engine.commit(now, &batch(1_000)).expect_err("there is no room");
        assert!(fatal.message.contains("Free some space"), "{}", fatal.message);
        drop(engine);
        let conn = schema::writer(dir.path()).expect("the file opens");
        let kept: u32 = conn.query_row("SELECT count(*) FROM gate", [], |row| row.get(0)).expect("a count");
        assert_eq!(kept, 500, "what was committed before is there, and nothing of the batch");
    }
}
