//! Errors as they are answered: `{code, detail}`, and for what is wrong with a request 422 with
//! `{detail: [{loc, msg, type}]}`.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use gonets_service::{Error, Problem, error::whole_seconds};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::answer;

/// Why a request was not done, before or by the service.
#[derive(Debug)]
pub(crate) enum ApiError {
    Service(Error),
    /// The body is not JSON at all.
    NotJson(String),
    BodyTooLarge {
        limit: usize,
    },
    /// The client stopped sending.
    BodyBroken,
    BodyTooSlow,
}

pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self::Service(problem.into())
    }
}

#[derive(Serialize)]
struct ErrorOut<'a> {
    code: &'a str,
    detail: &'a str,
}

#[derive(Serialize)]
struct ValidationOut<'a> {
    detail: Vec<ProblemOut<'a>>,
}

#[derive(Serialize)]
struct ProblemOut<'a> {
    loc: &'a [std::borrow::Cow<'static, str>],
    msg: &'a str,
    r#type: &'a str,
}

/// An error of a code.
pub(crate) fn answer(status: StatusCode, code: &str, detail: &str) -> Response {
    answer::json(status, &ErrorOut { code, detail })
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        match self {
            Self::Service(error) => of_service(&error),
            Self::NotJson(detail) => answer(StatusCode::BAD_REQUEST, "invalid_json", &detail),
            Self::BodyTooLarge { limit } => answer(
                StatusCode::PAYLOAD_TOO_LARGE,
                "payload_too_large",
                &format!(
                    "the request's body is over {limit} bytes (limits.payload_bytes and what surrounds it)."
                ),
            ),
            Self::BodyBroken => answer(
                StatusCode::BAD_REQUEST,
                "incomplete_body",
                "the request's body ended early, or is not framed as HTTP has it.",
            ),
            Self::BodyTooSlow => answer(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "the request's body did not arrive in time.",
            ),
        }
    }
}

fn of_service(error: &Error) -> Response {
    let status = match error {
        Error::Invalid(problems) => return of_problems(problems),
        Error::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
        Error::Forbidden | Error::NotOfTheFirst => StatusCode::FORBIDDEN,
        Error::NotFound { .. } | Error::Deleted => StatusCode::NOT_FOUND,
        Error::Conflict { .. } => StatusCode::CONFLICT,
        Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::TooLong => StatusCode::UNPROCESSABLE_ENTITY,
        Error::TooOften { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Busy | Error::Closing | Error::Contended | Error::Crowded | Error::TooManyTests => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Error::Internal { cause } => {
            tracing::error!(%cause, "a request failed on our side");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    let mut response = answer(status, error.code(), &error.to_string());
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if let Error::TooOften { wait, .. } = error {
        response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(*wait).into());
    }
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn of_problems(problems: &[Problem]) -> Response {
    let detail = problems
        .iter()
        .map(|problem| ProblemOut { loc: &problem.at, msg: &problem.message, r#type: problem.kind })
        .collect();
    answer::json(StatusCode::UNPROCESSABLE_ENTITY, &ValidationOut { detail })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shown(error: ApiError) -> (u16, String) {
        let response = error.into_response();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_problem_is_told_with_its_place() {
        let (status, body) = shown(Problem::missing("url").into()).await;
        assert_eq!(status, 422);
        assert_eq!(body, r#"{"detail":[{"loc":["body","url"],"msg":"url is required.","type":"missing"}]}"#);
    }

    #[tokio::test]
    async fn other_errors_have_code_and_detail() {
        let error = Error::Conflict { code: "conflict", detail: "taken.".into() };
        assert_eq!(shown(error.into()).await, (409, r#"{"code":"conflict","detail":"taken."}"#.into()));
        let (status, body) = shown(Error::Internal { cause: "secret place".into() }.into()).await;
        assert_eq!(status, 500);
        assert!(!body.contains("secret place"));
    }

    #[tokio::test]
    async fn a_question_that_takes_too_long_is_not_to_be_repeated() {
        let response = ApiError::from(Error::TooLong).into_response();
        assert!(!response.headers().contains_key("retry-after"));
        let (status, body) = shown(Error::TooLong.into()).await;
        assert_eq!(status, 422, "SDKs repeat what is answered with 5xx");
        assert!(body.starts_with(r#"{"code":"too_slow","detail":"the question took too long"#), "{body}");
    }

    #[test]
    fn a_busy_store_says_when_to_come_back() {
        let response = ApiError::from(Error::Busy).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "1");
    }
}
