//! The operational endpoints of an environment.

use gonets_store::query::Paged;

use crate::{
    access::Admin,
    endpoint::Endpoint,
    error::Error,
    page::{Listed, PageRequest},
    service::Service,
};

impl Service {
    /// # Errors
    /// When the iterator is none of this list.
    pub fn list_operational_endpoints(
        &self,
        who: &Admin,
        request: &PageRequest,
    ) -> Result<Listed<Endpoint>, Error> {
        match self.operational_app(who) {
            Some(app) => self.list_endpoints(&app, request),
            None => Ok(request.listed(
                Paged { rows: Vec::new(), more: false },
                |endpoint: &Endpoint| endpoint.id.clone(),
                |endpoint| endpoint,
            )),
        }
    }
}
