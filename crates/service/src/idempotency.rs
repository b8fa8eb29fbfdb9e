//! What makes a repeated POST the same request: environment, path, key and body.
//!
//! The body is part of the identity, so that a key that is used twice by mistake is told
//! (`idempotency_conflict`) instead of swallowing the second request.

use aws_lc_rs::digest::{self, SHA256};
use gonets_core::{ids::EnvironmentNo, limits};
use gonets_store::tx::{Idempotency, KeyOrigin};

use crate::error::Error;

/// Keys that SDKs invent for each POST begin so.
const AUTO: &[u8] = b"auto_";

/// An idempotency key of a request, hashed with all that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestKey(pub(crate) Idempotency);

impl RequestKey {
    /// `path` without a trailing slash; `key` as it came.
    ///
    /// # Errors
    /// When the key is empty or longer than 256 bytes: cut, two keys could become one.
    pub fn new(environment: EnvironmentNo, path: &str, key: &[u8], body: &[u8]) -> Result<Self, Error> {
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
        RequestKey::new(EnvironmentNo(environment), path, key, body).unwrap().0
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
    fn keys_of_sdks_are_told_from_keys_of_callers() {
        assert_eq!(key(1, "/", b"auto_1", b"").origin, KeyOrigin::Auto);
        assert_eq!(key(1, "/", b"order-1", b"").origin, KeyOrigin::Caller);
    }

    #[test]
    fn an_empty_or_overlong_key_is_refused_not_cut() {
        for bad in [&b""[..], &[b'x'; 257]] {
            let error = RequestKey::new(EnvironmentNo(1), "/", bad, b"").unwrap_err();
            assert!(error.to_string().contains("1 to 256"), "{error}");
        }
        assert!(RequestKey::new(EnvironmentNo(1), "/", &[0xff; 256], b"").is_ok());
    }
}
