//! What can go wrong when a store is opened, and which failures of SQLite end the process.

use std::path::{Path, PathBuf};

use gonets_store::{engine::Fatal, query::QueryError};
use rusqlite::ErrorCode;

/// Why a store did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the data directory {} cannot be made or used: {cause}. Give another one, or the right to write to it.", dir.display())]
    Directory { dir: PathBuf, cause: std::io::Error },
    #[error("the data directory {} is in use by another Gonets{}. Stop it first, or give another directory.", dir.display(), by(*pid))]
    Locked { dir: PathBuf, pid: Option<u32> },
    #[error(
        "this build carries SQLite {found}, which can lose data when its log starts over; 3.51.3 or newer is needed. Build with the bundled SQLite."
    )]
    OldSqlite { found: String },
    #[error("the store in {} was written by Gonets {writer} (schema {found}); this is Gonets {ours}, which knows schemas up to {known}. Start that version again, or restore a backup made before the upgrade.", dir.display())]
    Newer { dir: PathBuf, writer: String, found: u32, ours: &'static str, known: u32 },
    #[error("the store in {} cannot be opened: {cause}", dir.display())]
    Sqlite { dir: PathBuf, cause: rusqlite::Error },
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

/// Whether SQLite can go on after this failure. What is about one operation (too big, a constraint)
/// is survivable; what is about the disk or the file is not.
pub(crate) fn ends_the_store(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory
                | ErrorCode::ApiMisuse
                | ErrorCode::InternalMalfunction
        )
    )
}

/// Whether another connection was in the way, and nothing is wrong.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The sentence for the operator.
pub(crate) fn fatal(dir: &Path, doing: &str, error: &rusqlite::Error) -> Fatal {
    let now_what = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "Free some space and start again; everything that was answered is safe.",
        Some(ErrorCode::SystemIoFailure) => {
            "Check the disk and the system's log before starting again; everything that was answered is safe."
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => "Restore the last backup.",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "Another program holds the file open for writing; stop it and start again."
        }
        _ => "Start again; everything that was answered is safe.",
    };
    Fatal { message: format!("the store in {} failed while {doing}: {error}. {now_what}", dir.display()) }
}

pub(crate) fn query(error: rusqlite::Error) -> QueryError {
    if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
        QueryError::TooLong
    } else {
        QueryError::Unreadable(error.to_string())
    }
}
