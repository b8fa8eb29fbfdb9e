//! Opens connections and brings the schema up to date.

use std::{fs::OpenOptions, io::ErrorKind, os::unix::fs::OpenOptionsExt, path::Path};

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::OpenError;

const FILE: &str = "gonets.db";
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_first.sql")];
/// Before it, a log that starts over while it is read can lose pages.
const OLDEST_SQLITE: i32 = 3_051_003;
const OURS: &str = env!("CARGO_PKG_VERSION");

/// The writer's connection, its schema up to date.
pub(crate) fn writer(dir: &Path) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(OpenError::OldSqlite { found: rusqlite::version().to_owned() });
    }
    let failed = |cause| OpenError::Sqlite { dir: dir.to_owned(), cause };
    let file = dir.join(FILE);
    for_its_owner(&file).map_err(|cause| OpenError::Directory { dir: dir.to_owned(), cause })?;
    let conn = Connection::open(file).map_err(failed)?;
    set_up_writer(&conn).map_err(failed)?;
    migrate(dir, &conn)?;
    Ok(conn)
}

/// Makes an empty file that its owner alone can read, if there is none: SQLite would make one that
/// everybody can. Its log and shared memory get the rights of the file.
pub(crate) fn for_its_owner(file: &Path) -> std::io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(cause),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// FULL: a commit is on disk when it returns. No mmap: a failed read is an error, not a signal.
/// SQLite makes no checkpoints by itself, so no commit pays for one: when they are made, and by whom,
/// is [`crate::checkpoint`]'s. `step` is the memory of one step over a lane.
fn set_up_writer(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_prepared_statement_cache_capacity(128);
    conn.execute_batch(
        "PRAGMA busy_timeout = 5000;
         PRAGMA page_size = 4096;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA cache_size = -16000;
         PRAGMA mmap_size = 0;
         PRAGMA temp_store = MEMORY;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864;
         CREATE TEMP TABLE step (msg INTEGER PRIMARY KEY) STRICT;",
    )
}

/// A connection beside the writer's that writes now and then: facts, and the log into the file.
pub(crate) fn occasional_writer(dir: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(
        dir.join(FILE),
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;",
    )?;
    Ok(conn)
}

/// A connection that only reads.
pub(crate) fn reader(dir: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(
        dir.join(FILE),
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.execute_batch(
        "PRAGMA busy_timeout = 5000;
         PRAGMA query_only = ON;
         PRAGMA mmap_size = 0;
         PRAGMA cache_size = -8000;
         PRAGMA temp_store = MEMORY;
         PRAGMA wal_autocheckpoint = 0;",
    )?;
    Ok(conn)
}

fn migrate(dir: &Path, conn: &Connection) -> Result<(), OpenError> {
    let failed = |cause| OpenError::Sqlite { dir: dir.to_owned(), cause };
    let known = MIGRATIONS.len() as u32;
    let found: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if found > known {
        let writer = written_by(conn).map_err(failed)?;
        return Err(OpenError::Newer { dir: dir.to_owned(), writer, found, ours: OURS, known });
    }
    for (at, sql) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        let version = at + 1;
        conn.execute_batch(&format!(
            "BEGIN IMMEDIATE;\n{sql}\n
             INSERT OR REPLACE INTO fact VALUES ('written_by', CAST('{OURS}' AS BLOB));
             PRAGMA user_version = {version};\nCOMMIT;"
        ))
        .map_err(failed)?;
    }
    Ok(())
}

fn written_by(conn: &Connection) -> rusqlite::Result<String> {
    let value: Option<Vec<u8>> = conn
        .query_row("SELECT value FROM fact WHERE name = 'written_by'", [], |row| row.get(0))
        .optional()?;
    Ok(value.map_or_else(
        || String::from("of a later version"),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    ))
}
