//! What is not there, told apart: a path that nobody knows, an operation of Svix's SDKs that
//! Gonets does not have, and a method that a path does not take.

use axum::{extract::Request, response::Response};
use http::{Method, StatusCode, Uri};

use crate::error;

/// Beginnings of paths of the SDKs, and what is missing there.
const FAMILIES: [(&str, &str); 14] = [
    ("/stream", "event streams"),
    ("/ingest", "ingestion of incoming webhooks"),
    ("/connector", "connectors"),
    ("/stats", "usage statistics"),
    ("/auth", "portal access through this operation"),
    ("/background-task", "background tasks"),
    ("/environment/", "export and import of environments"),
    ("/event-type/import", "import of event types"),
    ("/bridge", "bridges"),
    ("/destination", "destinations"),
    ("/auto-config", "automatic configuration"),
    ("/message/poller", "pollers"),
    ("/inbound", "inbound webhooks"),
    ("/receive", "inbound webhooks"),
];

/// Ends of paths under an application, and what is missing there.
const UNDER_APPLICATIONS: [(&str, &str); 16] = [
    ("/integration", "integrations"),
    ("/transformation", "transformations"),
    ("/destination", "destinations"),
    ("/poller", "pollers"),
    ("/stats", "statistics of an endpoint"),
    ("/attempt-stats", "statistics of attempts"),
    ("/recover", "recovery of many messages"),
    ("/replay-missing", "replay of missing messages"),
    ("/bulk-replay", "replay of many messages"),
    ("/send-example", "example messages"),
    ("/content", "expunging of contents"),
    ("/bulk-expunge", "expunging of many contents"),
    ("/expunge-all-contents", "expunging of all contents"),
    ("/precheck/active", "prechecks"),
    ("/mtls", "client certificates"),
    ("/oauth", "OAuth of endpoints"),
];

pub(crate) async fn path(uri: Uri) -> Response {
    match missing_operation(uri.path()) {
        Some(what) => error::answer(
            StatusCode::NOT_FOUND,
            "not_supported",
            &format!("{what}: Gonets does not have this operation."),
        ),
        None => error::answer(
            StatusCode::NOT_FOUND,
            "not_found",
            &format!("there is nothing at {}. The API is under /api/v1.", shown(&uri)),
        ),
    }
}

pub(crate) async fn method(method: Method, request: Request) -> Response {
    let detail = format!("{} does not take {method}.", shown(request.uri()));
    error::answer(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &detail)
}

/// A CONNECT has no path, only whom to connect to.
fn shown(uri: &Uri) -> String {
    let path = if uri.path().is_empty() { uri.to_string() } else { uri.path().to_owned() };
    path.chars().take(120).collect()
}

fn missing_operation(path: &str) -> Option<&'static str> {
    let path = path.strip_prefix("/api/v1")?;
    if path.strip_prefix("/app/").is_some() {
        let is_there = |end: &str| path.ends_with(end) || path.contains(&format!("{end}/"));
        return UNDER_APPLICATIONS.iter().find(|(end, _)| is_there(end)).map(|(_, what)| *what);
    }
    FAMILIES.iter().find(|(start, _)| path.starts_with(start)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_the_sdks_that_are_missing_are_named() {
        assert_eq!(missing_operation("/api/v1/stream/sink"), Some("event streams"));
        assert_eq!(missing_operation("/api/v1/app/x/integration/y/key"), Some("integrations"));
        assert_eq!(missing_operation("/api/v1/app/x/endpoint/y/recover"), Some("recovery of many messages"));
    }

    #[test]
    fn paths_that_nobody_knows_are_just_not_there() {
        for path in ["/api/v1/nothing", "/api/v1/app/x/nothing", "/stream", "/api/v2/stream"] {
            assert_eq!(missing_operation(path), None, "{path}");
        }
    }
}
