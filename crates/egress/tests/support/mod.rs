//! Scripted peers: a listener on loopback whose every connection follows a script.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use gonets_egress::{CauseKind, Egress, EgressConfig, Exchange, Ports, Request, Seen, Target};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A time-out that no test that works comes near.
pub const LONG: Duration = Duration::from_secs(20);

/// Time-outs that are meant to pass. A machine that stalls may use up a short one before the peer
/// has done its part, so there are longer ones to try again with.
const TIMEOUTS: [Duration; 3] = [Duration::from_millis(150), Duration::from_secs(2), Duration::from_secs(10)];

/// A peer, counting the connections it has taken.
pub struct Peer {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Peer {
    /// Runs `script` for each connection, with the connection's number from 0.
    pub async fn start<F, T>(script: F) -> Self
    where
        F: Fn(TcpStream, usize) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(script(stream, counter.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Self { address, connections }
    }

    /// Answers one request of each connection with `answer`, then closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<Vec<u8>> = Arc::new(answer.into());
        Self::start(move |mut stream, _| {
            let answer = answer.clone();
            async move {
                read_request(&mut stream).await;
                stream.write_all(&answer).await.ok();
            }
        })
        .await
    }

    /// Answers all requests of each connection with `answer`.
    pub async fn keeping(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<Vec<u8>> = Arc::new(answer.into());
        Self::start(move |mut stream, _| {
            let answer = answer.clone();
            async move {
                while read_request(&mut stream).await.is_some() {
                    stream.write_all(&answer).await.ok();
                }
            }
        })
        .await
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }
}

/// Reads the head of a request that has no body.
pub async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            break;
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Reads one whole request; none when the connection ends first.
pub async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
            if bytes.len() >= end + 4 + length {
                return Some(bytes);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Waits for the first bytes, whatever they are.
pub async fn read_some<S: AsyncRead + Unpin>(stream: &mut S) -> usize {
    stream.read(&mut [0; 4096]).await.unwrap_or(0)
}

/// Keeps the connection open, reading, until the other side closes it.
pub async fn hold<S: AsyncRead + Unpin>(stream: &mut S) {
    while read_some(stream).await > 0 {}
}

/// Loopback and http, on any port.
pub fn open_config() -> EgressConfig {
    EgressConfig {
        allow_networks: vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()],
        allow_http: true,
        allow_ports: Ports::Any,
        allow_local_names: true,
        ..EgressConfig::default()
    }
}

pub fn open_egress() -> Arc<Egress> {
    Egress::new(open_config()).unwrap()
}

pub fn target(egress: &Egress, url: &str) -> Target {
    egress.guard().parse_url(url).unwrap()
}

/// Sends `{}` for endpoint 1.
pub async fn send(egress: &Egress, url: &str) -> Exchange {
    send_within(egress, url, Bytes::from_static(b"{}"), LONG).await
}

pub async fn send_within(egress: &Egress, url: &str, body: Bytes, timeout: Duration) -> Exchange {
    let target = target(egress, url);
    egress
        .send(Request::json(1, &target, body, timeout), &mut |wire| {
            wire.extend_from_slice(b"webhook-id: msg_1\r\n");
        })
        .await
}

/// Runs `round` with ever longer time-outs until one leaves room for as much as `is_enough` looks
/// for; gives what came of the last.
pub async fn with_room<T>(round: impl AsyncFn(Duration) -> T, is_enough: impl Fn(&T) -> bool) -> T {
    let [shortest, longer @ ..] = TIMEOUTS;
    let mut result = round(shortest).await;
    for timeout in longer {
        if is_enough(&result) {
            break;
        }
        result = round(timeout).await;
    }
    result
}

/// A port that refuses every connection, and that nobody else is given, while the socket is kept.
pub fn closed_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// The status, which there must be.
pub fn status(exchange: &Exchange) -> u16 {
    match &exchange.seen {
        Seen::Status(status) => *status,
        other => panic!("no status: {other:?}"),
    }
}

/// The class of the failure, which there must be.
pub fn failure(exchange: &Exchange) -> CauseKind {
    match &exchange.seen {
        Seen::Failed(cause) => cause.kind(),
        other => panic!("not failed: {other:?}"),
    }
}
