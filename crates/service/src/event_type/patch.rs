//! Changing parts of an event type.

use serde_json::Value;

use super::{EventType, EventTypeDraft};
use crate::{access::Caller, error::Error, service::Service, write::Change};

/// What is to change: `None` keeps, `Some(None)` takes away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTypePatch {
    pub description: Option<String>,
    pub archived: Option<bool>,
    pub deprecated: Option<bool>,
    pub schemas: Option<Option<Value>>,
    pub feature_flag: Option<Option<String>>,
}

impl Service {
    /// # Errors
    /// [`Error::Forbidden`] for a token of an application.
    pub async fn patch_event_type(
        &self,
        caller: &Caller,
        name: &str,
        patch: EventTypePatch,
    ) -> Result<EventType, Error> {
        caller.admin()?;
        let mut tries = self.tries_named(name);
        loop {
            tries.next().await?;
            let found = self.event_type(caller, name)?;
            let (doc, patch) = (found.doc.clone(), patch.clone());
            let draft = EventTypeDraft {
                description: patch.description.unwrap_or(doc.description),
                archived: patch.archived.unwrap_or(doc.archived),
                deprecated: patch.deprecated.unwrap_or(doc.deprecated),
                schemas: patch.schemas.unwrap_or(doc.schemas),
                feature_flag: patch.feature_flag.unwrap_or(doc.feature_flag),
            };
            draft.check(name)?;
            let doc = draft.into_doc(doc.created_at, self.now());
            if let Some(row) = self.rewrite(Change::replace(&found.row, found.row.uid.clone(), &doc)?).await?
            {
                return EventType::of_row(&row);
            }
        }
    }
}
