//! `/operational-webhook/endpoint/{ep}/secret` and `…/headers`: how an operational endpoint's events are
//! signed, and what goes along with them.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::endpoint::{
        EndpointHeadersIn, EndpointHeadersOut, EndpointHeadersPatchIn, EndpointSecretOut,
        EndpointSecretRotateIn,
    },
    request::{Authed, Names, Posted},
};

/// The signing secret of an operational endpoint.
#[utoipa::path(
    get, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}/secret",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.get-secret",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, body = EndpointSecretOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn secret(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    Ok(answer::ok(&EndpointSecretOut { key: service.get_secret(&who, &endpoint)? }))
}

/// Puts a new secret in front; the old one still signs for the grace period.
#[utoipa::path(
    post, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}/secret/rotate",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.rotate-secret",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointSecretRotateIn,
    responses(
        (status = 200, body = EndpointSecretOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
        (status = 409, description = "Ten old secrets are still valid"),
    ),
)]
pub(crate) async fn rotate(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    let wish = posted.json_or_default::<EndpointSecretRotateIn>()?;
    let key = service.rotate_secret(&who, &endpoint, wish.into(), posted.key(&caller)?).await?;
    Ok(answer::ok(&EndpointSecretOut { key }))
}

/// The extra headers of an operational endpoint; of sensitive ones only the names.
#[utoipa::path(
    get, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}/headers",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.get-headers",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, body = EndpointHeadersOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn headers(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    Ok(answer::ok(&EndpointHeadersOut::from(service.get_headers(&who, &endpoint)?)))
}

/// Replaces all extra headers of an operational endpoint.
#[utoipa::path(
    put, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}/headers",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.update-headers",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointHeadersIn,
    responses(
        (status = 204),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn put_headers(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    service.put_headers(&who, &endpoint, posted.json::<EndpointHeadersIn>()?.draft()?).await?;
    Ok(answer::done())
}

/// Sets and deletes some extra headers of an operational endpoint.
#[utoipa::path(
    patch, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}/headers",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.patch-headers",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointHeadersPatchIn,
    responses(
        (status = 204),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn patch_headers(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    service.patch_headers(&who, &endpoint, posted.json::<EndpointHeadersPatchIn>()?.into()).await?;
    Ok(answer::done())
}
