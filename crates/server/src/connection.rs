//! One connection: its requests, and its end when a drain begins.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use axum::body::Body;
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::Service};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;

use crate::{outward::Outward, slash};

/// The router as hyper calls it. A tower service here is always ready: an axum router is.
struct Front<S>(S);

impl<S> Service<Request<Incoming>> for Front<S>
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = S::Future;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let mut request = request.map(Body::new);
        slash::trim(request.uri_mut());
        self.0.clone().call(request)
    }
}

/// Serves a connection until its end, or until the request in progress is answered once
/// `draining` says so.
pub(crate) async fn run<S>(
    stream: Outward,
    http: http1::Builder,
    service: S,
    mut draining: watch::Receiver<bool>,
) where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
{
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), Front(service)));
    let flag = draining.clone();
    let mut drain = pin!(draining.wait_for(|begun| *begun));
    let mut is_watching = false;
    let mut is_closing = false;
    let ended = poll_fn(|context| {
        // The task's waker never changes, so it is left with the watch once and not at every
        // wake-up: that would be a lock per packet.
        if !is_closing && (!is_watching || *flag.borrow()) {
            is_watching = true;
            if drain.as_mut().poll(context).is_ready() {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
        }
        match connection.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    if let Err(cause) = ended {
        // A client that went away, sent no HTTP or took too long: its affair, not the operator's.
        tracing::debug!(%cause, "a connection ended early");
    }
}
