use std::sync::Arc;

use axum::{Router, routing::get};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{Notify, oneshot},
    task::JoinHandle,
};

use super::*;

struct Running {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Drained>,
}

async fn start(router: Router, limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(serve(listener, router, limits, async move { drop(stopped.await) }));
    Running { address, stop, served }
}

async fn read_some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer).await.unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

/// One whole small answer.
async fn ask(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    read_some(stream).await
}

#[tokio::test]
async fn a_connection_serves_many_requests_and_a_trailing_slash_is_optional() {
    let running = start(Router::new().route("/a", get(async || "there")), Limits::default()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    for path in ["/a", "/a/", "/a/?q=1"] {
        let answer = ask(&mut stream, path).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("there"), "{answer}");
    }
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), Drained::Gracefully);
}

#[tokio::test]
async fn a_drain_answers_what_has_begun_and_closes_idle_connections() {
    let (entered, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, gate) = (entered.clone(), release.clone());
    let slow = get(async move || {
        inside.notify_one();
        gate.notified().await;
        "late"
    });
    let running = start(Router::new().route("/slow", slow), Limits::default()).await;
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    assert!(ask(&mut idle, "/none").await.starts_with("HTTP/1.1 404"));
    let mut busy = TcpStream::connect(running.address).await.unwrap();
    busy.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    entered.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(read_some(&mut idle).await, "", "an idle connection is closed");
    release.notify_one();
    assert!(read_some(&mut busy).await.ends_with("late"));
    assert_eq!(running.served.await.unwrap(), Drained::Gracefully);
}

#[tokio::test]
async fn a_drain_has_a_hard_end() {
    let entered = Arc::new(Notify::new());
    let inside = entered.clone();
    let stuck = get(async move || {
        inside.notify_one();
        std::future::pending::<&str>().await
    });
    let limits = Limits { drain: Duration::from_millis(10), ..Limits::default() };
    let running = start(Router::new().route("/", stuck), limits).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    entered.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), Drained::CutOff(1));
}

#[tokio::test]
async fn a_head_that_is_never_complete_ends_the_connection() {
    let limits = Limits { header_timeout: Duration::from_millis(20), ..Limits::default() };
    let running = start(Router::new(), limits).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 408"), "{rest}");
}

#[tokio::test]
async fn one_connection_more_than_the_limit_waits_for_another_to_end() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let running = start(Router::new().route("/", get(async || "there")), limits).await;
    let mut first = TcpStream::connect(running.address).await.unwrap();
    assert!(ask(&mut first, "/").await.ends_with("there"));
    let mut second = TcpStream::connect(running.address).await.unwrap();
    second.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    // The first still has the only place, so it is what answers.
    assert!(ask(&mut first, "/").await.ends_with("there"));
    let waiting = second.try_read(&mut [0; 16]).unwrap_err();
    assert_eq!(waiting.kind(), io::ErrorKind::WouldBlock);
    drop(first);
    assert!(read_some(&mut second).await.ends_with("there"));
}

