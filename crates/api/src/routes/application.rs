//! `/app`: applications.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::{Service, application::AppFilter, page::Order};
use utoipa::IntoParams;

use crate::{
    answer,
    error::Result,
    models::{
        application::{ApplicationIn, ApplicationOut, ApplicationPatchIn},
        page::{ListOut, PageQuery},
    },
    request::{Authed, FromParams, Names, Params, Posted, Query},
};

/// Which applications.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AppQuery {
    /// Leave out those without endpoints.
    exclude_apps_with_no_endpoints: Option<bool>,
    /// Leave out those with disabled endpoints.
    exclude_apps_with_disabled_endpoints: Option<bool>,
}

impl FromParams for AppQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self {
            exclude_apps_with_no_endpoints: params.flag("exclude_apps_with_no_endpoints")?,
            exclude_apps_with_disabled_endpoints: params.flag("exclude_apps_with_disabled_endpoints")?,
        })
    }
}

/// How an application is made.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// Answer one with the same uid, with 200, instead of refusing.
    get_if_exists: Option<bool>,
}

impl FromParams for CreateQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self { get_if_exists: params.flag("get_if_exists")? })
    }
}

/// Lists applications, oldest first.
#[utoipa::path(
    get, path = "/api/v1/app", tag = "Application", operation_id = "v1.application.list",
    params(PageQuery, AppQuery),
    responses((status = 200, body = ListOut<ApplicationOut>)),
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Query(page): Query<PageQuery>,
    Query(query): Query<AppQuery>,
) -> Result<Response> {
    let filter = AppFilter {
        without_those_without_endpoints: query.exclude_apps_with_no_endpoints.unwrap_or(false),
        without_those_with_disabled_endpoints: query.exclude_apps_with_disabled_endpoints.unwrap_or(false),
    };
    let room = service.room_for_listing();
    let listed = service.list_applications(&caller.admin()?, &page.request(Order::Ascending)?, filter)?;
    Ok(answer::ok_in(room, &ListOut::of(listed, ApplicationOut::from)))
}

/// Makes an application. Repeated under its idempotency key, the request is answered as it was the
/// first time, also when the application was changed or deleted since: nothing is made anew.
#[utoipa::path(
    post, path = "/api/v1/app", tag = "Application", operation_id = "v1.application.create",
    params(CreateQuery), request_body = ApplicationIn,
    responses((status = 201, body = ApplicationOut), (status = 200, body = ApplicationOut)),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Query(query): Query<CreateQuery>,
    posted: Posted,
) -> Result<Response> {
    let draft = posted.json::<ApplicationIn>()?.draft()?;
    let get_if_exists = query.get_if_exists.unwrap_or(false);
    let key = posted.key(&caller)?;
    let created = service.create_application(&caller.admin()?, draft, get_if_exists, key).await?;
    Ok(answer::created(created, ApplicationOut::from))
}

/// An application.
#[utoipa::path(
    get, path = "/api/v1/app/{app_id}", tag = "Application", operation_id = "v1.application.get",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = ApplicationOut)),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
) -> Result<Response> {
    let application = service.get_application(&service.app(&caller, &app)?);
    Ok(answer::ok(&ApplicationOut::from(application)))
}

/// Replaces an application, or makes it.
#[utoipa::path(
    put, path = "/api/v1/app/{app_id}", tag = "Application", operation_id = "v1.application.update",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationIn,
    responses((status = 200, body = ApplicationOut), (status = 201, body = ApplicationOut)),
)]
pub(crate) async fn put(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let draft = posted.json::<ApplicationIn>()?.draft()?;
    Ok(answer::created(service.put_application(&caller, &app, draft).await?, ApplicationOut::from))
}

/// Changes parts of an application.
#[utoipa::path(
    patch, path = "/api/v1/app/{app_id}", tag = "Application", operation_id = "v1.application.patch",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationPatchIn,
    responses((status = 200, body = ApplicationOut)),
)]
pub(crate) async fn patch(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
    posted: Posted,
) -> Result<Response> {
    let patch = posted.json::<ApplicationPatchIn>()?;
    let application = service.patch_application(&caller, &app, patch.into()).await?;
    Ok(answer::ok(&ApplicationOut::from(application)))
}

/// Deletes an application with its endpoints.
#[utoipa::path(
    delete, path = "/api/v1/app/{app_id}", tag = "Application", operation_id = "v1.application.delete",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 204)),
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(app): Names<String>,
) -> Result<Response> {
    service.delete_application(&caller, &app).await?;
    Ok(answer::done())
}
