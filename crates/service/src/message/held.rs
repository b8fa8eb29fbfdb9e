//! What holds an endpoint's lane, as far as lists need it: that something does, and until when. What it is,
//! each delivery says itself (R26).

use gonets_core::{gate::Scope, profile::BreakerScope, time::Timestamp};
use gonets_engine::directory::{App, Endpoint};

use crate::service::Service;

/// Something holds a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaneHold {
    /// `None`: nobody knows.
    pub(super) until: Option<Timestamp>,
}

impl LaneHold {
    /// Whether what is due then has to wait.
    pub(super) fn outlasts(self, due: Timestamp) -> bool {
        self.until.is_none_or(|until| due < until)
    }
}

impl Service {
    pub(super) fn lane_hold(&self, app: &App, endpoint: &Endpoint) -> Option<LaneHold> {
        let directory = self.directory();
        let has_no_end = endpoint.is_disabled()
            || directory.frozen(app.row.environment, app.no).is_some()
            || directory.sending_paused().is_some();
        if has_no_end {
            return Some(LaneHold { until: None });
        }
        let own = directory.gate(Scope::Endpoint(endpoint.no));
        let breaker = match app.profile.breaker.as_ref().map(|rules| rules.scope) {
            None => None,
            Some(BreakerScope::Endpoint) => own.breaker,
            Some(BreakerScope::Application) => directory.gate(Scope::Application(app.no)).breaker,
        };
        let probe_at = breaker.map(|state| state.probe_at);
        let throttled = own.throttle.until.filter(|until| self.now() < *until);
        probe_at.max(throttled).map(|until| LaneHold { until: Some(until) })
    }
}
