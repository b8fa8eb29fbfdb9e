//! Scripted peers at the level of bytes: what [`crate::receiver`] is too well-behaved for.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
};

/// A listener whose every connection follows a script.
pub struct Peer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// A request as its bytes came.
#[derive(Debug, Clone)]
pub struct Raw {
    /// With the empty line that ends it.
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

impl Raw {
    /// The first line, without its end.
    pub fn request_line(&self) -> &str {
        self.lines().next().expect("a request has a first line")
    }

    /// The value of the only line of that name, spelled as given.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.lines().filter_map(|line| line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")));
        let value = values.next();
        assert_eq!(values.next(), None, "{name} came twice");
        value
    }

    /// The lines of the head.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        std::str::from_utf8(&self.head)
            .expect("a head in UTF-8")
            .split("\r\n")
            .filter(|line| !line.is_empty())
    }
}

impl Peer {
    /// On a free port of 127.0.0.1.
    pub async fn start<F, T>(script: F) -> Self
    where
        F: Fn(TcpStream) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        Self::at("127.0.0.1:0", script).await
    }

    /// On `address`.
    pub async fn at<F, T>(address: &str, script: F) -> Self
    where
        F: Fn(TcpStream) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap_or_else(|cause| panic!("{address}: {cause}"));
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                // Small answers are meant to leave at once.
                let _ = stream.set_nodelay(true);
                tokio::spawn(script(stream));
            }
        });
        Self { address, connections }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A port that refuses every connection, and that nobody else is given, as long as this is kept.
pub struct Closed(TcpSocket);

impl Closed {
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        // Bound and not listening.
        Self(socket)
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.0.local_addr().expect("an address"))
    }
}

/// Reads a request's head and whatever came with it; none when the connection ends before.
pub async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Raw> {
    let mut head = Vec::new();
    loop {
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = head.split_off(end + 4);
            return Some(Raw { head, body });
        }
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
}

/// Reads a whole request.
pub async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Raw> {
    let mut raw = read_head(stream).await?;
    let length = raw
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.parse::<usize>().ok())
        .unwrap_or(0);
    while raw.body.len() < length {
        if stream.read_buf(&mut raw.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(raw)
}

/// A script that answers every request with `answer` and passes on what came.
pub async fn keep(mut stream: TcpStream, answer: &[u8], came: impl Fn(Raw)) {
    while let Some(raw) = read_request(&mut stream).await {
        came(raw);
        if stream.write_all(answer).await.is_err() {
            return;
        }
    }
}
