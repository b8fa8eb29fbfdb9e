//! Changing parts of an endpoint.

use std::collections::BTreeMap;

use gonets_engine::directory;

use super::{Endpoint, EndpointDraft, Held};
use crate::{access::AppAccess, error::Error, service::Service};

/// What is to change: `None` keeps, `Some(None)` takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    pub url: Option<String>,
    pub description: Option<String>,
    pub uid: Option<Option<String>>,
    pub throttle_rate: Option<Option<u32>>,
    pub concurrency: Option<Option<u32>>,
    pub ordered: Option<bool>,
    /// `Some(false)` enables what Gonets disabled, too.
    pub disabled: Option<bool>,
    pub event_types: Option<Option<Vec<String>>>,
    pub channels: Option<Option<Vec<String>>>,
    pub metadata: Option<BTreeMap<String, String>>,
    pub signature_schemes: Option<Option<Vec<String>>>,
    pub version: Option<u32>,
    /// What becomes of what waits, when this enables it.
    pub held: Held,
}

impl EndpointPatch {
    fn over(&self, endpoint: &directory::Endpoint) -> EndpointDraft {
        let (doc, patch) = (endpoint.doc.clone(), self.clone());
        EndpointDraft {
            url: patch.url.unwrap_or(doc.url),
            description: patch.description.unwrap_or(doc.description),
            uid: patch.uid.unwrap_or_else(|| endpoint.row.uid.clone()),
            throttle_rate: patch.throttle_rate.unwrap_or(doc.throttle_rate),
            concurrency: patch.concurrency.unwrap_or(doc.concurrency),
            ordered: patch.ordered.unwrap_or(doc.ordered),
            // What is not said must not enable what Gonets disabled, so an enabled endpoint that
            // the patch does not mention is left unsaid too.
            disabled: patch.disabled.or_else(|| doc.disabled.then_some(true)),
            event_types: patch.event_types.unwrap_or_else(|| super::filter(doc.event_types)),
            channels: patch.channels.unwrap_or_else(|| super::filter(doc.channels)),
            secret: None,
            metadata: patch.metadata.unwrap_or(doc.metadata),
            headers: BTreeMap::new(),
            signature_schemes: patch.signature_schemes.unwrap_or(doc.signature_schemes),
            version: patch.version,
            held: patch.held,
        }
    }
}

impl Service {
    /// # Errors
    /// As [`Service::put_endpoint`]; [`Error::NotFound`] where that would make one.
    pub async fn patch_endpoint(
        &self,
        who: &AppAccess,
        name: &str,
        patch: EndpointPatch,
    ) -> Result<Endpoint, Error> {
        let endpoint = self.endpoint(who, name)?;
        self.replace_endpoint(who, &endpoint, |current| patch.over(current)).await
    }
}
