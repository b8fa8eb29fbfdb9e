//! Gates: one row for each scope that is not simply open.

use gonets_store::{
    record::Gate,
    tx::{GateWrite, Made, Verdict},
};

use super::Batch;
use crate::row::{int, millis, scope_column};

impl Batch<'_> {
    pub(super) fn gate(&mut self, write: &GateWrite) -> rusqlite::Result<Verdict> {
        self.write_gate(write)?;
        Ok(Ok(Made::Gate))
    }

    /// Replaces the gate of a scope; an open one needs no row.
    pub(super) fn write_gate(&mut self, write: &GateWrite) -> rusqlite::Result<()> {
        let scope = scope_column(write.scope);
        let gate = &write.gate;
        if *gate == Gate::default() {
            self.conn.prepare_cached("DELETE FROM gate WHERE scope = ?1")?.execute([scope])?;
            return Ok(());
        }
        self.conn.prepare_cached(include_str!("../sql/write_gate.sql"))?.execute((
            scope,
            gate.breaker,
            int(gate.pause_ms),
            millis(gate.until),
            gate.probe.map(|(endpoint, _)| endpoint.0),
            gate.probe.map(|(_, message)| int(message.0)),
            millis(gate.lease_until),
            millis(gate.throttled_until),
            gate.throttles,
            millis(gate.failing_since),
            gate.failures,
            gate.noticed,
            gate.disabled.as_ref().map(|disabled| disabled.since.as_millis()),
            gate.disabled.as_ref().map(|disabled| disabled.why.code()),
            gate.frozen,
            gate.cancel_through.map(|message| int(message.0)),
        ))?;
        Ok(())
    }
}
