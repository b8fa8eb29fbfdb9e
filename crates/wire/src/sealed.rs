//! Secrets at rest: AES-256-GCM under a master key that is not in the database.
//!
//! What is sealed is bound to its [`Place`] and to the version of the master key as associated
//! data: a row copied to another endpoint or environment, or used for another purpose, does not
//! open. Nonces are random, which is safe for 2³² seals per master key, far beyond the number of
//! secrets an installation ever has.
//!
//! Master keys have versions from the first day. To rotate: put the new key in front
//! (`2:<new>,1:<old>`), restart, seal again whatever [`Keyring::is_current`] denies, then drop the
//! old one. This keeps the database's secrets from those who have the database alone; it does not
//! guard against someone who reads the process's memory.
//!
//! Layout: format (1 byte) | version of the key (4, big endian) | nonce (12) | ciphertext | tag (16).

use std::fmt;

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey},
    rand,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

const FORMAT: u8 = 1;
const HEADER_LEN: usize = 5;
const TAG_LEN: usize = 16;
const MASTER_KEY_LEN: usize = 32;

/// Why something cannot be sealed or opened, or a master key not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SealError {
    #[error(
        "master key: it is empty. Set GONETS_MASTER_KEY to 32 random bytes in base64, for example from `openssl rand -base64 32`."
    )]
    Empty,
    #[error(
        "master key: it is not base64 (the standard alphabet A–Z a–z 0–9 + /, padded with =). Make one with `openssl rand -base64 32`."
    )]
    NotBase64,
    #[error("master key: it has {0} bytes and must have 32. Make one with `openssl rand -base64 32`.")]
    WrongLength(usize),
    #[error(
        "master key: \"{0}\" is not a version. Write <version>:<key>, with a version from 1 up, the current key first."
    )]
    BadVersion(String),
    #[error("master key: version {0} is given twice. Give the new key a version of its own.")]
    RepeatedVersion(u32),
    #[error(
        "a secret is sealed under version {0} of the master key, which is not among those given. Add the old key after the current one in GONETS_MASTER_KEY."
    )]
    UnknownVersion(u32),
    #[error(
        "a sealed secret is damaged: it is too short or of an unknown format. Restore it from a backup, or rotate the endpoint's secret."
    )]
    Damaged,
    #[error(
        "a sealed secret does not open: GONETS_MASTER_KEY is not the key it was sealed with, or its row was changed or moved. Set the right key, or rotate the endpoint's secret."
    )]
    DoesNotOpen,
    #[error("the system's random number generator or cipher failed, so nothing was sealed. Try again.")]
    Failed,
}

/// What a sealed value is for. The numbers are in the database: never reuse one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Purpose {
    /// A signing secret of an endpoint.
    EndpointSecret = 1,
    /// The sensitive headers of an endpoint.
    EndpointHeaders = 2,
    /// A key of the installation itself, such as the one of the public ids.
    InstallationKey = 3,
}

/// Where a sealed value belongs; it opens nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub purpose: Purpose,
    /// The environment's number; 0 for the installation.
    pub environment: u32,
    /// The number of the endpoint (or other owner) within it.
    pub owner: u32,
}

/// One master key, wiped when dropped and never printed.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; MASTER_KEY_LEN]>);

impl MasterKey {
    /// Reads the base64 of 32 bytes. White space around it is ignored: keys come from files.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SealError::Empty);
        }
        let bytes = BASE64_STANDARD.decode(text).map(Zeroizing::new).map_err(|_| SealError::NotBase64)?;
        let mut key = Zeroizing::new([0u8; MASTER_KEY_LEN]);
        if bytes.len() != key.len() {
            return Err(SealError::WrongLength(bytes.len()));
        }
        key.copy_from_slice(&bytes);
        Ok(Self(key))
    }

    /// A new random key.
    pub fn generate() -> Result<Self, SealError> {
        let mut key = Zeroizing::new([0u8; MASTER_KEY_LEN]);
        rand::fill(&mut *key).map_err(|_| SealError::Failed)?;
        Ok(Self(key))
    }

    /// The key in base64, for the file that keeps it.
    pub fn shown(&self) -> Zeroizing<String> {
        Zeroizing::new(BASE64_STANDARD.encode(*self.0))
    }
}

/// Compared in constant time.
impl PartialEq for MasterKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&*other.0).into()
    }
}

impl Eq for MasterKey {}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// The master keys of an installation: the current one seals, all of them open.
pub struct Keyring {
    /// By version; the current one first. Never empty.
    keys: Vec<(u32, RandomizedNonceKey)>,
}

