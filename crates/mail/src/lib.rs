//! Notices written to people (R21): the contacts of an application, or the operator.
//!
//! One mail rather than a flood: what happens to one application is gathered for a while and sent as
//! a digest, in English or Russian. This crate knows notices and addresses; it knows nothing of where
//! they come from.
//!
//! - [`settings`]: the server that takes mails, and whom they are from.
//! - [`digest`]: what one mail tells.
//! - [`outbox`]: what is gathered, and when it goes.
//! - [`text`]: the words.
//! - [`mailer`]: over SMTP.

pub mod digest;
pub mod mailer;
pub mod outbox;
pub mod settings;
pub mod text;

pub use digest::{Digest, Item};
pub use mailer::{MailError, Mailer, SettingsError};
pub use outbox::Outbox;
pub use settings::{Language, Password, Security, Settings};
