//! A test event: one request to an endpoint, whose answer is shown at once and kept nowhere.

use bytes::Bytes;
use gonets_core::names::NameKind;

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
    /// [`Error::Crowded`] when too many are on their way.
    pub async fn try_out(
        &self,
        who: &AppAccess,
        endpoint: &str,
        event_type: Option<String>,
    ) -> Result<Attempt, Error> {
        let endpoint = self.endpoint(who, endpoint)?;
        let event_type = match event_type {
            Some(name) if who.is_admin => {
                let mut fields = Fields::default();
                fields.name("eventType", NameKind::EventType, &name);
                fields.done()?;
                name
            }
            _ => TYPE.to_owned(),
        };
        let made = self.engine().try_out(&endpoint, event_type, Bytes::from_static(PAYLOAD)).await;
        match made {
            Ok(Some(record)) => Ok(Attempt::of(self.engine().ids(), record, who.is_admin)),
            Ok(None) => Err(Error::internal("a test event could not be sent for want of file handles")),
            Err(_) => Err(Error::Crowded),
        }
    }
}
