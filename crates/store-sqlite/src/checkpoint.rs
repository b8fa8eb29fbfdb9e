//! Moving the log into the file, so that it can start over.
//!
//! # Aside
//! Moving a thousand pages takes milliseconds and a sync, and for as long as the writer does that
//! itself, every caller waits. SQLite lets another connection move pages while the writer appends.
//! So each time the log has grown by [`DUE_PAGES`], a thread with a connection of its own moves what
//! is there, and then what was appended meanwhile, which is less each time. When nothing is left,
//! the log starts over with the next commit.
//!
//! # Why the writer helps
//! Under load something is always appended, so a thread alone never gets to the end, and the log
//! would grow without bound. Therefore past [`HELP_PAGES`] the writer moves the remainder itself
//! when that is small, between two commits, where nothing can be appended. Past [`BOUND_PAGES`] it
//! moves whatever is left: that is also where a disk that fails shows, should it fail the thread.
//! And in a log of [`ALARMING_PAGES`] it waits for the thread, should that be slower than commits.
//!
//! # Failures
//! A checkpoint only tidies up: what it could not move is still in the log, and it is moved again
//! from there. So a failure of the thread is a warning, one of the writer ends the store. Busy is
//! neither: another process checkpoints (`sqlite3` on the file, a backup tool).

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::Duration,
};

use gonets_store::engine::Load;
use rusqlite::{Connection, wal::CheckpointMode};

use crate::{error, schema};

/// So many more pages in the log make a checkpoint due.
const DUE_PAGES: u32 = 1_000;
/// A log of so many pages has not started over for a while: the writer moves a small remainder.
const HELP_PAGES: u32 = 3_000;
/// A small remainder: a fraction of a millisecond and a sync.
const REMAINDER_PAGES: u32 = 100;
/// In a log of so many pages (32 MiB) the writer moves a remainder of any size.
const BOUND_PAGES: u32 = 8_192;
/// Above this the log did not start over for long (a slow reader, a backup): worth a word.
const ALARMING_PAGES: u32 = 16_384;
/// How often the thread looks for what was appended while it moved the rest.
const ROUNDS: u32 = 4;

/// Who moves the log into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoints {
    /// A thread of the store, while the writer commits.
    Aside,
    /// The writer in its upkeep. Nothing happens on its own then: for simulations.
    ByWriter,
}

/// How far a checkpoint got: pages of the log that are in the file now.
type Moved = rusqlite::Result<u32>;

/// What the writer knows of the checkpoints.
pub(crate) struct Checkpointer {
    aside: Option<Aside>,
    /// Pages in the log after the last commit.
    pages: Arc<AtomicU32>,
    /// Pages of the log at the last checkpoint, as long as it has not started over.
    looked_at: u32,
    /// Pages of the log when the thread was asked.
    asked_at: u32,
    /// The last checkpoint could not move all of the log: someone reads an older state.
    unfinished: bool,
    alarmed: bool,
}

impl Checkpointer {
    /// The connection of the writer reports the length of its log from here on.
    pub(crate) fn start(dir: &Path, conn: &mut Connection, how: Checkpoints) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&pages);
        conn.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            seen.store(u32::try_from(pages).unwrap_or(0), Ordering::Release);
            Ok(())
        }))?;
        let aside = match how {
            Checkpoints::Aside => Aside::start(dir, Arc::clone(&pages))?,
            Checkpoints::ByWriter => None,
        };
        Ok(Self { aside, pages, looked_at: 0, asked_at: 0, unfinished: false, alarmed: false })
    }

    /// Whether something is left to look at when there is time.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished || self.aside.as_ref().is_some_and(|aside| aside.asked)
    }

    /// What is due of it now, between two commits of the writer on `conn`.
    pub(crate) fn tend(&mut self, conn: &Connection, load: Load) -> rusqlite::Result<()> {
        let pages = self.pages.load(Ordering::Acquire);
        let looked = match &mut self.aside {
            Some(aside) if aside.asked => {
                // How long the log already was is no matter: a backup may have kept it. What counts is
                // that commits outrun the thread.
                let outrun = pages.saturating_sub(self.asked_at) >= ALARMING_PAGES;
                let Some(moved) = aside.answer(outrun) else { return Ok(()) };
                self.heard(conn, pages, moved)?
            }
            _ => self.look(conn, pages, load)?,
        };
        if looked {
            self.mind_the_length(pages);
        }
        Ok(())
    }

    /// Begins a checkpoint if one is due, or if the last one is to be tried again.
    fn look(&mut self, conn: &Connection, pages: u32, load: Load) -> rusqlite::Result<bool> {
        if pages < self.looked_at {
            self.looked_at = 0;
        }
        let due = pages - self.looked_at >= DUE_PAGES;
        let retry = self.unfinished && load == Load::Idle;
        if !due && !retry {
            return Ok(false);
        }
        if self.aside.as_mut().is_some_and(Aside::ask) {
            self.asked_at = pages;
            return Ok(false);
        }
        // No thread, or one that panicked.
        self.aside = None;
        self.by_writer(conn, pages).map(|()| true)
    }

    /// The thread has done what it could; the writer helps where that is called for.
    fn heard(&mut self, conn: &Connection, pages: u32, moved: Moved) -> rusqlite::Result<bool> {
        let (known, again) = match moved {
            Ok(known) => (known, pages > known),
            Err(cause) if error::is_busy(&cause) => (0, true),
            Err(cause) => {
                tracing::warn!(%cause, "the log of the store could not be moved into its file; it is tried again when it has grown");
                (0, false)
            }
        };
        if pages < known {
            // It has started over since.
            (self.looked_at, self.unfinished) = (0, false);
            return Ok(true);
        }
        if helps(pages, pages - known) {
            return self.by_writer(conn, pages).map(|()| true);
        }
        (self.looked_at, self.unfinished) = (pages, again);
        Ok(true)
    }

    fn by_writer(&mut self, conn: &Connection, pages: u32) -> rusqlite::Result<()> {
        let unfinished = match conn.wal_checkpoint_v2(Some("main"), CheckpointMode::PASSIVE) {
            Ok((log, moved)) => moved < log,
            Err(cause) if error::is_busy(&cause) => true,
            Err(cause) => return Err(cause),
        };
        (self.looked_at, self.unfinished) = (pages, unfinished);
        Ok(())
    }

    fn mind_the_length(&mut self, pages: u32) {
        let alarming = pages >= ALARMING_PAGES;
        if alarming && !self.alarmed {
            tracing::warn!(
                pages,
                "the log of the store is over 64 MB: a reader or a backup keeps it from starting over"
            );
        }
        self.alarmed = alarming;
    }

    /// Ends the thread, after what it has begun.
    pub(crate) fn stop(&mut self) {
        self.aside = None;
    }
}

