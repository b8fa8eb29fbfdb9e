//! Endpoints: a URL of an application, with its secret, filters and limits.

mod check;
mod create;
mod delete;
mod headers;
mod list;
mod patch;
mod put;
mod secret;
mod try_out;

use std::collections::BTreeMap;

use gonets_core::ids::{EndpointNo, IdCodec};
use gonets_engine::directory;
use gonets_store::{
    entity::{EndpointDoc, EntityRow},
    record::{Disabled, Gate, Scope},
    tx::GateWrite,
};

pub use self::{
    headers::{Headers, HeadersDraft, HeadersPatch},
    patch::EndpointPatch,
    secret::Rotation,
};
use crate::{access::AppAccess, error::Error, service::Service, write};

/// An endpoint as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub id: String,
    pub uid: Option<String>,
    pub doc: EndpointDoc,
    /// Disabled by Gonets itself, since when and why.
    pub disabled: Option<Disabled>,
}

/// What an endpoint is made or replaced with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointDraft {
    pub url: String,
    pub description: String,
    pub uid: Option<String>,
    pub throttle_rate: Option<u32>,
    pub concurrency: Option<u32>,
    pub ordered: bool,
    /// `Some(false)` enables what Gonets disabled, too.
    pub disabled: Option<bool>,
    /// `None`: all; never empty.
    pub event_types: Option<Vec<String>>,
    /// `None`: all; never empty.
    pub channels: Option<Vec<String>>,
    /// For a new endpoint only; `None` makes one.
    pub secret: Option<String>,
    pub metadata: BTreeMap<String, String>,
    /// For a new endpoint only.
    pub headers: BTreeMap<String, String>,
    pub signature_schemes: Option<Vec<String>>,
    /// The number that the API's `version` field carries.
    pub version: Option<u32>,
}

/// A filter as a draft has it, from how it is kept: empty for all.
fn filter(kept: Vec<String>) -> Option<Vec<String>> {
    (!kept.is_empty()).then_some(kept)
}

impl Endpoint {
    pub(crate) fn of(ids: &IdCodec, endpoint: &directory::Endpoint) -> Self {
        Self {
            id: ids.endpoint(endpoint.no),
            uid: endpoint.row.uid.clone(),
            doc: endpoint.doc.clone(),
            disabled: endpoint.disabled.clone(),
        }
    }

    fn of_row(ids: &IdCodec, row: &EntityRow, disabled: Option<Disabled>) -> Result<Self, Error> {
        Ok(Self {
            id: ids.endpoint(EndpointNo(row.no.0)),
            uid: row.uid.clone(),
            doc: write::read(row)?,
            disabled,
        })
    }

    pub fn is_disabled(&self) -> bool {
        self.doc.disabled || self.disabled.is_some()
    }
}

impl Service {
    /// An endpoint of the application by id or uid.
    pub fn get_endpoint(&self, who: &AppAccess, name: &str) -> Result<Endpoint, Error> {
        Ok(Endpoint::of(self.engine().ids(), &*self.endpoint(who, name)?))
    }

    /// The gate that enabling leaves, where Gonets had disabled the endpoint: a new episode of
    /// health (R21), all else as it stands.
    fn enabling_gate(&self, endpoint: &directory::Endpoint) -> Option<GateWrite> {
        endpoint.disabled.as_ref()?;
        let scope = Scope::Endpoint(endpoint.no);
        let gate = Gate {
            disabled: None,
            failing_since: None,
            failures: 0,
            noticed: 0,
            ..self.directory().gate(scope)
        };
        Some(GateWrite { scope, gate })
    }
}
