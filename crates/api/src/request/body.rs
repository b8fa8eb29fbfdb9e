//! Bodies: read whole, within a limit and a time, and parsed once.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::{FromRequest, Request},
};
use bytes::{Bytes, BytesMut};
use gonets_service::{AppAccess, Caller, Service, idempotency::RequestKey};
use http::{HeaderValue, Uri};
use http_body_util::BodyExt;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use tokio::time::timeout;

use super::wrong;
use crate::error::{ApiError, Result};

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// What may surround a payload in a request.
const AROUND_BYTES: usize = 64 * 1024;
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The body of a request, and what makes a repeated POST the same.
pub(crate) struct Posted {
    pub(crate) bytes: Bytes,
    key: Option<(HeaderValue, Uri)>,
}

impl Posted {
    /// The idempotency key of a request about the environment, if it has one.
    pub(crate) fn key(&self, caller: &Caller) -> Result<Option<RequestKey>> {
        let Some((key, uri)) = &self.key else { return Ok(None) };
        Ok(Some(RequestKey::new(caller, uri.path(), key.as_bytes(), &self.bytes)?))
    }

    /// The idempotency key of a request about an application (`/app/{app}/…`), if it has one.
    pub(crate) fn key_in(&self, who: &AppAccess) -> Result<Option<RequestKey>> {
        let Some((key, uri)) = &self.key else { return Ok(None) };
        let path = behind_the_application(uri.path());
        Ok(Some(RequestKey::in_application(who, path, key.as_bytes(), &self.bytes)?))
    }

    /// The body as JSON.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        read(&self.bytes)
    }

    /// The body as JSON; an empty one is all defaults.
    pub(crate) fn json_or_default<'a, T: Deserialize<'a> + Default>(&'a self) -> Result<T> {
        if self.bytes.is_empty() { Ok(T::default()) } else { self.json() }
    }
}

impl FromRequest<Arc<Service>> for Posted {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        let limit = service.settings().payload_bytes + AROUND_BYTES;
        let key = request.headers().get(IDEMPOTENCY_KEY).map(|key| (key.clone(), request.uri().clone()));
        let body = request.into_body();
        if body.size_hint().lower() > limit as u64 {
            return Err(ApiError::BodyTooLarge { limit });
        }
        let bytes = timeout(BODY_TIMEOUT, whole(body, limit)).await.map_err(|_| ApiError::BodyTooSlow)??;
        Ok(Self { bytes, key })
    }
}

/// What follows the application's name in a path.
fn behind_the_application(path: &str) -> &str {
    let name = path.split_once("/app/").map_or(path, |(_, name)| name);
    name.split_once('/').map_or("", |(_, rest)| rest)
}

/// All of a body; one that came in one piece is not copied.
async fn whole(mut body: Body, limit: usize) -> Result<Bytes> {
    let first = next(&mut body).await?.unwrap_or_default();
    if first.len() > limit {
        return Err(ApiError::BodyTooLarge { limit });
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut all = BytesMut::from(first);
    while let Some(more) = next(&mut body).await? {
        if all.len() + more.len() > limit {
            return Err(ApiError::BodyTooLarge { limit });
        }
        all.extend_from_slice(&more);
    }
    Ok(all.freeze())
}

async fn next(body: &mut Body) -> Result<Option<Bytes>> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(ApiError::BodyBroken),
            // Trailers are of no use here.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Reads a JSON object. One that cannot be read is looked at a second time, to say why.
pub(crate) fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    // An array would be read into the fields in their order.
    if bytes.trim_ascii_start().first() == Some(&b'{')
        && let Ok(read) = serde_json::from_slice(bytes)
    {
        return Ok(read);
    }
    Err(wrong::explain::<T>(bytes))
}

/// For fields that are objects: an array would be read into their fields in order.
pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<T>, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, inner: D) -> std::result::Result<Self::Value, D::Error> {
            inner.deserialize_map(self)
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> std::result::Result<Self::Value, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_option(Object(PhantomData))
}

/// For fields whose absence, null and value mean three things: what is there is `Some`.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct In {
        #[serde(default, deserialize_with = "given")]
        throttle_rate: Option<Option<u32>>,
    }

    #[test]
    fn the_name_of_the_application_is_not_part_of_the_path() {
        for (path, rest) in [
            ("/api/v1/app/shop/msg", "msg"),
            ("/api/v1/app/app/app/x", "app/x"),
            ("/app/a%2Fb/endpoint/e/secret/rotate", "endpoint/e/secret/rotate"),
            ("/api/v1/app/shop", ""),
        ] {
            assert_eq!(behind_the_application(path), rest, "{path}");
        }
    }

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let throttle = |text: &str| read::<In>(text.as_bytes()).unwrap().throttle_rate;
        assert_eq!(throttle("{}"), None);
        assert_eq!(throttle(r#"{"throttleRate":null,"unknown":1}"#), Some(None));
        assert_eq!(throttle(r#"{"throttleRate":5}"#), Some(Some(5)));
    }

    #[test]
    fn a_wrong_type_is_told_with_its_place() {
        let error = read::<In>(br#"{"throttleRate":"5"}"#).unwrap_err();
        let ApiError::Service(gonets_service::Error::Invalid(problems)) = error else { panic!("{error:?}") };
        assert_eq!(problems[0].at, ["body", "throttleRate"]);
        assert_eq!(problems[0].kind, "type_error");
    }

    #[test]
    fn what_is_not_json_is_told_so() {
        for bad in
            [&b""[..], b"{", b"\xef\xbb\xbf{}", b"{\"a\":NaN}", b"{\"throttleRate\":5}x", b"{\"\xff\":1}"]
        {
            assert!(matches!(read::<In>(bad), Err(ApiError::NotJson(_))), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        assert_eq!(whole(Body::from("12345"), 5).await.unwrap(), "12345");
        assert_eq!(whole(Body::empty(), 5).await.unwrap(), "");
        assert!(matches!(whole(Body::from("123456"), 5).await, Err(ApiError::BodyTooLarge { limit: 5 })));
    }
}
