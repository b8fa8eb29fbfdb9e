//! A partner's server, as tests want it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The id that marks one message in every attempt.
    pub fn webhook_id(&self) -> &str {
        self.header("webhook-id").expect("every delivery has a webhook-id")
    }
}

/// What to answer, and after how long.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub after: Duration,
    /// Further lines of the head, each with its line end.
    pub lines: String,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self { status, after: Duration::ZERO, lines: String::new() }
    }

    pub fn after(status: u16, after: Duration) -> Self {
        Self { after, ..Self::status(status) }
    }
}

/// A receiver whose answers are a function of what came.
pub struct Receiver {
    address: SocketAddr,
}

impl Receiver {
    pub async fn start(answer: impl Fn(Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let answer: Arc<dyn Fn(Received) -> Reply + Send + Sync> = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = Arc::clone(&answer);
                tokio::spawn(async move { drop(serve(stream, answer).await) });
            }
        });
        Self { address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: Arc<dyn Fn(Received) -> Reply + Send + Sync>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::new();
    loop {
        let received = loop {
            if let Some(received) = parse(&mut buffer)? {
                break received;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let reply = answer(received);
        if !reply.after.is_zero() {
            tokio::time::sleep(reply.after).await;
        }
        let text = format!("HTTP/1.1 {} Reply\r\n{}content-length: 2\r\n\r\nok", reply.status, reply.lines);
        stream.write_all(text.as_bytes()).await?;
    }
}

fn parse(buffer: &mut BytesMut) -> std::io::Result<Option<Received>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(buffer).map_err(std::io::Error::other)? else {
        return Ok(None);
    };
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|header| (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    let path = request.path.unwrap_or_default().to_owned();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    if buffer.len() < head + length {
        return Ok(None);
    }
    buffer.advance(head);
    let body = buffer.split_to(length).freeze();
    Ok(Some(Received { path, headers, body }))
}
