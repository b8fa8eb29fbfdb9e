//! `/app/{app}/delivery`: deliveries, and why they stand as they do.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;
use http::StatusCode;

use crate::{
    answer,
    error::Result,
    models::delivery::{DeliveryOut, ExplainedOut},
    request::{Authed, Names, Posted},
};

/// A delivery: its state, what holds it, its next attempt and the rule that set it, and all that happened.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/delivery/{delivery_id}", tag = "Delivery", operation_id = "v1.delivery.get",
    params(
        ("app_id" = String, Path, description = "Id or uid"),
        ("delivery_id" = String, Path, description = "`<message id>.<endpoint id>`"),
    ),
    responses(
        (status = 200, body = DeliveryOut),
        (status = 404, description = "The application has no such delivery"),
    ),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, delivery)): Names<(String, String)>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let room = service.room_for_page().await?;
    let delivery = service.get_delivery(&who, &delivery).await?;
    Ok(answer::ok_in(room, &DeliveryOut::from(delivery)))
}

/// Has a delivery tried once more, outside the ladders: in any state of it, while the breaker is open and
/// after its expiry, too.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/delivery/{delivery_id}/retry",
    tag = "Delivery", operation_id = "v1.delivery.retry",
    params(
        ("app_id" = String, Path, description = "Id or uid"),
        ("delivery_id" = String, Path, description = "`<message id>.<endpoint id>`"),
    ),
    responses(
        (status = 202),
        (status = 404, description = "The application has no such delivery, or its endpoint was deleted"),
        (
            status = 409,
            description = "The endpoint is disabled, sending is frozen, an attempt is under way, or the payload \
                           is not kept any more",
        ),
    ),
)]
pub(crate) async fn retry(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, delivery)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    service.retry_delivery(&who, &delivery, posted.key_in(&who)?).await?;
    Ok(answer::json_bytes(StatusCode::ACCEPTED, bytes::Bytes::from_static(b"{}")))
}

/// What became of a message: its deliveries, or what it waits for without any.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/msg/{msg_id}/explain", tag = "Delivery", operation_id = "v1.message.explain",
    params(
        ("app_id" = String, Path, description = "Id or uid"),
        ("msg_id" = String, Path, description = "Id or eventId"),
    ),
    responses(
        (status = 200, body = ExplainedOut),
        (status = 404, description = "The application has no such message"),
    ),
)]
pub(crate) async fn explain(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message)): Names<(String, String)>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let room = service.room_for_page().await?;
    let explained = service.explain_message(&who, &message).await?;
    Ok(answer::ok_in(room, &ExplainedOut::from(explained)))
}
