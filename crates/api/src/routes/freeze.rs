//! Freezing by hand: accepting goes on, sending stops, for an application, an environment or all.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    request::{Authed, Names},
};

/// Freezes an application: its messages are accepted and wait. Attempts under way end as they do.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/freeze", tag = "Freeze", operation_id = "v1.application.freeze",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn freeze_application(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
) -> Result<Response> {
    service.freeze_application(&caller, &app).await?;
    Ok(answer::done())
}

/// Thaws an application: what waited goes out paced. A wider freeze still holds it.
#[utoipa::path(
    delete, path = "/api/v1/app/{app_id}/freeze", tag = "Freeze", operation_id = "v1.application.thaw",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn thaw_application(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
) -> Result<Response> {
    service.thaw_application(&caller, &app).await?;
    Ok(answer::done())
}

/// Freezes the environment of the key.
#[utoipa::path(
    post, path = "/api/v1/environment/freeze", tag = "Freeze", operation_id = "v1.environment.freeze",
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn freeze_environment(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
) -> Result<Response> {
    service.freeze_environment(&caller.admin()?).await?;
    Ok(answer::done())
}

/// Thaws the environment of the key.
#[utoipa::path(
    delete, path = "/api/v1/environment/freeze", tag = "Freeze", operation_id = "v1.environment.thaw",
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn thaw_environment(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
) -> Result<Response> {
    service.thaw_environment(&caller.admin()?).await?;
    Ok(answer::done())
}

/// Freezes the whole installation. A key of any environment is enough.
#[utoipa::path(
    post, path = "/api/v1/freeze", tag = "Freeze", operation_id = "v1.everything.freeze",
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn freeze_everything(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
) -> Result<Response> {
    service.freeze_everything(&caller.admin()?).await?;
    Ok(answer::done())
}

/// Thaws the whole installation; narrower freezes still hold.
#[utoipa::path(
    delete, path = "/api/v1/freeze", tag = "Freeze", operation_id = "v1.everything.thaw",
    responses((status = 204), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn thaw_everything(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
) -> Result<Response> {
    service.thaw_everything(&caller.admin()?).await?;
    Ok(answer::done())
}
