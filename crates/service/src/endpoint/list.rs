//! The endpoints of an application, by age.

use gonets_core::ids::IdKind;

use super::Endpoint;
use crate::{
    access::AppAccess,
    error::Error,
    page::{Listed, PageRequest, cut_numbers},
    service::Service,
};

impl Service {
    /// # Errors
    /// When the iterator is none of this list.
    pub fn list_endpoints(&self, who: &AppAccess, request: &PageRequest) -> Result<Listed<Endpoint>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Endpoint)?;
        let paged = cut_numbers(
            &page,
            who.app.endpoints.clone(),
            |endpoint| endpoint.no.0,
            |endpoint| endpoint.row.doc.len(),
        );
        Ok(request.listed(
            paged,
            |endpoint| ids.endpoint(endpoint.no),
            |endpoint| self.shown_endpoint(&endpoint),
        ))
    }
}
