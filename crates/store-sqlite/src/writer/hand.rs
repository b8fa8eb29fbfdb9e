//! Retries by hand.

use gonets_store::tx::{HandRetry, Made, Rejected, Verdict};

use super::Batch;
use crate::row::int;

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
}
