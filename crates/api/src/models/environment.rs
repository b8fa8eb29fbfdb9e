//! Environments.

use gonets_service::environment::Environment;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{key::KeyOut, required};
use crate::error::Result;

/// What an environment is made with.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct EnvironmentIn {
    #[schema(value_type = String, example = "staging")]
    name: Option<String>,
}

impl EnvironmentIn {
    pub(crate) fn name(self) -> Result<String> {
        Ok(required("name", self.name)?)
    }
}

/// An environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentOut {
    pub id: String,
    pub name: String,
    pub created_at: String,
    /// Its first admin key, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyOut>,
}

impl From<Environment> for EnvironmentOut {
    fn from(environment: Environment) -> Self {
        Self {
            id: environment.id,
            name: environment.name,
            created_at: environment.created_at.to_rfc3339(),
            key: None,
        }
    }
}

/// All environments.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnvironmentsOut {
    pub data: Vec<EnvironmentOut>,
}
