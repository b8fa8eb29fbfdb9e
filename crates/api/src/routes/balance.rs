//! `/app/{app}/balance`: the books.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::balance::{BalanceOut, SpanQuery},
    request::{Authed, Names, Query},
};

/// What was accepted in a span of time, and what became of it, counted anew from the journal: accepted =
/// delivered + failed + cancelled + routed nowhere + skipped + waiting.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}/balance", tag = "Balance", operation_id = "v1.balance.get",
    params(("app_id" = String, Path, description = "Id or uid"), SpanQuery),
    responses(
        (status = 200, body = BalanceOut),
        (status = 422, description = "The span ends before it begins, or is too long to be counted at once"),
    ),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    Query(span): Query<SpanQuery>,
) -> Result<Response> {
    let who = service.reader(&caller, &app)?;
    let room = service.room_for_page().await?;
    let balance = service.get_balance(&who, span.from, span.to).await?;
    Ok(answer::ok_in(room, &BalanceOut::from(balance)))
}
