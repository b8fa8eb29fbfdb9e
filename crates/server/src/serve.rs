//! The accept loop and its drain.

use std::{convert::Infallible, future::Future, io, pin::pin, time::Duration};

use axum::body::Body;
use http::{Request, Response};
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    connection,
    limits::{HEAD_BYTES_MIN, Limits},
    outward::Outward,
};

/// How long accepting rests when the system has no file handles or memory for a connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// How a drain ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every request that had begun was answered.
    Gracefully,
    /// This many connections were cut off at the hard end.
    CutOff(usize),
}

/// Accepts and serves connections until `shutdown` is ready; then accepts no more, lets requests
/// in progress end, and cuts off what is left after [`Limits::drain`].
///
/// `service` is cloned for each request and is taken to be always ready, as an [`axum::Router`] is.
pub async fn serve<S>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> Drained
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let (begin_drain, draining) = watch::channel(false);
    let http = protocol(limits);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        while connections.try_join_next().is_some() {}
        let stream = tokio::select! {
            biased;
            () = &mut shutdown => break,
            stream = next(&listener, &mut connections, limits.connections) => stream,
        };
        let stream = Outward::new(stream, limits, draining.clone());
        connections.spawn(connection::run(stream, http.clone(), service.clone(), draining.clone()));
    }
    drop(listener);
    // Without a receiver there is no connection to tell.
    let _ = begin_drain.send(true);
    drain(connections, limits.drain).await
}

/// The next connection, once there is room for it.
async fn next(listener: &TcpListener, connections: &mut JoinSet<()>, most: usize) -> TcpStream {
    while connections.len() >= most.max(1) {
        connections.join_next().await;
    }
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are small and complete: waiting for more to send only delays them.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(cause) if is_of_the_client(&cause) => {}
            Err(cause) => {
                tracing::warn!(%cause, "no connection could be accepted; trying again shortly");
                sleep(EXHAUSTED_PAUSE).await;
            }
        }
    }
}

/// The client gave up before it was accepted: no reason to pause.
fn is_of_the_client(cause: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(cause.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn protocol(limits: Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(limits.head_bytes.max(HEAD_BYTES_MIN))
        .keep_alive(true);
    http
}

async fn drain(mut connections: JoinSet<()>, within: Duration) -> Drained {
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if timeout(within, all_ended).await.is_ok() {
        return Drained::Gracefully;
    }
    let left = connections.len();
    tracing::warn!(connections = left, "the drain took too long; cutting off what is left");
    connections.shutdown().await;
    Drained::CutOff(left)
}

#[cfg(test)]
mod tests;
