//! The key of a request: `Authorization: Bearer <token>`.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use gonets_service::{Caller, Error, Service};
use http::{HeaderMap, header, request::Parts};

use crate::error::ApiError;

/// A request whose key is good.
pub(crate) struct Authed(pub(crate) Caller);

impl FromRequestParts<Arc<Service>> for Authed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, ApiError> {
        Ok(Self(service.authenticate(token(&parts.headers)?)?))
    }
}

fn token(headers: &HeaderMap) -> Result<&str, Error> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or(Error::Unauthenticated("a key is needed. Send it as \"Authorization: Bearer <key>\"."))?;
    value
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty())
        .map(|(_, token)| token.trim())
        .ok_or(Error::Unauthenticated("the key is not readable. Send it as \"Authorization: Bearer <key>\"."))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(value: &'static str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
        token(&headers).ok().map(str::to_owned)
    }

    #[test]
    fn the_token_follows_the_scheme() {
        assert_eq!(read("Bearer abc"), Some("abc".into()));
        assert_eq!(read("bearer  abc "), Some("abc".into()));
        for bad in ["abc", "Bearer", "Bearer ", "Basic abc", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(token(&HeaderMap::new()).is_err());
    }
}
