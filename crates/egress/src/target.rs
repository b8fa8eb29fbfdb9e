//! A URL that was parsed once, with everything the sender needs cut out of it beforehand.
//!
//! Only the guard makes one, so whoever holds a `Target` holds a URL that passed. Requests are
//! built from these parts and never from a second parse.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use url::Url;

use crate::guard::Refused;

/// A vetted URL. Cloning it copies a pointer.
#[derive(Clone)]
pub struct Target(Arc<Parts>);

struct Parts {
    text: Box<str>,
    host: Box<str>,
    place: Place,
    port: u16,
    is_tls: bool,
    host_port: Box<str>,
    /// `POST <path> HTTP/1.1` and the Host line, ready to be copied out.
    opening: Box<[u8]>,
    path: std::ops::Range<usize>,
    host_header: std::ops::Range<usize>,
    server_name: ServerName<'static>,
}

/// Where the host's addresses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is an address.
    Address(IpAddr),
    /// It is this machine, without asking anyone.
    Localhost,
    /// DNS knows.
    Name,
}

const METHOD: &str = "POST ";
const VERSION_AND_HOST: &str = " HTTP/1.1\r\nHost: ";

impl Target {
    pub(crate) fn new(url: &Url, place: Place, port: u16) -> Result<Self, Refused> {
        let no_host = || Refused::syntax("it has no host");
        let written = url.host_str().ok_or_else(no_host)?;
        let is_tls = url.scheme() == "https";
        let host: Box<str> = match place {
            Place::Address(address) => address.to_string().into(),
            Place::Localhost | Place::Name => written.into(),
        };
        let server_name = match place {
            Place::Address(address) => ServerName::IpAddress(address.to_canonical().into()),
            Place::Localhost | Place::Name => ServerName::try_from(host.to_string())
                .map_err(|_| Refused::syntax("its host is not a DNS name"))?,
        };

        let mut opening = String::from(METHOD);
        opening.push_str(url.path());
        if let Some(query) = url.query() {
            opening.push('?');
            opening.push_str(query);
        }
        let path = METHOD.len()..opening.len();
        opening.push_str(VERSION_AND_HOST);
        let host_start = opening.len();
        opening.push_str(written);
        // The parser drops a default port, so one that is there must be named.
        if let Some(port) = url.port() {
            opening.push(':');
            opening.push_str(&port.to_string());
        }
        let host_header = host_start..opening.len();
        opening.push_str("\r\n");

        Ok(Self(Arc::new(Parts {
            text: url.as_str().into(),
            host_port: format!("{written}:{port}").into(),
            host,
            place,
            port,
            is_tls,
            opening: opening.into_bytes().into(),
            path,
            host_header,
            server_name,
        })))
    }

    /// The URL re-serialised: what is stored and shown.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The name in its ASCII form, or the address without brackets.
    pub fn host(&self) -> &str {
        &self.0.host
    }

    /// The address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.0.place {
            Place::Address(address) => Some(address),
            Place::Localhost | Place::Name => None,
        }
    }

    /// The port, a default one included.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Whether it is https.
    pub fn is_tls(&self) -> bool {
        self.0.is_tls
    }

    /// The `Host` line's value: a port only when it is not the scheme's own.
    pub fn host_header(&self) -> &[u8] {
        &self.0.opening[self.0.host_header.clone()]
    }

    /// Path and query as they reach the wire, byte for byte.
    pub fn path_and_query(&self) -> &[u8] {
        &self.0.opening[self.0.path.clone()]
    }

    /// `host:port`, the key of the limit per host.
    pub fn host_port(&self) -> &str {
        &self.0.host_port
    }

    pub(crate) fn place(&self) -> Place {
        self.0.place
    }

    pub(crate) fn opening(&self) -> &[u8] {
        &self.0.opening
    }

    pub(crate) fn server_name(&self) -> &ServerName<'static> {
        &self.0.server_name
    }

    /// Whether a connection made for `other` may carry a request for this one.
    pub(crate) fn same_origin(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.is_tls == other.0.is_tls && self.0.host_port == other.0.host_port)
    }
}

/// The addresses of `localhost`, in the order they are tried.
pub(crate) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.0.text).finish()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}
