//! Freezing by hand (R28): accepting goes on, sending stops, for an application, an environment or all.
//! Administrators only.

mod set;

use gonets_core::{gate::Scope, time::Timestamp};
use gonets_engine::directory::App;

use crate::{error::Error, service::Service};

/// What stops an application's sending: the widest freeze.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frozen {
    pub scope: Scope,
    pub since: Timestamp,
}

impl Frozen {
    /// The word for what is frozen.
    pub const fn scope_name(&self) -> &'static str {
        match self.scope {
            Scope::Everything => "everything",
            Scope::Environment(_) => "environment",
            Scope::Application(_) => "application",
            Scope::Endpoint(_) => "endpoint",
        }
    }
}

impl Service {
    pub(crate) fn frozen(&self, app: &App) -> Option<Frozen> {
        let frozen = self.directory().frozen(app.row.environment, app.no);
        frozen.map(|(scope, since)| Frozen { scope, since })
    }

    /// # Errors
    /// [`Error::Conflict`] while the application's sending is frozen.
    pub(crate) fn must_not_be_frozen(&self, app: &App) -> Result<(), Error> {
        let Some(frozen) = self.frozen(app) else { return Ok(()) };
        let what = match frozen.scope {
            Scope::Everything => "all sending",
            Scope::Environment(_) => "the sending of the environment",
            Scope::Application(_) | Scope::Endpoint(_) => "the sending of the application",
        };
        Err(Error::Conflict {
            code: "frozen",
            detail: format!("{what} has been frozen by hand since {}. Thaw it first.", frozen.since),
        })
    }
}
