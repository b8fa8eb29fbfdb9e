//! One deadline over everything, against peers that never come to an end.

mod support;

use std::time::Duration;

use bytes::Bytes;
use gonets_egress::{CauseKind, Seen, Stage};
use support::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, interval};

/// What a machine that stalls may add to a deadline. Who could put it off with bytes would put it
/// off for longer.
const LATE: Duration = Duration::from_secs(5);

/// What a peer does instead of answering.
#[derive(Clone, Copy, Debug)]
enum Delay {
    Silence,
    HalfAHead,
    DrippedHead,
    DrippedInterims,
}

async fn dawdle(stream: &mut TcpStream, delay: Delay) -> std::io::Result<()> {
    match delay {
        Delay::Silence => {}
        Delay::HalfAHead => stream.write_all(b"HTTP/1.1 200 OK\r\nA: b\r\n").await?,
        Delay::DrippedHead => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nA: ").await?;
            drip(stream, b"a").await?;
        }
        Delay::DrippedInterims => drip(stream, b"HTTP/1.1 102 Processing\r\n\r\n").await?,
    }
    hold(stream).await;
    Ok(())
}

/// Writes `bytes` every 10 ms until the connection is closed: far from any cap on size within the
/// time-out.
async fn drip(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut ticks = interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
        stream.write_all(bytes).await?;
    }
}

#[tokio::test]
async fn the_deadline_holds_against_every_kind_of_delay() {
    for delay in [Delay::Silence, Delay::HalfAHead, Delay::DrippedHead, Delay::DrippedInterims] {
        let peer = Peer::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            dawdle(&mut stream, delay).await.ok();
        })
        .await;
        let round = async |timeout| {
            let started = Instant::now();
            let exchange = send_within(&open_egress(), &peer.url(), Bytes::new(), timeout).await;
            (exchange, started.elapsed().checked_sub(timeout))
        };
        let (exchange, late) = with_room(round, |(exchange, _)| exchange.byte_may_have_left).await;
        assert_eq!(failure(&exchange), CauseKind::Timeout, "{delay:?}");
        assert!(late.is_some_and(|late| late < LATE), "{delay:?}: late by {late:?}");
        assert!(exchange.byte_may_have_left);
    }
}

#[tokio::test]
async fn a_status_in_time_counts_even_if_its_body_drips_past_the_deadline() {
    let peer = Peer::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").await.unwrap();
        hold(&mut stream).await;
    })
    .await;
    let egress = open_egress();
    let round = async |timeout| send_within(&egress, &peer.url(), Bytes::new(), timeout).await;
    let exchange = with_room(round, |exchange| matches!(exchange.seen, Seen::Status(_))).await;
    assert_eq!((status(&exchange), &exchange.body[..]), (200, &b"abc"[..]));
    assert!(exchange.truncated && exchange.stage == Stage::Body);
    assert_eq!(egress.idle_connections(), 0);
}

#[tokio::test]
async fn a_body_nobody_takes_ends_at_the_deadline() {
    let peer = Peer::start(|stream, _| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let body = Bytes::from(vec![b'x'; 20 << 20]);
    let round = async |timeout| send_within(&open_egress(), &peer.url(), body.clone(), timeout).await;
    let exchange = with_room(round, |exchange| exchange.stage == Stage::Send).await;
    assert_eq!((failure(&exchange), exchange.stage), (CauseKind::Timeout, Stage::Send));
    assert!(exchange.byte_may_have_left);
}
