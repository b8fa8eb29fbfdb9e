//! Connections that die while they lie idle: the request goes out again on a fresh one, within the
//! same attempt, and costs no step of a ladder.

use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::{Instant, timeout},
};

use crate::{
    client::Client,
    peer::{Peer, read_request},
    server::Server,
    world,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// How long the peer keeps a connection that has nothing to do.
const KEPT: Duration = Duration::from_millis(50);
/// Endpoints that are asked side by side, and how often each.
const ENDPOINTS: usize = 4;
const EACH: usize = 125;
/// A look at the peer's close may come before, with or after our request.
const JITTER_US: u64 = 4_000;

/// Answers, waits for another request for [`KEPT`], and closes. It is patient with the first: a
/// fresh connection that is closed before its request came is a failure, and would be one here where
/// the machine stalls.
async fn impatient(mut stream: TcpStream, answered: mpsc::UnboundedSender<Instant>) {
    let mut request = read_request(&mut stream).await;
    while request.is_some() {
        if stream.write_all(OK).await.is_err() {
            return;
        }
        let _ = answered.send(Instant::now());
        request = timeout(KEPT, read_request(&mut stream)).await.unwrap_or(None);
    }
}

/// A message each time the last answer is about [`KEPT`] ago; gives their ids.
async fn produce(
    address: String,
    app: String,
    mut answered: mpsc::UnboundedReceiver<Instant>,
    seed: u64,
) -> Vec<String> {
    let mut client = Client::of(&address);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut posted = Vec::new();
    for n in 0..EACH {
        posted.push(world::post(&mut client, &app, &json!({"n": n})).await);
        let at = timeout(Duration::from_secs(10), answered.recv()).await.expect("it is delivered");
        // What passes between a post and its request is a few milliseconds.
        let early = Duration::from_micros(random.u64(0..JITTER_US));
        tokio::time::sleep_until(at.expect("the peer lives") + KEPT - early).await;
    }
    posted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_requests_to_a_peer_that_closes_after_50_ms_cost_no_step() {
    let server = Server::start();
    let mut client = Client::of(server.address());
    let mut producers = Vec::new();
    for n in 0..ENDPOINTS {
        let (sender, answered) = mpsc::unbounded_channel();
        let peer = Peer::start(move |stream| impatient(stream, sender.clone())).await;
        let (app, _) = world::subscriber(&mut client, &format!("shop {n}"), &peer.url("/")).await;
        let producer = produce(server.address().to_owned(), app.clone(), answered, n as u64);
        producers.push((app, peer, tokio::spawn(producer)));
    }
    let (mut again, mut connections) = (0, 0);
    for (app, peer, producer) in producers {
        for message in producer.await.expect("all are delivered") {
            let deadline = Instant::now() + Duration::from_secs(5);
            let attempts = world::attempts_by(&mut client, &app, &message, 1, deadline).await;
            assert_eq!(attempts.len(), 1, "{attempts:?}");
            let attempt = &attempts[0];
            assert_eq!(attempt["outcome"], "delivered", "{attempt}");
            assert_eq!(attempt["number"], 1, "{attempt}");
            let sends = attempt["sends"].as_u64().expect("a count");
            assert!((1..=2).contains(&sends), "{attempt}");
            again += sends - 1;
        }
        connections += peer.connections();
    }
    println!("{} delivered over {connections} connections, {again} of them sent again", ENDPOINTS * EACH);
    assert!(connections > ENDPOINTS, "the peers did close");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_dies_under_a_request_is_shown_as_two_sends_of_one_attempt() {
    const PAIRS: usize = 20;
    let (sender, mut taken) = mpsc::unbounded_channel();
    // The second request of a connection is its end: half of it is read, then it closes.
    let peer = Peer::start(move |mut stream: TcpStream| {
        let sender = sender.clone();
        async move {
            let Some(raw) = read_request(&mut stream).await else { return };
            let _ = sender.send(raw);
            if stream.write_all(OK).await.is_ok() {
                let _ = stream.read(&mut [0; 16]).await;
            }
        }
    })
    .await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &peer.url("/")).await;
    let mut twice = 0;
    for n in 0..2 * PAIRS {
        let message = world::post(&mut client, &app, &json!({"n": n})).await;
        let deadline = Instant::now() + Duration::from_secs(5);
        let attempts = world::attempts_by(&mut client, &app, &message, 1, deadline).await;
        assert_eq!((attempts.len(), &attempts[0]["number"]), (1, &json!(1)), "{attempts:?}");
        assert_eq!(attempts[0]["outcome"], "delivered", "{attempts:?}");
        twice += usize::from(attempts[0]["sends"] == 2);
        let raw = taken.try_recv().expect("it was answered");
        assert_eq!(raw.header("webhook-id"), Some(message.as_str()));
        assert!(taken.try_recv().is_err(), "only one of the two sends was taken");
    }
    assert_eq!(twice, 2 * PAIRS - 1, "all but the first found a connection to reuse");
}
