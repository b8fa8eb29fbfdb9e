//! The configuration: a TOML file, then the environment (`GONETS_SECTION__KEY`), then flags.
//!
//! - [`keys`]: every key there is. What is not in that table is an error that names the nearest.
//! - [`layers`]: the three sources laid over each other, each value with where it came from, so
//!   that a wrong one is told with its origin.
//! - [`settings`]: the values with their types and defaults.
//! - [`check`]: what the settings mean together: profiles resolved, the guard's configuration.
//! - [`print`]: the settings as TOML that can be read back, secrets masked.
//!
//! It opens no socket and no store. The two secrets of an installation (`GONETS_MASTER_KEY`,
//! `GONETS_BOOTSTRAP_KEY`) are not part of it: they never stand in a file that gets printed, see
//! [`crate::secrets`].

mod check;
mod error;
pub mod flags;
mod keys;
mod layers;
mod nearest;
mod print;
mod settings;

pub use check::Config;
pub use error::ConfigError;
pub use flags::ConfigFlags;
pub use layers::{Layers, Variables};
pub use print::to_toml;
pub use settings::{LogFormat, LogSettings, Settings};

/// The settings that file, environment and flags give, whether or not they can be served.
///
/// # Errors
/// A sentence about the first key that cannot be used.
pub fn settings(flags: &ConfigFlags, variables: &Variables) -> Result<Settings, ConfigError> {
    let mut settings = Settings::read(&Layers::gather(flags, variables)?)?;
    if flags.dev {
        settings.allow_development();
    }
    Ok(settings)
}

/// The configuration of a server.
///
/// # Errors
/// As [`settings`], and what the settings come to together.
pub fn load(flags: &ConfigFlags, variables: &Variables) -> Result<Config, ConfigError> {
    Config::of(settings(flags, variables)?, flags.dev)
}

#[cfg(test)]
mod tests;
