//! A receiver as a partner has one: takes requests, verifies their signatures, answers as it is
//! told. `gonets listen` is one, the demo has several.
//!
//! It is an example of the receiving side too: it verifies the bytes as they came, before anything
//! reads them, and goes by `webhook-id`.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use gonets_core::time::{Clock, Timestamp};
use gonets_wire::{Verified, VerifyError, VerifyingKey, Window, verify};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

/// More than any message has.
const BODY_BYTES: usize = 32 << 20;
/// How long a connection that refuses to say anything is kept.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);

/// One request, as received.
#[derive(Debug)]
pub struct Received {
    pub at: Timestamp,
    pub method: String,
    pub path: String,
    /// As received, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Bytes,
    /// `None`: the receiver has no secret to verify with.
    pub verified: Option<Result<Verified, VerifyError>>,
}

impl Received {
    /// A header by name in any case, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(&found.1).ok()
    }

    /// The message's id, the same in each attempt, by whichever scheme it came.
    pub fn message_id(&self) -> Option<&str> {
        ["webhook-id", "svix-id", "X-Webhook-Id", "X-Event-Id"].iter().find_map(|name| self.header(name))
    }
}

/// What is answered, and after how long.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub delay: Duration,
}

/// A receiver's ways: what it verifies with and how it answers.
pub struct Receiver<F> {
    pub clock: Arc<dyn Clock>,
    pub keys: Vec<VerifyingKey>,
    /// Called once for each request, before it is answered.
    pub answer: F,
}

impl<F: Fn(Received) -> Reply + Send + Sync + 'static> Receiver<F> {
    /// Takes connections until it is dropped.
    pub async fn run(self, listener: TcpListener) {
        let receiver = Arc::new(self);
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(Arc::clone(&receiver).converse(stream))),
                // Too many files are open: they become fewer, not by asking again at once.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request| Arc::clone(&self).take(request));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_WITHIN)
            .serve_connection(TokioIo::new(stream), service);
        // The sender may hang up whenever it likes; what was received was told before.
        drop(connection.await);
    }

    async fn take(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY_BYTES).collect().await else {
            return Ok(empty(StatusCode::PAYLOAD_TOO_LARGE));
        };
        let headers: Vec<_> =
            head.headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
        let (at, body) = (self.clock.wall(), body.to_bytes());
        let window = Window::around(at.as_seconds());
        let verified = (!self.keys.is_empty()).then(|| verify(&headers, &body, &self.keys, window));
        let reply = (self.answer)(Received {
            at,
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            headers,
            body,
            verified,
        });
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        Ok(empty(reply.status))
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

/// The address a receiver has, for those who only have its listener.
///
/// # Errors
/// As the system's.
pub async fn on_loopback(port: u16) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use gonets_core::clock::SystemClock;
    use gonets_wire::Secret;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::mpsc,
    };

    use super::*;

    async fn post(address: SocketAddr, lines: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "POST /hook HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n{lines}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    async fn receiving(keys: Vec<VerifyingKey>) -> (SocketAddr, mpsc::UnboundedReceiver<Received>) {
        let (seen, received) = mpsc::unbounded_channel();
        let (listener, address) = on_loopback(0).await.unwrap();
        let answer = move |request| {
            seen.send(request).unwrap();
            Reply { status: StatusCode::ACCEPTED, delay: Duration::ZERO }
        };
        let receiver = Receiver { clock: Arc::new(SystemClock::start()), keys, answer };
        tokio::spawn(receiver.run(listener));
        (address, received)
    }

    #[tokio::test]
    async fn a_signed_request_is_verified_and_answered_as_told() {
        let secret = Secret::generate().unwrap();
        let (address, mut received) = receiving(vec![secret.clone().into()]).await;
        let signer = gonets_wire::Signer::new(&[gonets_wire::Scheme::Standard], vec![secret]).unwrap();
        let mut lines = Vec::new();
        signer.write_headers(&mut lines, "msg_1", SystemClock::start().wall().as_seconds(), b"{}");
        let answer = post(address, std::str::from_utf8(&lines).unwrap(), "{}").await;
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        let request = received.recv().await.unwrap();
        assert_eq!(request.message_id(), Some("msg_1"));
        assert!(request.verified.as_ref().unwrap().is_ok(), "{request:?}");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
    }

    #[tokio::test]
    async fn an_unsigned_request_is_taken_but_told_from_a_verified_one() {
        let (address, mut received) = receiving(vec![Secret::generate().unwrap().into()]).await;
        post(address, "", "{}").await;
        assert_eq!(received.recv().await.unwrap().verified, Some(Err(VerifyError::NoSignature)));
    }

    #[tokio::test]
    async fn without_a_secret_nothing_is_claimed() {
        let (address, mut received) = receiving(Vec::new()).await;
        post(address, "", "{}").await;
        assert_eq!(received.recv().await.unwrap().verified, None);
    }
}
