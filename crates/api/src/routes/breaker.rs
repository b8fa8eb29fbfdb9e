//! `/app/{app}/breaker`: what holds an application's deliveries back, and ending it.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::breaker::{BreakerResetIn, GatesOut},
    request::{Authed, Names, Posted},
};

/// The open breakers of an application, its endpoints' throttle pauses, and what is frozen or pauses.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/breaker", tag = "Breaker", operation_id = "v1.breaker.get",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = GatesOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let room = service.room_for_listing();
    Ok(answer::ok_in(room, &GatesOut::from(service.get_gates(&who))))
}

/// "We are back": the pause of an open breaker starts over, and a probe goes out at once.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/breaker/reset", tag = "Breaker", operation_id = "v1.breaker.reset",
    params(("app_id" = String, Path, description = "Id or uid")),
    request_body = Option<BreakerResetIn>,
    responses(
        (status = 204),
        (status = 404, description = "The application has no such endpoint"),
        (
            status = 429,
            description = "A token of the application has reset it within the last minute; Retry-After says \
                           when it may again",
        ),
    ),
)]
pub(crate) async fn reset(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let wish = posted.json_or_default::<BreakerResetIn>()?;
    service.reset_breaker(&who, wish.endpoint_id.as_deref()).await?;
    Ok(answer::done())
}

/// Ends the pause that an endpoint asked for with 429; what waited goes out paced.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/lift",
    tag = "Breaker", operation_id = "v1.endpoint.lift",
    params(
        ("app_id" = String, Path, description = "Id or uid"),
        ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses((status = 204), (status = 404, description = "The application has no such endpoint")),
)]
pub(crate) async fn lift(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
) -> Result<Response> {
    service.lift_throttle(&service.app(&caller, &app)?, &endpoint).await?;
    Ok(answer::done())
}
