//! `/app/{app}/endpoint`: endpoints.

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

/// Lists the endpoints of an application, newest first.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/endpoint", tag = "Endpoint", operation_id = "v1.endpoint.list",
    params(("app_id" = String, Path, description = "Id or uid"), PageQuery),
    responses((status = 200, body = ListOut<EndpointOut>)),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let room = service.room_for_listing();
    let listed = service.list_endpoints(&who, &page.request(Order::Descending)?)?;
    Ok(answer::ok_in(room, &ListOut::of(listed, EndpointOut::from)))
}

/// Makes an endpoint.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/endpoint", tag = "Endpoint", operation_id = "v1.endpoint.create",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = EndpointIn,
    responses((status = 201, body = EndpointOut)),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let draft = posted.json::<EndpointIn>()?.draft()?;
    let endpoint = service.create_endpoint(&who, draft, posted.key_in(&who)?).await?;
    Ok(answer::json(StatusCode::CREATED, &EndpointOut::from(endpoint)))
}

/// An endpoint.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}",
    tag = "Endpoint", operation_id = "v1.endpoint.get",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    Ok(answer::ok(&EndpointOut::from(service.get_endpoint(&who, &endpoint)?)))
}

/// Replaces an endpoint, or makes it. Its secret and headers stay.
#[utoipa::path(
    put, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}",
    tag = "Endpoint", operation_id = "v1.endpoint.update",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointIn,
    responses((status = 200, body = EndpointOut), (status = 201, body = EndpointOut)),
)]
pub(crate) async fn put(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let draft = posted.json::<EndpointIn>()?.draft()?;
    Ok(answer::created(service.put_endpoint(&who, &endpoint, draft).await?, EndpointOut::from))
}

/// Changes parts of an endpoint.
#[utoipa::path(
    patch, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}",
    tag = "Endpoint", operation_id = "v1.endpoint.patch",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = EndpointPatchIn,
    responses((status = 200, body = EndpointOut)),
)]
pub(crate) async fn patch(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let patch = posted.json::<EndpointPatchIn>()?.patch()?;
    let endpoint = service.patch_endpoint(&who, &endpoint, patch).await?;
    Ok(answer::ok(&EndpointOut::from(endpoint)))
}

/// Deletes an endpoint.
#[utoipa::path(
    delete, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}",
    tag = "Endpoint", operation_id = "v1.endpoint.delete",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204)),
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
) -> Result<Response> {
    service.delete_endpoint(&service.app(&caller, &app)?, &endpoint).await?;
    Ok(answer::done())
}
