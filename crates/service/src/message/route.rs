//! Who gets a message (R18, R19): decided from the application as one version of it stands, which
//! the commit then guards.

use gonets_core::{ids::EndpointNo, profile::WhileDisabled};
use gonets_engine::directory::App;

/// The endpoints that take a message of this type and these channels. Those that are disabled are
/// routed to as well where the profile holds what comes meanwhile; the lane keeps it back.
pub(super) fn routes(app: &App, event_type: &str, channels: &[String]) -> Vec<EndpointNo> {
    let holds = app.profile.while_disabled == WhileDisabled::Hold;
    app.endpoints
        .iter()
        .filter(|endpoint| (holds || !endpoint.is_disabled()) && endpoint.filter.takes(event_type, channels))
        .map(|endpoint| endpoint.no)
        .collect()
}

/// Whether the message waits for a first endpoint: only where there is none at all (R18).
pub(super) fn holds_unrouted(app: &App) -> bool {
    app.profile.hold_unrouted && app.endpoints.is_empty()
}
