//! What goes in and out as JSON, field for field as Svix's SDKs have it, with Gonets' additions.
//!
//! Required fields of requests are optional here and asked for by name, so that a missing one is
//! told with its place. Unknown fields are ignored.

pub mod application;
pub mod attempt;
pub mod balance;
pub mod breaker;
pub mod delivery;
pub mod endpoint;
pub mod environment;
pub mod event_type;
pub mod key;
pub mod message;
pub mod page;
pub mod profile;
pub mod simulation;

use gonets_service::Problem;

/// A field that must be there.
pub(crate) fn required<T>(field: &'static str, value: Option<T>) -> Result<T, Problem> {
    value.ok_or_else(|| Problem::missing(field))
}
