//! API keys: made, listed and revoked. The token is shown once, when it is made.

mod create;
mod list;
mod revoke;

use gonets_core::{
    ids::{IdCodec, IdKind},
    time::Timestamp,
};
use gonets_store::entity::{EntityRow, KeyDoc};

pub use self::create::{KeyDraft, NewKey};

/// A key as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: String,
    pub name: String,
    /// The first characters of the token, to tell keys apart.
    pub hint: String,
    /// The application that it is a token of; `None`: an admin key.
    pub application_id: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

impl Key {
    fn of(ids: &IdCodec, row: &EntityRow, doc: &KeyDoc) -> Self {
        Self {
            id: ids.encode(IdKind::Key, u64::from(row.no.0)),
            name: doc.name.clone(),
            hint: doc.hint.clone(),
            application_id: doc.app.map(|app| ids.application(app)),
            created_at: doc.created_at,
            expires_at: doc.expires_at,
        }
    }
}
