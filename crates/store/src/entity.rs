//! Configuration: versioned documents under small numbers.
//!
//! The store keeps a document as bytes and knows of it only what it must guard: kind, owner, uid,
//! version. The typed documents are here too, so that whoever writes and whoever reads agree.

use std::collections::BTreeMap;

use gonets_core::{
    ids::{AppNo, EntityNo, EnvironmentNo},
    time::Timestamp,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntityKind {
    Environment = 1,
    Application = 2,
    Endpoint = 3,
    EventType = 4,
    Key = 5,
}

impl EntityKind {
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Environment,
            2 => Self::Application,
            3 => Self::Endpoint,
            4 => Self::EventType,
            5 => Self::Key,
            _ => return None,
        })
    }
}

/// One configuration document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRow {
    pub kind: EntityKind,
    /// Unique over all kinds; handed out by [`crate::query::Entities::next_no`] before the write.
    pub no: EntityNo,
    pub environment: EnvironmentNo,
    /// The application of an endpoint; 0 for what an environment owns itself.
    pub owner: EntityNo,
    /// Unique among the living of one kind and owner.
    pub uid: Option<String>,
    /// 1 when made, one more with every write.
    pub version: u32,
    /// Its uid is free again; the document stays readable for the journal.
    pub deleted: bool,
    pub doc: Vec<u8>,
}

impl EntityRow {
    /// Reads the document; the error names what it is about.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, UnreadableDocument> {
        serde_json::from_slice(&self.doc).map_err(|cause| UnreadableDocument {
            kind: self.kind,
            no: self.no,
            cause,
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the stored {kind:?} {no} cannot be read: {cause}")]
pub struct UnreadableDocument {
    pub kind: EntityKind,
    pub no: EntityNo,
    pub cause: serde_json::Error,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentDoc {
    pub name: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationDoc {
    pub name: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default)]
    pub throttle_rate: Option<u32>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// `None`: the default profile of the installation.
    #[serde(default)]
    pub profile: Option<String>,
    #[serde(default)]
    pub contacts: Vec<String>,
    /// It is what stands behind its environment's operational endpoints: in no list, and under no name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operational: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDoc {
    /// Re-serialised by the guard.
    pub url: String,
    #[serde(default)]
    pub description: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default)]
    pub throttle_rate: Option<u32>,
    #[serde(default)]
    pub concurrency: Option<u32>,
    #[serde(default)]
    pub ordered: bool,
    /// Disabled by its owner; what Gonets disables is in the gate.
    #[serde(default)]
    pub disabled: bool,
    /// Since when its owner has had it disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_since: Option<Timestamp>,
    #[serde(default)]
    pub event_types: Vec<String>,
    #[serde(default)]
    pub channels: Vec<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    #[serde(default)]
    pub headers: Vec<HeaderDoc>,
    /// Current first, then the old ones still valid, newest first.
    pub secrets: Vec<SecretDoc>,
    /// `None`: those of the profile.
    #[serde(default)]
    pub signature_schemes: Option<Vec<String>>,
    /// The number that the API's `version` field carries.
    #[serde(default = "one")]
    pub api_version: u32,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderDoc {
    pub name: String,
    /// Sealed if sensitive.
    pub value: HeaderValueDoc,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeaderValueDoc {
    Plain(String),
    /// Base64 of the sealed bytes.
    Sealed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretDoc {
    /// Base64 of the sealed bytes.
    pub sealed: String,
    /// `None`: the current one.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventTypeDoc {
    pub description: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default)]
    pub archived: bool,
    #[serde(default)]
    pub deprecated: bool,
    #[serde(default)]
    pub schemas: Option<serde_json::Value>,
    #[serde(default)]
    pub feature_flag: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyDoc {
    pub name: String,
    pub created_at: Timestamp,
    /// Hex SHA-256 of the token; the token itself is shown once and never kept.
    pub token_hash: String,
    /// `None`: an admin key of its environment; else a token of one application.
    #[serde(default)]
    pub app: Option<AppNo>,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// First characters of the token, to tell keys apart.
    #[serde(default)]
    pub hint: String,
}
