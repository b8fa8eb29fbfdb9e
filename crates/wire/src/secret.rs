//! Signing secrets, as an endpoint has them and a partner copies them from the portal.
//!
//! Two kinds: `whsec_…`, a symmetric key that both sides know, and `whsk_…`, an Ed25519 private
//! key of which the partner gets the public half (`whpk_…`). A secret is used exactly as it was
//! given or it is refused: a key that was silently trimmed, or decoded leniently to a few bytes,
//! verifies nowhere and tells nobody why.
//!
//! A [`Secret`] cannot be printed by accident, is wiped from memory with its last clone, and is
//! cheap to clone. Its HMAC states are prepared once, when it is read.

use std::{fmt, sync::Arc};

use aws_lc_rs::{
    hmac, rand,
    signature::{Ed25519KeyPair, KeyPair},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::encode::MAC_LEN;

const SYMMETRIC_PREFIX: &str = "whsec_";
const PRIVATE_PREFIX: &str = "whsk_";
pub(crate) const PUBLIC_PREFIX: &str = "whpk_";

/// Bytes of a symmetric key: the bounds of Standard Webhooks.
pub const MIN_KEY_BYTES: usize = 24;
pub const MAX_KEY_BYTES: usize = 64;

/// Bytes of a key that we make ourselves.
const MADE_KEY_BYTES: usize = 24;
const SEED_LEN: usize = 32;
const PAIR_LEN: usize = 64;

/// Why a text is not a secret. The sentences never repeat the text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SecretError {
    #[error(
        "secret: it is empty. Give whsec_ and 24 to 64 bytes in base64, or leave it out to have one made."
    )]
    Empty,
    #[error(
        "secret: it contains white space. Remove spaces and line breaks; the secret is used exactly as given."
    )]
    WhiteSpace,
    #[error(
        "secret: it starts with \"{0}\", which names the signature's version and is not part of the secret. Start at {1}."
    )]
    VersionInFront(&'static str, &'static str),
    #[error(
        "secret: it is a public key (whpk_…), which can only verify. Give the private key (whsk_…) or a whsec_… secret."
    )]
    PublicKey,
    #[error(
        "secret: it starts with neither whsec_ (a symmetric key) nor whsk_ (an Ed25519 private key). Put whsec_ in front of a base64 key."
    )]
    UnknownPrefix,
    #[error(
        "secret: what follows {0} is not base64. It must be the standard alphabet (A–Z a–z 0–9 + /), padded with =."
    )]
    NotBase64(&'static str),
    #[error(
        "secret: its key has {0} bytes, and fewer than 24 are easy to guess. Give whsec_ and 24 to 64 bytes in base64."
    )]
    TooShort(usize),
    #[error("secret: its key is longer than 64 bytes. Give whsec_ and 24 to 64 bytes in base64.")]
    TooLong,
    #[error("secret: an Ed25519 private key (whsk_…) is 64 bytes, seed and public key; this has {0}.")]
    PrivateKeyLength(usize),
    #[error(
        "secret: the two halves of this Ed25519 key do not belong together. Export seed and public key of the same key."
    )]
    PrivateKeyHalves,
    #[error(
        "public key: what follows whpk_ is not the base64 of 32 bytes. Copy the key again, whole and without quotes."
    )]
    NotAPublicKey,
    #[error("secret: the system's random number generator failed, so no key could be made. Try again.")]
    NoRandomness,
}

/// A signing secret; see the module's header.
#[derive(Clone)]
pub struct Secret(Arc<Inner>);

struct Inner {
    text: Zeroizing<String>,
    key: Key,
}

enum Key {
    /// Two prepared HMAC states are about 2.4 kB.
    Symmetric(Box<SymmetricKey>),
    Ed25519(Ed25519KeyPair),
}

/// The two HMAC keys of a `whsec_…` secret, ready to sign.
pub(crate) struct SymmetricKey {
    /// From the decoded bytes: schemes `standard` and `svix`.
    pub(crate) decoded: hmac::Key,
    /// From the bytes of the secret as shown: schemes `x-webhook` and `t-v1`.
    pub(crate) as_shown: hmac::Key,
}

