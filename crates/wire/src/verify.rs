//! What a receiver does with the signature headers, for `gonets verify`, `gonets listen` and the
//! portal's checker.
//!
//! Stricter than a receiver has to be: a timestamp is plain digits, a signature has one spelling
//! and its full length, and a signing header that comes twice is refused, because receivers
//! disagree on which of the two counts. All comparisons of MACs take constant time. A refusal says
//! what is wrong and what to look at, since it is read by someone whose first attempt failed.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

use crate::{
    encode::{from_base64, from_hex, is_base64_of, is_hex_of},
    scheme::Scheme,
    secret::{PUBLIC_PREFIX, Secret, SecretError, SymmetricKey},
};

/// How far a timestamp may be from now, in either direction: what Standard Webhooks' libraries use.
pub const TOLERANCE_S: i64 = 300;

/// Ed25519 signatures that are tried per request; each costs as much as a thousand comparisons.
const MAX_ED25519_TRIES: usize = 16;

/// Digits of a timestamp in seconds until the year 33658; milliseconds have 13.
const MAX_TIMESTAMP_DIGITS: usize = 12;

/// A request whose signature is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verified {
    pub scheme: Scheme,
    /// Unix seconds, signed. `standard` and `svix` sign the id too, the other schemes do not.
    pub timestamp: i64,
}

/// Why a request must not be trusted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(
        "no signature: none of webhook-signature, X-Webhook-Signature, X-Signature and svix-signature is among the headers. Pass all headers of the request on."
    )]
    NoSignature,
    #[error("header {0} is missing, so the signature cannot be checked. Pass all headers of the request on.")]
    MissingHeader(&'static str),
    #[error(
        "header {0} comes more than once, and it is not clear which counts. Something between sender and receiver added one."
    )]
    RepeatedHeader(&'static str),
    #[error(
        "header {0}: the timestamp must be whole Unix seconds in plain digits. Milliseconds, signs and fractions are refused."
    )]
    BadTimestamp(&'static str),
    #[error("header X-Signature must read t=<seconds>,v1=<hex>, with t exactly once.")]
    BadSignatureList,
    #[error(
        "the request is too old: signed {age_s} s ago, and {tolerance_s} s are allowed. It is a replay, it waited in a queue before it was checked, or this clock is fast."
    )]
    TooOld { age_s: i64, tolerance_s: i64 },
    #[error(
        "the request is from the future: signed {ahead_s} s ahead of this clock, and {tolerance_s} s are allowed. Set the clock."
    )]
    TooNew { ahead_s: i64, tolerance_s: i64 },
    #[error("no key that fits: scheme {} is signed with {needed}, and none was given.", scheme.name())]
    NoFittingKey { scheme: Scheme, needed: &'static str },
    #[error(
        "no signature in {header} matches. Either the body is not the raw bytes as received (parsed and printed again?), or the secret is another endpoint's or an old one."
    )]
    Mismatch { header: &'static str },
}

/// What a receiver verifies with.
#[derive(Clone, Debug)]
pub struct VerifyingKey(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Secret(Secret),
    Public([u8; 32]),
}

impl VerifyingKey {
    /// Reads `whsec_…`, `whsk_…` or the public `whpk_…`.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        match text.strip_prefix(PUBLIC_PREFIX) {
            Some(base64) => from_base64(base64.as_bytes())
                .map(|key| Self(Kind::Public(key)))
                .ok_or(SecretError::NotAPublicKey),
            None => Secret::parse(text).map(Self::from),
        }
    }

    fn symmetric(&self) -> Option<&SymmetricKey> {
        match &self.0 {
            Kind::Secret(secret) => secret.symmetric_key(),
            Kind::Public(_) => None,
        }
    }

    fn public(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::Secret(secret) => secret.public_bytes(),
            Kind::Public(key) => Some(key),
        }
    }
}

impl From<Secret> for VerifyingKey {
    fn from(secret: Secret) -> Self {
        Self(Kind::Secret(secret))
    }
}

/// The instants at which a request is taken.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Unix seconds.
    pub now_s: i64,
    /// Seconds that a timestamp may be away from `now_s`, before or after.
    pub tolerance_s: i64,
}

