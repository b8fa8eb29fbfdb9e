//! `/profile`: the values that the rules are computed with.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gonets_service::Service;

use crate::{
    answer,
    error::Result,
    models::{
        profile::{ProfileListOut, ProfileOut},
        simulation::{SimulationIn, SimulationOut},
    },
    request::{Authed, Names, Posted},
};

/// Lists the profiles of the installation by name, with every value as it is in use.
#[utoipa::path(
    get, path = "/api/v1/profile", tag = "Profile", operation_id = "v1.profile.list",
    responses((status = 200, body = ProfileListOut), (status = 403, description = "Administrators only")),
)]
pub(crate) async fn list(State(service): State<Arc<Service>>, Authed(caller): Authed) -> Result<Response> {
    let room = service.room_for_listing();
    let profiles = service.list_profiles(&caller.admin()?);
    let data = profiles.iter().map(|profile| ProfileOut::from(profile.as_ref())).collect();
    Ok(answer::ok_in(room, &ProfileListOut { data }))
}

/// A profile with every value as it is in use.
#[utoipa::path(
    get, path = "/api/v1/profile/{name}", tag = "Profile", operation_id = "v1.profile.get",
    params(("name" = String, Path, example = "payments")),
    responses(
        (status = 200, body = ProfileOut),
        (status = 403, description = "Administrators only"),
        (status = 404, description = "There is no profile of that name"),
    ),
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    Names(name): Names<String>,
) -> Result<Response> {
    let profile = service.get_profile(&caller.admin()?, &name)?;
    Ok(answer::ok(&ProfileOut::from(profile.as_ref())))
}

/// Plays a script of answers against a profile: when each attempt comes, by which rule, and how it ends. It
/// is the machine that delivers which runs here, in a time of its own; nothing is sent or kept.
#[utoipa::path(
    post, path = "/api/v1/profile/simulate", tag = "Profile", operation_id = "v1.profile.simulate",
    request_body = SimulationIn,
    responses(
        (status = 200, body = SimulationOut),
        (status = 403, description = "Administrators only"),
        (status = 422, description = "There is no such profile, or no endpoint gives such an answer"),
    ),
)]
pub(crate) async fn simulate(
    State(service): State<Arc<Service>>,
    Authed(caller): Authed,
    posted: Posted,
) -> Result<Response> {
    let who = caller.admin()?;
    let wish = posted.json::<SimulationIn>()?.simulation()?;
    let room = service.room_for_page().await?;
    Ok(answer::ok_in(room, &SimulationOut::from(&service.simulate(&who, wish).await?)))
}
