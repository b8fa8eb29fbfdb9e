//! Reading a range of ids from an index that is filled behind, and from its tail.

use gonets_core::{ids::MessageId, time::Timestamp};
use gonets_store::query::Page;
use rusqlite::Connection;

/// How far the owner-keyed indexes are filled, as of the read transaction.
pub(super) fn indexed(conn: &Connection) -> rusqlite::Result<(i64, i64)> {
    conn.prepare_cached("SELECT message, attempt FROM indexed")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A range of ids, exclusive on both sides, and the direction of reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) down: bool,
}

/// One of the two places where rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Index,
    Tail,
}

impl Range {
    pub(super) fn of(page: &Page, before: Option<Timestamp>, after: Option<Timestamp>) -> Self {
        let (low, high) = page.bounds(before, after);
        Self { low: low as i64, high: high as i64, down: page.reads_down() }
    }

    /// The messages accepted in `from <= accepted < to`.
    pub(super) fn accepted(from: Timestamp, to: Timestamp) -> Self {
        let first = |at| MessageId::first_at(at).0 as i64;
        Self { low: first(from) - 1, high: first(to), down: false }
    }

    /// The range split at `indexed`: all of the index is older than all of the tail, so reading one
    /// after the other keeps the order. Rows of the index beyond `indexed` belong to an unfinished
    /// block and are read from the tail.
    pub(super) fn split(self, indexed: i64) -> [(Place, Self); 2] {
        let index = (Place::Index, Self { high: self.high.min(indexed.saturating_add(1)), ..self });
        let tail = (Place::Tail, Self { low: self.low.max(indexed), ..self });
        if self.down { [tail, index] } else { [index, tail] }
    }

    /// The statement with the range's order.
    pub(super) fn ordered(self, sql: &str, column: &str) -> String {
        format!("{sql} ORDER BY {column} {}", if self.down { "DESC" } else { "ASC" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_tail_share_no_id_and_leave_none_out() {
        for (low, high) in [(0, 10), (0, 3), (6, 10), (5, 6), (4, 6)] {
            for down in [false, true] {
                let read: Vec<i64> = Range { low, high, down }
                    .split(5)
                    .into_iter()
                    .flat_map(|(_, part)| {
                        let ids = part.low + 1..part.high;
                        if down { ids.rev().collect::<Vec<_>>() } else { ids.collect() }
                    })
                    .collect();
                let mut all: Vec<i64> = (low + 1..high).collect();
                if down {
                    all.reverse();
                }
                assert_eq!(read, all, "{low}..{high}");
            }
        }
    }
}
