//! A name server that says what a test tells it to (RFC 1035, over UDP).

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use tokio::net::UdpSocket;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// An answer that may be asked for again at once.
const TTL: [u8; 4] = [0; 4];

/// What a name leads to.
#[derive(Debug, Clone)]
pub enum Says {
    /// These addresses; those of the family that is asked for are given.
    Addresses(Vec<IpAddr>),
    /// Another name, with the addresses of that name in the same answer.
    Alias(String, Vec<IpAddr>),
    /// Nothing: the name does not exist.
    NoSuchName,
    /// That it has trouble.
    Trouble,
    /// Nothing at all.
    Silence,
}

/// Gives the answer to the n-th question (from 0) for a name's addresses of one family.
type Script = Box<dyn Fn(&str, usize) -> Says + Send + Sync>;

/// A running name server.
pub struct Dns {
    address: SocketAddr,
    asked: Arc<Mutex<HashMap<(String, u16), usize>>>,
}

impl Dns {
    pub async fn start(script: impl Fn(&str, usize) -> Says + Send + Sync + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let address = socket.local_addr().expect("an address");
        let asked: Arc<Mutex<HashMap<(String, u16), usize>>> = Arc::default();
        let (counts, script): (_, Script) = (Arc::clone(&asked), Box::new(script));
        tokio::spawn(async move {
            let mut buffer = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let Some(answer) = answer(&buffer[..length], &script, &counts) else { continue };
                let _ = socket.send_to(&answer, from).await;
            }
        });
        Self { address, asked }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often the IPv4 addresses of a name were asked for.
    pub fn asked(&self, name: &str) -> usize {
        self.asked.lock().expect("whole").get(&(name.to_owned(), A)).copied().unwrap_or(0)
    }
}

fn answer(
    question: &[u8],
    script: &Script,
    counts: &Mutex<HashMap<(String, u16), usize>>,
) -> Option<Vec<u8>> {
    let (name, end) = read_name(question.get(12..)?)?;
    let end = 12 + end;
    let kind = u16::from_be_bytes([*question.get(end)?, *question.get(end + 1)?]);
    let nth = {
        let mut counts = counts.lock().expect("whole");
        let count = counts.entry((name.clone(), kind)).or_default();
        *count += 1;
        *count - 1
    };
    let (code, records) = match script(&name, nth) {
        Says::Silence => return None,
        Says::NoSuchName => (3, Vec::new()),
        Says::Trouble => (2, Vec::new()),
        Says::Addresses(addresses) => (0, of_family(&[0xc0, 12], kind, &addresses)),
        Says::Alias(target, addresses) => {
            let target = written(&target);
            let mut records = vec![record(&[0xc0, 12], CNAME, &target)];
            records.extend(of_family(&target, kind, &addresses));
            (0, records)
        }
    };
    let mut out = question[..2].to_vec();
    // An answer, recursion wanted and available.
    out.extend_from_slice(&[0x81, 0x80 | code, 0, 1]);
    out.extend_from_slice(&u16::try_from(records.len()).expect("few records").to_be_bytes());
    out.extend_from_slice(&[0, 0, 0, 0]);
    out.extend_from_slice(&question[12..end + 4]);
    out.extend(records.concat());
    Some(out)
}

fn of_family(owner: &[u8], kind: u16, addresses: &[IpAddr]) -> Vec<Vec<u8>> {
    let records = addresses.iter().filter_map(|address| match (address, kind) {
        (IpAddr::V4(v4), A) => Some(record(owner, A, &v4.octets())),
        (IpAddr::V6(v6), AAAA) => Some(record(owner, AAAA, &v6.octets())),
        _ => None,
    });
    records.collect()
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("short").to_be_bytes();
    [owner, &kind.to_be_bytes(), &[0, 1], &TTL, &length, data].concat()
}

/// The name in dots, lower case, and where it ends.
fn read_name(bytes: &[u8]) -> Option<(String, usize)> {
    let (mut labels, mut at) = (Vec::new(), 0);
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(bytes.get(at..at + length)?).to_lowercase());
        at += length;
    }
}

fn written(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for label in name.split('.') {
        out.push(u8::try_from(label.len()).expect("a short label"));
        out.extend_from_slice(label.as_bytes());
    }
    out.push(0);
    out
}
