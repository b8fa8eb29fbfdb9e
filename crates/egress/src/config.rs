//! What an operator may set about outgoing connections (`egress.*` in the configuration file).
//!
//! The defaults are the strict ones: https, port 443, nothing inside. Environment proxies are
//! ignored on purpose; the crate reads no environment variable.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;
use rustls::pki_types::CertificateDer;

use crate::proxy::Proxy;

/// Settings of the guard and the sender.
#[derive(Clone, Debug)]
pub struct EgressConfig {
    /// Networks that are open although the built-in table denies them (tests, on-premise). Once
    /// one of them is not loopback, names of inside zones (`.internal`, `.corp` …) are open too:
    /// their answers are still vetted.
    pub allow_networks: Vec<IpNet>,
    /// Networks that are closed besides the built-in table; they win over `allow_networks`.
    pub deny_networks: Vec<IpNet>,
    /// Whether `http://` URLs are taken.
    pub allow_http: bool,
    /// The ports a URL may name. Port 0 never.
    pub allow_ports: Ports,
    /// The DNS server to ask; none means those of `/etc/resolv.conf`.
    pub resolver: Option<SocketAddr>,
    /// Whether addresses in `64:ff9b::/96` are judged by the IPv4 address inside instead of
    /// being denied.
    pub nat64: bool,
    /// Whether single-label names and `localhost` are taken (`--dev`). Their addresses still
    /// need `allow_networks`.
    pub allow_local_names: bool,
    /// Root certificates trusted besides the web's.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// The proxy everything goes through; the environment's are ignored.
    pub proxy: Option<Proxy>,
    /// The `User-Agent` line's value.
    pub user_agent: String,
    /// How long a connection may lie idle before it is dropped. Under the 5 s after which many
    /// servers close theirs.
    pub idle_max: Duration,
    /// How old a connection may get, so that a moved name is resolved and vetted anew.
    pub age_max: Duration,
    /// How many connections may lie idle in all.
    pub pool_max_idle: usize,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow_networks: Vec::new(),
            deny_networks: Vec::new(),
            allow_http: false,
            allow_ports: Ports::Only(vec![443]),
            resolver: None,
            nat64: false,
            allow_local_names: false,
            extra_roots: Vec::new(),
            proxy: None,
            user_agent: concat!("Gonets/", env!("CARGO_PKG_VERSION")).to_owned(),
            idle_max: Duration::from_secs(4),
            age_max: Duration::from_secs(60),
            pool_max_idle: 1024,
        }
    }
}

/// Which ports a URL may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// These and no others.
    Only(Vec<u16>),
    /// Every port but 0.
    Any,
}

impl Ports {
    /// Whether a URL may name this port.
    pub fn allows(&self, port: u16) -> bool {
        port != 0
            && match self {
                Self::Only(ports) => ports.contains(&port),
                Self::Any => true,
            }
    }
}
