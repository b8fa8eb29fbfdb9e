//! The signature headers of one request.
//!
//! A [`Signer`] holds an endpoint's keys and schemes, and is made once per change of the endpoint.
//! Each request then costs one HMAC per key and family: `svix` repeats the value of `standard`,
//! `x-webhook` and `t-v1` share theirs. Nothing is allocated besides the buffer of the request's
//! head; an Ed25519 key needs its message in one piece and borrows the buffer's end for it, so the
//! buffer may grow by the body's length.
//!
//! A rotation is nothing special: the old keys stay in the list until their time is over, and sign
//! along. The service decides when that is.

use std::io::Write;

use aws_lc_rs::signature::Ed25519KeyPair;

use crate::{
    encode::{MAC_LEN, push_base64, push_hex},
    scheme::Scheme,
    secret::{Secret, SymmetricKey},
};

/// Keys that may sign at once: the current one and ten old ones.
pub const MAX_KEYS: usize = 11;

/// Why an endpoint cannot be signed for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignError {
    #[error("signing: the endpoint has no secret. Rotate its secret to give it one.")]
    NoKeys,
    #[error(
        "signing: the endpoint has {0} live secrets and at most 11 can sign. Wait until old ones expire, or end their grace period."
    )]
    TooManyKeys(usize),
}

/// Signs the requests of one endpoint.
#[derive(Clone, Debug)]
pub struct Signer {
    /// `whsec_…`, current first.
    symmetric: Vec<Secret>,
    /// `whsk_…`, current first.
    ed25519: Vec<Secret>,
    x_webhook: bool,
    t_v1: bool,
    svix: bool,
}

impl Signer {
    /// `keys`: the current one first, then those still valid, newest first; at most [`MAX_KEYS`].
    /// `standard` is always sent, in `schemes` or not.
    pub fn new(schemes: &[Scheme], keys: Vec<Secret>) -> Result<Self, SignError> {
        match keys.len() {
            0 => return Err(SignError::NoKeys),
            1..=MAX_KEYS => {}
            many => return Err(SignError::TooManyKeys(many)),
        }
        let (symmetric, ed25519) = keys.into_iter().partition(|secret| secret.symmetric_key().is_some());
        Ok(Self {
            symmetric,
            ed25519,
            x_webhook: schemes.contains(&Scheme::XWebhook),
            t_v1: schemes.contains(&Scheme::TV1),
            svix: schemes.contains(&Scheme::Svix),
        })
    }

    /// Appends the header lines of all schemes, each ended by CR LF, for one request made at
    /// `timestamp_s` (Unix seconds). `id` is the message's public id, of visible ASCII (R24).
    ///
    /// `x-webhook` needs a symmetric key and is left out without one.
    pub fn write_headers(&self, out: &mut Vec<u8>, id: &str, timestamp_s: i64, body: &[u8]) {
        debug_assert!(id.bytes().all(|c| c.is_ascii_graphic()), "id {id:?}");
        let mut digits = Decimal::default();
        let request = Request { id: id.as_bytes(), timestamp: digits.of(timestamp_s), body };
        self.write_standard(out, &request);
        if self.x_webhook || self.t_v1 {
            self.write_timed(out, &request);
        }
    }

    /// `standard` and `svix`: the same values under two sets of names.
    fn write_standard(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        line(out, b"webhook-id: ", request.id);
        line(out, b"webhook-timestamp: ", request.timestamp);
        out.extend_from_slice(b"webhook-signature: ");
        let start = out.len();
        self.write_signature_list(out, request);
        let end = out.len();
        out.extend_from_slice(b"\r\n");
        if self.svix {
            line(out, b"svix-id: ", request.id);
            line(out, b"svix-timestamp: ", request.timestamp);
            out.extend_from_slice(b"svix-signature: ");
            out.extend_from_within(start..end);
            out.extend_from_slice(b"\r\n");
        }
    }

