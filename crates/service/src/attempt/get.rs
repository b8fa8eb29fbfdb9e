//! One attempt of a message.

use gonets_core::ids::{AttemptId, IdKind};

use super::Attempt;
use crate::{access::Reader, error::Error, service::Service};

impl Service {
    /// # Errors
    /// [`Error::NotFound`], also for an attempt of another message.
    pub async fn get_attempt(&self, who: &Reader, message: &str, attempt: &str) -> Result<Attempt, Error> {
        let not_found = || Error::not_found("attempt", attempt);
        let ids = self.engine().ids();
        let id = ids.decode(IdKind::Attempt, attempt).map(AttemptId).ok_or_else(not_found)?;
        let message = self.message(who, message).await?.id;
        self.engine()
            .ask(move |store| store.attempt(id))
            .await?
            .filter(|record| record.message == message)
            .map(|record| Attempt::of(ids, record, who.is_admin))
            .ok_or_else(not_found)
    }
}
