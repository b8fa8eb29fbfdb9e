//! The profiles of the installation.

use std::sync::Arc;

use gonets_core::profile::Profile;

use crate::{access::Admin, error::Error, service::Service};

impl Service {
    /// All profiles, by name.
    pub fn list_profiles(&self, _who: &Admin) -> Vec<Arc<Profile>> {
        self.directory().context().profiles.iter().cloned().collect()
    }

    /// # Errors
    /// [`Error::NotFound`] when there is none of that name.
    pub fn get_profile(&self, _who: &Admin, name: &str) -> Result<Arc<Profile>, Error> {
        let found = self.directory().context().profiles.get(name);
        found.cloned().ok_or_else(|| Error::not_found("profile", name))
    }
}
