//! Configuration and facts.

use std::sync::atomic::Ordering;

use gonets_core::ids::EntityNo;
use gonets_store::{
    entity::EntityRow,
    query::{Answer, Entities, QueryError},
};
use rusqlite::OptionalExtension;

use super::SqliteReaders;
use crate::{error, row, schema};

impl Entities for SqliteReaders {
    fn entities(&self) -> Answer<Vec<EntityRow>> {
        self.read(|conn| {
            conn.prepare_cached(
                "SELECT no, kind, env, owner, uid, version, deleted, doc FROM entity ORDER BY no",
            )?
            .query_map([], row::entity)?
            .collect()
        })
    }

    fn next_no(&self) -> Answer<EntityNo> {
        let last = self.last_no.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |no| no.checked_add(1));
        last.map(|last| EntityNo(last + 1))
            .map_err(|_| QueryError::Unreadable(String::from("all numbers for configuration are used up")))
    }

    fn id_key(&self) -> Answer<[u8; 16]> {
        self.read(|conn| conn.query_row("SELECT value FROM fact WHERE name = 'id_key'", [], |row| row.get(0)))
    }

    fn fact(&self, name: &str) -> Answer<Option<Vec<u8>>> {
        self.read(|conn| {
            conn.prepare_cached("SELECT value FROM fact WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()
        })
    }

    fn keep_fact(&self, name: &str, value: &[u8]) -> Answer<()> {
        let mut facts = self.facts.lock();
        let conn = match facts.take() {
            Some(conn) => conn,
            None => schema::occasional_writer(&self.dir).map_err(error::query)?,
        };
        let kept = conn.execute("INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)", (name, value));
        *facts = Some(conn);
        kept.map(drop).map_err(error::query)
    }
}
