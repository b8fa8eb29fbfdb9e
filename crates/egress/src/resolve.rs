//! From a host to the addresses that may be dialled.
//!
//! Names are resolved as they stand: fully qualified, no search list, no hosts file, no public
//! servers behind the operator's back. Every answer is vetted, and one denied answer refuses the
//! whole name: a name that points inside and outside at once is either broken or an attack. DNS
//! failure is failure, never a pass.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::Name;
use hickory_resolver::system_conf::read_system_conf;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::Error;
use crate::exchange::{Cause, CauseKind, OurFault, Seen};
use crate::guard::Guard;
use crate::target::{LOCALHOST, Place, Target};

/// How many of a name's addresses are dialled. All are vetted.
const MAX_ADDRESSES: usize = 16;
/// How long a question may take before it is asked again, once.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);
/// A server that answered anything within this time is taken to be up.
const LATELY: Duration = Duration::from_secs(30);
/// How long an answer is believed at most, whatever its TTL says.
const BELIEVE_MAX: Duration = Duration::from_secs(60);
/// How long "there is no such name" is believed: a mended name should not wait for its old error.
const BELIEVE_ABSENCE_MAX: Duration = Duration::from_secs(5);
/// Questions in flight to one server.
const MAX_QUESTIONS: usize = 1024;

/// Asks DNS and vets what it says.
pub(crate) struct Names {
    /// The resolver, or why there is none. Literal addresses work without.
    resolver: Result<TokioResolver, String>,
    /// When a server last answered a question, whatever it said.
    last_answer: Mutex<Option<Instant>>,
}

impl Names {
    /// Asks `server`, or those of the system if there is none.
    pub(crate) fn new(server: Option<SocketAddr>) -> Result<Self, Error> {
        Self::with_patience(server, ASK_TIMEOUT)
    }

    fn with_patience(server: Option<SocketAddr>, ask_timeout: Duration) -> Result<Self, Error> {
        let servers = match server {
            Some(address) => Ok(vec![name_server(address)]),
            None => system_servers(),
        };
        let resolver = match servers {
            Ok(servers) => Ok(build(servers, ask_timeout)?),
            Err(why) => Err(why),
        };
        Ok(Self { resolver, last_answer: Mutex::new(None) })
    }

    /// The vetted addresses of the target, in the order to try them; at least one.
    pub(crate) async fn resolve(&self, guard: &Guard, target: &Target) -> Result<Vec<SocketAddr>, Seen> {
        match target.place() {
            Place::Address(address) => vet(guard, target, vec![address]),
            Place::Localhost => localhost(guard, target),
            Place::Name => vet(guard, target, self.ask(target.host()).await?),
        }
    }

    /// All addresses DNS knows of a name, not vetted; at least one.
    pub(crate) async fn ask(&self, host: &str) -> Result<Vec<IpAddr>, Seen> {
        let resolver =
            self.resolver.as_ref().map_err(|why| Seen::OurFault(OurFault::ResolverDown(why.clone())))?;
        let mut name = Name::from_ascii(host).map_err(|_| {
            failed(CauseKind::DnsNotFound, format!("\"{host}\" is not a name DNS can carry."))
        })?;
        name.set_fqdn(true);
        let answers = self.look_up(resolver, name).await.map_err(|cause| self.unanswered(host, &cause))?;
        let addresses: Vec<IpAddr> = answers.iter().collect();
        if addresses.is_empty() {
            return Err(no_address(host));
        }
        Ok(addresses)
    }

    async fn look_up(&self, resolver: &TokioResolver, name: Name) -> Result<LookupIp, NetError> {
        let mut lookup = pin!(resolver.lookup_ip(name));
        // What is known without waiting comes from the cache, and says nothing of the servers.
        if let Poll::Ready(known) = poll_fn(|cx| Poll::Ready(lookup.as_mut().poll(cx))).await {
            return known;
        }
        let answer = lookup.await;
        if matches!(answer, Ok(_) | Err(NetError::Dns(_))) {
            *self.last_answer.lock() = Some(Instant::now());
        }
        answer
    }

    fn answered_lately(&self) -> bool {
        self.last_answer.lock().is_some_and(|then| then.elapsed() < LATELY)
    }

    fn unanswered(&self, host: &str, cause: &NetError) -> Seen {
        match cause {
            NetError::Dns(DnsError::NoRecordsFound(_)) if cause.is_nx_domain() => {
                failed(CauseKind::DnsNotFound, format!("the name {host} does not exist in DNS."))
            }
            NetError::Dns(DnsError::NoRecordsFound(_)) => no_address(host),
            NetError::Io(io) => {
                Seen::OurFault(OurFault::of(io).unwrap_or_else(|| OurFault::ResolverDown(io.to_string())))
            }
            NetError::NoConnections | NetError::Busy => {
                Seen::OurFault(OurFault::ResolverDown(cause.to_string()))
            }
            // A server silent to every question is down; one that answers others has trouble with
            // this name.
            NetError::Timeout if !self.answered_lately() => {
                Seen::OurFault(OurFault::ResolverDown("it has answered no question lately".to_owned()))
            }
            other => {
                failed(CauseKind::DnsFailed, format!("the name servers gave no answer for {host}: {other}."))
            }
        }
    }
}

