//! Configuration documents: created, replaced or deleted under the guard of their version.

use gonets_core::ids::{AppNo, EntityNo};
use gonets_store::{
    entity::{EntityKind, EntityRow},
    tx::{EntityWrite, Made, Rejected, Verdict},
};
use rusqlite::OptionalExtension;

use super::Batch;

/// The application that a document touches; writing one bumps its version once, whatever it says
/// it touches.
fn touched(write: &EntityWrite) -> Option<AppNo> {
    let row = &write.row;
    write.touches.filter(|app| !(row.kind == EntityKind::Application && row.no.0 == app.0))
}

impl Batch<'_> {
    pub(super) fn entity(&mut self, write: &EntityWrite) -> rusqlite::Result<Verdict> {
        if let Some((key, _)) = &write.idempotency
            && let Some(verdict) = self.replay(key)?
        {
            return Ok(verdict);
        }
        if let Err(refused) = self.guard(write)? {
            return Ok(Err(refused));
        }
        let version = write.expected.map_or(1, |version| version + 1);
        self.write_entity(&write.row, version)?;
        if let Some(app) = touched(write) {
            self.touch(app)?;
        }
        self.write_gates(&write.gates)?;
        self.write_notices(&write.notices)?;
        if let Some((key, answer)) = &write.idempotency {
            self.keep_key(key, None, Some(answer))?;
        }
        Ok(Ok(Made::Entity { no: write.row.no, version }))
    }

    fn guard(&mut self, write: &EntityWrite) -> rusqlite::Result<Result<(), Rejected>> {
        let row = &write.row;
        let mut statement = self.conn.prepare_cached("SELECT version FROM entity WHERE no = ?1")?;
        let stored: Option<u32> = statement.query_row([row.no.0], |found| found.get(0)).optional()?;
        match (stored, write.expected) {
            (Some(_), None) => return Ok(Err(Rejected::UidTaken(row.no))),
            (None, Some(_)) => return Ok(Err(Rejected::Gone)),
            (Some(stored), Some(expected)) if stored != expected => return Ok(Err(Rejected::Conflict)),
            _ => {}
        }
        if let Some(app) = touched(write)
            && !self.memory.apps.is_living(app)
        {
            return Ok(Err(Rejected::Gone));
        }
        Ok(match self.holder_of_uid(row)? {
            Some(holder) if holder != row.no => Err(Rejected::UidTaken(holder)),
            _ => Ok(()),
        })
    }

    fn holder_of_uid(&mut self, row: &EntityRow) -> rusqlite::Result<Option<EntityNo>> {
        let Some(uid) = row.uid.as_deref().filter(|_| !row.deleted) else { return Ok(None) };
        let mut statement = self.conn.prepare_cached(
            "SELECT no FROM entity WHERE kind = ?1 AND env = ?2 AND owner = ?3 AND uid = ?4 AND deleted = 0",
        )?;
        statement
            .query_row((row.kind.code(), row.environment.0, row.owner.0, uid), |found| {
                Ok(EntityNo(found.get(0)?))
            })
            .optional()
    }

    fn write_entity(&mut self, row: &EntityRow, version: u32) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO entity (no, kind, env, owner, uid, version, deleted, doc)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                row.no.0,
                row.kind.code(),
                row.environment.0,
                row.owner.0,
                row.uid.as_deref(),
                version,
                row.deleted,
                row.doc.as_slice(),
            ))?;
        if row.kind == EntityKind::Application {
            self.memory.apps.wrote(row.no, version, row.deleted);
        }
        Ok(())
    }

    fn touch(&mut self, app: AppNo) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached("UPDATE entity SET version = version + 1 WHERE no = ?1 AND kind = ?2")?
            .execute((app.0, EntityKind::Application.code()))?;
        self.memory.apps.touched(app);
        Ok(())
    }
}
