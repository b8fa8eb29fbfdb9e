//! Opening a data directory.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use gonets_core::time::Clock;

use crate::{
    backup, checkpoint::Checkpoints, error::OpenError, lock::Lock, read::SqliteReaders, schema,
    writer::SqliteEngine,
};

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// Times reads, so that they can be given up.
    pub clock: Arc<dyn Clock>,
    /// Connections that read; 2–4 are plenty, as a read takes well under a millisecond.
    pub readers: usize,
    /// A read over this is given up: it would keep the log from starting over.
    pub read_limit: Duration,
    /// Who moves the log into the file.
    pub checkpoints: Checkpoints,
}

impl Options {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, readers: 3, read_limit: Duration::from_secs(1), checkpoints: Checkpoints::Aside }
    }
}

/// The embedded store.
pub struct Sqlite;

impl Sqlite {
    /// Opens the store in `dir`, made for its owner alone if it is not there, and keeps other processes out of it until
    /// the engine is closed or dropped.
    ///
    /// # Errors
    /// The directory cannot be used, is in use, or holds what this version cannot read.
    pub fn open(dir: &Path, options: Options) -> Result<(SqliteEngine, Arc<SqliteReaders>), OpenError> {
        make(dir).map_err(|cause| OpenError::Directory { dir: dir.to_owned(), cause })?;
        let lock = Lock::take(dir)?;
        let failed = |cause| OpenError::Sqlite { dir: dir.to_owned(), cause };
        let conn = schema::writer(dir)?;
        let engine = SqliteEngine::start(dir, conn, lock, options.checkpoints).map_err(failed)?;
        let readers = SqliteReaders::start(dir, options).map_err(failed)?;
        Ok((engine, Arc::new(readers)))
    }

    /// Copies the store in `dir` into the file `target` as of now. It need not be stopped: a
    /// process that has it open goes on meanwhile.
    ///
    /// # Errors
    /// A sentence that says what went wrong; nothing is left of the copy then.
    pub fn copy(dir: &Path, target: &Path) -> Result<(), String> {
        backup::copy(dir, target, &AtomicBool::new(false))
    }
}

/// Payloads are other people's data: a new directory is its owner's alone. One that is there keeps
/// the rights that someone gave it.
fn make(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}
