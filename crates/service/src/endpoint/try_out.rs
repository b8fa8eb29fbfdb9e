//! A test event: one request to an endpoint, whose answer is shown at once and kept nowhere.

use bytes::Bytes;
use gonets_core::names::NameKind;
use gonets_engine::NotTried;

use crate::{access::AppAccess, attempt::Attempt, error::Error, field::Fields, service::Service};

/// The type of a test event where nobody chose one.
const TYPE: &str = "gonets.test";
/// Its payload, always: a partner cannot have an event of their own making signed.
const PAYLOAD: &[u8] = br#"{"test":true}"#;

impl Service {
    /// Sends a test event, and tells what came of it. It is no message: nothing of it is stored, and
    /// neither breaker nor health hears of it. Only administrators choose its type.
    ///
    /// # Errors
    /// [`Error::TooManyTests`] when too many are on their way; [`Error::Forbidden`] when a partner
    /// chooses the type.
    pub async fn try_out(
        &self,
        who: &AppAccess,
        endpoint: &str,
        event_type: Option<String>,
    ) -> Result<Attempt, Error> {
        let endpoint = self.endpoint(who, endpoint)?;
        let event_type = match event_type {
            Some(_) if !who.is_admin => return Err(Error::Forbidden),
            Some(name) => {
                let mut fields = Fields::default();
                fields.name("eventType", NameKind::EventType, &name);
                fields.done()?;
                name
            }
            None => TYPE.to_owned(),
        };
        match self.engine().try_out(&endpoint, event_type, Bytes::from_static(PAYLOAD)).await {
            Ok(record) => Ok(Attempt::of(self.engine().ids(), record, who.is_admin)),
            Err(NotTried::TooMany) => Err(Error::TooManyTests),
            Err(NotTried::Gone) => Err(Error::Deleted),
            Err(why @ NotTried::Interrupted) => Err(Error::internal(why)),
        }
    }
}
