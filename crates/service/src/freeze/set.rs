//! Freezing and thawing.

use gonets_core::gate::{GateChange, GateWrite, Scope};
use gonets_store::tx::{Keep, Tx};

use crate::{
    access::{Admin, Caller},
    error::Error,
    service::Service,
};

/// Whether sending is to stop or to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Freeze,
    Thaw,
}

impl Service {
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application itself.
    pub async fn freeze_application(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        self.set_application(caller, name, Wish::Freeze).await
    }

    /// # Errors
    /// As [`Self::freeze_application`].
    pub async fn thaw_application(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        self.set_application(caller, name, Wish::Thaw).await
    }

    /// The administrator's environment.
    ///
    /// # Errors
    /// As the store says.
    pub async fn freeze_environment(&self, who: &Admin) -> Result<(), Error> {
        self.set(Scope::Environment(who.environment), Wish::Freeze).await
    }

    /// # Errors
    /// As the store says.
    pub async fn thaw_environment(&self, who: &Admin) -> Result<(), Error> {
        self.set(Scope::Environment(who.environment), Wish::Thaw).await
    }

    /// The whole installation; an administrator of any environment may, since who sees that something
    /// goes wrong is not to look for another key first.
    ///
    /// # Errors
    /// As the store says.
    pub async fn freeze_everything(&self, _who: &Admin) -> Result<(), Error> {
        self.set(Scope::Everything, Wish::Freeze).await
    }

    /// # Errors
    /// As the store says.
    pub async fn thaw_everything(&self, _who: &Admin) -> Result<(), Error> {
        self.set(Scope::Everything, Wish::Thaw).await
    }

    async fn set_application(&self, caller: &Caller, name: &str, wish: Wish) -> Result<(), Error> {
        caller.admin()?;
        self.set(Scope::Application(self.app(caller, name)?.app.no), wish).await
    }

    /// What is so already stays as it is: a freeze keeps its beginning.
    async fn set(&self, scope: Scope, wish: Wish) -> Result<(), Error> {
        let is_frozen = self.directory().gate(scope).frozen.is_some();
        if is_frozen == (wish == Wish::Freeze) {
            return Ok(());
        }
        let since = (wish == Wish::Freeze).then(|| self.now());
        let write = GateWrite { scope, change: GateChange::Frozen(since) };
        let keep = Keep { gates: vec![write], notices: Vec::new() };
        self.engine().commit(Tx::Keep(Box::new(keep))).await??;
        Ok(())
    }
}
