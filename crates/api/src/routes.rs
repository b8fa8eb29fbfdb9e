//! The handlers, by what they are about.

mod application;
mod attempt;
mod balance;
mod breaker;
mod delivery;
pub mod description;
mod endpoint;
mod endpoint_headers;
mod endpoint_secret;
mod endpoint_test;
mod environment;
mod event_type;
mod freeze;
mod health;
mod key;
mod message;
mod operational;
mod operational_details;
mod profile;

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
        .routes(routes!(delivery::get))
        .routes(routes!(delivery::retry))
        .routes(routes!(delivery::explain))
        .routes(routes!(breaker::get))
        .routes(routes!(breaker::reset))
        .routes(routes!(breaker::lift))
        .routes(routes!(freeze::freeze_application, freeze::thaw_application))
        .routes(routes!(freeze::freeze_environment, freeze::thaw_environment))
        .routes(routes!(freeze::freeze_everything, freeze::thaw_everything))
        .routes(routes!(balance::get))
        .routes(routes!(profile::list))
        .routes(routes!(profile::get))
        .routes(routes!(profile::simulate))
        .routes(routes!(operational::list, operational::create))
        .routes(routes!(operational::get, operational::put, operational::patch, operational::delete))
        .routes(routes!(operational_details::secret))
        .routes(routes!(operational_details::rotate))
        .routes(routes!(
            operational_details::headers,
            operational_details::put_headers,
            operational_details::patch_headers
        ))
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
