//! The catalogue of an environment, by name.

use super::EventType;
use crate::{
    access::Caller,
    page::{Listed, PageRequest},
    service::Service,
};

impl Service {
    /// Archived ones only if asked for.
    pub fn list_event_types(
        &self,
        who: &Caller,
        request: &PageRequest,
        include_archived: bool,
    ) -> Listed<EventType> {
        let mut all = self.directory().event_types(who.environment());
        all.retain(|one| include_archived || !one.doc.archived);
        let paged = request.cut_names(all, |one| &one.name, |one| one.row.doc.len());
        request.listed(paged, |one| one.name.clone(), |one| EventType::of(&one))
    }
}
