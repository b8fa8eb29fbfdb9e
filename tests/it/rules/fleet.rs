//! All hosts fail at once: it is us (R27).

use std::time::Duration;

use serde_json::json;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::mpsc,
    time::Instant,
};

use super::partner;
use crate::{
    client::Client,
    peer,
    server::{Data, Server},
};

const HOSTS: usize = 25;
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
timeout = "1s"
"#;

/// A host whose port can be closed and opened again.
struct Host {
    port: u16,
    open: Option<tokio::task::JoinHandle<()>>,
    came: mpsc::UnboundedSender<(u16, Instant)>,
}

impl Host {
    fn open(port: u16, came: &mpsc::UnboundedSender<(u16, Instant)>) -> Self {
        let mut host = Self { port, open: None, came: came.clone() };
        host.reopen();
        host
    }

    fn reopen(&mut self) {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("it can be used again");
        socket.bind(([127, 0, 0, 1], self.port).into()).expect("the port is ours");
        let listener = socket.listen(64).expect("it listens");
        self.port = listener.local_addr().expect("an address").port();
        self.open = Some(tokio::spawn(take(listener, self.port, self.came.clone())));
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.abort();
        }
    }
}

/// Every connection is for one request, so that a closed port is noticed.
async fn take(listener: TcpListener, port: u16, came: mpsc::UnboundedSender<(u16, Instant)>) {
    while let Ok((stream, _)) = listener.accept().await {
        let came = came.clone();
        tokio::spawn(async move { answer(stream, port, came).await });
    }
}

async fn answer(mut stream: TcpStream, port: u16, came: mpsc::UnboundedSender<(u16, Instant)>) {
    use tokio::io::AsyncWriteExt;
    if peer::read_request(&mut stream).await.is_some() {
        // The test may be over.
        let _ = came.send((port, Instant::now()));
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r27_when_all_hosts_fail_at_once_no_step_is_spent_and_sending_resumes_by_itself() {
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (sender, mut came) = mpsc::unbounded_channel();
    let mut hosts: Vec<_> = (0..HOSTS).map(|_| Host::open(0, &sender)).collect();
    let mut apps = Vec::new();
    for host in &hosts {
        let url = format!("http://127.0.0.1:{}/", host.port);
        apps.push(partner::subscriber(&mut client, "quick", &url, json!({})).await);
    }
    for (app, _) in &apps {
        partner::post(&mut client, app, false, 1).await;
    }
    for _ in 0..HOSTS {
        came.recv().await.expect("all answer at first");
    }
    hosts.iter_mut().for_each(Host::close);
    tokio::task::yield_now().await;
    let mut messages = Vec::new();
    for n in 0..HOSTS * 2 {
        let (app, endpoint) = &apps[n % HOSTS];
        messages.push((app, endpoint, partner::post(&mut client, app, false, n).await));
    }
    let path = format!("/api/v1/app/{}/breaker", apps[0].0);
    let paused =
        partner::until(&mut client, &path, "a pause", |answer| answer["sendingPausedSince"] != json!(null))
            .await;
    assert_eq!(paused["breakers"], json!([]));
    let (app, endpoint, message) = &messages[HOSTS];
    let held = partner::delivery(&mut client, app, endpoint, message).await;
    assert_eq!(held["hold"]["name"], "sending_paused", "{held}");
    // Longer than the first steps of the ladder would take.
    assert!(tokio::time::timeout(Duration::from_secs(8), came.recv()).await.is_err(), "nobody is there");
    hosts.iter_mut().for_each(Host::reopen);
    let opened = Instant::now();
    let first = came.recv().await.expect("a canary").1;
    assert!(first - opened <= Duration::from_secs(10), "{:?}", first - opened);
    for (app, endpoint, message) in &messages {
        let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
        let ended =
            partner::until(&mut client, &path, "its end", |delivery| delivery["state"] == "delivered").await;
        assert_eq!(ended["used"]["outage"], 0, "{ended}");
        let breaker = client.get(&format!("/api/v1/app/{app}/breaker")).await;
        assert_eq!(breaker["breakers"], json!([]));
    }
    let took = opened.elapsed();
    assert!(took <= Duration::from_secs(10), "all were delivered after {took:?}");
}
