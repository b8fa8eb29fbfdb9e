//! What a layout has to do, and the figures that all layouts share.

use rusqlite::{Connection, Result};

/// A producer's JSON, in bytes.
pub const BODY: [u8; 400] = [b'x'; 400];

/// The state of a delivery that waits for its first attempt.
pub const PENDING: i64 = 0;
/// The state of a delivery that an endpoint has taken.
pub const DELIVERED: i64 = 1;
/// The status of every answer.
pub const STATUS: i64 = 204;
/// How long every attempt took, in microseconds.
pub const DURATION_US: i64 = 41_234;
/// The number of the only attempt.
pub const FIRST: i64 = 1;
/// The only event type, by its number in the catalogue.
pub const TYPE_NO: i64 = 7;
/// The same event type where a layout stores names.
pub const TYPE_NAME: &str = "invoice.paid";

/// A set of tables that deliveries are written to.
pub trait Layout {
    /// Its name in the report.
    fn name(&self) -> &'static str;

    /// One durable commit: accepts a message for each of `endpoints`, and records the outcome of
    /// every message that the commit before accepted.
    fn commit(&mut self, endpoints: &[u32]) -> Result<()>;

    /// The database, for checks after the fact.
    #[cfg(test)]
    fn connection(&self) -> &Connection;
}

/// Makes one of the layouts in an empty database; the number is the rows of an index slice.
pub type Make = fn(Connection, usize) -> Result<Box<dyn Layout>>;

/// The layouts, from the usual one to the one that Gonets has.
pub const ALL: [Make; 3] = [
    |connection, _| Ok(Box::new(crate::uuid_eight::UuidEight::new(connection)?)),
    |connection, _| Ok(Box::new(crate::integer_eager::IntegerEager::new(connection)?)),
    |connection, slice| Ok(Box::new(crate::filled_behind::FilledBehind::new(connection, slice)?)),
];

/// Ids as the store makes them: 42 bits of milliseconds, then a counter, growing in commit order.
#[derive(Debug, Default)]
pub struct Ids {
    made: i64,
}

impl Ids {
    /// The time of the first id, in milliseconds since 1970.
    const EPOCH_MS: i64 = 1_750_000_000_000;
    /// How many ids fall into one millisecond.
    const PER_MS: i64 = 20;

    /// The time that the next id carries, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        Self::EPOCH_MS + self.made / Self::PER_MS
    }

    /// The next id, greater than all before.
    pub fn next(&mut self) -> i64 {
        let id = (self.now_ms() << 21) | (self.made % Self::PER_MS);
        self.made += 1;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(layout: &dyn Layout, sql: &str) -> i64 {
        layout.connection().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_layout_accepts_each_delivery_and_settles_it_one_commit_later() {
        for make in ALL {
            let mut layout = make(Connection::open_in_memory().unwrap(), 300).unwrap();
            for _ in 0..4 {
                layout.commit(&[3, 1, 2, 3, 3]).unwrap();
            }
            let name = layout.name();
            assert_eq!(count(&*layout, "SELECT count(*) FROM message"), 20, "{name}");
            assert_eq!(count(&*layout, "SELECT count(*) FROM attempt"), 15, "{name}");
            let settled = "SELECT count(*) FROM delivery WHERE state = 1 AND last_status = 204";
            assert_eq!(count(&*layout, settled), 15, "{name}");
        }
    }

    #[test]
    fn ids_grow_and_carry_the_time() {
        let mut ids = Ids::default();
        let made: Vec<i64> = (0..100).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert_eq!(made[99] >> 21, Ids::EPOCH_MS + 4);
    }
}
