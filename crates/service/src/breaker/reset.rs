//! Resetting a breaker by hand (R17): "we are back".

use std::{collections::HashMap, time::Duration};

use gonets_core::{
    gate::Scope, ids::AppNo, limits::PARTNER_RESET_EVERY, profile::BreakerScope, time::Timestamp,
};
use gonets_engine::Order;
use parking_lot::Mutex;

use crate::{access::AppAccess, error::Error, service::Service};

/// When the partners of each application last reset its breaker; those of a minute ago are forgotten.
#[derive(Default)]
pub(crate) struct Resets(Mutex<HashMap<AppNo, Timestamp>>);

impl Resets {
    /// Takes the turn of this minute, or says how long it is until the next.
    fn take(&self, app: AppNo, now: Timestamp) -> Result<(), Duration> {
        let mut last = self.0.lock();
        last.retain(|_, at| now.since(*at) < PARTNER_RESET_EVERY);
        if let Some(at) = last.get(&app) {
            return Err(PARTNER_RESET_EVERY.saturating_sub(now.since(*at)));
        }
        last.insert(app, now);
        Ok(())
    }
}

impl Service {
    /// Has the pause of a breaker start over, with a probe at once: of one endpoint's, or of all those of
    /// the application that are open. Where endpoints share a breaker, each means that one. Partners may
    /// do so once a minute.
    ///
    /// # Errors
    /// [`Error::TooOften`]; [`Error::NotFound`] when there is no such endpoint.
    pub async fn reset_breaker(&self, who: &AppAccess, endpoint: Option<&str>) -> Result<(), Error> {
        let named = endpoint.map(|name| self.endpoint(who, name)).transpose()?;
        if !who.is_admin {
            self.resets()
                .take(who.app.no, self.now())
                .map_err(|wait| Error::TooOften { what: "the breaker can be reset once a minute", wait })?;
        }
        let scopes = match (who.app.profile.breaker.as_ref().map(|rules| rules.scope), named) {
            (None, _) => Vec::new(),
            (Some(BreakerScope::Application), _) => vec![Scope::Application(who.app.no)],
            (Some(BreakerScope::Endpoint), Some(endpoint)) => vec![Scope::Endpoint(endpoint.no)],
            (Some(BreakerScope::Endpoint), None) => self.open_of_endpoints(who),
        };
        for scope in scopes {
            self.engine().order(Order::Reset(scope)).await?;
        }
        Ok(())
    }

    fn open_of_endpoints(&self, who: &AppAccess) -> Vec<Scope> {
        let scopes = who.app.endpoints.iter().map(|endpoint| Scope::Endpoint(endpoint.no));
        scopes.filter(|scope| self.directory().gate(*scope).breaker.is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r17_a_partner_has_one_reset_a_minute_for_each_application() {
        let (resets, start) = (Resets::default(), Timestamp::from_millis(1_000));
        let later = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(resets.take(AppNo(1), start), Ok(()));
        assert_eq!(resets.take(AppNo(1), later(20)), Err(Duration::from_secs(40)));
        assert_eq!(resets.take(AppNo(2), later(20)), Ok(()), "another application");
        assert_eq!(resets.take(AppNo(1), later(60)), Ok(()));
        assert_eq!(resets.0.lock().len(), 2);
        assert_eq!(resets.take(AppNo(1), later(121)), Ok(()));
        assert_eq!(resets.0.lock().len(), 1, "nothing is kept for ever");
    }
}
