//! Why a command failed: one sentence for whoever typed it, and an exit status.

use std::{net::SocketAddr, path::PathBuf};

use crate::config::ConfigError;

/// A command that did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "GONETS_MASTER_KEY is not set. It encrypts the endpoints' secrets at rest: make one with `openssl rand -base64 32` and keep it apart from the data, or start with --dev to try things out."
    )]
    NoMasterKey,
    #[error("the master key in {} cannot be read or written: {cause}.", path.display())]
    MasterKeyFile { path: PathBuf, cause: std::io::Error },
    #[error(
        "GONETS_MASTER_KEY is not the key that the secrets in {} are sealed with. Set that key again; to change it, put the new one in front: 2:<new>,1:<old>.",
        dir.display()
    )]
    OtherMasterKey { dir: PathBuf },
    #[error("GONETS_BOOTSTRAP_KEY cannot be used: {0}.")]
    BootstrapKey(&'static str),
    #[error(transparent)]
    Seal(#[from] gonets_wire::SealError),
    #[error(transparent)]
    Secret(#[from] gonets_wire::SecretError),
    #[error("the system's random number generator failed. Try again.")]
    NoRandomness,

    #[error(
        "port {} on {} is taken by another process. Stop it, or start with {flag} {next}.",
        address.port(),
        address.ip()
    )]
    PortTaken { address: SocketAddr, flag: &'static str, next: String },
    #[error("{address} cannot be listened on: {cause}.")]
    Listen { address: SocketAddr, cause: std::io::Error },
    #[error("the server stopped taking connections: {0}.")]
    Server(String),
    #[error(transparent)]
    Open(#[from] gonets_store_sqlite::OpenError),
    #[error("the store cannot be read: {0}.")]
    Query(#[from] gonets_store::query::QueryError),
    #[error("{0}")]
    Fatal(#[from] gonets_store::engine::Fatal),
    #[error(transparent)]
    Document(#[from] gonets_store::entity::UnreadableDocument),
    #[error(transparent)]
    Egress(#[from] gonets_egress::Error),
    #[error(transparent)]
    Engine(#[from] gonets_engine::StartError),
    #[error("the store refused the change: {0}.")]
    Rejected(#[from] gonets_store::tx::Rejected),
    #[error("{0}")]
    Backup(String),

    #[error("there is no data directory {}. Give the one of the server with --data.", dir.display())]
    NoData { dir: PathBuf },
    #[error("there is already an environment \"{0}\". Give the new one another name.")]
    EnvironmentExists(String),
    #[error("there is no environment \"{name}\". There are {known}.")]
    NoSuchEnvironment { name: String, known: String },
    #[error("there is no profile \"{name}\". There are {known}.")]
    NoSuchProfile { name: String, known: String },
    #[error("there is no key \"{0}\". `gonets key list` shows them.")]
    NoSuchKey(String),
    #[error("{0}")]
    Name(#[from] gonets_core::Error),

    #[error("the URL \"{url}\" cannot be used: {problem}.")]
    BadUrl { url: String, problem: &'static str },
    #[error(
        "there is no URL of a server and no token. Give --url and --token, or set GONETS_URL and GONETS_TOKEN."
    )]
    NoToken,
    #[error("no Gonets answers at {url}: {cause}. Is it running, and is the URL right?")]
    Unreachable { url: String, cause: String },
    #[error("{url} does not know this token (401). Give one of its keys with --token or GONETS_TOKEN.")]
    Unauthorized { url: String },
    #[error("{method} {path} was refused with {status}: {detail}")]
    Api { method: &'static str, path: String, status: u16, detail: String },
    #[error("{method} {path} was answered with something that is not this API's: {problem}.")]
    Answer { method: &'static str, path: String, problem: String },

    #[error("{} cannot be read: {cause}.", path.display())]
    Read { path: PathBuf, cause: std::io::Error },
    #[error("the payload is not JSON: {0}. Give one JSON value.")]
    NotJson(serde_json::Error),
    #[error("{0}")]
    Request(&'static str),
    #[error("not verified: {0}")]
    NotVerified(#[from] gonets_wire::VerifyError),
    #[error("{0}")]
    NotDelivered(String),
    #[error("the demo did not end as it should: {0}.")]
    Demo(String),
    #[error("{what}: {cause}.")]
    Io { what: &'static str, cause: std::io::Error },
    #[error("the settings cannot be written as TOML: {0}.")]
    Toml(#[from] toml::ser::Error),
}

impl Error {
    /// Why an address cannot be listened on; `flag` sets another.
    pub fn listening(address: SocketAddr, flag: &'static str, cause: std::io::Error) -> Self {
        if cause.kind() != std::io::ErrorKind::AddrInUse {
            return Self::Listen { address, cause };
        }
        let port = address.port().checked_add(1).unwrap_or(8071);
        let next =
            if flag == "--port" { port.to_string() } else { SocketAddr::new(address.ip(), port).to_string() };
        Self::PortTaken { address, flag, next }
    }

    /// 2: the command line itself is wrong; 1: what it asked for failed.
    pub const fn status(&self) -> u8 {
        match self {
            Self::NoToken | Self::BadUrl { .. } => 2,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_names_the_next_one() {
        let address: SocketAddr = "127.0.0.1:8071".parse().unwrap();
        let taken = || std::io::Error::from(std::io::ErrorKind::AddrInUse);
        let error = Error::listening(address, "--listen", taken());
        assert_eq!(
            error.to_string(),
            "port 8071 on 127.0.0.1 is taken by another process. Stop it, or start with --listen 127.0.0.1:8072."
        );
        assert!(Error::listening(address, "--port", taken()).to_string().ends_with("--port 8072."));
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert!(Error::listening(address, "--listen", denied).to_string().contains("cannot be listened on"));
    }

    #[test]
    fn only_mistakes_in_the_command_line_have_status_2() {
        assert_eq!(Error::NoToken.status(), 2);
        assert_eq!(Error::NoMasterKey.status(), 1);
    }
}