impl Window {
    /// [`TOLERANCE_S`] around now.
    pub const fn around(now_s: i64) -> Self {
        Self { now_s, tolerance_s: TOLERANCE_S }
    }

    fn check(self, timestamp: i64) -> Result<(), VerifyError> {
        let Self { now_s, tolerance_s } = self;
        let age_s = now_s.saturating_sub(timestamp);
        if age_s > tolerance_s {
            return Err(VerifyError::TooOld { age_s, tolerance_s });
        }
        let ahead_s = timestamp.saturating_sub(now_s);
        if ahead_s > tolerance_s {
            return Err(VerifyError::TooNew { ahead_s, tolerance_s });
        }
        Ok(())
    }
}

/// Verifies by any scheme whose headers are there: the first that is right counts, in the order
/// `standard`, `svix`, `x-webhook`, `t-v1`. If none is, the error is that of the first present.
///
/// `headers`: names in any case, with their values.
pub fn verify<N: AsRef<str>, V: AsRef<[u8]>>(
    headers: &[(N, V)],
    body: &[u8],
    keys: &[VerifyingKey],
    window: Window,
) -> Result<Verified, VerifyError> {
    let mut first_error = None;
    for scheme in [Scheme::Standard, Scheme::Svix, Scheme::XWebhook, Scheme::TV1] {
        if !is_present(headers, scheme) {
            continue;
        }
        match verify_scheme(scheme, headers, body, keys, window) {
            Ok(verified) => return Ok(verified),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or(VerifyError::NoSignature))
}

/// Whether any header of the scheme is there, so that a verdict on it makes sense.
pub fn is_present<N: AsRef<str>, V>(headers: &[(N, V)], scheme: Scheme) -> bool {
    headers.iter().any(|(name, _)| {
        let mut names = scheme.headers().iter();
        names.any(|known| known.eq_ignore_ascii_case(name.as_ref()))
    })
}

/// Verifies by this scheme alone, as a receiver does that knows which one it has.
pub fn verify_scheme<N: AsRef<str>, V: AsRef<[u8]>>(
    scheme: Scheme,
    headers: &[(N, V)],
    body: &[u8],
    keys: &[VerifyingKey],
    window: Window,
) -> Result<Verified, VerifyError> {
    let check = Check { headers, body, keys, window };
    let timestamp = match scheme {
        Scheme::Standard => check.standard(scheme, ["webhook-id", "webhook-timestamp", "webhook-signature"]),
        Scheme::Svix => check.standard(scheme, ["svix-id", "svix-timestamp", "svix-signature"]),
        Scheme::XWebhook => check.x_webhook(),
        Scheme::TV1 => check.t_v1(),
    }?;
    Ok(Verified { scheme, timestamp })
}

struct Check<'a, N, V> {
    headers: &'a [(N, V)],
    body: &'a [u8],
    keys: &'a [VerifyingKey],
    window: Window,
}

/// Each method gives the signed timestamp.
impl<'a, N: AsRef<str>, V: AsRef<[u8]>> Check<'a, N, V> {
    fn standard(&self, scheme: Scheme, names: [&'static str; 3]) -> Result<i64, VerifyError> {
        let [id_name, timestamp_name, signature_name] = names;
        let id = self.required(id_name)?;
        let stamp = self.required(timestamp_name)?;
        let timestamp = self.timestamp(timestamp_name, stamp)?;
        let list = self.required(signature_name)?;
        if self.keys.is_empty() {
            return Err(VerifyError::NoFittingKey {
                scheme,
                needed: "a whsec_… secret or a whpk_… public key",
            });
        }
        let listed = |version: &'static [u8]| {
            list.split(|c| *c == b' ').filter_map(move |entry| entry.strip_prefix(version))
        };
        let symmetric = self.symmetric_keys().any(|key| {
            let mac = key.mac_standard(id, stamp, self.body);
            listed(b"v1,").any(|text| is_base64_of(text, &mac))
        });
        let matches = symmetric || {
            let signatures = listed(b"v1a,").filter_map(from_base64::<64>);
            self.ed25519_matches(signatures, &[id, b".", stamp, b".", self.body])
        };
        found(matches, timestamp, signature_name)
    }

