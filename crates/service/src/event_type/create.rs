//! Adding an event type to the catalogue; an archived one of the name comes back.

use gonets_store::entity::EntityKind;

use super::{EventType, EventTypeDraft};
use crate::{
    access::Admin,
    error::Error,
    idempotency::RequestKey,
    service::Service,
    write::{Change, Written},
};

impl Service {
    /// # Errors
    /// [`Error::Conflict`] when there is one of that name that is not archived.
    pub async fn create_event_type(
        &self,
        who: &Admin,
        name: &str,
        draft: EventTypeDraft,
        key: Option<RequestKey>,
    ) -> Result<EventType, Error> {
        draft.check(name)?;
        let now = self.now();
        let archived = self.directory().event_type(who.environment, name).filter(|found| found.doc.archived);
        let change = match archived {
            Some(found) => {
                let doc = draft.into_doc(found.doc.created_at, now);
                Change::replace(&found.row, found.row.uid.clone(), &doc)?
            }
            None => Change::create(
                EntityKind::EventType,
                self.next_no()?,
                who.environment,
                Some(name.to_owned()),
                &draft.into_doc(now, now),
            )?,
        };
        match self.write(change.with_key(key)).await? {
            Written::Done(row) | Written::Replayed(row) => EventType::of_row(&row),
            Written::Outrun | Written::UidTaken(_) => {
                Err(Error::conflict(format!("event type \"{name}\" exists already.")))
            }
        }
    }
}
