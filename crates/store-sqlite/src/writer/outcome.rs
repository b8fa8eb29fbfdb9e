//! The outcome of an attempt: the row it was made from, its journal, what becomes of the delivery.

use gonets_core::{outcome::Outcome as Came, rule::Reason};
use gonets_store::{
    record::{AttemptRecord, SettledState},
    tx::{Made, Outcome, Rejected, Source, Then, Verdict},
};
use rusqlite::OptionalExtension;

use super::{Batch, ended::Ended};
use crate::row::{self, int};

impl Batch<'_> {
    pub(super) fn outcome(&mut self, outcome: &Outcome) -> rusqlite::Result<Verdict> {
        let there = match outcome.from {
            Source::Fresh | Source::Waiting => self.advance(outcome)?,
            Source::Hand => self.finish_by_hand(outcome)?,
        };
        if !there && !self.ended_late(outcome)? {
            self.write_gates(&outcome.gates)?;
            return Ok(Err(Rejected::Gone));
        }
        if let Some(attempt) = &outcome.attempt {
            self.journal(attempt)?;
        }
        self.write_gates(&outcome.gates)?;
        self.write_notices(&outcome.notices)?;
        Ok(Ok(Made::Outcome(outcome.attempt.as_ref().map(|attempt| attempt.id))))
    }

    /// An attempt that was under way when a step ended its delivery; false if it was not so.
    fn ended_late(&mut self, outcome: &Outcome) -> rusqlite::Result<bool> {
        let Some(attempt) = &outcome.attempt else { return Ok(false) };
        let key = (int(outcome.message.0), outcome.endpoint.0);
        let ended = self
            .conn
            .prepare_cached("SELECT state, reason FROM delivery WHERE msg = ?1 AND endpoint = ?2")?
            .query_row(key, |row| Ok((row::state(row, 0)?, row::reason(row, 1)?)))
            .optional()?;
        let by_a_step = match ended {
            Some((SettledState::Cancelled, _)) => true,
            Some((SettledState::Failed, reason)) => reason == Some(Reason::Expired),
            _ => false,
        };
        if !by_a_step {
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
                    Source::Fresh => {
                        "SELECT 1 FROM fresh WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2"
                    }
                    _ => "SELECT 1 FROM waiting WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2",
                };
                self.conn.prepare_cached(sql)?.exists(key)
            }
            (Source::Fresh, Then::Settled { state, reason }) => {
                Ok(self.take_fresh(key)? && self.settle(outcome, state, reason)?)
            }
            (_, Then::Settled { state, reason }) => {
                Ok(self.take_waiting(key)? && self.settle(outcome, state, reason)?)
            }
            (Source::Fresh, Then::Waiting { due, rule }) => {
                let Some((later, kind)) = self.leave_fresh(key)? else { return Ok(false) };
                let lane = (key.0, later, outcome.message, kind);
                self.write_waiting(lane, due, rule, &outcome.progress)?;
                Ok(true)
            }
            (_, Then::Waiting { due, rule }) => self.wait_again(key, due, rule, &outcome.progress),
        }
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
                let waited = self.take_fresh(key)? | self.take_waiting(key)?;
                if !waited {
                    self.route_by_hand(key)?;
                }
                self.settle(outcome, state, reason)
            }
            Then::Waiting { due, rule } => {
                self.take_fresh(key)?;
                self.conn
                    .prepare_cached("DELETE FROM delivery WHERE endpoint = ?1 AND msg = ?2")?
                    .execute(key)?;
                let message = outcome.message;
                let arrival = self.arrival(message)?;
                let (later, kind) = arrival.map_or((true, 0), |one| (!one.critical, one.kind));
                self.write_waiting((key.0, later, message, kind), due, rule, &outcome.progress)?;
                Ok(true)
            }
            Then::Untouched => {
                self.count_attempts(outcome)?;
                Ok(true)
            }
        }
    }

    /// A message that was sent by hand to an endpoint that it was never routed to: now it was (R29).
    fn route_by_hand(&mut self, (endpoint, message): (u32, i64)) -> rusqlite::Result<()> {
        self.conn.prepare_cached(include_str!("../sql/route_by_hand.sql"))?.execute((endpoint, message))?;
        Ok(())
    }

    /// The attempts that a delivery has had are counted, whoever asked for them.
    fn count_attempts(&mut self, outcome: &Outcome) -> rusqlite::Result<()> {
        if outcome.attempt.is_none() {
            return Ok(());
        }
        let params = (outcome.endpoint.0, int(outcome.message.0), outcome.progress.attempts);
        for sql in [
            "UPDATE waiting SET attempts = ?3 WHERE endpoint = ?1 AND later IN (0, 1) AND msg = ?2",
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
        let last_status = match &outcome.attempt {
            Some(attempt) => attempt.status,
            None => self.last_status(outcome)?,
        };
        self.write_ended(&Ended {
            message: outcome.message,
            endpoint: outcome.endpoint,
            state,
            reason,
            last_status,
            progress: outcome.progress,
        })?;
        if outcome.attempt.is_none() {
            // No attempt will lead the index to it.
            self.index_ended(outcome.endpoint, outcome.message)?;
        }
        Ok(true)
    }

    fn last_status(&mut self, outcome: &Outcome) -> rusqlite::Result<Option<u16>> {
        let mut statement = self.conn.prepare_cached(include_str!("../sql/last_status.sql"))?;
        let status =
            statement.query_row((int(outcome.message.0), outcome.endpoint.0), |row| row.get(0)).optional()?;
        Ok(status.flatten())
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
