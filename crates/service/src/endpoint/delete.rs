//! Deleting an endpoint; its waiting deliveries are cancelled by the engine (R20).

use gonets_core::notice::NoticeKind;

use super::told::told;
use crate::{access::AppAccess, error::Error, service::Service, write::Change};

impl Service {
    /// # Errors
    /// [`Error::NotFound`] when there is none of that name.
    pub async fn delete_endpoint(&self, who: &AppAccess, name: &str) -> Result<(), Error> {
        let no = self.endpoint(who, name)?.no;
        let mut tries = self.tries_about(who.app.no);
        loop {
            tries.next().await?;
            let Some(current) = self.directory().endpoint(no).filter(|endpoint| !endpoint.row.deleted) else {
                return Ok(());
            };
            let deleted = told(&who.app, no, NoticeKind::EndpointDeleted, self.now());
            let change = Change::delete(&current.row).of(&who.app).telling(vec![deleted]);
            if self.rewrite(change).await?.is_some() {
                return Ok(());
            }
        }
    }
}
