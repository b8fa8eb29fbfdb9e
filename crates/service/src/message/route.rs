//! Who gets a message (R18, R19): decided from the application as one version of it stands, which
//! the commit then guards.

use gonets_core::{ids::EndpointNo, profile::WhileDisabled};
use gonets_engine::directory::App;

/// What becomes of a message at the endpoints that its filters let it through to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Routes {
    /// Those that take it. A disabled one is among them where the profile holds what comes meanwhile; the
    /// lane keeps it back.
    pub(super) takes: Vec<EndpointNo>,
    /// Those that are disabled where the profile skips what comes meanwhile (R19).
    pub(super) skips: Vec<EndpointNo>,
}

/// The endpoints of a message of this type and these channels.
pub(super) fn routes(app: &App, event_type: &str, channels: &[String]) -> Routes {
    let skips = app.profile.while_disabled == WhileDisabled::Skip;
    let mut routes = Routes::default();
    for endpoint in app.endpoints.iter().filter(|endpoint| endpoint.filter.takes(event_type, channels)) {
        let list = if skips && endpoint.is_disabled() { &mut routes.skips } else { &mut routes.takes };
        list.push(endpoint.no);
    }
    routes
}

/// Whether the message waits for a first endpoint: only where there is none at all (R18).
pub(super) fn holds_unrouted(app: &App) -> bool {
    app.profile.hold_unrouted && app.endpoints.is_empty()
}
