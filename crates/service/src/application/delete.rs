//! Deleting an application with its endpoints.

use crate::{
    access::Caller,
    error::Error,
    service::Service,
    write::{Change, TRIES, outrun},
};

impl Service {
    /// Deletes the application's endpoints, then the application; its uid is free again. If it is
    /// interrupted, the application is still there to be deleted again.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application itself.
    pub async fn delete_application(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        caller.admin()?;
        for _ in 0..TRIES {
            let who = self.app(caller, name)?;
            self.delete_endpoints_of(who.app.no).await?;
            // The version is the one of now: each endpoint that went bumped it.
            let who = self.app(caller, name)?;
            if !who.app.endpoints.is_empty() {
                continue;
            }
            if self.rewrite(Change::delete(&who.app.row)).await?.is_some() {
                return Ok(());
            }
        }
        Err(outrun())
    }

    async fn delete_endpoints_of(&self, app: gonets_core::ids::AppNo) -> Result<(), Error> {
        for _ in 0..TRIES {
            let Some(app) = self.directory().app(app) else { return Ok(()) };
            if app.endpoints.is_empty() {
                return Ok(());
            }
            for endpoint in &app.endpoints {
                self.rewrite(Change::delete(&endpoint.row).of(&app)).await?;
            }
        }
        Err(outrun())
    }
}
