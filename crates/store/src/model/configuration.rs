//! Configuration documents and facts.

use gonets_core::{
    ids::{AppNo, EntityNo},
    time::Timestamp,
};

use super::{Model, ModelState};
use crate::{
    entity::{EntityKind, EntityRow},
    query::{Answer, Entities, QueryError},
    tx::{EntityWrite, Made, Rejected, Verdict},
};

impl ModelState {
    /// The version of an application that is not deleted.
    pub(super) fn application(&self, app: AppNo) -> Option<u32> {
        let row = self.entities.get(&app.0)?;
        (row.kind == EntityKind::Application && !row.deleted).then_some(row.version)
    }

    pub(super) fn entity(&mut self, now: Timestamp, write: &EntityWrite) -> Verdict {
        if let Some(verdict) = write.idempotency.as_ref().and_then(|(key, _)| self.replay(now, key)) {
            return verdict;
        }
        let row = &write.row;
        match (self.entities.get(&row.no.0), write.expected) {
            (Some(_), None) => return Err(Rejected::UidTaken(row.no)),
            (None, Some(_)) => return Err(Rejected::Gone),
            (Some(stored), Some(expected)) if stored.version != expected => return Err(Rejected::Conflict),
            _ => {}
        }
        let itself = |app: &AppNo| row.kind == EntityKind::Application && row.no.0 == app.0;
        let touched = write.touches.filter(|app| !itself(app));
        if touched.is_some_and(|app| self.application(app).is_none()) {
            return Err(Rejected::Gone);
        }
        if let Some(holder) = self.holder_of_uid(row) {
            return Err(Rejected::UidTaken(holder));
        }
        let version = write.expected.map_or(1, |version| version + 1);
        self.entities.insert(row.no.0, EntityRow { version, ..row.clone() });
        if let Some(application) = touched.and_then(|app| self.entities.get_mut(&app.0)) {
            application.version += 1;
        }
        self.write_gates(&write.gates);
        self.write_notices(&write.notices);
        if let Some((key, answer)) = &write.idempotency {
            self.keep_key(now, key, Made::ReplayedAnswer(answer.clone()));
        }
        Ok(Made::Entity { no: row.no, version })
    }

    fn holder_of_uid(&self, row: &EntityRow) -> Option<EntityNo> {
        let of = |one: &EntityRow| (one.kind, one.environment, one.owner);
        if row.deleted || row.uid.is_none() {
            return None;
        }
        self.entities
            .values()
            .find(|one| !one.deleted && one.no != row.no && of(one) == of(row) && one.uid == row.uid)
            .map(|one| one.no)
    }
}

impl Entities for Model {
    fn entities(&self) -> Answer<Vec<EntityRow>> {
        Ok(self.state.lock().entities.values().cloned().collect())
    }

    fn next_no(&self) -> Answer<EntityNo> {
        let mut state = self.state.lock();
        let used = state.entities.last_key_value().map_or(0, |(no, _)| *no).max(state.last_no);
        let next = used.checked_add(1).ok_or_else(|| {
            QueryError::Unreadable(String::from("all numbers for configuration are used up"))
        })?;
        state.last_no = next;
        Ok(EntityNo(next))
    }

    /// The same for every model: a simulation is to show the same ids each time.
    fn id_key(&self) -> Answer<[u8; 16]> {
        Ok(*b"a store's id key")
    }

    fn fact(&self, name: &str) -> Answer<Option<Vec<u8>>> {
        Ok(self.state.lock().facts.get(name).cloned())
    }

    fn keep_fact(&self, name: &str, value: &[u8]) -> Answer<()> {
        self.state.lock().facts.insert(name.to_owned(), value.to_vec());
        Ok(())
    }
}
