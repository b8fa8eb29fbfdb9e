//! The version of every application, in the memory of the writer: the guard of each accept.

use std::collections::HashMap;

use gonets_core::ids::{AppNo, EntityNo};
use gonets_store::{entity::EntityKind, tx::Rejected};
use rusqlite::Connection;

#[derive(Debug, Default)]
pub(super) struct Apps {
    /// `None`: deleted.
    versions: HashMap<u32, Option<u32>>,
}

impl Apps {
    pub(super) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached("SELECT no, version, deleted FROM entity WHERE kind = ?1")?;
        let rows = statement.query_map([EntityKind::Application.code()], |row| {
            let deleted: bool = row.get(2)?;
            Ok((row.get(0)?, (!deleted).then_some(row.get(1)?)))
        })?;
        Ok(Self { versions: rows.collect::<rusqlite::Result<_>>()? })
    }

    /// Whether a message that was routed with `version` may be accepted.
    pub(super) fn check(&self, app: AppNo, version: u32) -> Result<(), Rejected> {
        match self.versions.get(&app.0) {
            Some(Some(current)) if *current == version => Ok(()),
            Some(Some(_)) => Err(Rejected::Stale),
            Some(None) | None => Err(Rejected::Gone),
        }
    }

    /// Whether it is there and not deleted.
    pub(super) fn is_living(&self, app: AppNo) -> bool {
        matches!(self.versions.get(&app.0), Some(Some(_)))
    }

    pub(super) fn wrote(&mut self, app: EntityNo, version: u32, deleted: bool) {
        self.versions.insert(app.0, (!deleted).then_some(version));
    }

    pub(super) fn touched(&mut self, app: AppNo) {
        if let Some(Some(version)) = self.versions.get_mut(&app.0) {
            *version += 1;
        }
    }
}
