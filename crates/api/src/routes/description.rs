//! The OpenAPI description: what stands before the routes, and where it is served.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use bytes::Bytes;
use gonets_service::Service;
use http::StatusCode;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        OpenApi as Description,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use crate::answer;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Gonets",
        description = "Delivers a platform's events to its partners' HTTP endpoints. Speaks the protocol of \
                       Svix's SDKs. Every path takes an id or a uid; a trailing slash is optional.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    modifiers(&BearerKey),
    security(("key" = [])),
)]
struct Beginning;

struct BearerKey;

impl Modify for BearerKey {
    fn modify(&self, description: &mut Description) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        description.components.get_or_insert_default().add_security_scheme("key", scheme);
    }
}

pub(crate) fn beginning() -> Description {
    Beginning::openapi()
}

/// `/openapi.json`, written once.
pub(crate) fn route(description: &Description) -> Router<Arc<Service>> {
    let text = Bytes::from(description.to_json().unwrap_or_default());
    let handler = async move || -> Response { answer::json_bytes(StatusCode::OK, text) };
    Router::new().route("/openapi.json", get(handler))
}
