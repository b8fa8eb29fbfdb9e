//! A producer: posts over kept-alive connections and reads the answers.

use bytes::{Buf, BytesMut};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::server::KEY;

/// One kept-alive connection to a server's API.
pub struct Client {
    address: String,
    key: String,
    stream: Option<TcpStream>,
    buffer: BytesMut,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// In how many seconds to ask again, where it says so.
    pub retry_after: Option<u64>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|cause| panic!("not JSON ({cause}): {}", String::from_utf8_lossy(&self.body)))
    }
}

impl Client {
    pub fn of(address: &str) -> Self {
        Self::with_key(address, KEY)
    }

    /// Asks with this key instead of the one of `--dev`.
    pub fn with_key(address: &str, key: &str) -> Self {
        Self { address: address.to_owned(), key: key.to_owned(), stream: None, buffer: BytesMut::new() }
    }

    /// Posts and expects success.
    pub async fn post(&mut self, path: &str, body: &Value) -> Value {
        let answer =
            self.call("POST", path, &[], body.to_string().as_bytes()).await.expect("the server answers");
        assert!(
            (200..300).contains(&answer.status),
            "{path}: {} {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
        answer.json()
    }

    /// Gets and expects success.
    pub async fn get(&mut self, path: &str) -> Value {
        let answer = self.call("GET", path, &[], b"").await.expect("the server answers");
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// One exchange; an error when the connection broke before the whole answer was there.
    pub async fn call(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let result = self.exchange(method, path, headers, body).await;
        if result.is_err() {
            self.stream = None;
            self.buffer.clear();
        }
        result
    }

    async fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        // A server closes a connection that lies idle for long, as it does while others post a lot.
        if self.stream.as_ref().is_some_and(is_closed) {
            self.stream = None;
        }
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(stream);
        }
        let Some(stream) = self.stream.as_mut() else { unreachable!("it was just connected") };
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            self.address,
            self.key,
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        stream.write_all(&request).await?;
        loop {
            if let Some(answer) = parse(&mut self.buffer)? {
                return Ok(answer);
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Between two exchanges there is nothing to read but an end.
fn is_closed(stream: &TcpStream) -> bool {
    !matches!(stream.try_read(&mut [0]), Err(cause) if cause.kind() == std::io::ErrorKind::WouldBlock)
}

fn parse(buffer: &mut BytesMut) -> std::io::Result<Option<Answer>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(buffer).map_err(std::io::Error::other)?;
    let httparse::Status::Complete(head) = parsed else { return Ok(None) };
    let number = |name: &str| {
        let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()?.parse::<u64>().ok()
    };
    let length = number("content-length").unwrap_or(0) as usize;
    let retry_after = number("retry-after");
    let status = response.code.unwrap_or(0);
    if buffer.len() < head + length {
        return Ok(None);
    }
    buffer.advance(head);
    let body = buffer.split_to(length).to_vec();
    Ok(Some(Answer { status, retry_after, body }))
}
