//! Deliveries that have ended.

use gonets_core::{
    ids::{EndpointNo, MessageId},
    progress::Progress,
    rule::Reason,
};
use gonets_store::record::SettledState;

use super::Batch;
use crate::row::{int, millis};

/// How a delivery ended, now.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) message: MessageId,
    pub(super) endpoint: EndpointNo,
    pub(super) state: SettledState,
    pub(super) reason: Option<Reason>,
    pub(super) last_status: Option<u16>,
    pub(super) progress: Progress,
}

impl Batch<'_> {
    pub(super) fn write_ended(&mut self, ended: &Ended) -> rusqlite::Result<()> {
        let p = &ended.progress;
        self.sql.delivery.execute((
            int(ended.message.0),
            ended.endpoint.0,
            ended.state.code(),
            ended.reason.map(Reason::code),
            self.now.as_millis(),
            ended.last_status,
            p.outage,
            p.refusals,
            millis(p.first_refusal),
            p.attempts,
            p.interrupted,
            p.blocked,
        ))?;
        Ok(())
    }

    /// Puts a delivery into its endpoint's list at once, where no attempt will lead the index to it.
    pub(super) fn index_ended(&mut self, endpoint: EndpointNo, message: MessageId) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO delivery_by_endpoint (endpoint, msg) VALUES (?1, ?2)")?
            .execute((endpoint.0, int(message.0)))?;
        Ok(())
    }
}
