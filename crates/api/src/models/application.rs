//! Applications.

use std::collections::BTreeMap;

use gonets_service::application::{Application, ApplicationDraft, ApplicationPatch};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::required;
use crate::{error::Result, request::given};

/// What an application is made or replaced with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationIn {
    #[schema(value_type = String, example = "Shop of Ada")]
    name: Option<String>,
    /// The producer's own id for it.
    #[schema(example = "shop-17")]
    uid: Option<String>,
    /// Not supported yet: refused when given. Endpoints have one of their own.
    throttle_rate: Option<u32>,
    /// The same as `throttleRate`, for old SDKs.
    rate_limit: Option<u32>,
    metadata: Option<BTreeMap<String, String>>,
    /// The name of a profile; the installation's default if not said.
    profile: Option<String>,
    /// E-mail addresses that are told of trouble.
    contacts: Option<Vec<String>>,
}

impl ApplicationIn {
    pub(crate) fn draft(self) -> Result<ApplicationDraft> {
        Ok(ApplicationDraft {
            name: required("name", self.name)?,
            uid: self.uid,
            throttle_rate: self.throttle_rate.or(self.rate_limit),
            metadata: self.metadata.unwrap_or_default(),
            profile: self.profile,
            contacts: self.contacts.unwrap_or_default(),
        })
    }

    /// The uid, to find one that is there.
    pub(crate) fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }
}

/// What is to change of an application: absent keeps, null takes away.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationPatchIn {
    name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    uid: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    throttle_rate: Option<Option<u32>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    rate_limit: Option<Option<u32>>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    profile: Option<Option<String>>,
    contacts: Option<Vec<String>>,
}

impl From<ApplicationPatchIn> for ApplicationPatch {
    fn from(patch: ApplicationPatchIn) -> Self {
        Self {
            name: patch.name,
            uid: patch.uid,
            throttle_rate: patch.throttle_rate.or(patch.rate_limit),
            metadata: patch.metadata,
            profile: patch.profile,
            contacts: patch.contacts,
        }
    }
}

/// An application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationOut {
    pub id: String,
    pub uid: Option<String>,
    pub name: String,
    pub rate_limit: Option<u32>,
    pub throttle_rate: Option<u32>,
    pub metadata: BTreeMap<String, String>,
    /// `null`: the installation's default.
    pub profile: Option<String>,
    pub contacts: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Application> for ApplicationOut {
    fn from(app: Application) -> Self {
        Self {
            id: app.id,
            uid: app.uid,
            name: app.doc.name,
            rate_limit: app.doc.throttle_rate,
            throttle_rate: app.doc.throttle_rate,
            metadata: app.doc.metadata,
            profile: app.doc.profile,
            contacts: app.doc.contacts,
            created_at: app.doc.created_at.to_rfc3339(),
            updated_at: app.doc.updated_at.to_rfc3339(),
        }
    }
}
