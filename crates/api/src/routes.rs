//! The handlers, by what they are about.

mod application;
mod attempt;
pub mod description;
mod endpoint;
mod endpoint_headers;
mod endpoint_secret;
mod endpoint_test;
mod environment;
mod event_type;
mod health;
mod key;
mod message;

use std::sync::Arc;

use gonets_service::Service;
use utoipa_axum::{router::OpenApiRouter, routes};

/// All routes with their descriptions.
pub(crate) fn all() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(description::beginning())
        .routes(routes!(application::list, application::create))
        .routes(routes!(application::get, application::put, application::patch, application::delete))
        .routes(routes!(endpoint::list, endpoint::create))
        .routes(routes!(endpoint::get, endpoint::put, endpoint::patch, endpoint::delete))
        .routes(routes!(endpoint_test::test))
        .routes(routes!(endpoint_secret::get))
        .routes(routes!(endpoint_secret::rotate))
        .routes(routes!(endpoint_headers::get, endpoint_headers::put, endpoint_headers::patch))
        .routes(routes!(message::list, message::create))
        .routes(routes!(message::get))
        .routes(routes!(message::of_endpoint))
        .routes(routes!(message::endpoints))
        .routes(routes!(attempt::of_endpoint))
        .routes(routes!(attempt::of_message))
        .routes(routes!(attempt::get))
        .routes(routes!(attempt::resend))
        .routes(routes!(event_type::list, event_type::create))
        .routes(routes!(event_type::get, event_type::put, event_type::patch, event_type::delete))
        .routes(routes!(key::list, key::create))
        .routes(routes!(key::revoke))
        .routes(routes!(environment::list, environment::create))
        .routes(routes!(health::api))
        .routes(routes!(health::ping))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
}
