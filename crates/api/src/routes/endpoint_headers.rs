//! `/app/{app}/endpoint/{ep}/headers`: extra headers.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::endpoint::{EndpointHeadersIn, EndpointHeadersOut, EndpointHeadersPatchIn},
    request::{Authed, Names, Posted},
};

/// The extra headers of an endpoint; of sensitive ones only the names.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/headers",
    tag = "Endpoint", operation_id = "v1.endpoint.get-headers",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointHeadersOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    Ok(answer::ok(&EndpointHeadersOut::from(service.get_headers(&who, &endpoint)?)))
}

/// Replaces all extra headers.
#[utoipa::path(
    put, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/headers",
    tag = "Endpoint", operation_id = "v1.endpoint.update-headers",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointHeadersIn,
    responses((status = 204)),
)]
pub(crate) async fn put(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    service.put_headers(&who, &endpoint, posted.json::<EndpointHeadersIn>()?.draft()?).await?;
    Ok(answer::done())
}

/// Sets and deletes some extra headers.
#[utoipa::path(
    patch, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/headers",
    tag = "Endpoint", operation_id = "v1.endpoint.patch-headers",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointHeadersPatchIn,
    responses((status = 204)),
)]
pub(crate) async fn patch(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    service.patch_headers(&who, &endpoint, posted.json::<EndpointHeadersPatchIn>()?.into()).await?;
    Ok(answer::done())
}
