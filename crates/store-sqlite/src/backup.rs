//! A copy of the store while it runs.
//!
//! The copy is made on a thread and a connection of its own, in one read transaction: what was
//! committed when it began, page by page, without a stop of the writer. SQLite can also copy on
//! the writer's connection and follow its changes, but that handle borrows the connection for as
//! long as the copy lasts, which cannot be held between commits without `unsafe`. The price is that
//! the log cannot start over while the copy is made; it does at the first checkpoint afterwards.
//! The copy appears under its name only when it is whole and synced.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use gonets_store::engine::BackupDone;
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use crate::schema;

/// Pages between two looks at whether the store is being closed: 4 MiB.
const STEP_PAGES: i32 = 1_024;

/// The backups under way.
pub(crate) struct Backups {
    dir: PathBuf,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Backups {
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() }
    }

    pub(crate) fn start(&mut self, target: &Path, done: BackupDone) {
        self.threads.retain(|thread| !thread.is_finished());
        let (dir, target, stop) = (self.dir.clone(), target.to_owned(), Arc::clone(&self.stop));
        let copying = move || done(copy(&dir, &target, &stop));
        match std::thread::Builder::new().name("gonets-backup".into()).spawn(copying) {
            Ok(thread) => self.threads.push(thread),
            Err(cause) => tracing::error!(%cause, "the backup's thread did not start"),
        }
    }

    /// Gives up what is under way and waits for it.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a backup's thread panicked");
            }
        }
    }
}

impl Drop for Backups {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn copy(dir: &Path, target: &Path, stop: &AtomicBool) -> Result<(), String> {
    let mut unfinished = target.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let told = |what: &str, cause: &dyn std::fmt::Display| {
        format!("the backup to {} {what}: {cause}", target.display())
    };
    if target.exists() {
        return Err(told("was not begun", &"there is a file of that name; give another"));
    }
    schema::for_its_owner(&unfinished).map_err(|cause| told("was not begun", &cause))?;
    let whole = pages(dir, &unfinished, stop).map_err(|cause| told("failed", &cause)).and_then(|whole| {
        if whole { Ok(()) } else { Err(told("was given up", &"the store is being closed")) }
    });
    let kept = whole.and_then(|()| {
        File::open(&unfinished)
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&unfinished, target))
            .map_err(|cause| told("failed", &cause))
    });
    if kept.is_err() && unfinished.exists() {
        std::fs::remove_file(&unfinished).map_err(|cause| told("left a file behind", &cause))?;
    }
    kept
}

/// Copies one snapshot; false if it was told to stop.
fn pages(dir: &Path, target: &Path, stop: &AtomicBool) -> rusqlite::Result<bool> {
    let source = schema::reader(dir)?;
    let mut copy = Connection::open(target)?;
    copy.execute_batch("PRAGMA synchronous = OFF;")?;
    source.execute_batch("BEGIN")?;
    // The transaction begins with the first read; from here on every step sees the same pages.
    source.query_row("SELECT count(*) FROM indexed", [], |_| Ok(()))?;
    let backup = Backup::new(&source, &mut copy)?;
    while !stop.load(Ordering::Relaxed) {
        if backup.step(STEP_PAGES)? == StepResult::Done {
            return Ok(true);
        }
    }
    Ok(false)
}
