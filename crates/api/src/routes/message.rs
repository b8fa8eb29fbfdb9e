//! `/app/{app}/msg`: messages, and what stands of them at endpoints.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{AppAccess, Caller, Error, Service, page::Order};
use http::StatusCode;
use utoipa::IntoParams;

use crate::{
    answer,
    error::Result,
    models::{
        application::ApplicationIn,
        attempt::{JournalQuery, StatusQuery},
        message::{EndpointMessageOut, MessageEndpointOut, MessageIn, MessageOut},
        page::{ListOut, PageQuery},
    },
    request::{Authed, FromParams, Names, Params, Posted, Query},
};

/// Whether a payload is shown.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ContentQuery {
    /// Whether the payload is shown; it is if not said.
    with_content: Option<bool>,
}

impl FromParams for ContentQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self { with_content: params.flag("with_content")? })
    }
}

/// Lists the messages of an application, newest first.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/msg", tag = "Message", operation_id = "v1.message.list",
    params(("app_id" = String, Path, description = "Id or uid"), PageQuery, JournalQuery),
    responses((status = 200, body = ListOut<MessageOut<'static>>)),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    Query(page): Query<PageQuery>,
    Query(query): Query<JournalQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let with_content = query.with_content();
    let room = service.room_for_page().await?;
    let listed = service.list_messages(&who, &page.request(Order::Descending)?, query.messages()).await?;
    Ok(answer::ok_in(
        room,
        &ListOut {
            data: listed.data.iter().map(|message| MessageOut::of(message, with_content)).collect(),
            iterator: listed.iterator,
            prev_iterator: listed.prev_iterator,
            done: listed.done,
        },
    ))
}

/// Accepts a message: with 202 it is on disk, and will be delivered.
#[utoipa::path(
    post, path = "/api/v1/app/{app_id}/msg", tag = "Message", operation_id = "v1.message.create",
    params(("app_id" = String, Path, description = "Id or uid"), ContentQuery),
    request_body = MessageIn<'static>,
    responses(
        (status = 202, body = MessageOut<'static>),
        (status = 403, description = "Tokens of applications read messages and do not post them"),
    ),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    Query(query): Query<ContentQuery>,
    posted: Posted,
) -> Result<Response> {
    let mut input = posted.json::<MessageIn<'_>>()?;
    let who = match (service.app(&caller, &app), input.take_application()) {
        (Ok(who), _) => who,
        (Err(_), Some(draft)) => made_along(&service, &caller, &app, draft).await?,
        (Err(error), None) => return Err(error.into()),
    };
    let key = posted.key_in(&who)?;
    let who = who.producer()?;
    let (message, payload) = input.message(&posted.bytes)?;
    let accepted = service.post_message(&who, &message, key).await?;
    let shown = query.with_content.unwrap_or(true).then_some(payload);
    Ok(answer::json(StatusCode::ACCEPTED, &MessageOut::posted(&accepted, &message, shown)))
}

/// The application that a message brings along, made if it is not there.
async fn made_along(
    service: &Service,
    caller: &Caller,
    name: &str,
    input: ApplicationIn,
) -> Result<AppAccess> {
    if input.uid().is_some_and(|uid| uid != name) {
        let detail = "application.uid differs from the path's".to_owned();
        return Err(Error::Conflict { code: "conflict", detail }.into());
    }
    let mut draft = input.draft()?;
    draft.uid = Some(name.to_owned());
    service.create_application(&caller.admin()?, draft, true, None).await?;
    Ok(service.app(caller, name)?)
}

/// A message by id or event id.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/msg/{msg_id}", tag = "Message", operation_id = "v1.message.get",
    params(("app_id" = String, Path), ("msg_id" = String, Path, description = "Id or eventId"), ContentQuery),
    responses((status = 200, body = MessageOut<'static>)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message)): Names<(String, String)>,
    Query(query): Query<ContentQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let room = service.room_for_message().await?;
    let message = service.get_message(&who, &message).await?;
    Ok(answer::ok_in(room, &MessageOut::of(&message, query.with_content.unwrap_or(true))))
}

/// Lists the messages of an endpoint with their status there, newest first.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/endpoint/{endpoint_id}/msg",
    tag = "Message Attempt", operation_id = "v1.message-attempt.list-attempted-messages",
    params(
        ("app_id" = String, Path), ("endpoint_id" = String, Path, description = "Id or uid"),
        PageQuery, JournalQuery, StatusQuery,
    ),
    responses((status = 200, body = ListOut<EndpointMessageOut<'static>>)),
)]
pub(crate) async fn of_endpoint(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, endpoint)): Names<(String, String)>,
    Query(page): Query<PageQuery>,
    Query(query): Query<JournalQuery>,
    Query(status): Query<StatusQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let with_content = query.with_content();
    let (request, filter) = (page.request(Order::Descending)?, status.messages(query));
    let room = service.room_for_page().await?;
    let listed = service.list_endpoint_messages(&who, &endpoint, &request, filter).await?;
    Ok(answer::ok_in(
        room,
        &ListOut {
            data: listed.data.iter().map(|at| EndpointMessageOut::of(at, with_content)).collect(),
            iterator: listed.iterator,
            prev_iterator: listed.prev_iterator,
            done: listed.done,
        },
    ))
}

/// Lists the endpoints of a message with its status there.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/msg/{msg_id}/endpoint",
    tag = "Message Attempt", operation_id = "v1.message-attempt.list-attempted-destinations",
    params(("app_id" = String, Path), ("msg_id" = String, Path, description = "Id or eventId"), PageQuery),
    responses((status = 200, body = ListOut<MessageEndpointOut>)),
)]
pub(crate) async fn endpoints(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names((app, message)): Names<(String, String)>,
    Query(page): Query<PageQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let room = service.room_for_page().await?;
    let listed = service.list_message_endpoints(&who, &message, &page.request(Order::Ascending)?).await?;
    Ok(answer::ok_in(room, &ListOut::of(listed, MessageEndpointOut::from)))
}
