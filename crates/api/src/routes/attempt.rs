//! `/app/{app}/attempt`: attempts, and trying once more by hand.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{Service, page::Order};
use http::StatusCode;

use crate::{
    answer,
    error::Result,
    models::{
        attempt::{AttemptQuery, JournalQuery, MessageAttemptOut, StatusQuery},
        page::{ListOut, PageQuery},
    },
    request::{Authed, Names, Posted, Query},
};

/// Lists the attempts at an endpoint, newest first.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/attempt/endpoint/{endpoint_id}",
    tag = "Message Attempt", operation_id = "v1.message-attempt.list-by-endpoint",
    params(
        ("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid"),
        PageQuery, JournalQuery, StatusQuery, AttemptQuery,
    ),
    responses((status = 200, body = ListOut<MessageAttemptOut>)),
)]
pub(crate) async fn of_endpoint(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    Query(page): Query<PageQuery>,
    Query(journal): Query<JournalQuery>,
    Query(status): Query<StatusQuery>,
    Query(query): Query<AttemptQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let with_content = journal.with_content();
    let (request, wanted) = (page.request(Order::Descending)?, query.attempts(journal, &status));
    let room = service.room_for_page().await?;
    let listed = service.list_attempts_of_endpoint(&who, &endpoint, &request, wanted).await?;
    Ok(answer::ok_in(room, &ListOut::of(listed, |attempt| MessageAttemptOut::of(attempt, with_content))))
}

/// Lists the attempts of a message, newest first.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/attempt/msg/{msg_id}",
    tag = "Message Attempt", operation_id = "v1.message-attempt.list-by-msg",
    params(
        ("app_id" = String, Path), ("msg_id" = String, Path, description = "Id or eventId"),
        PageQuery, JournalQuery, StatusQuery, AttemptQuery,
    ),
    responses((status = 200, body = ListOut<MessageAttemptOut>)),
)]
pub(crate) async fn of_message(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message)): Names<(String, String)>,
    Query(page): Query<PageQuery>,
    Query(journal): Query<JournalQuery>,
    Query(status): Query<StatusQuery>,
    Query(query): Query<AttemptQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let with_content = journal.with_content();
    let (request, wanted) = (page.request(Order::Descending)?, query.attempts(journal, &status));
    let room = service.room_for_page().await?;
    let listed = service.list_attempts_of_message(&who, &message, &request, wanted).await?;
    Ok(answer::ok_in(room, &ListOut::of(listed, |attempt| MessageAttemptOut::of(attempt, with_content))))
}

/// An attempt of a message.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/msg/{msg_id}/attempt/{attempt_id}",
    tag = "Message Attempt", operation_id = "v1.message-attempt.get",
    params(
        ("app_id" = String, Path), ("msg_id" = String, Path, description = "Id or eventId"),
        ("attempt_id" = String, Path),
    ),
    responses((status = 200, body = MessageAttemptOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message, attempt)): Names<(String, String, String)>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let attempt = service.get_attempt(&who, &message, &attempt).await?;
    Ok(answer::ok(&MessageAttemptOut::of(attempt, true)))
}

/// Has a message sent to an endpoint once more.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/msg/{msg_id}/endpoint/{endpoint_id}/resend",
    tag = "Message Attempt", operation_id = "v1.message-attempt.resend",
    params(
        ("app_id" = String, Path), ("msg_id" = String, Path, description = "Id or eventId"),
        ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses((status = 202), (status = 409, description = "The endpoint is disabled, sending is frozen, or one is under way")),
)]
pub(crate) async fn resend(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message, endpoint)): Names<(String, String, String)>,
    posted: Posted,
) -> Result<Response> {
    let who = service.app(&caller, &app)?;
    service.resend(&who, &message, &endpoint, posted.key_in(&who)?).await?;
    Ok(answer::json_bytes(StatusCode::ACCEPTED, bytes::Bytes::from_static(b"{}")))
}
