//! Event types.

use gonets_service::event_type::{EventType, EventTypeDraft, EventTypePatch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::required;
use crate::{error::Result, request::given};

/// What an event type is made or replaced with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventTypeIn {
    /// Taken from the path in a PUT.
    #[schema(example = "order.paid")]
    name: Option<String>,
    description: Option<String>,
    archived: Option<bool>,
    deprecated: Option<bool>,
    /// JSON Schemas by version.
    #[schema(value_type = Option<Object>)]
    schemas: Option<Value>,
    feature_flag: Option<String>,
    /// The first counts.
    feature_flags: Option<Vec<String>>,
}

impl EventTypeIn {
    /// The name and the rest, for a POST.
    pub(crate) fn named(mut self) -> Result<(String, EventTypeDraft)> {
        let name = required("name", self.name.take())?;
        Ok((name, self.draft()?))
    }

    pub(crate) fn draft(self) -> Result<EventTypeDraft> {
        Ok(EventTypeDraft {
            description: required("description", self.description)?,
            archived: self.archived.unwrap_or(false),
            deprecated: self.deprecated.unwrap_or(false),
            schemas: self.schemas,
            feature_flag: self.feature_flag.or(first(self.feature_flags)),
        })
    }
}

/// What is to change of an event type: absent keeps, null takes away.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventTypePatchIn {
    description: Option<String>,
    archived: Option<bool>,
    deprecated: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Object>)]
    schemas: Option<Option<Value>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    feature_flag: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: Option<Option<Vec<String>>>,
}

impl From<EventTypePatchIn> for EventTypePatch {
    fn from(patch: EventTypePatchIn) -> Self {
        Self {
            description: patch.description,
            archived: patch.archived,
            deprecated: patch.deprecated,
            schemas: patch.schemas,
            feature_flag: patch.feature_flag.or(patch.feature_flags.map(first)),
        }
    }
}

fn first(list: Option<Vec<String>>) -> Option<String> {
    list.and_then(|list| list.into_iter().next())
}

/// An event type.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventTypeOut {
    pub name: String,
    pub description: String,
    pub archived: bool,
    pub deprecated: bool,
    #[schema(value_type = Option<Object>)]
    pub schemas: Option<Value>,
    pub feature_flag: Option<String>,
    pub feature_flags: Option<Vec<String>>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<EventType> for EventTypeOut {
    fn from(event_type: EventType) -> Self {
        let doc = event_type.doc;
        Self {
            name: event_type.name,
            description: doc.description,
            archived: doc.archived,
            deprecated: doc.deprecated,
            schemas: doc.schemas,
            feature_flags: doc.feature_flag.clone().map(|flag| vec![flag]),
            feature_flag: doc.feature_flag,
            created_at: doc.created_at.to_rfc3339(),
            updated_at: doc.updated_at.to_rfc3339(),
        }
    }
}
