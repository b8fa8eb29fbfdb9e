//! Opening a TCP connection to one of the vetted addresses.
//!
//! Several addresses race as in RFC 8305: the next is tried when one fails, or 250 ms after the
//! last was started, and the first connection that stands wins. Afterwards the peer's address is
//! compared with the one that was vetted.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep_until};

use crate::exchange::{Cause, CauseKind, OurFault, Seen};

/// How long an address has before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

type Attempt = Pin<Box<dyn Future<Output = (SocketAddr, io::Result<TcpStream>)> + Send>>;

/// Connects to the first of `addresses` that takes the connection.
pub(crate) async fn dial(addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), Seen> {
    if let [only] = addresses {
        return match connect(*only).await {
            Ok(stream) => Ok((stream, *only)),
            Err(cause) => Err(failure(vec![(*only, cause)])),
        };
    }
    race(addresses).await
}

async fn race(addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), Seen> {
    let mut waiting = addresses.iter().copied();
    let mut running: Vec<Attempt> = Vec::with_capacity(addresses.len());
    let mut failures = Vec::new();
    let mut next_start = Box::pin(sleep_until(Instant::now()));
    poll_fn(|cx| {
        loop {
            let mut at = 0;
            while at < running.len() {
                match running[at].as_mut().poll(cx) {
                    Poll::Ready((address, Ok(stream))) => {
                        return Poll::Ready(Ok((stream, address)));
                    }
                    Poll::Ready((address, Err(cause))) => {
                        failures.push((address, cause));
                        drop(running.swap_remove(at));
                        next_start.as_mut().reset(Instant::now());
                    }
                    Poll::Pending => at += 1,
                }
            }
            if running.is_empty() && waiting.len() == 0 {
                return Poll::Ready(Err(failure(std::mem::take(&mut failures))));
            }
            // With nothing left to start, only the running attempts can wake us.
            if waiting.len() == 0 || (!running.is_empty() && next_start.as_mut().poll(cx).is_pending()) {
                return Poll::Pending;
            }
            if let Some(address) = waiting.next() {
                running.push(Box::pin(async move { (address, connect(address).await) }));
                next_start.as_mut().reset(Instant::now() + STAGGER);
            }
        }
    })
    .await
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_nodelay(true)?;
    let stream = socket.connect(address).await?;
    // Nothing should be able to come between; if something did, its address was never vetted.
    let peer = stream.peer_addr()?;
    if peer.ip() != address.ip() || peer.port() != address.port() {
        return Err(io::Error::other(format!("the connection leads to {peer}, which was not vetted")));
    }
    Ok(stream)
}

/// What it comes to when no address took the connection.
fn failure(failures: Vec<(SocketAddr, io::Error)>) -> Seen {
    let ours = failures.iter().find_map(|(address, cause)| {
        OurFault::of(cause).or_else(|| out_of_ports(*address, cause).then_some(OurFault::NoSockets))
    });
    if let Some(fault) = ours {
        return Seen::OurFault(fault);
    }
    let all_refused = failures.iter().all(|(_, cause)| cause.kind() == io::ErrorKind::ConnectionRefused);
    let kind = if all_refused { CauseKind::ConnectRefused } else { CauseKind::ConnectFailed };
    let parts: Vec<String> =
        failures.iter().map(|(address, cause)| format!("{address} {}", in_words(cause))).collect();
    Seen::Failed(Cause::new(kind, format!("{}.", parts.join("; "))))
}

/// Without a bound address this means that no ephemeral port is free; for IPv6 it may as well mean
/// that this machine has none of it, which is not a fault.
fn out_of_ports(address: SocketAddr, cause: &io::Error) -> bool {
    address.is_ipv4() && cause.kind() == io::ErrorKind::AddrNotAvailable
}

fn in_words(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::ConnectionRefused => "refused the connection".to_owned(),
        io::ErrorKind::NetworkUnreachable => "cannot be reached: network unreachable".to_owned(),
        io::ErrorKind::HostUnreachable => "cannot be reached: host unreachable".to_owned(),
        io::ErrorKind::ConnectionReset => "reset the connection".to_owned(),
        io::ErrorKind::TimedOut => "did not answer".to_owned(),
        _ => format!("cannot be reached: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;

    /// A port on `host` that takes no connection and refuses none: its queue is full.
    async fn black_hole(host: [u8; 4], port: u16) -> (TcpListener, JoinSet<io::Result<TcpStream>>) {
        let address = SocketAddr::from((host, port));
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address).unwrap();
        let listener = socket.listen(1).unwrap();
        let mut fillers = JoinSet::new();
        for _ in 0..8 {
            fillers.spawn(TcpStream::connect(address));
        }
        // Two fit; then the rest wait for room that never comes.
        fillers.join_next().await.unwrap().unwrap().unwrap();
        (listener, fillers)
    }

    #[tokio::test]
    async fn an_address_that_swallows_everything_costs_a_quarter_of_a_second() {
        let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good_at = good.local_addr().unwrap();
        let (_listener, _fillers) = black_hole([127, 0, 0, 2], good_at.port()).await;
        let dead_at = SocketAddr::from(([127, 0, 0, 2], good_at.port()));
        let (longest, mut took) = (STAGGER * 4, Duration::MAX);
        // Again when it took longer: the machine may stall.
        for _ in 0..10 {
            let started = Instant::now();
            let (_stream, remote) = dial(&[dead_at, good_at]).await.unwrap();
            assert_eq!(remote, good_at);
            took = started.elapsed();
            if took < longest {
                break;
            }
        }
        assert!((STAGGER..longest).contains(&took), "{took:?}");
    }

    #[tokio::test]
    async fn when_nobody_takes_it_every_address_is_named() {
        // Bound and not listening: they refuse, and nobody else is given them.
        let closed = [1, 2].map(|n| {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, n], 0))).unwrap();
            socket
        });
        let addresses = [0, 1].map(|n: usize| closed[n].local_addr().unwrap());
        let Err(Seen::Failed(cause)) = dial(&addresses).await else {
            panic!("someone took it");
        };
        assert_eq!(cause.kind(), CauseKind::ConnectRefused);
        for address in addresses {
            assert!(cause.sentence().contains(&address.to_string()), "{cause}");
        }
    }
}
