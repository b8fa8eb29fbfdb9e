//! Names, against a DNS server that answers as it is told.

mod support;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gonets_egress::{CauseKind, Egress, EgressConfig, Seen, Stage};
use parking_lot::Mutex;
use support::*;
use tokio::net::UdpSocket;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const A: u16 = 1;
const AAAA: u16 = 28;

/// What the server says to a question.
#[derive(Clone)]
enum Reply {
    Addresses(Vec<IpAddr>),
    NoSuchName,
    ServerFailed,
    Silence,
}

/// A DNS server over UDP: `script` gets the name and the number of the question about it.
struct Dns {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Dns {
    async fn start(script: impl Fn(&str, u16, usize) -> Reply + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                let (name, kind, end) = question(&packet[..length]);
                let nth = log.lock().iter().filter(|asked| **asked == name).count();
                let reply = script(&name, kind, nth);
                log.lock().push(name);
                if let Some(answer) = answer(&packet[..end], kind, &reply) {
                    socket.send_to(&answer, from).await.ok();
                }
            }
        });
        Self { address, asked }
    }

    /// Always the same addresses.
    async fn with(addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
        Self::start(move |_, _, _| Reply::Addresses(addresses.clone())).await
    }

    fn egress(&self) -> Arc<Egress> {
        self.egress_with(|_| ())
    }

    fn egress_with(&self, edit: impl FnOnce(&mut EgressConfig)) -> Arc<Egress> {
        let mut config = open_config();
        config.resolver = Some(self.address);
        edit(&mut config);
        Egress::new(config).unwrap()
    }
}

/// The name, the type, and where the question ends.
fn question(packet: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while packet[at] != 0 {
        let length = packet[at] as usize;
        labels.push(String::from_utf8_lossy(&packet[at + 1..=at + length]).to_lowercase());
        at += 1 + length;
    }
    let kind = u16::from_be_bytes([packet[at + 1], packet[at + 2]]);
    (labels.join("."), kind, at + 5)
}

fn answer(question: &[u8], kind: u16, reply: &Reply) -> Option<Vec<u8>> {
    let (code, addresses) = match reply {
        Reply::Addresses(addresses) => (0, addresses.as_slice()),
        Reply::NoSuchName => (3, &[][..]),
        Reply::ServerFailed => (2, &[][..]),
        Reply::Silence => return None,
    };
    let mut records = Vec::new();
    let mut count = 0u16;
    for address in addresses {
        let data = match address {
            IpAddr::V4(v4) if kind == A => v4.octets().to_vec(),
            IpAddr::V6(v6) if kind == AAAA => v6.octets().to_vec(),
            _ => continue,
        };
        count += 1;
        records.extend_from_slice(&[0xc0, 12]);
        records.extend_from_slice(&kind.to_be_bytes());
        // Class IN, TTL 0.
        records.extend_from_slice(&[0, 1, 0, 0, 0, 0]);
        records.extend_from_slice(&(data.len() as u16).to_be_bytes());
        records.extend_from_slice(&data);
    }
    let mut packet = question.to_vec();
    packet[2..4].copy_from_slice(&[0x81, 0x80 | code]);
    packet[6..8].copy_from_slice(&count.to_be_bytes());
    packet[8..12].fill(0);
    packet.extend_from_slice(&records);
    Some(packet)
}

fn url(peer: &Peer, host: &str) -> String {
    format!("http://{host}:{}/", peer.address.port())
}

#[tokio::test]
async fn a_name_is_resolved_as_it_stands_and_leads_to_its_address() {
    let dns = Dns::with(&["127.0.0.1"]).await;
    let peer = Peer::keeping(OK).await;
    for host in ["partner.test", "bücher.test"] {
        let exchange = send(&dns.egress(), &url(&peer, host)).await;
        assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
        assert_eq!(exchange.remote, Some(peer.address));
    }
    let mut asked = dns.asked.lock().clone();
    asked.dedup();
    assert_eq!(asked, ["partner.test", "xn--bcher-kva.test"]);
}

