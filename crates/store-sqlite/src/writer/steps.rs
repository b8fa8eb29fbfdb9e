//! Operations that people and upkeep ask for: a retry by hand, a step of a cancellation, a step of
//! routing what waits for an endpoint.

use gonets_core::ids::MessageId;
use gonets_store::tx::{CancelStep, HandRetry, Made, Rejected, RouteStep, Verdict};
use rusqlite::OptionalExtension;

use super::Batch;
use crate::row::{instant, int};

impl Batch<'_> {
    pub(super) fn hand(&mut self, retry: &HandRetry) -> rusqlite::Result<Verdict> {
        let keyed = retry.idempotency.as_deref();
        if let Some((key, _)) = keyed
            && let Some(verdict) = self.replay(key)?
        {
            return Ok(verdict);
        }
        let message = int(retry.message.0);
        if !self.conn.prepare_cached("SELECT 1 FROM payload WHERE msg = ?1")?.exists([message])? {
            return Ok(Err(Rejected::Gone));
        }
        if retry.under_way {
            return Ok(Err(Rejected::Conflict));
        }
        let added = self
            .conn
            .prepare_cached("INSERT INTO hand (endpoint, msg) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute((retry.endpoint.0, message))?;
        if added == 0 {
            return Ok(Err(Rejected::Conflict));
        }
        if let Some((key, answer)) = keyed {
            self.keep_key(key, None, Some(answer))?;
        }
        Ok(Ok(Made::Hand))
    }

    /// A few statements whatever the limit: the last message of the step is found first, then
    /// everything up to it is moved.
    pub(super) fn cancel(&mut self, step: CancelStep) -> rusqlite::Result<Verdict> {
        let endpoint = step.endpoint.0;
        let (found, last): (u32, Option<i64>) = self
            .conn
            .prepare_cached(include_str!("../sql/cancel_range.sql"))?
            .query_row((endpoint, int(step.through.0), step.limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(last) = last {
            self.conn.prepare_cached(include_str!("../sql/cancel_waiting.sql"))?.execute((
                endpoint,
                last,
                step.reason.code(),
                self.now.as_millis(),
            ))?;
            self.conn
                .prepare_cached(include_str!("../sql/index_cancelled.sql"))?
                .execute((endpoint, last))?;
            for sql in [
                "DELETE FROM fresh WHERE endpoint = ?1 AND msg <= ?2",
                "DELETE FROM waiting WHERE endpoint = ?1 AND msg <= ?2",
            ] {
                self.conn.prepare_cached(sql)?.execute((endpoint, last))?;
            }
        }
        let by_hand = self.conn.prepare_cached(include_str!("../sql/cancel_hand.sql"))?.execute((
            endpoint,
            int(step.through.0),
            step.limit - found,
        ))?;
        Ok(Ok(Made::Step(found + by_hand as u32)))
    }

    pub(super) fn route(&mut self, step: &RouteStep) -> rusqlite::Result<Verdict> {
        if let Err(refused) = self.memory.apps.check(step.app, step.app_version) {
            return Ok(Err(refused));
        }
        let mut routed = 0;
        for (message, endpoints) in &step.routes {
            let waited = self
                .conn
                .prepare_cached("DELETE FROM unrouted WHERE app = ?1 AND msg = ?2")?
                .execute((step.app.0, int(message.0)))?;
            if waited == 1 {
                self.route_one(*message, endpoints.iter().map(|endpoint| endpoint.0))?;
                routed += 1;
            }
        }
        Ok(Ok(Made::Step(routed)))
    }

    fn route_one(
        &mut self,
        message: MessageId,
        endpoints: impl ExactSizeIterator<Item = u32>,
    ) -> rusqlite::Result<()> {
        let known = self
            .conn
            .prepare_cached("UPDATE message SET routes = ?2 WHERE id = ?1 RETURNING critical, deliver_at")?
            .query_row((int(message.0), endpoints.len() as i64), |row| Ok((row.get(0)?, instant(row, 1)?)))
            .optional()?;
        let Some((critical, deliver_at)) = known else { return Ok(()) };
        for endpoint in endpoints {
            self.write_route(endpoint, message, critical, deliver_at)?;
        }
        Ok(())
    }
}
