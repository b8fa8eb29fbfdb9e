//! Base64 and hexadecimal written straight into a buffer, and signatures compared in constant time.
//!
//! A signature has one spelling: padded base64 of the standard alphabet, or lower-case hex. So a
//! received one is compared as text, which no lenient decoder can soften.

use base64::{Engine, prelude::BASE64_STANDARD};
use subtle::ConstantTimeEq;

/// Length of an HMAC-SHA256 in bytes, and of its two spellings.
pub(crate) const MAC_LEN: usize = 32;
const MAC_BASE64_LEN: usize = 44;
const MAC_HEX_LEN: usize = 64;

/// Appends `bytes` as padded base64.
pub(crate) fn push_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    BASE64_STANDARD
        .encode_slice(bytes, &mut out[start..])
        .expect("base64 takes four characters for each three bytes begun");
}

/// Appends `bytes` as lower-case hex.
pub(crate) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Whether `text` is exactly the base64 of `mac`. Its length is no secret, its content is.
pub(crate) fn is_base64_of(text: &[u8], mac: &[u8; MAC_LEN]) -> bool {
    let mut spelled = [0u8; MAC_BASE64_LEN];
    BASE64_STANDARD.encode_slice(mac, &mut spelled).expect("32 bytes are 44 characters of base64");
    text.len() == spelled.len() && bool::from(text.ct_eq(&spelled))
}

/// Whether `text` is exactly the lower-case hex of `mac`.
pub(crate) fn is_hex_of(text: &[u8], mac: &[u8; MAC_LEN]) -> bool {
    let mut spelled = Vec::with_capacity(MAC_HEX_LEN);
    push_hex(&mut spelled, mac);
    text.len() == spelled.len() && bool::from(text.ct_eq(&spelled))
}

/// The bytes of lower-case hex, if it is that and has exactly `N` bytes.
pub(crate) fn from_hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    if text.len() != N * 2 {
        return None;
    }
    let mut bytes = [0u8; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// The bytes of padded standard base64, if it is that and has exactly `N` bytes.
pub(crate) fn from_base64<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    if text.len() != N.div_ceil(3) * 4 {
        return None;
    }
    let decoded = BASE64_STANDARD.decode(text).ok()?;
    decoded.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn hex_and_base64_come_back(bytes: [u8; 64]) {
            let (mut hex, mut base64) = (Vec::new(), Vec::new());
            push_hex(&mut hex, &bytes);
            push_base64(&mut base64, &bytes);
            proptest::prop_assert_eq!(from_hex::<64>(&hex), Some(bytes));
            proptest::prop_assert_eq!(from_base64::<64>(&base64), Some(bytes));
        }
    }

    #[test]
    fn other_spellings_are_not_the_same_signature() {
        assert_eq!(from_hex::<1>(b"AB"), None);
        assert_eq!(from_hex::<1>(b"abc"), None);
        assert_eq!(from_base64::<1>(b"AA"), None);
        assert_eq!(from_base64::<1>(b"AB=="), None, "bits left over");
        let mac = [0xabu8; MAC_LEN];
        assert!(is_hex_of("ab".repeat(32).as_bytes(), &mac));
        assert!(!is_hex_of("AB".repeat(32).as_bytes(), &mac));
        assert!(!is_hex_of("ab".repeat(31).as_bytes(), &mac));
        assert!(!is_hex_of(b"", &mac));
        assert!(!is_base64_of(b"", &mac));
    }
}
