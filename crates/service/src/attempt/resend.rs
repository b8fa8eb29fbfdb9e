//! One more attempt by hand (R9): outside the ladders, allowed in any state of the delivery.

use gonets_store::tx::{HandRetry, Made, Rejected, Tx};

use crate::{access::AppAccess, error::Error, idempotency::RequestKey, service::Service};

/// What is recorded with a key: that it was done is all there is to answer.
const NOTHING_TO_SAY: &[u8] = b"{}";

const UNDER_WAY: &str = "an attempt of this delivery is already under way. Wait for it to end.";

impl Service {
    /// Has a message sent to an endpoint once more; durable when this returns. The same request
    /// repeated under its idempotency key is answered as the first was, without another attempt.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a disabled endpoint, while sending is frozen, while an attempt of the
    /// delivery is in flight, and while one by hand is pending.
    pub async fn resend(
        &self,
        who: &AppAccess,
        message: &str,
        endpoint: &str,
        key: Option<RequestKey>,
    ) -> Result<(), Error> {
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
        self.must_not_be_frozen(&who.app)?;
        let message = self.message(&who.reader(), message).await?;
        if message.payload.is_none() {
            return Err(Error::Conflict {
                code: "payload_expunged",
                detail: "the message's payload is not kept any more, so there is nothing to send.".into(),
            });
        }
        let retry = HandRetry {
            endpoint: endpoint.no,
            message: message.id,
            under_way: self.engine().standing(endpoint.no, message.id).await.is_under_way,
            idempotency: key.map(|key| Box::new((key.0, NOTHING_TO_SAY.to_vec()))),
        };
        match self.engine().commit(Tx::Hand(retry)).await? {
            Ok(Made::Hand | Made::ReplayedAnswer(_)) => Ok(()),
            Ok(other) => Err(Error::internal(format!("the store answered a resend with {other:?}"))),
            Err(Rejected::Conflict) => Err(Error::conflict(UNDER_WAY)),
            Err(rejected) => Err(rejected.into()),
        }
    }
}
