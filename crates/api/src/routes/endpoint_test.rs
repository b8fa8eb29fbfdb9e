//! `/app/{app}/endpoint/{ep}/test`: a test event.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::{attempt::MessageAttemptOut, endpoint::EndpointTestIn},
    request::{Authed, Names, Posted},
};

/// Sends a test event, `{"test":true}`, and answers with what came of it. It is no message: nothing
/// of it is kept, and neither the endpoint's health nor its breaker hears of it.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/test",
    tag = "Endpoint", operation_id = "v1.endpoint.test",
    params(("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid")),
    request_body = Option<EndpointTestIn>,
    responses(
        (status = 200, body = MessageAttemptOut),
        (status = 403, description = "A token of the application may not choose the type"),
        (status = 503, description = "Too many test events are on their way"),
    ),
)]
pub(crate) async fn test(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    let wish = posted.json_or_default::<EndpointTestIn>()?;
    let attempt = service.try_out(&who, &endpoint, wish.event_type).await?;
    Ok(answer::ok(&MessageAttemptOut::of(attempt, true)))
}
