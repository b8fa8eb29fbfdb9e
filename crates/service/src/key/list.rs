//! The keys of an environment, by age.

use gonets_core::ids::IdKind;

use super::Key;
use crate::{
    access::Admin,
    error::Error,
    page::{Listed, PageRequest, cut_numbers},
    service::Service,
};

impl Service {
    /// # Errors
    /// When the iterator is none of this list.
    pub fn list_keys(&self, who: &Admin, request: &PageRequest) -> Result<Listed<Key>, Error> {
        let ids = self.engine().ids();
        let page = request.of_ids(ids, IdKind::Key)?;
        let paged = cut_numbers(
            &page,
            self.directory().keys(who.environment),
            |key| key.row.no.0,
            |key| key.row.doc.len(),
        );
        Ok(request.listed(
            paged,
            |key| ids.encode(IdKind::Key, u64::from(key.row.no.0)),
            |key| Key::of(ids, &key.row, &key.doc),
        ))
    }
}
