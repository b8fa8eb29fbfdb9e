//! `/environment`: environments, for admin keys of the installation's first one.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;
use http::StatusCode;

use crate::{
    answer,
    error::Result,
    models::environment::{EnvironmentIn, EnvironmentOut, EnvironmentsOut},
    request::{Authed, Posted},
};

/// Lists the environments.
#[utoipa::path(
    get, path = "/api/v1/environment", tag = "Environment", operation_id = "v1.environment.list",
    responses((status = 200, body = EnvironmentsOut)),
)]
pub(crate) async fn list(State(service): State<Arc<Service>>, Authed(caller): Authed) -> Result<Response> {
    let all = service.list_environments(&caller.admin()?)?;
    Ok(answer::ok(&EnvironmentsOut { data: all.into_iter().map(EnvironmentOut::from).collect() }))
}

/// Makes an environment with its first admin key.
#[utoipa::path(
    post, path = "/api/v1/environment", tag = "Environment", operation_id = "v1.environment.create",
    request_body = EnvironmentIn,
    responses((status = 201, body = EnvironmentOut)),
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    posted: Posted,
) -> Result<Response> {
    let name = posted.json::<EnvironmentIn>()?.name()?;
    let (environment, key) = service.create_environment(&caller.admin()?, &name).await?;
    let out = EnvironmentOut { key: Some(key.into()), ..environment.into() };
    Ok(answer::json(StatusCode::CREATED, &out))
}
