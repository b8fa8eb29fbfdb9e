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
