//! Routes: new deliveries of a message, at once or when it waited for an endpoint (R18).

use gonets_core::{
    ids::{EndpointNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::Rule,
    time::Timestamp,
};
use gonets_store::tx::{Made, RouteStep, Verdict};
use rusqlite::OptionalExtension;

use super::Batch;
use crate::row::{instant, int};

/// What the deliveries of a message have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) message: MessageId,
    pub(super) critical: bool,
    /// [`kind_of`] its type.
    pub(super) kind: u32,
    pub(super) deliver_at: Option<Timestamp>,
}

impl Batch<'_> {
    /// A new delivery: never tried, or due at `deliver_at`.
    pub(super) fn write_route(&mut self, endpoint: EndpointNo, arrival: &Arrival) -> rusqlite::Result<()> {
        let Arrival { message, critical, kind, deliver_at } = *arrival;
        match deliver_at {
            None => self.sql.fresh.execute((endpoint.0, !critical, int(message.0), kind)).map(drop),
            Some(due) => {
                let lane = (endpoint.0, !critical, message, kind);
                self.write_waiting(lane, due, Rule::DeliverAt, &Progress::default())
            }
        }
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
                self.route_one(*message, endpoints)?;
                routed += 1;
            }
        }
        Ok(Ok(Made::Step(routed)))
    }

    /// An endpoint that has a delivery of the message already gets no second one.
    fn route_one(&mut self, message: MessageId, endpoints: &[EndpointNo]) -> rusqlite::Result<()> {
        let Some(arrival) = self.arrival(message)? else { return Ok(()) };
        let mut added = 0;
        for endpoint in endpoints {
            let key = (endpoint.0, int(message.0));
            if !self.conn.prepare_cached(include_str!("../sql/has_delivery.sql"))?.exists(key)? {
                self.write_route(*endpoint, &arrival)?;
                added += 1;
            }
        }
        self.conn
            .prepare_cached("UPDATE message SET routes = routes + ?2 WHERE id = ?1")?
            .execute((int(message.0), added))
            .map(drop)
    }

    /// A message that is there as its deliveries see it.
    pub(super) fn arrival(&mut self, message: MessageId) -> rusqlite::Result<Option<Arrival>> {
        self.conn
            .prepare_cached("SELECT critical, type, deliver_at FROM message WHERE id = ?1")?
            .query_row([int(message.0)], |row| {
                let kind = kind_of(row.get_ref(1)?.as_str()?);
                Ok(Arrival { message, critical: row.get(0)?, kind, deliver_at: instant(row, 2)? })
            })
            .optional()
    }
}
