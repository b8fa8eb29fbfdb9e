//! A receiver whose answers the test sets while it runs, and what comes to it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    client::Client,
    receiver::{Received, Receiver, Reply},
    world,
};

/// Something that came.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub at: Instant,
    pub request: Received,
}

impl Arrival {
    pub fn id(&self) -> String {
        self.request.webhook_id().to_owned()
    }
}

struct Script {
    next: VecDeque<Reply>,
    then: Reply,
}

/// A partner's server.
pub struct Partner {
    receiver: Receiver,
    script: Arc<Mutex<Script>>,
    came: mpsc::UnboundedReceiver<Arrival>,
}

impl Partner {
    pub async fn start(then: Reply) -> Self {
        let script = Arc::new(Mutex::new(Script { next: VecDeque::new(), then }));
        let (sender, came) = mpsc::unbounded_channel();
        let answers = Arc::clone(&script);
        let receiver = Receiver::start(move |request| {
            let at = Instant::now();
            let reply = {
                let mut script = answers.lock().expect("nobody panics with it");
                script.next.pop_front().unwrap_or_else(|| script.then.clone())
            };
            // Told only now: what a test sets when it hears of this is for the next. It may be over.
            let _ = sender.send(Arrival { at, request });
            reply
        })
        .await;
        Self { receiver, script, came }
    }

    pub fn url(&self) -> String {
        self.receiver.url("/")
    }

    /// From now on it answers so.
    pub fn answers(&self, reply: Reply) {
        *self.script.lock().expect("nobody panics with it") = Script { next: VecDeque::new(), then: reply };
    }

    /// These first, in order.
    pub fn answers_first(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().expect("nobody panics with it").next.extend(replies);
    }

    /// The next that comes.
    pub async fn next(&mut self) -> Arrival {
        self.next_within(Duration::from_secs(30)).await.expect("something comes")
    }

    /// The next that comes in this time.
    pub async fn next_within(&mut self, time: Duration) -> Option<Arrival> {
        tokio::time::timeout(time, self.came.recv()).await.ok().flatten()
    }

    /// So many, and no more for a moment after them.
    pub async fn exactly(&mut self, many: usize) -> Vec<Arrival> {
        let mut all = Vec::new();
        for n in 0..many {
            let next = self.next_within(Duration::from_secs(30)).await;
            all.push(next.unwrap_or_else(|| panic!("{n} of {many} came")));
        }
        assert!(self.next_within(Duration::from_millis(300)).await.is_none(), "more than {many} came");
        all
    }

    /// All that comes until nothing has come for `quiet`.
    pub async fn until_quiet(&mut self, quiet: Duration) -> Vec<Arrival> {
        let mut all = Vec::new();
        while let Some(arrival) = self.next_within(quiet).await {
            all.push(arrival);
        }
        all
    }
}

/// An application by `profile` with one endpoint; `more` are further fields of the endpoint.
pub async fn subscriber(client: &mut Client, profile: &str, url: &str, more: Value) -> (String, String) {
    let app = world::application(client, &json!({"name": profile, "profile": profile})).await;
    let mut body = json!({"url": url});
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    let endpoint = client.post(&format!("/api/v1/app/{app}/endpoint"), &body).await;
    (app, endpoint["id"].as_str().expect("an id").to_owned())
}

pub async fn post(client: &mut Client, app: &str, critical: bool, n: usize) -> String {
    let body = json!({"eventType": "order.paid", "payload": {"n": n}, "critical": critical});
    client.post(&format!("/api/v1/app/{app}/msg"), &body).await["id"].as_str().expect("an id").to_owned()
}

pub async fn delivery(client: &mut Client, app: &str, endpoint: &str, message: &str) -> Value {
    client.get(&format!("/api/v1/app/{app}/delivery/{message}.{endpoint}")).await
}

/// Asks until the answer is as it should be; the API can only be asked, not waited for.
pub async fn until(client: &mut Client, path: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = client.get(path).await;
        if is_so(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what} did not come about: {answer}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
