//! The outcome of an attempt: the row it was made from, its journal, what becomes of the delivery.

use gonets_core::{
    ids::MessageId,
    outcome::Outcome as Came,
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};
use gonets_store::{
    record::{AttemptRecord, SettledState},
    tx::{Made, Outcome, Rejected, Source, Then, Verdict},
};
use rusqlite::OptionalExtension;

use super::Batch;
use crate::row::{int, millis};

impl Batch<'_> {
    pub(super) fn outcome(&mut self, outcome: &Outcome) -> rusqlite::Result<Verdict> {
        let there = match outcome.from {
            Source::Fresh | Source::Waiting => self.advance(outcome)?,
            Source::Hand => self.finish_by_hand(outcome)?,
        };
        if !there && !self.ended_late(outcome)? {
            return Ok(Err(Rejected::Gone));
        }
        if let Some(attempt) = &outcome.attempt {
            self.journal(attempt)?;
        }
        if let Some(gate) = &outcome.gate {
            self.write_gate(gate)?;
        }
        Ok(Ok(Made::Outcome(outcome.attempt.as_ref().map(|attempt| attempt.id))))
    }

    /// An attempt that was under way when its delivery was cancelled; false if it was not so.
    fn ended_late(&mut self, outcome: &Outcome) -> rusqlite::Result<bool> {
        let Some(attempt) = &outcome.attempt else { return Ok(false) };
        let key = (int(outcome.message.0), outcome.endpoint.0, SettledState::Cancelled.code());
        let is_cancelled = self
            .conn
            .prepare_cached("SELECT 1 FROM delivery WHERE msg = ?1 AND endpoint = ?2 AND state = ?3")?
            .exists(key)?;
        if !is_cancelled {
            return Ok(false);
        }
        if attempt.outcome == Came::Delivered {
            return self.settle(outcome, SettledState::Delivered, None);
        }
        self.conn
            .prepare_cached(
                "UPDATE delivery SET attempts = ?3, last_status = ?4 WHERE msg = ?1 AND endpoint = ?2",
            )?
            .execute((key.0, key.1, outcome.progress.attempts, attempt.status))?;
        Ok(true)
    }

    /// A scheduled attempt; false if its row is not there.
    fn advance(&mut self, outcome: &Outcome) -> rusqlite::Result<bool> {
        let key = (outcome.endpoint.0, int(outcome.message.0));
        match (outcome.from, outcome.then) {
            (_, Then::Untouched) => {
                let sql = match outcome.from {
                    Source::Fresh => "SELECT 1 FROM fresh WHERE endpoint = ?1 AND msg = ?2",
                    _ => "SELECT 1 FROM waiting WHERE endpoint = ?1 AND msg = ?2",
                };
                self.conn.prepare_cached(sql)?.exists(key)
            }
            (Source::Fresh, Then::Settled { state, reason }) => {
                if self.sql.take_fresh.execute(key)? != 1 {
                    return Ok(false);
                }
                self.settle(outcome, state, reason)
            }
            (_, Then::Settled { state, reason }) => {
                if self.sql.take_waiting.execute(key)? != 1 {
                    return Ok(false);
                }
                self.settle(outcome, state, reason)
            }
            (Source::Fresh, Then::Waiting { due, rule }) => {
                let mut take = self.conn.prepare_cached(
                    "DELETE FROM fresh WHERE endpoint = ?1 AND msg = ?2 RETURNING critical",
                )?;
                let Some(critical) = take.query_row(key, |row| row.get(0)).optional()? else {
                    return Ok(false);
                };
                drop(take);
                self.write_waiting(key.0, outcome.message, critical, due, rule, &outcome.progress)?;
                Ok(true)
            }
            (_, Then::Waiting { due, rule }) => self.wait_again(outcome, due, rule),
        }
    }

    fn wait_again(&mut self, outcome: &Outcome, due: Timestamp, rule: Rule) -> rusqlite::Result<bool> {
        let p = &outcome.progress;
        let changed = self.sql.again.execute((
            outcome.endpoint.0,
            int(outcome.message.0),
            due.as_millis(),
            rule.code(),
            p.outage,
            p.refusals,
            millis(p.first_refusal),
            p.attempts,
            p.interrupted,
            p.blocked,
        ))?;
        Ok(changed == 1)
    }

    /// A retry by hand: it has a row of its own beside the delivery's.
    fn finish_by_hand(&mut self, outcome: &Outcome) -> rusqlite::Result<bool> {
        let key = (outcome.endpoint.0, int(outcome.message.0));
        let mut take = self.conn.prepare_cached("DELETE FROM hand WHERE endpoint = ?1 AND msg = ?2")?;
        if take.execute(key)? != 1 {
            return Ok(false);
        }
        match outcome.then {
            Then::Settled { state, reason } => {
                self.sql.take_fresh.execute(key)?;
                self.sql.take_waiting.execute(key)?;
                self.settle(outcome, state, reason)
            }
            Then::Waiting { due, rule } => {
                self.sql.take_fresh.execute(key)?;
                self.conn
                    .prepare_cached("DELETE FROM delivery WHERE endpoint = ?1 AND msg = ?2")?
                    .execute(key)?;
                let critical = self
                    .conn
                    .prepare_cached("SELECT critical FROM message WHERE id = ?1")?
                    .query_row([key.1], |row| row.get(0))
                    .optional()?
                    .unwrap_or(false);
                self.write_waiting(key.0, outcome.message, critical, due, rule, &outcome.progress)?;
                Ok(true)
            }
            Then::Untouched => {
                self.count_attempts(outcome)?;
                Ok(true)
            }
        }
    }

    /// The attempts that a delivery has had are counted, whoever asked for them.
    fn count_attempts(&mut self, outcome: &Outcome) -> rusqlite::Result<()> {
        if outcome.attempt.is_none() {
            return Ok(());
        }
        let params = (outcome.endpoint.0, int(outcome.message.0), outcome.progress.attempts);
        for sql in [
            "UPDATE waiting SET attempts = ?3 WHERE endpoint = ?1 AND msg = ?2",
            "UPDATE delivery SET attempts = ?3 WHERE endpoint = ?1 AND msg = ?2",
        ] {
            self.conn.prepare_cached(sql)?.execute(params)?;
        }
        Ok(())
    }

    fn settle(
        &mut self,
        outcome: &Outcome,
        state: SettledState,
        reason: Option<Reason>,
    ) -> rusqlite::Result<bool> {
        let p = &outcome.progress;
        let message = int(outcome.message.0);
        let last_status = match &outcome.attempt {
            Some(attempt) => attempt.status,
            None => self.last_status(outcome)?,
        };
        self.sql.delivery.execute((
            message,
            outcome.endpoint.0,
            state.code(),
            reason.map(Reason::code),
            self.now.as_millis(),
            last_status,
            p.outage,
            p.refusals,
            millis(p.first_refusal),
            p.attempts,
            p.interrupted,
            p.blocked,
        ))?;
        if outcome.attempt.is_none() {
            // No attempt will lead the index to it.
            self.conn
                .prepare_cached("INSERT OR IGNORE INTO delivery_by_endpoint (endpoint, msg) VALUES (?1, ?2)")?
                .execute((outcome.endpoint.0, message))?;
        }
        Ok(true)
    }

    fn last_status(&mut self, outcome: &Outcome) -> rusqlite::Result<Option<u16>> {
        let mut statement = self.conn.prepare_cached(include_str!("../sql/last_status.sql"))?;
        let status =
            statement.query_row((int(outcome.message.0), outcome.endpoint.0), |row| row.get(0)).optional()?;
        Ok(status.flatten())
    }

    pub(super) fn write_waiting(
        &mut self,
        endpoint: u32,
        message: MessageId,
        critical: bool,
        due: Timestamp,
        rule: Rule,
        p: &Progress,
    ) -> rusqlite::Result<()> {
        self.sql.waiting.execute((
            endpoint,
            int(message.0),
            critical,
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

    fn journal(&mut self, attempt: &AttemptRecord) -> rusqlite::Result<()> {
        let id = int(attempt.id.0);
        let message = int(attempt.message.0);
        self.sql.attempt.execute((
            id,
            message,
            attempt.endpoint.0,
            attempt.outcome.code(),
            attempt.status,
            attempt.number,
            attempt.by_hand,
            attempt.started.as_millis(),
            int(attempt.duration_us),
            attempt.detail.as_slice(),
            &attempt.answer[..],
        ))?;
        self.sql.attempt_of.execute((message, id, attempt.endpoint.0))?;
        Ok(())
    }
}