impl Keyring {
    /// `keys` by version, from 1 up, the current one first.
    pub fn new(keys: Vec<(u32, MasterKey)>) -> Result<Self, SealError> {
        let mut ring: Vec<(u32, RandomizedNonceKey)> = Vec::with_capacity(keys.len());
        for (version, key) in keys {
            if version == 0 {
                return Err(SealError::BadVersion(version.to_string()));
            }
            if ring.iter().any(|(other, _)| *other == version) {
                return Err(SealError::RepeatedVersion(version));
            }
            let key = RandomizedNonceKey::new(&AES_256_GCM, &*key.0).map_err(|_| SealError::Failed)?;
            ring.push((version, key));
        }
        if ring.is_empty() {
            return Err(SealError::Empty);
        }
        Ok(Self { keys: ring })
    }

    /// Reads the value of `GONETS_MASTER_KEY`: one key (then its version is 1), or several as
    /// `<version>:<key>`, separated by commas, the current one first.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let key = |item: &str| match item.split_once(':') {
            None => Ok((1, MasterKey::parse(item)?)),
            Some((version, key)) => match version.trim().parse() {
                Ok(number) => Ok((number, MasterKey::parse(key)?)),
                // Longer than any number is likely the key itself: not to be repeated in a log.
                Err(_) if version.len() > 12 => Err(SealError::BadVersion("…".to_owned())),
                Err(_) => Err(SealError::BadVersion(version.to_owned())),
            },
        };
        Self::new(text.split(',').map(key).collect::<Result<_, _>>()?)
    }

    /// Encrypts under the current master key, for this place only.
    pub fn seal(&self, place: Place, plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
        let (version, key) = &self.keys[0];
        let mut ciphertext = Vec::with_capacity(plaintext.len() + TAG_LEN);
        ciphertext.extend_from_slice(plaintext);
        let nonce = key
            .seal_in_place_append_tag(associated(place, *version), &mut ciphertext)
            .map_err(|_| SealError::Failed)?;
        let mut sealed = Vec::with_capacity(HEADER_LEN + NONCE_LEN + ciphertext.len());
        sealed.push(FORMAT);
        sealed.extend_from_slice(&version.to_be_bytes());
        sealed.extend_from_slice(nonce.as_ref());
        sealed.extend_from_slice(&ciphertext);
        Ok(sealed)
    }

    /// Decrypts what was sealed for this place under any master key of the ring.
    pub fn open(&self, place: Place, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (version, rest) = split_version(sealed)?;
        let (nonce, ciphertext) = rest
            .split_first_chunk::<NONCE_LEN>()
            .filter(|(_, ciphertext)| ciphertext.len() >= TAG_LEN)
            .ok_or(SealError::Damaged)?;
        let (_, key) = self
            .keys
            .iter()
            .find(|(other, _)| *other == version)
            .ok_or(SealError::UnknownVersion(version))?;
        let mut plaintext = Zeroizing::new(ciphertext.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let len = key
            .open_in_place(nonce, associated(place, version), &mut plaintext)
            .map_err(|_| SealError::DoesNotOpen)?
            .len();
        plaintext.truncate(len);
        Ok(plaintext)
    }

    /// Whether this was sealed under the current master key; if not, open it and seal it again.
    pub fn is_current(&self, sealed: &[u8]) -> Result<bool, SealError> {
        split_version(sealed).map(|(version, _)| version == self.keys[0].0)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions = self.keys.iter().map(|(version, _)| version);
        f.debug_list().entries(versions).finish()
    }
}

fn split_version(sealed: &[u8]) -> Result<(u32, &[u8]), SealError> {
    match sealed {
        [FORMAT, a, b, c, d, rest @ ..] => Ok((u32::from_be_bytes([*a, *b, *c, *d]), rest)),
        _ => Err(SealError::Damaged),
    }
}

/// Every part has a fixed length, so no two places give the same bytes.
fn associated(place: Place, version: u32) -> Aad<[u8; 14]> {
    let mut bytes = [0u8; 14];
    bytes[0] = FORMAT;
    bytes[1] = place.purpose as u8;
    bytes[2..6].copy_from_slice(&place.environment.to_be_bytes());
    bytes[6..10].copy_from_slice(&place.owner.to_be_bytes());
    bytes[10..].copy_from_slice(&version.to_be_bytes());
    Aad::from(bytes)
}

#[cfg(test)]
mod tests;
