//! What can be wrong with a configuration, in sentences for whoever wrote it.

use std::{fmt, path::PathBuf};

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File(PathBuf),
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "in {}", path.display()),
            Self::Variable(name) => write!(f, "from {name}"),
            Self::Flag(name) => write!(f, "from {name}"),
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file {} cannot be read: {cause}. Check --config.", path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("the configuration file {} is not TOML: {problem}", path.display())]
    NotToml { path: PathBuf, problem: String },
    #[error("there is no key \"{key}\" ({origin}). {hint}")]
    UnknownKey { key: String, origin: Origin, hint: String },
    #[error("the variable {name} is not used: between section and key go two underscores. Write {instead}.")]
    OneUnderscore { name: String, instead: String },
    #[error("the variable {name} is not text in UTF-8.")]
    NotUtf8 { name: String },
    #[error("\"{key}\" ({origin}) is a section, not a value. Set the keys in it.")]
    NotASection { key: String, origin: Origin },
    #[error("{key} ({origin}): {problem}.")]
    Value { key: String, origin: Origin, problem: String },
    #[error("{key} is not supported yet: {instead}.")]
    NotSupported { key: String, instead: &'static str },
    #[error(
        "log.level: \"{text}\" is neither error, warn, info, debug, trace, off nor a filter such as warn,gonets_engine=debug: {problem}."
    )]
    LogLevel { text: String, problem: String },
    #[error("smtp: {0}.")]
    Mail(#[from] gonets_mail::SettingsError),
    #[error("egress: {0}")]
    Egress(#[from] gonets_egress::Error),
    #[error("{0}")]
    Profiles(#[from] gonets_core::Error),
    #[error("delivery.default_profile: there is no profile \"{name}\". There are {known}.")]
    NoSuchProfile { name: String, known: String },
    #[error("egress.extra_roots: {} holds no certificate that can be read: {problem}. Give files of X.509 certificates in PEM.", path.display())]
    Roots { path: PathBuf, problem: String },
}
