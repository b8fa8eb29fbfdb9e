//! A data directory that no server has open: what is there before the engine starts, and the
//! administration of a stopped one.
//!
//! It writes the same documents as the operations of the service do, through the same store
//! engine, so nothing that was made here can be told from what was made over the API. It is apart
//! from the service because that needs a running engine, and the first key must be there before
//! anyone can ask.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gonets_core::{
    ids::{EntityNo, EnvironmentNo, IdCodec, IdKind},
    names::{self, NameKind},
    time::{Clock, Timestamp},
};
use gonets_service::access::token;
use gonets_store::{
    engine::Engine,
    entity::{EntityKind, EntityRow, EnvironmentDoc, KeyDoc},
    query::{Entities, QueryError},
    tx::{EntityWrite, Tx},
};
use gonets_store_sqlite::{Options, Sqlite, SqliteEngine, SqliteReaders};
use gonets_wire::{Keyring, Place, Purpose};
use serde::Serialize;

use crate::{error::Error, secrets};

/// The environment that is always there.
pub const DEFAULT_ENVIRONMENT: &str = "default";
/// The fact that tells whether the master key is the right one.
const MASTER_KEY_FACT: &str = "master-key-check";

/// An open data directory.
pub struct Installation {
    dir: PathBuf,
    engine: SqliteEngine,
    readers: Arc<SqliteReaders>,
    clock: Arc<dyn Clock>,
}

/// An environment as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    pub id: String,
    pub name: String,
    pub created_at: String,
    #[serde(skip)]
    pub no: EnvironmentNo,
}

/// A key as it is listed: never the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    pub id: String,
    pub name: String,
    /// The first characters of the token, where it is long enough.
    pub hint: String,
    pub created_at: String,
}

impl Installation {
    /// Opens the directory, made if it is not there, and keeps others out of it.
    ///
    /// # Errors
    /// As [`Sqlite::open`]: among them, that a server is running on it.
    pub fn open(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let (engine, readers) = Sqlite::open(dir, Options::new(Arc::clone(&clock)))?;
        Ok(Self { dir: dir.to_owned(), engine, readers, clock })
    }

    /// The halves of the store, for the engine.
    pub fn into_store(self) -> (SqliteEngine, Arc<SqliteReaders>) {
        (self.engine, self.readers)
    }

    /// Ends the use of the directory with everything on disk.
    ///
    /// # Errors
    /// When the store could not write.
    pub fn close(self) -> Result<(), Error> {
        Ok(Box::new(self.engine).close()?)
    }

    /// Refuses a master key that could not open what is sealed here; the first one is remembered.
    ///
    /// # Errors
    /// When it is another key.
    pub fn check_master_key(&self, keyring: &Keyring) -> Result<(), Error> {
        let place = Place { purpose: Purpose::InstallationKey, environment: 0, owner: 0 };
        match self.readers.fact(MASTER_KEY_FACT)? {
            Some(sealed) => {
                keyring.open(place, &sealed).map_err(|_| Error::OtherMasterKey { dir: self.dir.clone() })?;
                if !keyring.is_current(&sealed)? {
                    self.readers
                        .keep_fact(MASTER_KEY_FACT, &keyring.seal(place, MASTER_KEY_FACT.as_bytes())?)?;
                }
                Ok(())
            }
            None => Ok(self
                .readers
                .keep_fact(MASTER_KEY_FACT, &keyring.seal(place, MASTER_KEY_FACT.as_bytes())?)?),
        }
    }

