//! What stands in front of an application's deliveries.

use gonets_core::{breaker::BreakerState, gate::Scope, profile::BreakerScope};

use super::{Gates, OpenBreaker, Throttled};
use crate::{access::AppAccess, service::Service};

impl Service {
    /// The open breakers, throttles and freezes of an application.
    pub fn get_gates(&self, who: &AppAccess) -> Gates {
        let (directory, ids, now) = (self.directory(), self.engine().ids(), self.now());
        let scope = who.app.profile.breaker.as_ref().map(|rules| rules.scope);
        let open = |scope: BreakerScope, endpoint_id: Option<String>, state: BreakerState| OpenBreaker {
            scope,
            endpoint_id,
            opened_at: state.opened_at,
            pause_ms: state.pause_ms,
            probe_at: state.probe_at,
            answered_probes: state.answered,
        };
        let (mut breakers, mut throttles) = (Vec::new(), Vec::new());
        if scope == Some(BreakerScope::Application) {
            let state = directory.gate(Scope::Application(who.app.no)).breaker;
            breakers.extend(state.map(|state| open(BreakerScope::Application, None, state)));
        }
        for endpoint in &who.app.endpoints {
            let gate = directory.gate(Scope::Endpoint(endpoint.no));
            let id = || ids.endpoint(endpoint.no);
            let of_its_own = gate.breaker.filter(|_| scope == Some(BreakerScope::Endpoint));
            breakers.extend(of_its_own.map(|state| open(BreakerScope::Endpoint, Some(id()), state)));
            let until = gate.throttle.until.filter(|until| now < *until);
            throttles.extend(until.map(|until| Throttled { endpoint_id: id(), until }));
        }
        Gates {
            scope,
            breakers,
            throttles,
            frozen: self.frozen(&who.app),
            sending_paused: directory.sending_paused(),
        }
    }
}
