//! `/key`: API keys.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{Service, page::Order};
use http::StatusCode;

use crate::{
    answer,
    error::Result,
    models::{
        key::{KeyIn, KeyOut},
        page::{ListOut, PageQuery},
    },
    request::{Authed, Names, Posted, Query},
};

/// Lists the keys of the environment, oldest first.
#[utoipa::path(
    get, path = "/api/v1/key", tag = "Key", operation_id = "v1.key.list",
    params(PageQuery),
    responses((status = 200, body = ListOut<KeyOut>)),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Query(page): Query<PageQuery>,
) -> Result<Response> {
    let room = service.room_for_listing();
    let listed = service.list_keys(&caller.admin()?, &page.request(Order::Ascending)?)?;
    Ok(answer::ok_in(room, &ListOut::of(listed, KeyOut::from)))
}

/// Makes a key. Its token is shown this once.
#[utoipa::path(
    post, path = "/api/v1/key", tag = "Key", operation_id = "v1.key.create",
    request_body = KeyIn,
    responses((status = 201, body = KeyOut)),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    posted: Posted,
) -> Result<Response> {
    let made = service.create_key(&caller, posted.json::<KeyIn>()?.draft()?).await?;
    Ok(answer::json(StatusCode::CREATED, &KeyOut::from(made)))
}

/// Revokes a key.
#[utoipa::path(
    delete, path = "/api/v1/key/{key_id}", tag = "Key", operation_id = "v1.key.revoke",
    params(("key_id" = String, Path)),
    responses((status = 204)),
)]
pub(crate) async fn revoke(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(key): Names<String>,
) -> Result<Response> {
    service.revoke_key(&caller.admin()?, &key).await?;
    Ok(answer::done())
}
