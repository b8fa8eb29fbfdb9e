//! The database file: the same settings for every layout.

use std::path::Path;

use rusqlite::{Connection, Result};

/// Makes a database as the store would: WAL, every commit synced, 16 MB of page cache, a
/// checkpoint by the writer each 1,000 pages.
pub fn create(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA cache_size = -16384;
         PRAGMA wal_autocheckpoint = 1000;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
