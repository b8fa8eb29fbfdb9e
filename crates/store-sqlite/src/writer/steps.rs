//! Steps over what waits in a lane: cancelling, expiring, turning it into messages without an endpoint.
//!
//! A step is a few statements whatever its limit: the messages it takes are put into `temp.step` (the
//! writer's own, in memory), then everything about them is moved.

use gonets_core::{
    ids::{AppNo, EndpointNo},
    notice::Notice,
    rule::Reason,
    time::Timestamp,
};
use gonets_store::{
    record::SettledState,
    tx::{CancelStep, EndUnroutedStep, ExpireStep, Made, Rejected, UnrouteStep, Verdict},
};

use super::Batch;
use crate::row::{at_most, first_after};

impl Batch<'_> {
    pub(super) fn cancel(&mut self, step: CancelStep) -> rusqlite::Result<Verdict> {
        let before = at_most(step.through.0.saturating_add(1));
        let found = self.take_lane(step.endpoint, before, step.limit, Timestamp::MAX)?;
        if found > 0 {
            self.end_lane(step.endpoint, SettledState::Cancelled, step.reason)?;
        }
        let by_hand = self.conn.prepare_cached(include_str!("../sql/cancel_hand.sql"))?.execute((
            step.endpoint.0,
            before,
            step.limit - found,
        ))?;
        Ok(Ok(Made::Step(found + by_hand as u32)))
    }

    pub(super) fn expire(&mut self, step: &ExpireStep) -> rusqlite::Result<Verdict> {
        let before = first_after(step.aged_from);
        let found = self.take_lane(step.endpoint, before, step.limit, step.aged_from)?;
        if found > 0 {
            self.end_lane(step.endpoint, SettledState::Failed, Reason::Expired)?;
            self.tell_count(&step.notice, found)?;
        }
        Ok(Ok(Made::Step(found)))
    }

    pub(super) fn unroute(&mut self, step: UnrouteStep) -> rusqlite::Result<Verdict> {
        if !self.memory.apps.is_living(step.app) {
            return Ok(Err(Rejected::Gone));
        }
        let found = self.take_lane(step.endpoint, i64::MAX, step.limit, Timestamp::MAX)?;
        if found > 0 {
            self.leave_lane(step.endpoint)?;
            self.conn
                .prepare_cached(
                    "DELETE FROM hand WHERE endpoint = ?1 AND msg IN (SELECT msg FROM temp.step)",
                )?
                .execute([step.endpoint.0])?;
            self.wait_for_endpoint(step.app)?;
        }
        Ok(Ok(Made::Step(found)))
    }

    pub(super) fn end_unrouted(&mut self, step: &EndUnroutedStep) -> rusqlite::Result<Verdict> {
        self.clear_step()?;
        let found = self.conn.prepare_cached(include_str!("../sql/step_unrouted.sql"))?.execute((
            step.app.0,
            first_after(step.aged_from),
            step.limit,
            step.aged_from.as_millis(),
        ))? as u32;
        if found > 0 {
            self.conn
                .prepare_cached("DELETE FROM unrouted WHERE app = ?1 AND msg IN (SELECT msg FROM temp.step)")?
                .execute([step.app.0])?;
            self.conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO unrouted_end (msg, app, reason, at)
                     SELECT msg, ?1, ?2, ?3 FROM temp.step",
                )?
                .execute((step.app.0, step.reason.code(), self.now.as_millis()))?;
            if let Some(notice) = &step.notice {
                self.tell_count(notice, found)?;
            }
        }
        Ok(Ok(Made::Step(found)))
    }

    /// Puts the oldest deliveries of a lane into `temp.step`, and says how many. Only messages before
    /// an id whose own time to deliver is not after `not_for_later`.
    fn take_lane(
        &mut self,
        endpoint: EndpointNo,
        before: i64,
        limit: u32,
        not_for_later: Timestamp,
    ) -> rusqlite::Result<u32> {
        self.clear_step()?;
        let found = self.conn.prepare_cached(include_str!("../sql/step_lane.sql"))?.execute((
            endpoint.0,
            before,
            limit,
            not_for_later.as_millis(),
        ))?;
        Ok(found as u32)
    }

    fn clear_step(&mut self) -> rusqlite::Result<()> {
        self.conn.prepare_cached("DELETE FROM temp.step")?.execute([]).map(drop)
    }

    /// The deliveries of the step end.
    fn end_lane(
        &mut self,
        endpoint: EndpointNo,
        state: SettledState,
        reason: Reason,
    ) -> rusqlite::Result<()> {
        self.conn.prepare_cached(include_str!("../sql/end_lane.sql"))?.execute((
            endpoint.0,
            state.code(),
            reason.code(),
            self.now.as_millis(),
        ))?;
        // No attempt leads the index to them, so they are put in at once: one endpoint, in order.
        self.conn
            .prepare_cached(
                "INSERT OR IGNORE INTO delivery_by_endpoint (endpoint, msg) SELECT ?1, msg FROM temp.step",
            )?
            .execute([endpoint.0])?;
        self.leave_lane(endpoint)
    }

    /// The deliveries of the step wait no more.
    fn leave_lane(&mut self, endpoint: EndpointNo) -> rusqlite::Result<()> {
        for sql in [
            "DELETE FROM fresh WHERE endpoint = ?1 AND later IN (0, 1) AND msg IN (SELECT msg FROM temp.step)",
            "DELETE FROM waiting WHERE endpoint = ?1 AND later IN (0, 1) AND msg IN (SELECT msg FROM temp.step)",
        ] {
            self.conn.prepare_cached(sql)?.execute([endpoint.0])?;
        }
        Ok(())
    }

    /// The messages of the step wait for an endpoint, as if they had not been routed to this one.
    fn wait_for_endpoint(&mut self, app: AppNo) -> rusqlite::Result<()> {
        for sql in [
            "UPDATE message SET routes = max(routes - 1, 0) WHERE id IN (SELECT msg FROM temp.step)",
            "DELETE FROM unrouted_end WHERE msg IN (SELECT msg FROM temp.step)",
        ] {
            self.conn.prepare_cached(sql)?.execute([])?;
        }
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO unrouted (app, msg) SELECT ?1, msg FROM temp.step")?
            .execute([app.0])
            .map(drop)
    }

    fn tell_count(&mut self, notice: &Notice, count: u32) -> rusqlite::Result<()> {
        let mut notice = notice.clone();
        notice.facts.count = Some(u64::from(count));
        self.write_notices(&[notice])
    }
}
