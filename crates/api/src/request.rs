//! What a request says: whose key it has, the names in its path, its query and its body.

mod body;
mod key;
mod query;
mod wrong;

use axum::{
    extract::{FromRequestParts, Path},
    response::{IntoResponse, Response},
};
use http::{StatusCode, request::Parts};
use serde::de::DeserializeOwned;

pub(crate) use self::{
    body::{Posted, given, object},
    key::Authed,
    query::{FromParams, NOT_AN_INSTANT, Params, Query, instant},
    wrong::not_json,
};
use crate::error;

#[cfg(test)]
pub(crate) use self::body::read;

/// The names in a path.
pub(crate) struct Names<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Names<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(_) => Err(error::answer(
                StatusCode::NOT_FOUND,
                "not_found",
                "the path has a name in it that is no text in UTF-8.",
            )
            .into_response()),
        }
    }
}
