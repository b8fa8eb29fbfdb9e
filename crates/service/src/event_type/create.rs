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
        let mut tries = self.tries_named(name);
        loop {
            tries.next().await?;
            match self.make_event_type(who, name, draft.clone(), key).await? {
                Written::Done(row) | Written::Replayed(row) => return EventType::of_row(&row),
                Written::UidTaken => {
                    return Err(Error::conflict(format!("event type \"{name}\" exists already.")));
                }
                Written::Outrun => {}
            }
        }
    }

    /// Writes a new event type, or brings back the archived one of the name.
    pub(super) async fn make_event_type(
        &self,
        who: &Admin,
        name: &str,
        draft: EventTypeDraft,
        key: Option<RequestKey>,
    ) -> Result<Written, Error> {
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
        self.write(change.with_key(key)).await
    }
}