    /// The current key of each kind first, then the old ones.
    fn write_signature_list(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        let start = out.len();
        let kinds = self.symmetric_keys().take(1).map(Either::Symmetric);
        let kinds = kinds.chain(self.key_pairs().take(1).map(Either::Ed25519));
        let kinds = kinds.chain(self.symmetric_keys().skip(1).map(Either::Symmetric));
        for key in kinds.chain(self.key_pairs().skip(1).map(Either::Ed25519)) {
            if out.len() > start {
                out.push(b' ');
            }
            match key {
                Either::Symmetric(key) => {
                    out.extend_from_slice(b"v1,");
                    let mac = key.mac_standard(request.id, request.timestamp, request.body);
                    push_base64(out, &mac);
                }
                Either::Ed25519(pair) => {
                    let message = [request.id, b".", request.timestamp, b".", request.body];
                    let signature = sign_in_tail(out, pair, &message);
                    out.extend_from_slice(b"v1a,");
                    push_base64(out, signature.as_ref());
                }
            }
        }
    }

    /// `x-webhook` and `t-v1`: both sign `timestamp.body` with the secret as shown.
    fn write_timed(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        let mut macs = [[0u8; MAC_LEN]; MAX_KEYS];
        let macs = &mut macs[..self.symmetric.len()];
        for (mac, key) in macs.iter_mut().zip(self.symmetric_keys()) {
            *mac = key.mac_timed(request.timestamp, request.body);
        }
        if self.x_webhook {
            write_x_webhook(out, request, macs);
        }
        if self.t_v1 {
            self.write_t_v1(out, request, macs);
        }
    }

    fn write_t_v1(&self, out: &mut Vec<u8>, request: &Request<'_>, macs: &[[u8; MAC_LEN]]) {
        line(out, b"X-Event-Id: ", request.id);
        out.extend_from_slice(b"X-Signature: t=");
        out.extend_from_slice(request.timestamp);
        for mac in macs {
            out.extend_from_slice(b",v1=");
            push_hex(out, mac);
        }
        for pair in self.key_pairs() {
            let signature = sign_in_tail(out, pair, &[request.timestamp, b".", request.body]);
            out.extend_from_slice(b",v2=");
            push_hex(out, signature.as_ref());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn symmetric_keys(&self) -> impl Iterator<Item = &SymmetricKey> {
        self.symmetric.iter().filter_map(Secret::symmetric_key)
    }

    fn key_pairs(&self) -> impl Iterator<Item = &Ed25519KeyPair> {
        self.ed25519.iter().filter_map(Secret::key_pair)
    }
}

enum Either<'a> {
    Symmetric(&'a SymmetricKey),
    Ed25519(&'a Ed25519KeyPair),
}

struct Request<'a> {
    id: &'a [u8],
    timestamp: &'a [u8],
    body: &'a [u8],
}

/// Receivers of this scheme compare one value with one header, so only the newest of the old keys
/// is sent; a list would break the very ones it is for.
fn write_x_webhook(out: &mut Vec<u8>, request: &Request<'_>, macs: &[[u8; MAC_LEN]]) {
    let Some((current, old)) = macs.split_first() else {
        return;
    };
    line(out, b"X-Webhook-Id: ", request.id);
    line(out, b"X-Webhook-Timestamp: ", request.timestamp);
    out.extend_from_slice(b"X-Webhook-Signature: ");
    push_hex(out, current);
    out.extend_from_slice(b"\r\n");
    if let Some(old) = old.first() {
        out.extend_from_slice(b"X-Webhook-Signature-Old: ");
        push_hex(out, old);
        out.extend_from_slice(b"\r\n");
    }
}

fn line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Signs the joined `parts`, which stand at the end of `out` for that long and are gone after.
fn sign_in_tail(
    out: &mut Vec<u8>,
    pair: &Ed25519KeyPair,
    parts: &[&[u8]],
) -> aws_lc_rs::signature::Signature {
    let start = out.len();
    for part in parts {
        out.extend_from_slice(part);
    }
    let signature = pair.sign(&out[start..]);
    out.truncate(start);
    signature
}

/// A number in decimal on the stack.
#[derive(Default)]
struct Decimal([u8; 20]);

impl Decimal {
    fn of(&mut self, number: i64) -> &[u8] {
        let mut rest = &mut self.0[..];
        write!(rest, "{number}").expect("an i64 has at most 20 characters");
        let unused = rest.len();
        &self.0[..self.0.len() - unused]
    }
}

#[cfg(test)]
mod tests;
