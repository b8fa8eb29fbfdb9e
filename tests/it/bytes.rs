//! The body is sacred: the producer's text arrives byte for byte, on every attempt, and so do the
//! URL and the headers. What is signed is what was sent.

mod headers;
mod payloads;
mod secrets;
mod urls;

use gonets_core::{clock::SystemClock, time::Clock};
use gonets_wire::{Scheme, VerifyError, VerifyingKey, Window, verify::verify_scheme};

use crate::receiver::Received;

/// Whether the request is signed by `Standard Webhooks` with one of the keys, now.
fn verified(received: &Received, keys: &[VerifyingKey]) -> Result<(), VerifyError> {
    let window = Window::around(SystemClock::start().wall().as_seconds());
    verify_scheme(Scheme::Standard, &received.headers, &received.body, keys, window).map(drop)
}

fn key(secret: &str) -> VerifyingKey {
    VerifyingKey::parse(secret).expect("a secret")
}
