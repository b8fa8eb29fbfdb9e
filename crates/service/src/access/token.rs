//! Tokens of keys: made from randomness, kept as a hash.

use aws_lc_rs::{digest, rand};

use crate::error::Error;

const RANDOM_BYTES: usize = 24;
/// Characters of a token that may be shown, to tell keys apart.
const HINT_CHARS: usize = 10;
const PREFIX: &str = "gnts_";

/// The SHA-256 of a token in hex: how keys are found. Made on every request, so on the stack.
pub struct Hash([u8; 64]);

impl Hash {
    pub fn of(token: &str) -> Self {
        let digest = digest::digest(&digest::SHA256, token.as_bytes());
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(digest.as_ref()) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Self(hex)
    }

    pub fn hex(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// A new token: `gnts_` and 48 hex digits, which is 192 random bits.
///
/// # Errors
/// [`Error::Internal`] when the system's random number generator fails.
pub fn generate() -> Result<String, Error> {
    let mut bytes = [0; RANDOM_BYTES];
    rand::fill(&mut bytes).map_err(|_| Error::internal("the system's random number generator failed"))?;
    let mut token = String::with_capacity(PREFIX.len() + 2 * RANDOM_BYTES);
    token.push_str(PREFIX);
    for byte in bytes {
        token.push(char::from(HEX[usize::from(byte >> 4)]));
        token.push(char::from(HEX[usize::from(byte & 15)]));
    }
    Ok(token)
}

/// The beginning of a token, or nothing of one that is too short to give any away.
pub fn hint(token: &str) -> String {
    if token.len() < 3 * HINT_CHARS { String::new() } else { token.chars().take(HINT_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha_256_in_hex() {
        assert_eq!(Hash::of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn tokens_differ_and_hints_give_little_away() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 53);
        assert_eq!(hint(&one), one[..10]);
        assert_eq!(hint("dev"), "");
    }
}
