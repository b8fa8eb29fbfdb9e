//! Environments: separate worlds of one installation.
//!
//! The first one made is the installation's: its admin keys may make others.

mod create;
mod list;

use gonets_core::{
    ids::{EnvironmentNo, IdCodec, IdKind},
    time::Timestamp,
};
use gonets_engine::directory;

use crate::{access::Admin, error::Error, service::Service};

/// An environment as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub no: EnvironmentNo,
    pub id: String,
    pub name: String,
    pub created_at: Timestamp,
}

impl Environment {
    fn of(ids: &IdCodec, environment: &directory::Environment) -> Self {
        Self {
            no: environment.no,
            id: ids.encode(IdKind::Environment, u64::from(environment.no.0)),
            name: environment.doc.name.clone(),
            created_at: environment.doc.created_at,
        }
    }

    /// Its administrator.
    pub fn admin(&self) -> Admin {
        Admin::of(self.no)
    }
}

impl Service {
    fn must_be_of_the_first(&self, who: &Admin) -> Result<(), Error> {
        match self.directory().environments().first() {
            Some(first) if first.no == who.environment => Ok(()),
            _ => Err(Error::NotOfTheFirst),
        }
    }
}
