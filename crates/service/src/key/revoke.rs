//! Revoking a key: the next request with it is refused.

use gonets_core::ids::IdKind;

use crate::{access::Admin, error::Error, service::Service, write::Change};

impl Service {
    /// # Errors
    /// [`Error::NotFound`] when there is no such key in the environment.
    pub async fn revoke_key(&self, who: &Admin, id: &str) -> Result<(), Error> {
        let no = self.engine().ids().decode(IdKind::Key, id);
        let mut tries = self.tries_named(id);
        loop {
            tries.next().await?;
            let key = self
                .directory()
                .keys(who.environment)
                .into_iter()
                .find(|key| Some(u64::from(key.row.no.0)) == no)
                .ok_or_else(|| Error::not_found("key", id))?;
            if self.rewrite(Change::delete(&key.row)).await?.is_some() {
                return Ok(());
            }
        }
    }
}
