//! Who is asking, and what they may reach.
//!
//! A key is looked up by the SHA-256 of its token: the token itself is kept nowhere. An admin key
//! reaches everything of its environment, a token one application. What a caller may not reach
//! does not exist for them; only an operation that applications can never do answers that it is
//! forbidden.

pub mod token;

use std::sync::Arc;

use gonets_core::ids::{AppNo, EndpointNo, EnvironmentNo, IdKind};
use gonets_engine::directory::{App, Endpoint};

use crate::{error::Error, service::Service};

/// A request whose key was good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    environment: EnvironmentNo,
    /// `None`: everything of the environment.
    app: Option<AppNo>,
}

/// May do everything within an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admin {
    pub(crate) environment: EnvironmentNo,
}

/// May work on one application.
#[derive(Debug, Clone)]
pub struct AppAccess {
    pub(crate) app: Arc<App>,
    pub(crate) is_admin: bool,
}

/// May post messages for one application: its producer, never the application itself, whose
/// partners hold its tokens and could forge events with them, signed like real ones.
#[derive(Debug, Clone)]
pub struct Producer {
    pub(crate) app: Arc<App>,
}

/// May read the journal of one application: messages, deliveries and attempts. For administrators
/// it stays readable by id when the application, or an endpoint of it, was deleted (R20).
#[derive(Debug, Clone)]
pub struct Reader {
    pub(crate) app: Arc<App>,
    pub(crate) is_admin: bool,
}

impl Caller {
    /// The caller as an administrator of the environment.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of an application.
    pub fn admin(&self) -> Result<Admin, Error> {
        match self.app {
            None => Ok(Admin { environment: self.environment }),
            Some(_) => Err(Error::Forbidden),
        }
    }

    pub fn environment(&self) -> EnvironmentNo {
        self.environment
    }
}

impl Admin {
    /// An administrator without a key: who owns the data directory.
    pub fn of(environment: EnvironmentNo) -> Self {
        Self { environment }
    }
}

impl AppAccess {
    /// The caller as the producer of the application's messages.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application.
    pub fn producer(&self) -> Result<Producer, Error> {
        if self.is_admin { Ok(Producer { app: Arc::clone(&self.app) }) } else { Err(Error::Forbidden) }
    }

    /// The caller as a reader of the application's journal.
    pub fn reader(&self) -> Reader {
        Reader { app: Arc::clone(&self.app), is_admin: self.is_admin }
    }

    pub fn environment(&self) -> EnvironmentNo {
        self.app.row.environment
    }
}

impl Service {
    /// Who has this token.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when it is unknown, revoked or expired.
    pub fn authenticate(&self, token: &str) -> Result<Caller, Error> {
        let hash = token::Hash::of(token);
        let key = self.directory().key_by_hash(hash.hex()).ok_or(Error::Unauthenticated(
            "the key is not known here. Check it, and that it is for this server.",
        ))?;
        if key.doc.expires_at.is_some_and(|at| at <= self.now()) {
            return Err(Error::Unauthenticated("the key has expired. Ask for a new one."));
        }
        if let Some(app) = key.doc.app
            && self.directory().app(app).is_none_or(|app| app.row.deleted)
        {
            return Err(Error::Unauthenticated("the application of this token was deleted."));
        }
        Ok(Caller { environment: key.row.environment, app: key.doc.app })
    }

    /// An application by id or uid.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for one that is not the caller's.
    pub fn app(&self, caller: &Caller, name: &str) -> Result<AppAccess, Error> {
        self.any_app(caller, name)
            .filter(|app| !app.row.deleted)
            .map(|app| AppAccess { app, is_admin: caller.app.is_none() })
            .ok_or_else(|| Error::not_found("application", name))
    }

    /// The journal of an application by id or uid; of a deleted one by id, for administrators.
    ///
    /// # Errors
    /// As [`Self::app`].
    pub fn reader(&self, caller: &Caller, name: &str) -> Result<Reader, Error> {
        let is_admin = caller.app.is_none();
        self.any_app(caller, name)
            .filter(|app| is_admin || !app.row.deleted)
            .map(|app| Reader { app, is_admin })
            .ok_or_else(|| Error::not_found("application", name))
    }

    /// An application that the caller may reach, deleted ones too. The one behind the operational endpoints
    /// has no name that leads to it.
    fn any_app(&self, caller: &Caller, name: &str) -> Option<Arc<App>> {
        let app = match self.engine().ids().decode(IdKind::Application, name).map(u32::try_from) {
            Some(Ok(no)) => self.directory().app(AppNo(no)),
            _ => self.directory().app_by_uid(caller.environment, name),
        };
        app.filter(|app| {
            app.row.environment == caller.environment
                && caller.app.is_none_or(|own| own == app.no)
                && !app.doc.operational
        })
    }

    /// An endpoint of the application by id or uid.
    pub(crate) fn endpoint(&self, who: &AppAccess, name: &str) -> Result<Arc<Endpoint>, Error> {
        self.living_endpoint(&who.app, name).ok_or_else(|| Error::not_found("endpoint", name))
    }

    /// An endpoint of the journal's application: a deleted one by id, for administrators.
    pub(crate) fn endpoint_read(&self, who: &Reader, name: &str) -> Result<Arc<Endpoint>, Error> {
        let deleted = || {
            let no = self.engine().ids().decode(IdKind::Endpoint, name)?;
            let endpoint = self.directory().endpoint(EndpointNo(u32::try_from(no).ok()?))?;
            (who.is_admin && endpoint.app == who.app.no).then_some(endpoint)
        };
        self.living_endpoint(&who.app, name)
            .or_else(deleted)
            .ok_or_else(|| Error::not_found("endpoint", name))
    }

    fn living_endpoint(&self, app: &App, name: &str) -> Option<Arc<Endpoint>> {
        let endpoints = &app.endpoints;
        let found = match self.engine().ids().decode(IdKind::Endpoint, name) {
            Some(no) => endpoints.iter().find(|endpoint| u64::from(endpoint.no.0) == no),
            None => endpoints.iter().find(|endpoint| endpoint.row.uid.as_deref() == Some(name)),
        };
        found.cloned()
    }
}
