//! Everything that goes out goes through here: the guard, which decides whether a URL and an
//! address may be reached at all, and the sender, which makes one HTTP/1.1 exchange.
//!
//! # What it is for
//!
//! Webhook URLs come from partners, so this is the only code that opens a connection to an
//! address someone else chose. The [`Guard`] can be used alone, for forms; [`Egress`] adds name
//! resolution, TLS, a connection pool and the exchange itself.
//!
//! # What it is not for
//!
//! It does not know what a delivery is, what an outcome means, or how to sign: the caller's
//! closure appends the signature lines, each time a request is really sent. It retries nothing,
//! but for a reused connection that turned out dead. It counts no requests per host: that is the
//! dispatcher's work ([`Target::host_port`] is its key).
//!
//! # Why not an HTTP client library
//!
//! The rules here are about moments that client libraries hide: an answer that comes before the
//! body is sent, a byte left over after an answer, a pooled connection that dies before the first
//! byte, one deadline over all stages, an address compared after the connection stands.

mod config;
mod conn;
mod dial;
mod egress;
mod error;
mod exchange;
mod guard;
mod header;
mod http1;
mod pool;
mod proxy;
mod request;
mod resolve;
mod send;
mod target;
mod tls;

pub use config::{EgressConfig, Ports};
pub use egress::Egress;
pub use error::Error;
pub use exchange::{Cause, CauseKind, Exchange, OurFault, Phases, Seen, Stage, TlsVersion};
pub use guard::{Denied, Guard, Refused, RefusedCode};
pub use header::{HeaderRefused, check_custom_header};
pub use proxy::Proxy;
pub use request::Request;
pub use target::Target;
