//! The flags that say how a server is configured: of `serve`, `config` and whatever works on a
//! data directory.

use std::path::PathBuf;

/// Flags win over the environment, the environment over the file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ConfigFlags {
    /// A TOML file with the configuration
    #[arg(long, value_name = "FILE", env = "GONETS_CONFIG")]
    pub config: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1:8071]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// The directory of the store [default: ./gonets-data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The URL of a shared database instead of a directory
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// For trying things out: endpoints on loopback and over plain http, the fixed key "dev"
    #[arg(long)]
    pub dev: bool,
}