impl Secret {
    /// Reads `whsec_<base64 of 24 to 64 bytes>` or `whsk_<base64 of an Ed25519 seed and its
    /// public key>`, exactly as given: nothing is trimmed.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        refuse_what_people_paste(text)?;
        if let Some(base64) = text.strip_prefix(SYMMETRIC_PREFIX) {
            Self::symmetric(text, base64)
        } else if let Some(base64) = text.strip_prefix(PRIVATE_PREFIX) {
            Self::ed25519(text, base64)
        } else if text.starts_with(PUBLIC_PREFIX) {
            Err(SecretError::PublicKey)
        } else {
            Err(SecretError::UnknownPrefix)
        }
    }

    /// A new symmetric secret of 24 random bytes.
    pub fn generate() -> Result<Self, SecretError> {
        let mut key = Zeroizing::new([0u8; MADE_KEY_BYTES]);
        rand::fill(&mut *key).map_err(|_| SecretError::NoRandomness)?;
        Self::parse(&spelled(SYMMETRIC_PREFIX, &*key))
    }

    /// A new Ed25519 private key.
    pub fn generate_ed25519() -> Result<Self, SecretError> {
        let mut pair_bytes = Zeroizing::new([0u8; PAIR_LEN]);
        rand::fill(&mut pair_bytes[..SEED_LEN]).map_err(|_| SecretError::NoRandomness)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&pair_bytes[..SEED_LEN])
            .map_err(|_| SecretError::NoRandomness)?;
        pair_bytes[SEED_LEN..].copy_from_slice(pair.public_key().as_ref());
        Self::parse(&spelled(PRIVATE_PREFIX, &*pair_bytes))
    }

    /// The secret itself, for the one who may see it.
    pub fn shown(&self) -> &str {
        &self.0.text
    }

    /// `whpk_…` of an Ed25519 key, to be handed out; none for a symmetric secret.
    pub fn public_key(&self) -> Option<String> {
        self.key_pair().map(|pair| format!("{PUBLIC_PREFIX}{}", BASE64_STANDARD.encode(pair.public_key())))
    }

    pub(crate) fn public_bytes(&self) -> Option<&[u8]> {
        self.key_pair().map(|pair| pair.public_key().as_ref())
    }

    pub(crate) fn symmetric_key(&self) -> Option<&SymmetricKey> {
        match &self.0.key {
            Key::Symmetric(key) => Some(key),
            Key::Ed25519(_) => None,
        }
    }

    pub(crate) fn key_pair(&self) -> Option<&Ed25519KeyPair> {
        match &self.0.key {
            Key::Symmetric(_) => None,
            Key::Ed25519(pair) => Some(pair),
        }
    }

    fn symmetric(text: &str, base64: &str) -> Result<Self, SecretError> {
        let bytes = decoded(SYMMETRIC_PREFIX, base64)?;
        match bytes.len() {
            0..MIN_KEY_BYTES => Err(SecretError::TooShort(bytes.len())),
            MIN_KEY_BYTES..=MAX_KEY_BYTES => {
                let key = SymmetricKey::new(&bytes, text);
                Ok(Self::of(text, Key::Symmetric(Box::new(key))))
            }
            _ => Err(SecretError::TooLong),
        }
    }

    fn ed25519(text: &str, base64: &str) -> Result<Self, SecretError> {
        let bytes = decoded(PRIVATE_PREFIX, base64)?;
        if bytes.len() != PAIR_LEN {
            return Err(SecretError::PrivateKeyLength(bytes.len()));
        }
        let (seed, public) = bytes.split_at(SEED_LEN);
        let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public)
            .map_err(|_| SecretError::PrivateKeyHalves)?;
        Ok(Self::of(text, Key::Ed25519(pair)))
    }

    fn of(text: &str, key: Key) -> Self {
        let text = Zeroizing::new(text.to_owned());
        Self(Arc::new(Inner { text, key }))
    }
}

impl SymmetricKey {
    fn new(decoded: &[u8], as_shown: &str) -> Self {
        Self {
            decoded: hmac::Key::new(hmac::HMAC_SHA256, decoded),
            as_shown: hmac::Key::new(hmac::HMAC_SHA256, as_shown.as_bytes()),
        }
    }

    /// HMAC-SHA256 of `id.timestamp.body` under the decoded key.
    pub(crate) fn mac_standard(&self, id: &[u8], timestamp: &[u8], body: &[u8]) -> [u8; MAC_LEN] {
        let mut mac = hmac::Context::with_key(&self.decoded);
        mac.update(id);
        mac.update(b".");
        mac.update(timestamp);
        mac.update(b".");
        mac.update(body);
        tag_bytes(mac)
    }

    /// HMAC-SHA256 of `timestamp.body` under the secret as shown.
    pub(crate) fn mac_timed(&self, timestamp: &[u8], body: &[u8]) -> [u8; MAC_LEN] {
        let mut mac = hmac::Context::with_key(&self.as_shown);
        mac.update(timestamp);
        mac.update(b".");
        mac.update(body);
        tag_bytes(mac)
    }
}

fn tag_bytes(mac: hmac::Context) -> [u8; MAC_LEN] {
    let mut bytes = [0u8; MAC_LEN];
    bytes.copy_from_slice(mac.sign().as_ref());
    bytes
}

/// The mistakes that the clipboard makes, each with its own sentence.
fn refuse_what_people_paste(text: &str) -> Result<(), SecretError> {
    if text.is_empty() {
        return Err(SecretError::Empty);
    }
    if text.chars().any(char::is_whitespace) {
        return Err(SecretError::WhiteSpace);
    }
    for (version, prefix) in [("v1,", SYMMETRIC_PREFIX), ("v1a,", PRIVATE_PREFIX)] {
        if text.starts_with(version) {
            return Err(SecretError::VersionInFront(version, prefix));
        }
    }
    Ok(())
}

fn decoded(prefix: &'static str, base64: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    BASE64_STANDARD.decode(base64).map(Zeroizing::new).map_err(|_| SecretError::NotBase64(prefix))
}

fn spelled(prefix: &str, key: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + PAIR_LEN.div_ceil(3) * 4));
    text.push_str(prefix);
    BASE64_STANDARD.encode_string(key, &mut text);
    text
}

/// Compared in constant time, by the text as shown.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.shown().as_bytes().ct_eq(other.shown().as_bytes()).into()
    }
}

impl Eq for Secret {}

/// Says the kind, never the key.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.key {
            Key::Symmetric(_) => "Secret(whsec_…)",
            Key::Ed25519(_) => "Secret(whsk_…)",
        })
    }
}

#[cfg(test)]
mod tests;
