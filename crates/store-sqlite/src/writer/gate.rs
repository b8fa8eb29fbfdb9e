//! Gates and notices: small documents that are written with what they are about.

use gonets_core::{
    gate::GateWrite,
    notice::{Notice, TRANSITIONS_KEPT},
};
use gonets_store::tx::{Keep, Made, Told, Verdict};

use super::Batch;
use crate::row::{as_json, at_most, scope_column};

impl Batch<'_> {
    pub(super) fn keep(&mut self, keep: &Keep) -> rusqlite::Result<Verdict> {
        self.write_gates(&keep.gates)?;
        self.write_notices(&keep.notices)?;
        Ok(Ok(Made::Kept))
    }

    /// One row for each facet that holds something; the others need none.
    pub(super) fn write_gates(&mut self, writes: &[GateWrite]) -> rusqlite::Result<()> {
        for write in writes {
            let (scope, facet) = (scope_column(write.scope), write.change.facet());
            if write.change.is_default() {
                self.conn
                    .prepare_cached("DELETE FROM gate WHERE scope = ?1 AND facet = ?2")?
                    .execute((scope, facet))?;
            } else {
                self.conn
                    .prepare_cached("INSERT OR REPLACE INTO gate (scope, facet, doc) VALUES (?1, ?2, ?3)")?
                    .execute((scope, facet, as_json(&write.change)?))?;
            }
        }
        Ok(())
    }

    fn keep_transition(&self, notice: &Notice, id: i64, doc: &str) -> rusqlite::Result<()> {
        let app = notice.about.app.map_or(0, |app| app.0);
        let at = notice.at.as_millis();
        let old = at - TRANSITIONS_KEPT.as_millis() as i64;
        self.conn.prepare_cached("DELETE FROM transition WHERE app = ?1 AND at < ?2")?.execute((app, old))?;
        self.conn
            .prepare_cached("INSERT INTO transition (app, at, id, doc) VALUES (?1, ?2, ?3, ?4)")?
            .execute((app, at, id, doc))?;
        Ok(())
    }

    pub(super) fn write_notices(&mut self, notices: &[Notice]) -> rusqlite::Result<()> {
        for notice in notices {
            let doc = as_json(notice)?;
            self.conn.prepare_cached("INSERT INTO notice (doc) VALUES (?1)")?.execute([&doc])?;
            if notice.kind.is_transition() {
                self.keep_transition(notice, self.conn.last_insert_rowid(), &doc)?;
            }
        }
        Ok(())
    }

    pub(super) fn told(&mut self, told: Told) -> rusqlite::Result<Verdict> {
        let through = at_most(told.through);
        let forgotten = self.conn.prepare_cached("DELETE FROM notice WHERE id <= ?1")?.execute([through])?;
        Ok(Ok(Made::Step(forgotten as u32)))
    }
}
