//! The embedded store: SQLite in WAL mode with one writer, a few readers and nothing to operate.
//!
//! - [`Sqlite::open`] gives the two halves: [`SqliteEngine`] for the committer's thread and
//!   [`SqliteReaders`] for whoever asks.
//! - `writer`: one batch, one durable transaction. `tend`: upkeep between batches.
//!   `checkpoint`: the log, moved into the file beside the writer.
//! - `read`: the queries, each in a short read transaction over index and tail.
//! - `schema`, `migrations/`: the layout, and why a table is keyed as it is.
//!
//! What costs in SQLite is pages touched for each commit. So tables that every delivery writes are
//! keyed by time or are lanes, and what is keyed by owner is filled behind, in sorted slices.
//! This crate decides no rule and knows no document.

mod backup;
mod checkpoint;
mod error;
mod lock;
mod open;
mod read;
mod row;
mod schema;
mod tend;
mod writer;

pub use checkpoint::Checkpoints;
pub use error::OpenError;
pub use open::{Options, Sqlite};
pub use read::SqliteReaders;
pub use writer::SqliteEngine;
