//! Endpoints: a URL of an application, with its secret, filters and limits.

mod check;
mod create;
mod delete;
mod enabling;
mod headers;
mod lift;
mod list;
mod patch;
mod put;
mod secret;
mod status;
pub(crate) mod told;
mod try_out;

use std::collections::BTreeMap;

use gonets_core::{
    gate::{Gate, Scope},
    ids::EndpointNo,
    time::Timestamp,
};
use gonets_engine::directory;
use gonets_store::entity::{EndpointDoc, EntityRow};

pub use self::{
    enabling::Held,
    headers::{Headers, HeadersDraft, HeadersPatch},
    patch::EndpointPatch,
    secret::Rotation,
    status::EndpointStatus,
};
use crate::{access::AppAccess, error::Error, service::Service, write};

/// An endpoint as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    pub id: String,
    pub uid: Option<String>,
    pub doc: EndpointDoc,
    /// What Gonets itself remembers of it: health, throttle, disabling.
    gate: Gate,
    /// When it was looked at.
    now: Timestamp,
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
    /// What becomes of what waits, when this enables it.
    pub held: Held,
}

/// A filter as a draft has it, from how it is kept: empty for all.
fn filter(kept: Vec<String>) -> Option<Vec<String>> {
    (!kept.is_empty()).then_some(kept)
}

impl Service {
    /// An endpoint of the application by id or uid.
    pub fn get_endpoint(&self, who: &AppAccess, name: &str) -> Result<Endpoint, Error> {
        Ok(self.shown_endpoint(&*self.endpoint(who, name)?))
    }

    pub(crate) fn shown_endpoint(&self, endpoint: &directory::Endpoint) -> Endpoint {
        Endpoint {
            id: self.engine().ids().endpoint(endpoint.no),
            uid: endpoint.row.uid.clone(),
            doc: endpoint.doc.clone(),
            gate: self.directory().gate(Scope::Endpoint(endpoint.no)),
            now: self.now(),
        }
    }

    /// An endpoint as it was just written.
    fn written_endpoint(&self, row: &EntityRow) -> Result<Endpoint, Error> {
        let no = EndpointNo(row.no.0);
        Ok(Endpoint {
            id: self.engine().ids().endpoint(no),
            uid: row.uid.clone(),
            doc: write::read(row)?,
            gate: self.directory().gate(Scope::Endpoint(no)),
            now: self.now(),
        })
    }
}
