//! A partner's endpoint that answers by a script.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Bytes, response::IntoResponse, routing::post};
use http::StatusCode;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::timeout,
};

pub struct Partner {
    pub url: String,
    bodies: UnboundedReceiver<Bytes>,
}

impl Partner {
    /// Answers these statuses one after the other, and the last for ever. A 429 asks for ten minutes.
    pub async fn answering(script: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let left = Arc::new(Mutex::new(VecDeque::from(script.to_vec())));
        let (sender, bodies) = unbounded_channel();
        let answer = async move |body: Bytes| {
            let _ = sender.send(body);
            let mut left = left.lock().unwrap();
            let status = if left.len() > 1 { left.pop_front() } else { left.front().copied() };
            let status = StatusCode::from_u16(status.unwrap()).unwrap();
            if status == StatusCode::TOO_MANY_REQUESTS {
                return (status, [("retry-after", "600")], "").into_response();
            }
            status.into_response()
        };
        let router = Router::new().route("/hook", post(answer));
        tokio::spawn(gonets_server::serve(listener, router, Default::default(), std::future::pending()));
        Self { url, bodies }
    }

    /// The next body that comes, as JSON.
    pub async fn next(&mut self) -> Value {
        let coming = timeout(Duration::from_secs(20), self.bodies.recv()).await;
        serde_json::from_slice(&coming.expect("nothing came").unwrap()).unwrap()
    }
}