fn vet(guard: &Guard, target: &Target, addresses: Vec<IpAddr>) -> Result<Vec<SocketAddr>, Seen> {
    for &address in &addresses {
        guard.verdict(address).map_err(|denied| {
            Seen::Blocked(match target.place() {
                Place::Address(_) => denied,
                Place::Localhost | Place::Name => denied.of_host(target.host()),
            })
        })?;
    }
    Ok(interleave(addresses, target.port()))
}

/// This machine's own addresses are our choice, so those that are open are taken.
fn localhost(guard: &Guard, target: &Target) -> Result<Vec<SocketAddr>, Seen> {
    let open = LOCALHOST.into_iter().filter(|&address| guard.verdict(address).is_ok()).collect::<Vec<_>>();
    if open.is_empty() {
        return vet(guard, target, LOCALHOST.to_vec());
    }
    Ok(open.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
}

/// IPv6 and IPv4 in turn, IPv6 first (RFC 8305 §4), so that one broken family costs one pause.
fn interleave(addresses: Vec<IpAddr>, port: u16) -> Vec<SocketAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .map(|address| SocketAddr::new(address.to_canonical(), port))
        .partition(SocketAddr::is_ipv6);
    let (mut v6, mut v4) = (v6.into_iter(), v4.into_iter());
    let mut turns = Vec::new();
    while turns.len() < MAX_ADDRESSES {
        let before = turns.len();
        turns.extend(v6.next());
        turns.extend(v4.next());
        if turns.len() == before {
            break;
        }
    }
    turns.truncate(MAX_ADDRESSES);
    turns
}

fn build(servers: Vec<NameServerConfig>, ask_timeout: Duration) -> Result<TokioResolver, Error> {
    let mut options = ResolverOpts::default();
    options.use_hosts_file = ResolveHosts::Never;
    options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    options.timeout = ask_timeout;
    options.attempts = 1;
    options.positive_max_ttl = Some(BELIEVE_MAX);
    options.negative_max_ttl = Some(BELIEVE_ABSENCE_MAX);
    options.max_active_requests = MAX_QUESTIONS;
    let config = ResolverConfig::from_parts(None, Vec::new(), servers);
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        .with_options(options)
        .build()
        .map_err(|cause| Error::Resolver { cause: cause.to_string() })
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut udp = ConnectionConfig::udp();
    udp.port = address.port();
    let mut tcp = ConnectionConfig::tcp();
    tcp.port = address.port();
    NameServerConfig::new(address.ip(), true, vec![udp, tcp])
}

/// The servers of the system's configuration, and nothing else of it.
fn system_servers() -> Result<Vec<NameServerConfig>, String> {
    let (config, _) =
        read_system_conf().map_err(|cause| format!("/etc/resolv.conf names no server ({cause})"))?;
    Ok(config.name_servers().to_vec())
}

fn failed(kind: CauseKind, sentence: String) -> Seen {
    Seen::Failed(Cause::new(kind, sentence))
}

fn no_address(host: &str) -> Seen {
    failed(CauseKind::DnsNotFound, format!("DNS knows no address of {host}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EgressConfig;

    #[tokio::test]
    async fn a_dns_server_that_answers_nothing_is_our_fault() {
        let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let names = Names::with_patience(silent.local_addr().ok(), Duration::from_millis(50)).unwrap();
        let guard = Guard::new(&EgressConfig::default());
        let target = guard.parse_url("https://partner.example/").unwrap();
        let seen = names.resolve(&guard, &target).await.unwrap_err();
        assert!(matches!(seen, Seen::OurFault(OurFault::ResolverDown(_))), "{seen:?}");
        // Had it answered others lately, this name would be at fault.
        *names.last_answer.lock() = Some(Instant::now());
        let seen = names.resolve(&guard, &target).await.unwrap_err();
        assert!(matches!(&seen, Seen::Failed(c) if c.kind() == CauseKind::DnsFailed), "{seen:?}");
    }

    #[test]
    fn families_take_turns_and_sixteen_is_the_end() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let mixed = vec![ip("1.1.1.1"), ip("::ffff:8.8.8.8"), ip("2606:4700::1")];
        let order: Vec<_> = interleave(mixed, 443).iter().map(SocketAddr::ip).collect();
        assert_eq!(order, [ip("2606:4700::1"), ip("1.1.1.1"), ip("8.8.8.8")]);
        let many = (0..40).map(|n| IpAddr::from([8, 8, 8, n])).collect();
        assert_eq!(interleave(many, 443).len(), MAX_ADDRESSES);
    }
}
