//! The rows that an index by owner does not have yet, in memory, and how they get there.
//!
//! Rows gather until there are enough to be worth sorting; then that generation is sorted by owner
//! and written in slices, while new rows gather behind it. Sorted, the rows of one owner go to one
//! leaf together: a slice of 300 rows out of 10,000 touches some 30 owners of 1,000, not 300.

use rusqlite::{Result, Transaction};

/// Rows that a tail may hold before slices get commits of their own.
pub const LIMIT_ROWS: usize = 20_000;
/// Rows that make a generation: half the limit, so that one gathers while one is written.
const GENERATION_ROWS: usize = LIMIT_ROWS / 2;

/// An index row: whose it is, of what, and a column that lists filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub owner: u32,
    pub id: i64,
    pub detail: i64,
}

/// The tail of one index.
#[derive(Debug)]
pub struct Tail {
    index: &'static str,
    insert: String,
    gathering: Vec<Row>,
    /// Sorted downwards, so that the next slice is at the end.
    writing: Vec<Row>,
    /// The newest row of the generation being written.
    through: i64,
}

impl Tail {
    /// An empty tail of the table `index`.
    pub fn new(index: &'static str) -> Self {
        let insert = format!("INSERT INTO {index} (owner, id, detail) VALUES (?, ?, ?)");
        Self { index, insert, gathering: Vec::new(), writing: Vec::new(), through: 0 }
    }

    /// Adds a row that was just written to its table.
    pub fn push(&mut self, row: Row) {
        self.gathering.push(row);
    }

    /// Rows that the index does not have yet.
    pub fn len(&self) -> usize {
        self.gathering.len() + self.writing.len()
    }

    /// True when a slice is ready: a generation has begun, or enough rows gathered to begin one.
    pub fn is_ready(&self) -> bool {
        !self.writing.is_empty() || self.gathering.len() >= GENERATION_ROWS
    }

    /// Writes the next rows, at most `slice_rows`, and how far the index is complete once a generation is.
    pub fn write_slice(&mut self, tx: &Transaction<'_>, slice_rows: usize) -> Result<()> {
        if self.writing.is_empty() {
            self.begin_generation();
        }
        let from = self.writing.len().saturating_sub(slice_rows);
        let mut insert = tx.prepare_cached(&self.insert)?;
        for row in self.writing.drain(from..).rev() {
            insert.execute((row.owner, row.id, row.detail))?;
        }
        if self.writing.is_empty() {
            tx.prepare_cached("INSERT OR REPLACE INTO indexed (name, through) VALUES (?, ?)")?
                .execute((self.index, self.through))?;
        }
        Ok(())
    }

    fn begin_generation(&mut self) {
        std::mem::swap(&mut self.gathering, &mut self.writing);
        self.through = self.writing.iter().map(|row| row.id).max().unwrap_or(self.through);
        self.writing.sort_unstable_by(|a, b| b.cmp(a));
    }
}
