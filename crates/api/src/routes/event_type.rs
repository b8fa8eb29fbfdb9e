//! `/event-type`: the catalogue of event types.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{Service, page::Order};
use http::StatusCode;
use utoipa::IntoParams;

use crate::{
    answer,
    error::Result,
    models::{
        event_type::{EventTypeIn, EventTypeOut, EventTypePatchIn},
        page::{ListOut, PageQuery},
    },
    request::{Authed, FromParams, Names, Params, Posted, Query},
};

/// Which event types, and how they are shown.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TypeQuery {
    /// Archived ones, too.
    include_archived: Option<bool>,
    /// Whether the schemas are shown; they are not if not said.
    with_content: Option<bool>,
}

impl FromParams for TypeQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self {
            include_archived: params.flag("include_archived")?,
            with_content: params.flag("with_content")?,
        })
    }
}

/// How an event type goes.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteQuery {
    /// For good, instead of archiving it.
    expunge: Option<bool>,
}

impl FromParams for DeleteQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self { expunge: params.flag("expunge")? })
    }
}

/// Lists the event types by name.
#[utoipa::path(
    get, path = "/api/v1/event-type", tag = "Event Type", operation_id = "v1.event-type.list",
    params(PageQuery, TypeQuery),
    responses((status = 200, body = ListOut<EventTypeOut>)),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Query(page): Query<PageQuery>,
    Query(query): Query<TypeQuery>,
) -> Result<Response> {
    let archived = query.include_archived.unwrap_or(false);
    let room = service.room_for_listing();
    let listed = service.list_event_types(&caller, &page.request(Order::Ascending)?, archived);
    let with_content = query.with_content.unwrap_or(false);
    Ok(answer::ok_in(
        room,
        &ListOut::of(listed, |one| {
            let out = EventTypeOut::from(one);
            if with_content { out } else { EventTypeOut { schemas: None, ..out } }
        }),
    ))
}

/// Adds an event type; an archived one of the name comes back.
#[utoipa::path(
    post, path = "/api/v1/event-type", tag = "Event Type", operation_id = "v1.event-type.create",
    request_body = EventTypeIn,
    responses((status = 201, body = EventTypeOut)),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    posted: Posted,
) -> Result<Response> {
    let (name, draft) = posted.json::<EventTypeIn>()?.named()?;
    let made = service.create_event_type(&caller.admin()?, &name, draft, posted.key(&caller)?).await?;
    Ok(answer::json(StatusCode::CREATED, &EventTypeOut::from(made)))
}

/// An event type.
#[utoipa::path(
    get, path = "/api/v1/event-type/{name}", tag = "Event Type", operation_id = "v1.event-type.get",
    params(("name" = String, Path)),
    responses((status = 200, body = EventTypeOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(name): Names<String>,
) -> Result<Response> {
    Ok(answer::ok(&EventTypeOut::from(service.get_event_type(&caller, &name)?)))
}

/// Replaces an event type, or makes it.
#[utoipa::path(
    put, path = "/api/v1/event-type/{name}", tag = "Event Type", operation_id = "v1.event-type.update",
    params(("name" = String, Path)), request_body = EventTypeIn,
    responses((status = 200, body = EventTypeOut), (status = 201, body = EventTypeOut)),
)]
pub(crate) async fn put(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(name): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let draft = posted.json::<EventTypeIn>()?.draft()?;
    Ok(answer::created(service.put_event_type(&caller, &name, draft).await?, EventTypeOut::from))
}

/// Changes parts of an event type.
#[utoipa::path(
    patch, path = "/api/v1/event-type/{name}", tag = "Event Type", operation_id = "v1.event-type.patch",
    params(("name" = String, Path)), request_body = EventTypePatchIn,
    responses((status = 200, body = EventTypeOut)),
)]
pub(crate) async fn patch(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(name): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let patch = posted.json::<EventTypePatchIn>()?;
    Ok(answer::ok(&EventTypeOut::from(service.patch_event_type(&caller, &name, patch.into()).await?)))
}

/// Archives an event type, or takes it out for good.
#[utoipa::path(
    delete, path = "/api/v1/event-type/{name}", tag = "Event Type", operation_id = "v1.event-type.delete",
    params(("name" = String, Path), DeleteQuery),
    responses((status = 204)),
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(name): Names<String>,
    Query(query): Query<DeleteQuery>,
) -> Result<Response> {
    service.delete_event_type(&caller, &name, query.expunge.unwrap_or(false)).await?;
    Ok(answer::done())
}
