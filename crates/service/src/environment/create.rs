//! Making an environment.

use gonets_core::{
    ids::{EnvironmentNo, IdKind},
    names::NameKind,
};
use gonets_store::entity::{EntityKind, EnvironmentDoc};

use super::Environment;
use crate::{
    access::Admin,
    error::Error,
    field::Fields,
    key::NewKey,
    service::Service,
    write::{Change, Written},
};

impl Service {
    /// Makes an environment with its first admin key.
    ///
    /// # Errors
    /// [`Error::NotOfTheFirst`]; [`Error::Conflict`] when the name is taken.
    pub async fn create_environment(&self, who: &Admin, name: &str) -> Result<(Environment, NewKey), Error> {
        self.must_be_of_the_first(who)?;
        if self.environment_by_name(name).is_some() {
            return Err(Error::conflict(format!("environment \"{name}\" exists already.")));
        }
        let environment = self.keep_environment(name).await?;
        let key = self.create_admin_key(&environment.admin(), "made with the environment").await?;
        Ok((environment, key))
    }

    /// The environment of that name, made if there is none: for the start, and for whoever owns
    /// the data directory.
    ///
    /// # Errors
    /// As the store says.
    pub async fn ensure_environment(&self, name: &str) -> Result<Environment, Error> {
        match self.environment_by_name(name) {
            Some(environment) => Ok(environment),
            None => self.keep_environment(name).await,
        }
    }

    fn environment_by_name(&self, name: &str) -> Option<Environment> {
        let all = self.directory().environments();
        let found = all.iter().find(|environment| environment.doc.name == name)?;
        Some(Environment::of(self.engine().ids(), found))
    }

    async fn keep_environment(&self, name: &str) -> Result<Environment, Error> {
        let mut fields = Fields::default();
        fields.name("name", NameKind::Uid, name);
        fields.done()?;
        let (no, created_at) = (self.next_no()?, self.now());
        let doc = EnvironmentDoc { name: name.to_owned(), created_at };
        // Its own environment, so that all its documents stand under one number.
        let change =
            Change::create(EntityKind::Environment, no, EnvironmentNo(no.0), Some(name.to_owned()), &doc)?;
        match self.write(change).await? {
            Written::Done(_) | Written::Replayed(_) => Ok(Environment {
                no: EnvironmentNo(no.0),
                id: self.engine().ids().encode(IdKind::Environment, u64::from(no.0)),
                name: name.to_owned(),
                created_at,
            }),
            Written::Outrun | Written::UidTaken => Err(Error::Contended),
        }
    }
}
