//! One message.

use super::Message;
use crate::{access::Reader, error::Error, service::Service};

impl Service {
    /// A message of the application by id or event id.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for one of another application.
    pub async fn get_message(&self, who: &Reader, name: &str) -> Result<Message, Error> {
        Ok(Message::of(self.engine().ids(), self.message(who, name).await?))
    }
}
