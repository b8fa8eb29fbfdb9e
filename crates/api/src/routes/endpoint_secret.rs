//! `/app/{app}/endpoint/{ep}/secret`: the signing secret.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::endpoint::{EndpointSecretOut, EndpointSecretRotateIn},
    request::{Authed, Names, Posted},
};

/// The signing secret of an endpoint.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/secret",
    tag = "Endpoint", operation_id = "v1.endpoint.get-secret",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointSecretOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    Ok(answer::ok(&EndpointSecretOut { key: service.get_secret(&who, &endpoint)? }))
}

/// Puts a new secret in front; the old one still signs for the grace period.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/secret/rotate",
    tag = "Endpoint", operation_id = "v1.endpoint.rotate-secret",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointSecretRotateIn,
    responses((status = 200, body = EndpointSecretOut)),
)]
pub(crate) async fn rotate(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let wish = posted.json_or_default::<EndpointSecretRotateIn>()?;
    let key = service.rotate_secret(&who, &endpoint, wish.into(), posted.key_in(&who)?).await?;
    Ok(answer::ok(&EndpointSecretOut { key }))
}
