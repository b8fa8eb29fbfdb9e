//! Replacing an event type, or making it.

use super::{EventType, EventTypeDraft};
use crate::{
    access::Caller,
    application::Created,
    error::Error,
    service::Service,
    write::{Change, Written},
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
        let mut tries = self.tries_named(name);
        loop {
            tries.next().await?;
            let Ok(found) = self.event_type(caller, name) else {
                match self.make_event_type(&admin, name, draft.clone(), None).await? {
                    Written::Done(row) | Written::Replayed(row) => {
                        return EventType::of_row(&row).map(Created::New);
                    }
                    // Someone else made it meanwhile.
                    Written::UidTaken | Written::Outrun => continue,
                }
            };
            let doc = draft.clone().into_doc(found.doc.created_at, self.now());
            if let Some(row) = self.rewrite(Change::replace(&found.row, found.row.uid.clone(), &doc)?).await?
            {
                return EventType::of_row(&row).map(Created::Existing);
            }
        }
    }
}
