//! One more attempt of a delivery by hand (R9).

use crate::{access::AppAccess, error::Error, idempotency::RequestKey, service::Service};

impl Service {
    /// Has a delivery tried once more; durable when this returns.
    ///
    /// # Errors
    /// As [`Service::resend`]; [`Error::NotFound`] where there is no such delivery.
    pub async fn retry_delivery(
        &self,
        who: &AppAccess,
        delivery: &str,
        key: Option<RequestKey>,
    ) -> Result<(), Error> {
        let (message, endpoint) = self.ends_of(&who.reader(), delivery).await?;
        let (id, no) = (message.id, endpoint.no);
        let found = self.engine().ask(move |store| store.deliveries_of(id, &[no])).await?;
        if found.is_empty() {
            return Err(Error::not_found("delivery", delivery));
        }
        let ids = self.engine().ids();
        self.resend(who, &ids.message(id), &ids.endpoint(no), key).await
    }
}
