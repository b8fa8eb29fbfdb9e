//! The tokio runtimes of the commands, and the signals that end them.

use std::future::Future;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::Error;

const fn failed(cause: std::io::Error) -> Error {
    Error::Io { what: "the asynchronous runtime could not be started", cause }
}

/// For a server: a thread for each core.
///
/// # Errors
/// When threads cannot be started, or as the command.
pub fn on_all_cores<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?.block_on(work)
}

/// For a command that asks and waits.
///
/// # Errors
/// When the runtime cannot be started, or as the command.
pub fn on_one_thread<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(work)
}

/// SIGINT and SIGTERM.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From now on the signals do not end the process by themselves.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn watch() -> Result<Self, Error> {
        let watch =
            |kind| signal(kind).map_err(|cause| Error::Io { what: "signals cannot be watched", cause });
        Ok(Self { interrupt: watch(SignalKind::interrupt())?, terminate: watch(SignalKind::terminate())? })
    }

    /// The next of them, by name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}
