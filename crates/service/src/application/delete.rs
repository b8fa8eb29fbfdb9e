//! Deleting an application with its endpoints.

use gonets_core::{ids::AppNo, notice::NoticeKind};

use crate::{access::Caller, endpoint::told::told, error::Error, service::Service, write::Change};

impl Service {
    /// Deletes the application's endpoints, then the application; its uid is free again. If it is
    /// interrupted, the application is still there to be deleted again.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of the application itself.
    pub async fn delete_application(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        caller.admin()?;
        let app = self.app(caller, name)?.app.no;
        let mut tries = self.tries_about(app);
        loop {
            tries.next().await?;
            self.delete_endpoints_of(app).await?;
            // The version is the one of now: each endpoint that went bumped it.
            let who = self.app(caller, name)?;
            if who.app.endpoints.is_empty() && self.rewrite(Change::delete(&who.app.row)).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Those that are there; some may be left where others were faster.
    async fn delete_endpoints_of(&self, app: AppNo) -> Result<(), Error> {
        let Some(app) = self.directory().app(app) else { return Ok(()) };
        for endpoint in &app.endpoints {
            let deleted = told(&app, endpoint.no, NoticeKind::EndpointDeleted, self.now());
            self.rewrite(Change::delete(&endpoint.row).of(&app).telling(vec![deleted])).await?;
        }
        Ok(())
    }
}
