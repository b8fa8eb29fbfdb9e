//! What makes a repeated POST the same request: environment, application, path, key and body.
//!
//! The application is meant by its number, not by the name in the path: its id and its uid are one
//! scope, and one that was deleted and made again under the same uid is another.
//!
//! The body is part of the identity, so that a key that is used twice by mistake is told
//! (`idempotency_conflict`) instead of swallowing the second request.

use aws_lc_rs::digest::{self, SHA256};
use gonets_core::{
    ids::{AppNo, EnvironmentNo},
    limits,
};
use gonets_store::tx::{Idempotency, KeyOrigin};

use crate::{
    access::{AppAccess, Caller},
    error::Error,
};

/// Keys that SDKs invent for each POST begin so.
const AUTO: &[u8] = b"auto_";

/// An idempotency key of a request, hashed with all that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestKey(pub(crate) Idempotency);

impl RequestKey {
    /// Of a request about the environment. `path` without a trailing slash; `key` as it came.
    ///
    /// # Errors
    /// When the key is empty or longer than 256 bytes: cut, two keys could become one.
    pub fn new(caller: &Caller, path: &str, key: &[u8], body: &[u8]) -> Result<Self, Error> {
        Self::of(caller.environment(), None, path, key, body)
    }

    /// Of a request about an application; `path` is what follows its name.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn in_application(who: &AppAccess, path: &str, key: &[u8], body: &[u8]) -> Result<Self, Error> {
        Self::of(who.environment(), Some(who.app.no), path, key, body)
    }

    fn of(
        environment: EnvironmentNo,
        app: Option<AppNo>,
        path: &str,
        key: &[u8],
        body: &[u8],
    ) -> Result<Self, Error> {
        if key.is_empty() || key.len() > limits::IDEMPOTENCY_KEY_BYTES {
            return Err(Error::Invalid(vec![crate::Problem {
                at: vec!["header".into(), "idempotency-key".into()],
                message: format!(
                    "idempotency-key has {} bytes. Use 1 to {}.",
                    key.len(),
                    limits::IDEMPOTENCY_KEY_BYTES
                ),
                kind: "value_error",
            }]));
        }
        let mut scope = digest::Context::new(&SHA256);
        scope.update(&environment.0.to_be_bytes());
        // No application has number 0.
        scope.update(&app.map_or(0, |app| app.0).to_be_bytes());
        scope.update(&(path.len() as u64).to_be_bytes());
        scope.update(path.as_bytes());
        scope.update(key);
        let origin = if key.starts_with(AUTO) { KeyOrigin::Auto } else { KeyOrigin::Caller };
        Ok(Self(Idempotency {
            key: first_half(&scope.finish()),
            body: first_half(&digest::digest(&SHA256, body)),
            origin,
        }))
    }
}

fn first_half(digest: &digest::Digest) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&digest.as_ref()[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(environment: u32, path: &str, key: &[u8], body: &[u8]) -> Idempotency {
        RequestKey::of(EnvironmentNo(environment), None, path, key, body).unwrap().0
    }

    #[test]
    fn environment_path_and_key_make_the_key_and_the_body_its_own_hash() {
        let one = key(1, "/app", b"k", b"{}");
        assert_eq!(one, key(1, "/app", b"k", b"{}"));
        for other in [key(2, "/app", b"k", b"{}"), key(1, "/ap", b"pk", b"{}"), key(1, "/app", b"K", b"{}")] {
            assert_ne!(one.key, other.key);
            assert_eq!(one.body, other.body);
        }
        let other_body = key(1, "/app", b"k", b"{ }");
        assert_eq!(one.key, other_body.key);
        assert_ne!(one.body, other_body.body);
    }

    #[test]
    fn each_application_is_a_scope_of_its_own() {
        let of = |app: Option<u32>| {
            RequestKey::of(EnvironmentNo(1), app.map(AppNo), "/msg", b"k", b"{}").unwrap().0
        };
        assert_eq!(of(Some(7)), of(Some(7)));
        assert_ne!(of(Some(7)).key, of(Some(8)).key);
        assert_ne!(of(Some(7)).key, of(None).key);
    }

    #[test]
    fn keys_of_sdks_are_told_from_keys_of_callers() {
        assert_eq!(key(1, "/", b"auto_1", b"").origin, KeyOrigin::Auto);
        assert_eq!(key(1, "/", b"order-1", b"").origin, KeyOrigin::Caller);
    }

    #[test]
    fn an_empty_or_overlong_key_is_refused_not_cut() {
        for bad in [&b""[..], &[b'x'; 257]] {
            let error = RequestKey::of(EnvironmentNo(1), None, "/", bad, b"").unwrap_err();
            assert!(error.to_string().contains("1 to 256"), "{error}");
        }
        assert!(RequestKey::of(EnvironmentNo(1), None, "/", &[0xff; 256], b"").is_ok());
    }
}
