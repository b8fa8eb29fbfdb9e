//! Archiving an event type, or taking it out of the catalogue for good.

use gonets_store::entity::EventTypeDoc;

use crate::{access::Caller, error::Error, service::Service, write::Change};

impl Service {
    /// Archives it; with `expunge` it is gone and its name free.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a token of an application.
    pub async fn delete_event_type(&self, caller: &Caller, name: &str, expunge: bool) -> Result<(), Error> {
        caller.admin()?;
        let mut tries = self.tries_named(name);
        loop {
            tries.next().await?;
            let found = self.event_type(caller, name)?;
            let change = if expunge {
                Change::delete(&found.row)
            } else {
                let doc = EventTypeDoc { archived: true, updated_at: self.now(), ..found.doc.clone() };
                Change::replace(&found.row, found.row.uid.clone(), &doc)?
            };
            if self.rewrite(change).await?.is_some() {
                return Ok(());
            }
        }
    }
}