/// Sends bytes that need not be HTTP, and reads all that comes back.
async fn send_raw(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn what_is_no_http_is_answered_with_a_sentence() {
    let limits = Limits { head_bytes: 8192, ..Limits::default() };
    let running = start(Router::new().route("/", get(async || "there")), limits).await;
    let long = "x".repeat(20_000);
    for (request, status, code) in [
        ("nonsense\r\n\r\n".to_owned(), "400", "malformed_request"),
        ("GET / HTTP/9.9\r\nhost: x\r\n\r\n".into(), "400", "malformed_request"),
        ("GET / HTTP/1.1\r\nb\0d: x\r\n\r\n".into(), "400", "malformed_request"),
        ("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n".into(), "400", "malformed_request"),
        (format!("GET / HTTP/1.1\r\nhost: x\r\nlong: {long}\r\n\r\n"), "431", "head_too_large"),
    ] {
        let answer = send_raw(running.address, request.as_bytes()).await;
        let shown: String = request.chars().take(40).collect();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{shown:?}: {answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(body.starts_with(&format!(r#"{{"code":"{code}","detail":"the request"#)), "{body}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    }
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), Drained::Gracefully, "no connection failed by a panic");
}

#[tokio::test]
async fn odd_methods_and_chunks_end_cleanly() {
    let read = axum::routing::post(async |body: axum::body::Bytes| format!("{} bytes", body.len()));
    let running = start(Router::new().route("/", read), Limits::default()).await;
    for request in [
        "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0\x01\u{7f}\x03\x03",
        "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{request:?}: {answer}");
    }
    running.stop.send(()).unwrap();
    assert_eq!(running.served.await.unwrap(), Drained::Gracefully);
}

#[tokio::test]
async fn an_answer_given_before_the_body_was_read_arrives() {
    let refuse = axum::routing::post(async || (http::StatusCode::PAYLOAD_TOO_LARGE, "too large"));
    let running = start(Router::new().route("/", refuse), Limits::default()).await;
    let body = vec![b'x'; 900_000];
    for _ in 0..20 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let head = format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.expect("the server takes what it does not want");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the connection is not reset");
        assert!(answer.starts_with(b"HTTP/1.1 413 "), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn what_a_client_sends_without_an_end_is_not_read_without_an_end() {
    let refuse = axum::routing::post(async || (http::StatusCode::PAYLOAD_TOO_LARGE, "too large"));
    let running = start(Router::new().route("/", refuse), Limits::default()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n").await.unwrap();
    let piece = vec![b'x'; 64 * 1024];
    while stream.write_all(&piece).await.is_ok() {}
}

/// A large answer that tells when nothing of it is left in memory.
struct Large(Vec<u8>, Option<oneshot::Sender<()>>);

impl AsRef<[u8]> for Large {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        if let Some(gone) = self.1.take() {
            let _ = gone.send(());
        }
    }
}

/// A server whose one answer has this many bytes; the receiver hears when it is gone.
async fn start_large(bytes: usize, limits: Limits) -> (Running, oneshot::Receiver<()>) {
    let (gone, heard) = oneshot::channel();
    let large = Arc::new(std::sync::Mutex::new(Some(Large(vec![b'x'; bytes], Some(gone)))));
    let answer = get(async move || {
        let large = large.lock().unwrap().take().unwrap();
        Body::from(bytes::Bytes::from_owner(large))
    });
    (start(Router::new().route("/", answer), limits).await, heard)
}

#[tokio::test]
async fn a_client_that_takes_no_byte_is_cut_and_its_answer_is_gone() {
    let limits = Limits { write_timeout: Duration::from_millis(50), ..Limits::default() };
    let (running, gone) = start_large(64 << 20, limits).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    gone.await.expect("the answer was dropped");
    let mut taken = Vec::new();
    let end = stream.read_to_end(&mut taken).await;
    assert!(end.is_err() || taken.len() < 64 << 20, "it was cut before all was sent");
}

#[tokio::test]
async fn a_client_that_takes_an_answer_in_drips_is_cut_too() {
    let limits = Limits { answer_timeout: Duration::from_millis(300), ..Limits::default() };
    let (running, mut gone) = start_large(256 << 20, limits).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut drip = vec![0; 64 * 1024];
    let mut taken = 0;
    let mut pace = tokio::time::interval(Duration::from_millis(5));
    loop {
        tokio::select! {
            _ = &mut gone => break,
            _ = pace.tick() => taken += stream.read(&mut drip).await.unwrap_or(0),
        }
    }
    assert!(taken < 256 << 20);
}

#[tokio::test]
async fn a_client_that_takes_its_time_gets_all_of_a_large_answer() {
    let limits = Limits { write_timeout: Duration::from_secs(5), ..Limits::default() };
    let (running, gone) = start_large(32 << 20, limits).await;
    let answer = send_raw(running.address, b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.len() > 32 << 20);
    gone.await.expect("the answer was dropped");
}