    /// Sees to it that the environment `default` and admin keys are there: the given ones, or, in
    /// an installation without any, a new one.
    ///
    /// Gives the token of a new key; it cannot be shown again.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn prepare(&mut self, given: &[String]) -> Result<Option<String>, Error> {
        let environment = match self.find_environment(DEFAULT_ENVIRONMENT)? {
            Some(found) => found.no,
            None => self.create_environment(DEFAULT_ENVIRONMENT)?.no,
        };
        for token in given {
            let hash = token::Hash::of(token);
            if !self.key_documents()?.iter().any(|(_, doc)| doc.token_hash == hash.hex()) {
                self.write_key(environment, "bootstrap", token)?;
            }
        }
        if self.key_documents()?.iter().any(|(_, doc)| doc.app.is_none()) {
            return Ok(None);
        }
        self.create_key(environment, "first").map(|(_, token)| Some(token))
    }

    /// Ends the key of `--dev`, which everybody knows; true if there was one.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn end_dev_key(&mut self) -> Result<bool, Error> {
        let hash = token::Hash::of(secrets::DEV_KEY);
        let keys = self.key_documents()?;
        let Some((row, _)) = keys.into_iter().find(|(_, doc)| doc.token_hash == hash.hex()) else {
            return Ok(false);
        };
        self.delete(row)?;
        Ok(true)
    }

    /// All environments, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn environments(&self) -> Result<Vec<Environment>, Error> {
        let ids = self.ids()?;
        let living = self.living(EntityKind::Environment)?;
        living
            .into_iter()
            .map(|row| {
                let doc: EnvironmentDoc = row.read()?;
                Ok(Environment {
                    id: ids.encode(IdKind::Environment, row.no.0.into()),
                    name: doc.name,
                    created_at: doc.created_at.to_rfc3339(),
                    no: EnvironmentNo(row.no.0),
                })
            })
            .collect()
    }

    /// The environment of that name or id.
    ///
    /// # Errors
    /// When there is none.
    pub fn environment(&self, name: &str) -> Result<Environment, Error> {
        if let Some(found) = self.find_environment(name)? {
            return Ok(found);
        }
        let known: Vec<_> = self.environments()?.into_iter().map(|environment| environment.name).collect();
        let known = if known.is_empty() {
            "none yet: `gonets env create` makes one".to_owned()
        } else {
            known.join(", ")
        };
        Err(Error::NoSuchEnvironment { name: name.to_owned(), known })
    }

    fn find_environment(&self, name: &str) -> Result<Option<Environment>, Error> {
        Ok(self.environments()?.into_iter().find(|one| one.name == name || one.id == name))
    }

    /// Makes an environment.
    ///
    /// # Errors
    /// When the name is taken or not a name.
    pub fn create_environment(&mut self, name: &str) -> Result<Environment, Error> {
        names::check(NameKind::Uid, name)?;
        if self.find_environment(name)?.is_some() {
            return Err(Error::EnvironmentExists(name.to_owned()));
        }
        let (no, now) = (self.readers.next_no()?, self.clock.now());
        let row = EntityRow {
            kind: EntityKind::Environment,
            no,
            // Its own, so that all its documents stand under one number.
            environment: EnvironmentNo(no.0),
            owner: EntityNo(0),
            uid: Some(name.to_owned()),
            version: 1,
            deleted: false,
            doc: document(&EnvironmentDoc { name: name.to_owned(), created_at: now })?,
        };
        self.write(row, None)?;
        let id = self.ids()?.encode(IdKind::Environment, no.0.into());
        let (name, created_at) = (name.to_owned(), now.to_rfc3339());
        Ok(Environment { id, name, created_at, no: EnvironmentNo(no.0) })
    }

    /// The admin keys of an environment, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn keys(&self, environment: EnvironmentNo) -> Result<Vec<Key>, Error> {
        let ids = self.ids()?;
        let ours = |(row, doc): &(EntityRow, KeyDoc)| row.environment == environment && doc.app.is_none();
        Ok(self
            .key_documents()?
            .iter()
            .filter(|key| ours(key))
            .map(|(row, doc)| listed(&ids, row.no, doc))
            .collect())
    }

    /// Makes an admin key; its token is shown now or never.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn create_key(&mut self, environment: EnvironmentNo, name: &str) -> Result<(Key, String), Error> {
        let token = token::generate().map_err(|_| Error::NoRandomness)?;
        let key = self.write_key(environment, name, &token)?;
        Ok((key, token))
    }

    /// Ends a key of an environment for good.
    ///
    /// # Errors
    /// When there is no such key in it.
    pub fn revoke_key(&mut self, environment: EnvironmentNo, id: &str) -> Result<(), Error> {
        let missing = || Error::NoSuchKey(id.to_owned());
        let no = self.ids()?.decode(IdKind::Key, id).ok_or_else(missing)?;
        let ours = |row: &EntityRow| row.environment == environment && u64::from(row.no.0) == no;
        let found = self.key_documents()?.into_iter().find(|(row, _)| ours(row));
        let (row, _) = found.ok_or_else(missing)?;
        self.delete(row)
    }

    fn delete(&mut self, mut row: EntityRow) -> Result<(), Error> {
        let version = row.version;
        row.deleted = true;
        self.write(row, Some(version))
    }

    fn write_key(&mut self, environment: EnvironmentNo, name: &str, token: &str) -> Result<Key, Error> {
        let no = self.readers.next_no()?;
        let doc = KeyDoc {
            name: name.to_owned(),
            created_at: self.clock.now(),
            token_hash: token::Hash::of(token).hex().to_owned(),
            app: None,
            expires_at: None,
            hint: token::hint(token),
        };
        let row = EntityRow {
            kind: EntityKind::Key,
            no,
            environment,
            owner: EntityNo(0),
            uid: None,
            version: 1,
            deleted: false,
            doc: document(&doc)?,
        };
        self.write(row, None)?;
        Ok(listed(&self.ids()?, no, &doc))
    }

    fn key_documents(&self) -> Result<Vec<(EntityRow, KeyDoc)>, Error> {
        let living = self.living(EntityKind::Key)?;
        living.into_iter().map(|row| Ok((row.clone(), row.read()?))).collect()
    }

    fn living(&self, kind: EntityKind) -> Result<Vec<EntityRow>, QueryError> {
        let all = self.readers.entities()?;
        Ok(all.into_iter().filter(|row| row.kind == kind && !row.deleted).collect())
    }

    fn ids(&self) -> Result<IdCodec, QueryError> {
        self.readers.id_key().map(IdCodec::new)
    }

    fn write(&mut self, row: EntityRow, expected: Option<u32>) -> Result<(), Error> {
        let write = EntityWrite {
            row,
            expected,
            touches: None,
            gates: Vec::new(),
            notices: Vec::new(),
            idempotency: None,
        };
        let now: Timestamp = self.clock.now();
        for verdict in self.engine.commit(now, &[Tx::Entity(Box::new(write))])? {
            verdict?;
        }
        Ok(())
    }
}

