//! Whether the server lives and can answer; no key is needed.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{answer, error::Result};

/// Whether requests can be answered.
#[utoipa::path(
    get, path = "/api/v1/health", tag = "Health", operation_id = "v1.health.get", security(()),
    responses((status = 204)),
)]
pub(crate) async fn api(State(service): State<Arc<Service>>) -> Result<Response> {
    service.health().await?;
    Ok(answer::done())
}

/// Whether the process answers at all.
#[utoipa::path(
    get, path = "/api/v1/health/ping", tag = "Health", operation_id = "v1.health.ping", security(()),
    responses((status = 204)),
)]
pub(crate) async fn ping() -> Response {
    answer::done()
}

/// Whether the process lives: if not, restart it.
#[utoipa::path(
    get, path = "/health/live", tag = "Health", operation_id = "health.live", security(()),
    responses((status = 204)),
)]
pub(crate) async fn live() -> Response {
    answer::done()
}

/// Whether requests can be answered: if not, send none.
#[utoipa::path(
    get, path = "/health/ready", tag = "Health", operation_id = "health.ready", security(()),
    responses((status = 204), (status = 503)),
)]
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Result<Response> {
    service.health().await?;
    Ok(answer::done())
}
