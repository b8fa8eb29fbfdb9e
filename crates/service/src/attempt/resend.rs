//! One more attempt by hand (R9): outside the ladders, allowed in any state of the delivery.

use gonets_store::tx::{HandRetry, Made, Rejected, Tx};

use crate::{access::AppAccess, error::Error, service::Service};

impl Service {
    /// Has a message sent to an endpoint once more; durable when this returns.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a disabled endpoint, and while an attempt by hand is pending.
    pub async fn resend(&self, who: &AppAccess, message: &str, endpoint: &str) -> Result<(), Error> {
        let endpoint = self.endpoint(who, endpoint)?;
        if endpoint.is_disabled() {
            let why = match &endpoint.disabled {
                Some(disabled) => format!("the endpoint is disabled: {}.", disabled.why.sentence()),
                None => "the endpoint is disabled.".to_owned(),
            };
            return Err(Error::Conflict {
                code: "endpoint_disabled",
                detail: format!("{why} Enable it first."),
            });
        }
        let message = self.message(who, message).await?;
        if message.payload.is_none() {
            return Err(Error::Conflict {
                code: "payload_expunged",
                detail: "the message's payload is not kept any more, so there is nothing to send.".into(),
            });
        }
        let retry = HandRetry { endpoint: endpoint.no, message: message.id };
        match self.engine().commit(Tx::Hand(retry)).await? {
            Ok(Made::Hand) => Ok(()),
            Ok(other) => Err(Error::internal(format!("the store answered a resend with {other:?}"))),
            Err(Rejected::Conflict) => Err(Error::conflict(
                "an attempt by hand of this delivery is already under way. Wait for it to end.",
            )),
            Err(rejected) => Err(rejected.into()),
        }
    }
}
