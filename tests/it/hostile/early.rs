//! Answers that come while the request is still on its way: the status counts, not the pipe that
//! broke behind it.

use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::Instant};

use super::{ENDPOINTS, GRACE, TIMEOUT, application, peers::Authority, server};
use crate::{
    client::Client,
    peer::{Peer, keep, read_head},
    world,
};

const PAYLOAD_BYTES: usize = 5 << 20;
const MESSAGES: usize = 5;
/// Of 100. A reset may overtake an answer on its way; then there is none.
const RECORDED: usize = 95;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_5_mib_were_read_is_that_status() {
    let server = server(&Authority::new().pem());
    let mut client = Client::of(server.address());
    let payload = json!("x".repeat(PAYLOAD_BYTES));
    warm_up(&mut client, &payload).await;
    let memory_before = server.memory_mb();
    for (status, outcome) in [(413, "refused"), (401, "refused"), (200, "delivered")] {
        let peer = Peer::start(move |mut stream: TcpStream| async move {
            read_head(&mut stream).await;
            let answer =
                format!("HTTP/1.1 {status} Early\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        })
        .await;
        let app = application(&mut client, "early", &peer.url("/")).await;
        let mut recorded = 0;
        for _ in 0..MESSAGES {
            let message = world::post(&mut client, &app, &payload).await;
            let deadline = Instant::now() + TIMEOUT + GRACE;
            for attempt in world::attempts_by(&mut client, &app, &message, ENDPOINTS, deadline).await {
                if attempt["responseStatusCode"] == status {
                    assert_eq!(attempt["outcome"], outcome, "{attempt}");
                    recorded += 1;
                } else {
                    assert_eq!(attempt["outcome"], "unavailable", "{attempt}");
                }
            }
        }
        let grown = server.memory_mb() - memory_before;
        println!("{status}: recorded {recorded} of {}, +{grown:.0} MB", MESSAGES * ENDPOINTS);
        assert!(recorded * 100 >= RECORDED * MESSAGES * ENDPOINTS, "{status}: {recorded} recorded");
    }
    let grown = server.memory_mb() - memory_before;
    println!("+{grown:.0} MB");
    assert!(grown < 50.0, "{grown:.0} MB");
}

/// Fills the store's and the engine's bounded caches with payloads of this size, so that what
/// grows afterwards is the peers' doing.
async fn warm_up(client: &mut Client, payload: &serde_json::Value) {
    let peer = Peer::start(|stream| async move {
        keep(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", drop).await;
    })
    .await;
    let app = application(client, "warm-up", &peer.url("/")).await;
    for _ in 0..MESSAGES {
        let message = world::post(client, &app, payload).await;
        let deadline = Instant::now() + 10 * TIMEOUT;
        world::attempts_by(client, &app, &message, ENDPOINTS, deadline).await;
    }
}
