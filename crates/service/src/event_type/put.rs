//! Replacing an event type, or making it.

use super::{EventType, EventTypeDraft};
use crate::{
    access::Caller,
    application::Created,
    error::Error,
    service::Service,
    write::{Change, TRIES, outrun},
};

impl Service {
    /// # Errors
    /// [`Error::Forbidden`] for a token of an application.
    pub async fn put_event_type(
        &self,
        caller: &Caller,
        name: &str,
        draft: EventTypeDraft,
    ) -> Result<Created<EventType>, Error> {
        let admin = caller.admin()?;
        draft.check(name)?;
        for _ in 0..TRIES {
            let Ok(found) = self.event_type(caller, name) else {
                return self.create_event_type(&admin, name, draft, None).await.map(Created::New);
            };
            let doc = draft.clone().into_doc(found.doc.created_at, self.now());
            if let Some(row) = self.rewrite(Change::replace(&found.row, found.row.uid.clone(), &doc)?).await?
            {
                return EventType::of_row(&row).map(Created::Existing);
            }
        }
        Err(outrun())
    }
}
