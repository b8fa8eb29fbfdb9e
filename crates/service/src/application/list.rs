//! The applications of an environment, by age.

use std::sync::Arc;

use gonets_core::ids::IdKind;
use gonets_engine::directory::App;

use super::Application;
use crate::{
    access::Admin,
    error::Error,
    page::{Listed, PageRequest, cut_numbers},
    service::Service,
};

/// Which applications are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppFilter {
    pub without_those_without_endpoints: bool,
    pub without_those_with_disabled_endpoints: bool,
}

impl AppFilter {
    fn takes(self, app: &App) -> bool {
        !(self.without_those_without_endpoints && app.endpoints.is_empty()
            || self.without_those_with_disabled_endpoints
                && app.endpoints.iter().any(|endpoint| endpoint.is_disabled()))
    }
}

impl Service {
    /// # Errors
    /// When the iterator is none of this list.
    pub fn list_applications(
        &self,
        who: &Admin,
        request: &PageRequest,
        filter: AppFilter,
    ) -> Result<Listed<Application>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Application)?;
        let mut apps: Vec<Arc<App>> = self.directory().apps(who.environment);
        apps.retain(|app| filter.takes(app));
        let paged = cut_numbers(&page, apps, |app| app.no.0, |app| app.row.doc.len());
        Ok(request.listed(
            paged,
            |app| ids.application(app.no),
            |app| Application { id: ids.application(app.no), uid: app.row.uid.clone(), doc: app.doc.clone() },
        ))
    }
}
