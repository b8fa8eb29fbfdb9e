//! What goes over the wire and how a receiver can trust it: envelopes, signature schemes, their
//! verification, and the secrets behind them, in memory and at rest.
//!
//! This crate does not know what becomes of a delivery, reads no clock and does no I/O: instants
//! and bytes come in as arguments, bytes and verdicts go out.
//!
//! - [`scheme`]: the names of envelopes and schemes, and the headers that belong to each
//! - [`secret`]: signing secrets as endpoints have them (`whsec_…`, `whsk_…`)
//! - [`sign`]: the header lines of one request
//! - [`verify`]: what a receiver does with them, for `gonets verify` and the portal's checker
//! - [`envelope`]: the body of a request
//! - [`sealed`]: secrets encrypted under a master key, and its rotation

mod encode;
pub mod envelope;
pub mod scheme;
pub mod sealed;
pub mod secret;
pub mod sign;
pub mod verify;

pub use envelope::{Event, body};
pub use scheme::{Envelope, Scheme};
pub use sealed::{Keyring, MasterKey, Place, Purpose, SealError};
pub use secret::{Secret, SecretError};
pub use sign::{SignError, Signer};
pub use verify::{Verified, VerifyError, VerifyingKey, Window, verify, verify_scheme};
