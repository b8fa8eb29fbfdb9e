//! Event types: the catalogue of an environment. Messages may have types that are not in it.

mod create;
mod delete;
mod list;
mod patch;
mod put;

use std::sync::Arc;

use gonets_core::{limits, names::NameKind, time::Timestamp};
use gonets_engine::directory;
use gonets_store::entity::{EntityRow, EventTypeDoc};
use serde_json::Value;

pub use self::patch::EventTypePatch;
use crate::{
    access::Caller,
    error::Error,
    field::Fields,
    service::Service,
    write::{self},
};

/// The most that the schemas of one event type may take, as JSON.
const SCHEMA_BYTES: usize = 256 * 1024;

/// An event type as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct EventType {
    pub name: String,
    pub doc: EventTypeDoc,
}

/// What an event type is made or replaced with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTypeDraft {
    pub description: String,
    pub archived: bool,
    pub deprecated: bool,
    /// JSON Schemas by version.
    pub schemas: Option<Value>,
    pub feature_flag: Option<String>,
}

impl EventType {
    fn of(found: &directory::EventType) -> Self {
        Self { name: found.name.clone(), doc: found.doc.clone() }
    }

    fn of_row(row: &EntityRow) -> Result<Self, Error> {
        Ok(Self { name: row.uid.clone().unwrap_or_default(), doc: write::read(row)? })
    }
}

impl EventTypeDraft {
    fn check(&self, name: &str) -> Result<(), Error> {
        let mut fields = Fields::default();
        fields.name("name", NameKind::EventType, name);
        fields.text("description", &self.description, limits::DESCRIPTION_CHARS);
        if let Some(flag) = &self.feature_flag {
            fields.text("featureFlag", flag, limits::NAME_CHARS);
        }
        let bytes = self.schemas.as_ref().map_or(0, |schemas| schemas.to_string().len());
        if bytes > SCHEMA_BYTES {
            fields.wrong(
                "schemas",
                format!("schemas has {bytes} bytes, and at most {SCHEMA_BYTES} are taken."),
            );
        }
        fields.done()
    }

    fn into_doc(self, created_at: Timestamp, now: Timestamp) -> EventTypeDoc {
        EventTypeDoc {
            description: self.description,
            created_at,
            updated_at: now,
            archived: self.archived,
            deprecated: self.deprecated,
            schemas: self.schemas,
            feature_flag: self.feature_flag,
        }
    }
}

impl Service {
    /// An event type of the caller's environment, archived or not.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn get_event_type(&self, who: &Caller, name: &str) -> Result<EventType, Error> {
        self.event_type(who, name).map(|found| EventType::of(&found))
    }

    fn event_type(&self, who: &Caller, name: &str) -> Result<Arc<directory::EventType>, Error> {
        self.directory()
            .event_type(who.environment(), name)
            .ok_or_else(|| Error::not_found("event type", name))
    }
}
