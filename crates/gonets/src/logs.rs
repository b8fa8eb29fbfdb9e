//! Logs on standard error: quiet but for the facts of starting and stopping.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, filter::Directive, fmt};

use crate::config::{ConfigError, LogFormat, LogSettings};

/// Starts logging for the process. `log.level` is a level for all of Gonets (`info`) or filters as
/// tracing writes them (`warn,gonets_engine=debug`).
///
/// # Errors
/// When the level is neither.
pub fn start(settings: &LogSettings) -> Result<(), ConfigError> {
    let filter = filter(&settings.level)?;
    let lines = fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    let started = match settings.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    // A second start in one process keeps the first subscriber, which is as good.
    drop(started);
    Ok(())
}

/// # Errors
/// When `level` is neither a level nor a filter.
pub fn check(level: &str) -> Result<(), ConfigError> {
    filter(level).map(drop)
}

fn filter(level: &str) -> Result<EnvFilter, ConfigError> {
    let wanted = match level {
        "error" | "warn" | "info" | "debug" | "trace" => format!("warn,gonets={level}"),
        "off" => "off".to_owned(),
        filters => filters.to_owned(),
    };
    wanted.split(',').try_fold(EnvFilter::new("off"), |filter, directive| {
        let directive = directive
            .trim()
            .parse::<Directive>()
            .map_err(|cause| ConfigError::LogLevel { text: level.to_owned(), problem: cause.to_string() })?;
        Ok(filter.add_directive(directive))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_filters_are_taken_and_other_texts_refused() {
        for level in ["info", "off", "warn,gonets_engine=debug"] {
            assert!(filter(level).is_ok(), "{level}");
        }
        let error = filter("gonets=loud").unwrap_err().to_string();
        assert!(error.starts_with("log.level: \"gonets=loud\""), "{error}");
    }
}