fn listed(ids: &IdCodec, no: EntityNo, doc: &KeyDoc) -> Key {
    Key {
        id: ids.encode(IdKind::Key, no.0.into()),
        name: doc.name.clone(),
        hint: doc.hint.clone(),
        created_at: doc.created_at.to_rfc3339(),
    }
}

fn document(doc: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(doc).map_err(Error::NotJson)
}

#[cfg(test)]
mod tests {
    use gonets_core::clock::SystemClock;
    use gonets_wire::MasterKey;

    use super::*;

    fn open(dir: &Path) -> Installation {
        Installation::open(dir, Arc::new(SystemClock::start())).unwrap()
    }

    #[test]
    fn the_first_start_makes_one_environment_and_one_key_and_the_next_makes_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut installation = open(dir.path());
        let token = installation.prepare(&[]).unwrap().expect("a new key is shown once");
        assert_eq!(installation.prepare(&[]).unwrap(), None);
        installation.close().unwrap();

        let mut installation = open(dir.path());
        assert_eq!(installation.prepare(&[]).unwrap(), None);
        let environment = installation.environment(DEFAULT_ENVIRONMENT).unwrap();
        let keys = installation.keys(environment.no).unwrap();
        assert_eq!(keys.len(), 1);
        assert!(token.starts_with(&keys[0].hint));
    }

    #[test]
    fn a_given_key_is_made_once_and_no_other_is_invented() {
        let dir = tempfile::tempdir().unwrap();
        let mut installation = open(dir.path());
        for _ in 0..2 {
            assert_eq!(installation.prepare(&["dev".to_owned()]).unwrap(), None);
        }
        let environment = installation.environment(DEFAULT_ENVIRONMENT).unwrap();
        assert_eq!(installation.keys(environment.no).unwrap().len(), 1);
    }

    #[test]
    fn the_key_that_everybody_knows_ends_with_dev() {
        let dir = tempfile::tempdir().unwrap();
        let mut installation = open(dir.path());
        installation.prepare(&["dev".to_owned()]).unwrap();
        assert!(installation.end_dev_key().unwrap());
        assert!(!installation.end_dev_key().unwrap());
        assert!(installation.prepare(&[]).unwrap().is_some(), "without any key a new one is made");
    }

    #[test]
    fn a_revoked_key_is_gone_and_unknown_ones_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut installation = open(dir.path());
        installation.prepare(&["dev".to_owned()]).unwrap();
        let environment = installation.environment(DEFAULT_ENVIRONMENT).unwrap().no;
        let (key, _) = installation.create_key(environment, "ci").unwrap();
        let other = installation.create_environment("staging").unwrap().no;
        let refused = installation.revoke_key(other, &key.id).unwrap_err().to_string();
        assert!(refused.starts_with("there is no key"), "a key of another environment: {refused}");
        assert!(installation.keys(environment).unwrap().iter().any(|left| left.id == key.id));
        installation.revoke_key(environment, &key.id).unwrap();
        assert!(installation.keys(environment).unwrap().iter().all(|left| left.id != key.id));
        for id in [key.id.as_str(), "key_nonsense"] {
            let refused = installation.revoke_key(environment, id).unwrap_err().to_string();
            assert!(refused.starts_with("there is no key"), "{refused}");
        }
    }

    #[test]
    fn environments_have_names_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let mut installation = open(dir.path());
        installation.create_environment("staging").unwrap();
        let error = installation.create_environment("staging").unwrap_err().to_string();
        assert!(error.starts_with("there is already an environment \"staging\""), "{error}");
        let error = installation.environment("stagin").unwrap_err().to_string();
        assert!(error.ends_with("There are staging."), "{error}");
        assert!(installation.create_environment("a b").is_err());
    }

    #[test]
    fn another_master_key_is_refused_and_a_rotated_one_taken() {
        let dir = tempfile::tempdir().unwrap();
        let installation = open(dir.path());
        let (old, new) = (MasterKey::generate().unwrap(), MasterKey::generate().unwrap());
        let ring = |keys| Keyring::new(keys).unwrap();
        installation.check_master_key(&ring(vec![(1, old.clone())])).unwrap();
        let other = installation.check_master_key(&ring(vec![(1, new.clone())])).unwrap_err().to_string();
        assert!(other.starts_with("GONETS_MASTER_KEY is not the key"), "{other}");
        installation.check_master_key(&ring(vec![(2, new.clone()), (1, old)])).unwrap();
        installation.check_master_key(&ring(vec![(2, new)])).unwrap();
    }

    #[test]
    fn a_directory_in_use_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let _first = open(dir.path());
        let second = Installation::open(dir.path(), Arc::new(SystemClock::start()));
        assert!(second.err().unwrap().to_string().contains("in use by another Gonets"));
    }
}
