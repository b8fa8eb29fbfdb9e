//! Answers: JSON with a status, or nothing.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use gonets_service::{
    application::Created,
    room::{RoomToMake, RoomToSend},
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::error::ApiError;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) fn json<T: Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => json_bytes(status, bytes.into()),
        Err(cause) => unwritten(&cause),
    }
}

/// An answer that takes room in memory until the client has taken it.
pub(crate) fn ok_in<T: Serialize>(room: RoomToMake, body: &T) -> Response {
    let bytes = match serde_json::to_vec(body) {
        Ok(bytes) => bytes,
        Err(cause) => return unwritten(&cause),
    };
    match room.to_send(bytes.len()) {
        Ok(room) => json_bytes(StatusCode::OK, bytes::Bytes::from_owner(Roomed { bytes, _room: room })),
        Err(crowded) => ApiError::from(crowded).into_response(),
    }
}

/// Bytes with the room that they take; both end when hyper has written them.
struct Roomed {
    bytes: Vec<u8>,
    _room: RoomToSend,
}

impl AsRef<[u8]> for Roomed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn unwritten(cause: &serde_json::Error) -> Response {
    tracing::error!(%cause, "an answer could not be written");
    empty(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn json_bytes(status: StatusCode, bytes: bytes::Bytes) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

pub(crate) fn ok<T: Serialize>(body: &T) -> Response {
    json(StatusCode::OK, body)
}

/// 201 for what was made, 200 for what was there.
pub(crate) fn created<T, U: Serialize>(created: Created<T>, out: impl FnOnce(T) -> U) -> Response {
    match created {
        Created::New(made) => json(StatusCode::CREATED, &out(made)),
        Created::Existing(found) => json(StatusCode::OK, &out(found)),
    }
}

pub(crate) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

pub(crate) fn done() -> Response {
    empty(StatusCode::NO_CONTENT)
}
