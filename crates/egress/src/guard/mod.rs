//! The guard: which URLs and addresses may be reached.
//!
//! It stands alone and does no I/O, so forms can ask it while a partner types. The sender asks it
//! again at every connection, for every address a name resolved to.
//!
//! The order of the questions matters for the message only, never for the verdict: every question
//! must be answered well.

mod address;
mod host;
mod refusal;
mod text;

use ipnet::IpNet;
use url::{Host, Url};

use crate::config::{EgressConfig, Ports};
use crate::target::{Place, Target};

pub use refusal::{Denied, Refused, RefusedCode};

/// The rules for URLs and addresses, made once from the configuration.
#[derive(Clone, Debug)]
pub struct Guard {
    allow_networks: Vec<IpNet>,
    deny_networks: Vec<IpNet>,
    allow_http: bool,
    allow_ports: Ports,
    nat64: bool,
    local_names: bool,
    inside_names: bool,
}

impl Guard {
    /// A guard with the rules of `config`.
    pub fn new(config: &EgressConfig) -> Self {
        // A loopback allowance (tests, --dev) opens this host, not the network it stands in.
        let inside_names = config.allow_networks.iter().any(|network| !network.addr().is_loopback());
        Self {
            allow_networks: config.allow_networks.clone(),
            deny_networks: config.deny_networks.clone(),
            allow_http: config.allow_http,
            allow_ports: config.allow_ports.clone(),
            nat64: config.nat64,
            local_names: config.allow_local_names,
            inside_names,
        }
    }

    /// Reads a URL, once: what comes out is what is stored, shown and sent to.
    ///
    /// Asks no DNS. A literal address in the URL is vetted here already.
    ///
    /// # Errors
    ///
    /// A [`Refused`] that names the rule (`code`), and says what to do to the operator or only
    /// that it is not allowed to the partner.
    pub fn parse_url(&self, text: &str) -> Result<Target, Refused> {
        let written_host = text::check(text)?;
        let mut url = Url::parse(text).map_err(|cause| text::unreadable(text, cause))?;
        self.check_scheme(&url)?;
        if text::has_userinfo(text, &url) {
            return Err(Refused::userinfo());
        }
        if url.fragment().is_some() {
            return Err(Refused::fragment());
        }
        let port = url.port_or_known_default().ok_or_else(|| Refused::syntax("it has no port"))?;
        let place = self.check_host(&mut url, written_host)?;
        if !self.allow_ports.allows(port) {
            return Err(Refused::port(port));
        }
        if let Place::Address(address) = place {
            self.verdict(address).map_err(Refused::address)?;
        }
        Target::new(&url, place, port)
    }

    fn check_scheme(&self, url: &Url) -> Result<(), Refused> {
        match url.scheme() {
            "https" => Ok(()),
            "http" if self.allow_http => Ok(()),
            scheme => Err(Refused::scheme(scheme)),
        }
    }

    /// Judges the host, and takes a trailing dot off a name.
    fn check_host(&self, url: &mut Url, written: &str) -> Result<Place, Refused> {
        let name = match url.host() {
            None => return Err(Refused::syntax("it has no host")),
            Some(Host::Ipv4(address)) => {
                let plain = written.strip_suffix('.').unwrap_or(written);
                return if plain == address.to_string() {
                    Ok(Place::Address(address.into()))
                } else {
                    Err(Refused::host(written, "an IPv4 address must be written as four plain decimals"))
                };
            }
            Some(Host::Ipv6(address)) => return Ok(Place::Address(address.into())),
            Some(Host::Domain(name)) => name.to_owned(),
        };
        let bare = name.strip_suffix('.').unwrap_or(&name);
        host::check(bare, self.local_names, self.inside_names).map_err(|why| Refused::host(bare, &why))?;
        if bare.len() != name.len() {
            url.set_host(Some(bare)).map_err(|_| Refused::syntax("its host is not a DNS name"))?;
        }
        Ok(if bare == "localhost" { Place::Localhost } else { Place::Name })
    }
}
