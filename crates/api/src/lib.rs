//! The REST API: Svix's protocol over Gonets' service, with its OpenAPI description.
//!
//! Every route is annotated where it is written, and the description is collected from the
//! annotations, so there is no second list to forget. No logic is here: a handler reads a request
//! into the service's words, calls one operation and writes the answer.
//!
//! - [`routes`]: the handlers, by what they are about.
//! - [`models`]: what goes in and out as JSON.
//! - `request`: key, path, query and body of a request.
//! - `error`: errors as they are answered.
//! - `absent`: paths that are not there, and operations of Svix's SDKs that Gonets does not have.
//!
//! A trailing slash is optional on every path; `gonets_server` takes it off before routing.

mod absent;
mod answer;
mod error;
pub mod models;
mod request;
pub mod routes;

use std::sync::Arc;

use gonets_service::Service;
use utoipa::openapi::OpenApi;

/// Everything under `/api/v1`, `/health` and `/openapi.json`.
pub fn router(service: Arc<Service>) -> axum::Router {
    let (router, openapi) = routes::all().split_for_parts();
    router
        .merge(routes::description::route(&openapi))
        .fallback(absent::path)
        .method_not_allowed_fallback(absent::method)
        .with_state(service)
}

/// The description of the API, as `/openapi.json` serves it.
pub fn openapi() -> OpenApi {
    routes::all().split_for_parts().1
}