    fn x_webhook(&self) -> Result<i64, VerifyError> {
        self.required("X-Webhook-Id")?;
        let stamp = self.required("X-Webhook-Timestamp")?;
        let timestamp = self.timestamp("X-Webhook-Timestamp", stamp)?;
        let current = self.required("X-Webhook-Signature")?;
        let old = self.optional("X-Webhook-Signature-Old")?;
        if self.symmetric_keys().next().is_none() {
            return Err(VerifyError::NoFittingKey { scheme: Scheme::XWebhook, needed: "a whsec_… secret" });
        }
        let matches = self.symmetric_keys().any(|key| {
            let mac = key.mac_timed(stamp, self.body);
            is_hex_of(current, &mac) || old.is_some_and(|old| is_hex_of(old, &mac))
        });
        found(matches, timestamp, "X-Webhook-Signature")
    }

    fn t_v1(&self) -> Result<i64, VerifyError> {
        let list = self.required("X-Signature")?;
        let listed = |name: &'static [u8]| {
            list.split(|c| *c == b',').filter_map(move |entry| entry.strip_prefix(name))
        };
        let mut stamps = listed(b"t=");
        let (Some(stamp), None) = (stamps.next(), stamps.next()) else {
            return Err(VerifyError::BadSignatureList);
        };
        let timestamp = self.timestamp("X-Signature", stamp)?;
        if self.keys.is_empty() {
            return Err(VerifyError::NoFittingKey {
                scheme: Scheme::TV1,
                needed: "a whsec_… secret (v1) or a whpk_… public key (v2)",
            });
        }
        let symmetric = self.symmetric_keys().any(|key| {
            let mac = key.mac_timed(stamp, self.body);
            listed(b"v1=").any(|text| is_hex_of(text, &mac))
        });
        let matches = symmetric || {
            let signatures = listed(b"v2=").filter_map(from_hex::<64>);
            self.ed25519_matches(signatures, &[stamp, b".", self.body])
        };
        found(matches, timestamp, "X-Signature")
    }

    fn ed25519_matches(&self, signatures: impl Iterator<Item = [u8; 64]>, message: &[&[u8]]) -> bool {
        let keys: Vec<&[u8]> = self.keys.iter().filter_map(VerifyingKey::public).collect();
        if keys.is_empty() {
            return false;
        }
        let message = message.concat();
        signatures.take(MAX_ED25519_TRIES).any(|signature| {
            keys.iter().any(|key| {
                let key = UnparsedPublicKey::new(&ED25519, key);
                key.verify(&message, &signature).is_ok()
            })
        })
    }

    fn symmetric_keys(&self) -> impl Iterator<Item = &'a SymmetricKey> {
        self.keys.iter().filter_map(VerifyingKey::symmetric)
    }

    fn timestamp(&self, header: &'static str, text: &[u8]) -> Result<i64, VerifyError> {
        let plain = matches!(text.len(), 1..=MAX_TIMESTAMP_DIGITS)
            && text.iter().all(u8::is_ascii_digit)
            && (text[0] != b'0' || text.len() == 1);
        let timestamp = std::str::from_utf8(text)
            .ok()
            .filter(|_| plain)
            .and_then(|digits| digits.parse().ok())
            .ok_or(VerifyError::BadTimestamp(header))?;
        self.window.check(timestamp)?;
        Ok(timestamp)
    }

    fn required(&self, name: &'static str) -> Result<&'a [u8], VerifyError> {
        self.optional(name)?.ok_or(VerifyError::MissingHeader(name))
    }

    fn optional(&self, name: &'static str) -> Result<Option<&'a [u8]>, VerifyError> {
        let mut values = self
            .headers
            .iter()
            .filter(|(given, _)| given.as_ref().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(VerifyError::RepeatedHeader(name)),
        }
    }
}

fn found(matches: bool, timestamp: i64, header: &'static str) -> Result<i64, VerifyError> {
    matches.then_some(timestamp).ok_or(VerifyError::Mismatch { header })
}

#[cfg(test)]
mod tests;
