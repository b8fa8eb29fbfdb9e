//! One module for each command: its arguments and what it does.

pub mod backup;
pub mod breaker;
pub mod completions;
pub mod config;
pub mod demo;
pub mod env;
pub mod explain;
pub mod freeze;
pub mod key;
pub mod listen;
pub mod openapi;
pub mod send;
pub mod serve;
pub mod simulate;
pub mod verify;

use std::{path::PathBuf, sync::Arc};

use gonets_core::clock::SystemClock;

use crate::{
    client::ApiFlags,
    config::{self as configuration, ConfigFlags, Variables},
    error::Error,
    installation::Installation,
    terminal::Terminal,
};

/// The data directory that the flags name. It must be there: a mistyped one is not to become a new
/// installation.
fn data_dir(flags: &ConfigFlags) -> Result<PathBuf, Error> {
    let dir = configuration::settings(flags, &Variables::of_process())?.data_dir;
    if !dir.is_dir() {
        return Err(Error::NoData { dir });
    }
    Ok(dir)
}

/// That directory's installation; its server must not be running.
fn open_installation(flags: &ConfigFlags) -> Result<Installation, Error> {
    Installation::open(&data_dir(flags)?, Arc::new(SystemClock::start()))
}

/// Works on that directory, and closes it whatever came of it.
fn on_directory<T>(
    flags: &ConfigFlags,
    work: impl FnOnce(&mut Installation) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut installation = open_installation(flags)?;
    let done = work(&mut installation);
    installation.close()?;
    done
}

/// Whether a running server is asked rather than a directory: if one is named, but a directory on the
/// command line is meant before variables are.
fn asks_a_server(api: &ApiFlags, config: &ConfigFlags) -> bool {
    config.data.is_none() && (api.url.is_some() || api.token.is_some())
}

/// One JSON value on one line.
fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    Terminal::of_process().line(serde_json::to_string(value).map_err(Error::NotJson)?);
    Ok(())
}

/// Names and what they are, as lines in two columns.
fn facts(table: &[(&str, String)]) -> Vec<String> {
    let width = table.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    table.iter().map(|(name, value)| format!("{name:width$}  {value}")).collect()
}

/// A text of an answer; what is not there is a dash.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_on_the_command_line_is_meant_before_a_server_of_the_variables() {
        let api = ApiFlags { url: Some("http://127.0.0.1:8071".to_owned()), token: None };
        let here = ConfigFlags { data: Some("here".into()), ..ConfigFlags::default() };
        assert!(asks_a_server(&api, &ConfigFlags::default()));
        assert!(!asks_a_server(&api, &here));
        assert!(!asks_a_server(&ApiFlags::default(), &ConfigFlags::default()));
    }

    #[test]
    fn a_mistyped_directory_does_not_become_an_installation() {
        let dir = tempfile::tempdir().unwrap().path().join("mistyped");
        let flags = ConfigFlags { data: Some(dir.clone()), ..ConfigFlags::default() };
        let error = open_installation(&flags).err().unwrap().to_string();
        assert!(error.starts_with("there is no data directory"), "{error}");
        assert!(!dir.exists());
    }
}