/// Whether the writer is to move the `left` pages of a log of `pages` itself.
fn helps(pages: u32, left: u32) -> bool {
    left > 0 && (pages >= HELP_PAGES && left <= REMAINDER_PAGES || pages >= BOUND_PAGES)
}

/// The thread, as the writer sees it.
struct Aside {
    /// Taken away to end the thread.
    requests: Option<mpsc::Sender<()>>,
    answers: mpsc::Receiver<Moved>,
    /// Something was asked for and not answered yet.
    asked: bool,
    thread: Option<JoinHandle<()>>,
}

impl Aside {
    /// `None` when there can be no thread: then the writer does it all.
    fn start(dir: &Path, pages: Arc<AtomicU32>) -> rusqlite::Result<Option<Self>> {
        let conn = schema::occasional_writer(dir)?;
        conn.busy_timeout(Duration::ZERO)?;
        let (requests, wanted) = mpsc::channel();
        let (tell, answers) = mpsc::channel();
        let serve = move || {
            for () in wanted {
                // The writer is gone when it does not listen; then so is the sender of requests.
                let _ = tell.send(rounds(&conn, &pages));
            }
        };
        match std::thread::Builder::new().name("gonets-log".into()).spawn(serve) {
            Ok(thread) => {
                Ok(Some(Self { requests: Some(requests), answers, asked: false, thread: Some(thread) }))
            }
            Err(cause) => {
                tracing::warn!(%cause, "no thread for the log of the store: its checkpoints delay commits");
                Ok(None)
            }
        }
    }

    /// False when the thread is gone.
    fn ask(&mut self) -> bool {
        self.asked = self.requests.as_ref().is_some_and(|requests| requests.send(()).is_ok());
        self.asked
    }

    /// What came of it, if that is known yet or is to be waited for.
    fn answer(&mut self, wait: bool) -> Option<Moved> {
        let answered = match self.answers.try_recv() {
            Err(mpsc::TryRecvError::Empty) if wait => self.answers.recv().ok(),
            Err(mpsc::TryRecvError::Empty) => return None,
            answered => answered.ok(),
        };
        self.asked = false;
        // A thread that panicked has moved nothing; the hook of the process has said so.
        Some(answered.unwrap_or(Ok(0)))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the store's log panicked");
        }
    }
}

/// Moves what is in the log, and what came meanwhile, until nothing is left, a reader is in the
/// way, or it has tried often enough.
fn rounds(conn: &Connection, pages: &AtomicU32) -> Moved {
    let mut round = 1;
    loop {
        let (log, moved) = conn.wal_checkpoint_v2(Some("main"), CheckpointMode::PASSIVE)?;
        let moved = u32::try_from(moved).unwrap_or(0);
        let pinned = i64::from(moved) < i64::from(log);
        let length = pages.load(Ordering::Acquire);
        // Fewer than were moved: it has started over. Too many: the writer is waiting to help.
        if pinned || length <= moved || length >= BOUND_PAGES || round == ROUNDS {
            return Ok(moved);
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_moves_a_small_remainder_of_a_long_log_and_any_of_one_too_long() {
        assert!(!helps(DUE_PAGES, 1), "a short log: the thread will get there");
        assert!(helps(HELP_PAGES, REMAINDER_PAGES));
        assert!(!helps(HELP_PAGES, REMAINDER_PAGES + 1), "that would delay commits");
        assert!(helps(BOUND_PAGES, BOUND_PAGES));
        assert!(!helps(BOUND_PAGES, 0), "nothing is left");
    }
}
