//! The rows of a lane: deliveries that were never tried, and those that wait.
//!
//! A lane has two halves, critical messages before the others, and an outcome does not say which its
//! delivery is in. Two looks at neighbouring leaves are cheaper than one at the message, and one
//! statement over both halves costs SQLite more than two that name their row.

use gonets_core::{ids::MessageId, progress::Progress, rule::Rule, time::Timestamp};
use rusqlite::OptionalExtension;

use super::Batch;
use crate::row::{int, millis};

/// The values of `later`: most messages are not critical, so that half is looked at first.
const HALVES: [bool; 2] = [true, false];

/// Endpoint and message of a row.
type Key = (u32, i64);

impl Batch<'_> {
    /// Deletes a row; false if it is not there.
    pub(super) fn take_fresh(&mut self, (endpoint, message): Key) -> rusqlite::Result<bool> {
        for later in HALVES {
            if self.sql.take_fresh.execute((endpoint, later, message))? == 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// As [`Self::take_fresh`], with the half that it was in and its kind.
    pub(super) fn leave_fresh(&mut self, (endpoint, message): Key) -> rusqlite::Result<Option<(bool, u32)>> {
        let mut take = self.conn.prepare_cached(
            "DELETE FROM fresh WHERE endpoint = ?1 AND later = ?2 AND msg = ?3 RETURNING kind",
        )?;
        for later in HALVES {
            let kind = take.query_row((endpoint, later, message), |row| row.get(0)).optional()?;
            if let Some(kind) = kind {
                return Ok(Some((later, kind)));
            }
        }
        Ok(None)
    }

    pub(super) fn take_waiting(&mut self, (endpoint, message): Key) -> rusqlite::Result<bool> {
        for later in HALVES {
            if self.sql.take_waiting.execute((endpoint, later, message))? == 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A row of `waiting` waits on; false if it is not there.
    pub(super) fn wait_again(
        &mut self,
        (endpoint, message): Key,
        due: Timestamp,
        rule: Rule,
        p: &Progress,
    ) -> rusqlite::Result<bool> {
        for later in HALVES {
            let changed = self.sql.again.execute((
                endpoint,
                later,
                message,
                due.as_millis(),
                rule.code(),
                p.outage,
                p.refusals,
                millis(p.first_refusal),
                p.attempts,
                p.interrupted,
                p.blocked,
            ))?;
            if changed == 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `lane`: endpoint, whether it comes after critical ones, message and kind.
    pub(super) fn write_waiting(
        &mut self,
        (endpoint, later, message, kind): (u32, bool, MessageId, u32),
        due: Timestamp,
        rule: Rule,
        p: &Progress,
    ) -> rusqlite::Result<()> {
        self.sql.waiting.execute((
            endpoint,
            later,
            int(message.0),
            kind,
            due.as_millis(),
            rule.code(),
            p.outage,
            p.refusals,
            millis(p.first_refusal),
            p.attempts,
            p.interrupted,
            p.blocked,
        ))?;
        Ok(())
    }
}
