//! A healthy endpoint that is to notice nothing of what its server goes through.
//!
//! How long its events take says little by itself: the machine that tests run on stalls, and is
//! busier at one time than at another. So it is compared with one on a server of its own that has
//! nothing else to do; the two are asked in turn.

use std::time::Duration;

use serde_json::json;
use tokio::{sync::mpsc, time::Instant};

use crate::{
    client::Client,
    receiver::{Receiver, Reply},
    server::Server,
    world,
};

/// An application with an endpoint that answers at once.
pub struct Healthy {
    client: Client,
    app: String,
    arrivals: mpsc::UnboundedReceiver<Instant>,
}

impl Healthy {
    pub async fn at(server: &Server) -> Self {
        let (came, arrivals) = mpsc::unbounded_channel();
        let receiver = Receiver::start(move |_| {
            let _ = came.send(Instant::now());
            Reply::status(200)
        })
        .await;
        let mut client = Client::of(server.address());
        let (app, _) = world::subscriber(&mut client, "healthy", &receiver.url("/")).await;
        Self { client, app, arrivals }
    }

    /// From a POST to the receiver.
    async fn took(&mut self) -> Duration {
        let begun = Instant::now();
        world::post(&mut self.client, &self.app, &json!({"n": 1})).await;
        let came = tokio::time::timeout(Duration::from_secs(10), self.arrivals.recv()).await;
        came.expect("it is delivered").expect("the receiver lives") - begun
    }
}

/// A healthy endpoint beside trouble, and one where there is none.
pub struct Pair {
    beside: Healthy,
    control: Healthy,
    /// The best 99th percentiles of a round so far.
    best: [Duration; 2],
}

impl Pair {
    pub async fn at(troubled: &Server, quiet: &Server) -> Self {
        let (beside, control) = (Healthy::at(troubled).await, Healthy::at(quiet).await);
        Self { beside, control, best: [Duration::MAX; 2] }
    }

    /// One round: both are asked in turn until `is_over` says so of their number.
    pub async fn round(&mut self, is_over: impl Fn(usize) -> bool) {
        let mut took = [Vec::new(), Vec::new()];
        while took[0].is_empty() || !is_over(took[0].len()) {
            took[0].push(self.beside.took().await);
            took[1].push(self.control.took().await);
        }
        let many = took[0].len();
        let round = took.map(p99);
        println!("{many} events, p99 {:?} beside, {:?} without", round[0], round[1]);
        self.best = [self.best[0].min(round[0]), self.best[1].min(round[1])];
    }

    /// Whether the trouble makes no difference beyond what a machine does to a percentile.
    pub fn is_unnoticed(&self) -> bool {
        let [beside, control] = self.best;
        beside <= (control * 2).max(control + Duration::from_millis(2))
    }

    /// Both best 99th percentiles, in words.
    pub fn told(&self) -> String {
        format!("p99 of the healthy one {:?} beside, {:?} without", self.best[0], self.best[1])
    }
}

fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() * 99 / 100]
}
