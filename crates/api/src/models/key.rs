//! API keys.

use gonets_core::time::Timestamp;
use gonets_service::key::{Key, KeyDraft, NewKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{message::instant, required};
use crate::error::Result;

/// What a key is made with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyIn {
    #[schema(value_type = String)]
    name: Option<String>,
    /// An application's id or uid: then the key is a token of that application only.
    application: Option<String>,
    /// Seconds until it expires; never if not said.
    expires_in: Option<u32>,
    /// When it expires, instead of `expiresIn`.
    expires_at: Option<String>,
}

impl KeyIn {
    pub(crate) fn draft(self) -> Result<KeyDraft> {
        Ok(KeyDraft {
            name: required("name", self.name)?,
            application: self.application,
            expires_in_s: self.expires_in,
            expires_at: instant("expiresAt", self.expires_at.as_deref())?,
        })
    }
}

/// A key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyOut {
    pub id: String,
    pub name: String,
    /// The first characters of the token.
    pub hint: String,
    /// `null`: an admin key of the environment.
    pub application: Option<String>,
    pub created_at: String,
    pub expires_at: Option<String>,
    /// Shown once, when the key is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl From<Key> for KeyOut {
    fn from(key: Key) -> Self {
        Self {
            id: key.id,
            name: key.name,
            hint: key.hint,
            application: key.application_id,
            created_at: key.created_at.to_rfc3339(),
            expires_at: key.expires_at.map(Timestamp::to_rfc3339),
            token: None,
        }
    }
}

impl From<NewKey> for KeyOut {
    fn from(new: NewKey) -> Self {
        Self { token: Some(new.token), ..new.key.into() }
    }
}
