//! The environments of an installation.

use super::Environment;
use crate::{access::Admin, error::Error, service::Service};

impl Service {
    /// # Errors
    /// [`Error::NotOfTheFirst`].
    pub fn list_environments(&self, who: &Admin) -> Result<Vec<Environment>, Error> {
        self.must_be_of_the_first(who)?;
        Ok(self.all_environments())
    }

    /// For whoever owns the data directory.
    pub fn all_environments(&self) -> Vec<Environment> {
        let ids = self.engine().ids();
        self.directory().environments().iter().map(|one| Environment::of(ids, one)).collect()
    }
}
