//! Ending an endpoint's throttle pause by hand (R8).

use gonets_engine::Order;

use crate::{access::AppAccess, error::Error, service::Service};

impl Service {
    /// Ends the pause that the endpoint asked for with 429; where there is none, nothing happens.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such endpoint.
    pub async fn lift_throttle(&self, who: &AppAccess, endpoint: &str) -> Result<(), Error> {
        let endpoint = self.endpoint(who, endpoint)?;
        Ok(self.engine().order(Order::Lift(endpoint.no)).await?)
    }
}