#[tokio::test]
async fn one_denied_answer_refuses_the_whole_name_and_is_named() {
    let peer = Peer::keeping(OK).await;
    for inside in ["10.0.0.5", "fe80::1", "169.254.169.254", "::ffff:10.0.0.5"] {
        let dns = Dns::with(&["127.0.0.1", inside]).await;
        let egress = dns.egress();
        let address = url(&peer, "partner.test");
        assert!(egress.vet(&target(&egress, &address)).await.is_err(), "{inside}");
        let exchange = send(&egress, &address).await;
        let Seen::Blocked(denied) = &exchange.seen else { panic!("{inside}: {:?}", exchange.seen) };
        assert_eq!(denied.address(), inside.parse::<IpAddr>().unwrap());
        assert!(denied.operator().contains("partner.test"), "{denied}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_denied_answer_is_found_among_any_number() {
    let mut addresses: Vec<String> = (1..30).map(|n| format!("127.0.0.{n}")).collect();
    addresses.push("10.0.0.1".to_owned());
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let exchange = send(&Dns::with(&addresses).await.egress(), "http://p.test:9/").await;
    assert!(matches!(exchange.seen, Seen::Blocked(_)), "{:?}", exchange.seen);
}

#[tokio::test]
async fn a_name_that_changes_after_it_was_vetted_reaches_nothing_inside() {
    // The form sees an open address; what comes afterwards alternates.
    let dns = Dns::start(|_, kind, nth| match (kind, nth) {
        (A, 0..=1) => Reply::Addresses(vec!["8.8.8.8".parse().unwrap()]),
        (A, _) => Reply::Addresses(vec!["127.0.0.1".parse().unwrap()]),
        _ => Reply::Addresses(Vec::new()),
    })
    .await;
    let canary = Peer::keeping(OK).await;
    let egress = dns.egress_with(|c| c.allow_networks.clear());
    let address = url(&canary, "rebind.test");
    assert!(egress.vet(&target(&egress, &address)).await.is_ok());
    let exchange = send(&egress, &address).await;
    assert!(matches!(exchange.seen, Seen::Blocked(_)), "{:?}", exchange.seen);
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_dead_first_family_does_not_keep_the_other_waiting() {
    let peer = Peer::keeping(OK).await;
    // Nothing listens on ::1 at this port: refused at once.
    let dns = Dns::with(&["::1", "127.0.0.1"]).await;
    let exchange = send(&dns.egress(), &url(&peer, "partner.test")).await;
    assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
    // A family whose question fails counts as having no answer.
    let dns = Dns::start(|_, kind, _| match kind {
        A => Reply::Addresses(vec!["127.0.0.1".parse().unwrap()]),
        _ => Reply::ServerFailed,
    })
    .await;
    let exchange = send(&dns.egress(), &url(&peer, "partner.test")).await;
    assert!(matches!(exchange.seen, Seen::Status(200)), "{:?}", exchange.seen);
}

#[tokio::test]
async fn dns_failures_are_failures_with_a_reason() {
    for (reply, kind) in [
        (Reply::NoSuchName, CauseKind::DnsNotFound),
        (Reply::Addresses(Vec::new()), CauseKind::DnsNotFound),
        (Reply::ServerFailed, CauseKind::DnsFailed),
    ] {
        let dns = Dns::start(move |_, _, _| reply.clone()).await;
        let egress = dns.egress();
        let exchange = send(&egress, "http://gone.test:80/").await;
        let Seen::Failed(cause) = &exchange.seen else { panic!("{:?}", exchange.seen) };
        assert_eq!((cause.kind(), exchange.stage), (kind, Stage::Dns), "{cause}");
        assert!(cause.sentence().contains("gone.test"), "{cause}");
        assert_eq!((exchange.sends, exchange.byte_may_have_left), (0, false));
        // A form takes a name that does not resolve yet: every connection asks again.
        assert!(egress.vet(&target(&egress, "http://gone.test/")).await.is_ok());
    }
}

#[tokio::test]
async fn a_silent_dns_server_ends_at_the_deadline() {
    let dns = Dns::start(|_, _, _| Reply::Silence).await;
    let timeout = Duration::from_millis(150);
    let exchange = send_within(&dns.egress(), "http://slow.test/", Bytes::new(), timeout).await;
    let Seen::Failed(cause) = &exchange.seen else { panic!("{:?}", exchange.seen) };
    assert_eq!((cause.kind(), exchange.stage), (CauseKind::Timeout, Stage::Dns));
}
