//! A way out through an HTTP proxy, where the operator has named one (`egress.proxy`).
//!
//! Everything goes through a CONNECT tunnel, plain http too, so the exchange and TLS inside are
//! the same as without. The proxy is told the vetted address and never the name: what it would
//! resolve by itself nobody would have vetted. The proxy's own address is the operator's choice
//! and is not judged. Proxies named by environment variables are ignored.

use std::io;
use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Host, Url};

use crate::dial::dial;
use crate::error::Error;
use crate::exchange::{Cause, CauseKind, OurFault, Seen};
use crate::http1::status_of_head;
use crate::resolve::Names;

/// A proxy, and what to tell it about us.
#[derive(Clone)]
pub struct Proxy {
    host: Host<String>,
    port: u16,
    /// The `Proxy-Authorization` line, or nothing.
    authorization: String,
}

/// The longest head of a proxy's answer, in bytes.
const MAX_HEAD: usize = 16 * 1024;

impl Proxy {
    /// Reads `http://[user:password@]host[:port]`.
    ///
    /// # Errors
    ///
    /// [`Error::Proxy`] for anything else; the text is not repeated, it may hold a password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let url = Url::parse(text).map_err(|_| Error::Proxy)?;
        let host = url.host().ok_or(Error::Proxy)?.to_owned();
        let port = url.port_or_known_default().ok_or(Error::Proxy)?;
        if url.scheme() != "http" || url.path() != "/" || url.query().is_some() {
            return Err(Error::Proxy);
        }
        let credentials = format!("{}:{}", url.username(), url.password().unwrap_or(""));
        let authorization = if credentials == ":" {
            String::new()
        } else {
            format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(credentials))
        };
        Ok(Self { host, port, authorization })
    }

    /// A tunnel to the first of the vetted addresses that the proxy reaches.
    pub(crate) async fn tunnel(
        &self,
        names: &Names,
        addresses: &[SocketAddr],
    ) -> Result<(TcpStream, SocketAddr), Seen> {
        let proxies = self.addresses(names).await?;
        let mut last = None;
        for &address in addresses {
            let (mut stream, proxy) = dial(&proxies).await.map_err(proxy_is_down)?;
            match self.connect(&mut stream, address).await {
                Ok(200..300) => return Ok((stream, address)),
                Ok(status @ 500..) => last = Some((address, status)),
                Ok(status) => {
                    return Err(down(format!("{proxy} refused CONNECT with status {status}")));
                }
                Err(cause) => return Err(down(format!("{proxy} broke CONNECT off: {cause}"))),
            }
        }
        Err(Seen::Failed(match last {
            Some((address, status)) => Cause::new(
                CauseKind::ConnectFailed,
                format!("the proxy could not reach {address}: it answered {status}."),
            ),
            None => Cause::new(CauseKind::ConnectFailed, "there was no address to reach."),
        }))
    }

    async fn addresses(&self, names: &Names) -> Result<Vec<SocketAddr>, Seen> {
        let found = match &self.host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => names.ask(name).await.map_err(proxy_is_down)?,
        };
        Ok(found.into_iter().map(|address| SocketAddr::new(address, self.port)).collect())
    }

    /// Asks for a tunnel and gives the proxy's status.
    async fn connect(&self, stream: &mut TcpStream, to: SocketAddr) -> io::Result<u16> {
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", self.authorization);
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::with_capacity(512);
        while head.len() < MAX_HEAD {
            if stream.read_buf(&mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some((status, end)) = status_of_head(&head).map_err(io::Error::other)? {
                // Whoever speaks first behind a tunnel is us.
                let is_clean = end == head.len() || !(200..300).contains(&status);
                return if is_clean { Ok(status) } else { Err(io::ErrorKind::InvalidData.into()) };
            }
        }
        Err(io::Error::other("its answer has too long a head"))
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proxy({}:{})", self.host, self.port)
    }
}

fn down(why: String) -> Seen {
    Seen::OurFault(OurFault::ProxyDown(why))
}

fn proxy_is_down(seen: Seen) -> Seen {
    match seen {
        Seen::Failed(cause) => down(cause.sentence().trim_end_matches('.').to_owned()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_and_its_password_is_not_shown() {
        let proxy = Proxy::parse("http://user:pass@proxy.corp:3128").unwrap();
        assert_eq!(proxy.authorization, "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n");
        assert_eq!(format!("{proxy:?}"), "Proxy(proxy.corp:3128)");
        assert_eq!(Proxy::parse("http://10.0.0.1").unwrap().port, 80);
        for text in ["https://p:1", "socks5://p:1", "p:3128", "http://p/path", ""] {
            assert!(Proxy::parse(text).is_err(), "{text}");
        }
    }
}
