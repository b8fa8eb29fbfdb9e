//! `/operational-webhook/endpoint`: where an environment's own people are told what happens in it.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{Service, page::Order};
use http::StatusCode;

use crate::{
    answer,
    error::Result,
    models::{
        endpoint::{EndpointIn, EndpointOut, EndpointPatchIn},
        page::{ListOut, PageQuery},
    },
    request::{Authed, Names, Posted, Query},
};

/// Lists the operational endpoints of the environment, newest first.
#[utoipa::path(
    get, path = "/api/v1/operational-webhook/endpoint",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.list",
    params(PageQuery),
    responses((status = 200, body = ListOut<EndpointOut>), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Query(page): Query<PageQuery>,
) -> Result<Response> {
    let who = caller.admin()?;
    let room = service.room_for_listing();
    let listed = service.list_operational_endpoints(&who, &page.request(Order::Descending)?)?;
    Ok(answer::ok_in(room, &ListOut::of(listed, EndpointOut::from)))
}

/// Makes an operational endpoint. Events are named in `eventTypes`, all if not said: `endpoint.failing`,
/// `breaker.opened`, `message.attempt.exhausted` and so on.
#[utoipa::path(
    post, path = "/api/v1/operational-webhook/endpoint",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.create",
    request_body = EndpointIn,
    responses(
        (status = 201, body = EndpointOut),
        (status = 403, description = "Administrators only"),
        (status = 422, description = "The URL is not allowed, or there is no such operational event"),
    ),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    posted: Posted,
) -> Result<Response> {
    let who = caller.admin()?;
    let draft = posted.json::<EndpointIn>()?.draft()?;
    let endpoint = service.create_operational_endpoint(&who, draft, posted.key(&caller)?).await?;
    Ok(answer::json(StatusCode::CREATED, &EndpointOut::from(endpoint)))
}

/// An operational endpoint.
#[utoipa::path(
    get, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.get",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, body = EndpointOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    Ok(answer::ok(&EndpointOut::from(service.get_endpoint(&who, &endpoint)?)))
}

/// Replaces an operational endpoint, or makes it. Its secret and headers stay.
#[utoipa::path(
    put, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.update",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointIn,
    responses(
        (status = 200, body = EndpointOut),
        (status = 201, body = EndpointOut),
        (status = 403, description = "Administrators only"),
        (status = 422, description = "The URL is not allowed, or there is no such operational event"),
    ),
)]
pub(crate) async fn put(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = caller.admin()?;
    let draft = posted.json::<EndpointIn>()?.draft()?;
    let put = service.put_operational_endpoint(&who, &endpoint, draft).await?;
    Ok(answer::created(put, EndpointOut::from))
}

/// Changes parts of an operational endpoint.
#[utoipa::path(
    patch, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.patch",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointPatchIn,
    responses(
        (status = 200, body = EndpointOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
        (status = 422, description = "The URL is not allowed, or there is no such operational event"),
    ),
)]
pub(crate) async fn patch(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = caller.admin()?;
    let patch = posted.json::<EndpointPatchIn>()?.patch()?;
    let endpoint = service.patch_operational_endpoint(&who, &endpoint, patch).await?;
    Ok(answer::ok(&EndpointOut::from(endpoint)))
}

/// Deletes an operational endpoint.
#[utoipa::path(
    delete, path = "/api/v1/operational-webhook/endpoint/{endpoint_id}",
    tag = "Operational Webhook Endpoint", operation_id = "v1.operational-webhook.endpoint.delete",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 204),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "The environment has no such operational endpoint"),
    ),
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(endpoint): Names<String>,
) -> Result<Response> {
    let who = service.operational(&caller.admin()?, &endpoint)?;
    service.delete_endpoint(&who, &endpoint).await?;
    Ok(answer::done())
}
