//! Making and changing operational endpoints.

use super::check_types;
use crate::{
    access::Admin,
    application::Created,
    endpoint::{Endpoint, EndpointDraft, EndpointPatch},
    error::Error,
    idempotency::RequestKey,
    service::Service,
};

impl Service {
    /// # Errors
    /// As [`Service::create_endpoint`]; [`Error::Invalid`] for events that there are not.
    pub async fn create_operational_endpoint(
        &self,
        who: &Admin,
        draft: EndpointDraft,
        key: Option<RequestKey>,
    ) -> Result<Endpoint, Error> {
        check_types(draft.event_types.as_deref())?;
        let app = self.ensure_operational_app(who).await?;
        self.create_endpoint(&app, draft, key).await
    }

    /// # Errors
    /// As [`Service::put_endpoint`]; [`Error::Invalid`] for events that there are not.
    pub async fn put_operational_endpoint(
        &self,
        who: &Admin,
        name: &str,
        draft: EndpointDraft,
    ) -> Result<Created<Endpoint>, Error> {
        check_types(draft.event_types.as_deref())?;
        let app = self.ensure_operational_app(who).await?;
        self.put_endpoint(&app, name, draft).await
    }

    /// # Errors
    /// As [`Service::patch_endpoint`]; [`Error::Invalid`] for events that there are not.
    pub async fn patch_operational_endpoint(
        &self,
        who: &Admin,
        name: &str,
        patch: EndpointPatch,
    ) -> Result<Endpoint, Error> {
        check_types(patch.event_types.as_ref().and_then(|types| types.as_deref()))?;
        let app = self.operational(who, name)?;
        self.patch_endpoint(&app, name, patch).await
    }
}
