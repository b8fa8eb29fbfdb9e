use std::path::Path;

use gonets_core::{
    clock::SystemClock,
    ids::{AttemptId, MessageId},
    time::Timestamp,
};
use gonets_store::{
    engine::{BackupDone, Load, Tended},
    tx::{Tx, Verdict},
};
use gonets_store_sqlite::SqliteEngine;
use gonets_wire::Secret;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::{
    client::Api,
    config::{ConfigFlags, Variables, load},
    installation::Installation,
    receiver::{Received, Receiver, Reply, on_loopback},
    secrets,
};

async fn up(dir: &Path) -> (Running, Api) {
    up_on(dir, |engine| Box::new(engine)).await
}

async fn up_on(dir: &Path, on: impl FnOnce(SqliteEngine) -> Box<dyn StoreEngine>) -> (Running, Api) {
    let flags = ConfigFlags {
        dev: true,
        listen: Some("127.0.0.1:0".to_owned()),
        data: Some(dir.to_owned()),
        ..ConfigFlags::default()
    };
    let config = load(&flags, &Variables::default()).unwrap();
    let mut installation = Installation::open(dir, Arc::new(SystemClock::start())).unwrap();
    installation.prepare(&[secrets::DEV_KEY.to_owned()]).unwrap();
    let keyring = secrets::keyring(&Variables::default(), true, dir).unwrap();
    let (engine, readers) = installation.into_store();
    let listener = listen(config.settings.listen).await.unwrap();
    let running = start(&config, listener, (on(engine), readers), keyring).await.unwrap();
    let api = Api::new(&format!("http://{}", running.address()), secrets::DEV_KEY.to_owned()).unwrap();
    (running, api)
}

/// A store whose disk fails at the very end.
struct FailsToClose(SqliteEngine);

impl StoreEngine for FailsToClose {
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal> {
        self.0.commit(now, batch)
    }

    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal> {
        self.0.last_ids()
    }

    fn shift_due(&mut self, after: Timestamp, by: std::time::Duration) -> Result<(), Fatal> {
        self.0.shift_due(after, by)
    }

    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal> {
        self.0.tend(now, load)
    }

    fn start_backup(&mut self, target: &Path, done: BackupDone) {
        self.0.start_backup(target, done);
    }

    fn close(self: Box<Self>) -> Result<(), Fatal> {
        Err(Fatal { message: "the disk is gone".to_owned() })
    }
}

/// A receiver that takes everything, and what it received.
async fn partner(secret: &Secret) -> (String, mpsc::UnboundedReceiver<Received>) {
    let (seen, received) = mpsc::unbounded_channel();
    let (listener, address) = on_loopback(0).await.unwrap();
    let answer = move |request| {
        seen.send(request).unwrap();
        Reply { status: StatusCode::OK, delay: std::time::Duration::ZERO }
    };
    let receiver =
        Receiver { clock: Arc::new(SystemClock::start()), keys: vec![secret.clone().into()], answer };
    tokio::spawn(receiver.run(listener));
    (format!("http://{address}/"), received)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_posted_message_reaches_its_endpoint_signed_and_is_known_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let secret = Secret::generate().unwrap();
    let (url, mut received) = partner(&secret).await;
    let (running, api) = up(dir.path()).await;
    api.post::<Value>("/app", &json!({ "name": "Shop", "uid": "shop" })).await.unwrap();
    let endpoint = json!({ "url": url, "secret": secret.shown() });
    api.post::<Value>("/app/shop/endpoint", &endpoint).await.unwrap();
    let message = json!({ "eventType": "order.paid", "payload": { "n": 1 } });
    let posted: Value = api.post("/app/shop/msg", &message).await.unwrap();
    let request = received.recv().await.unwrap();
    assert_eq!(request.message_id(), posted["id"].as_str());
    assert!(request.verified.unwrap().is_ok());
    running.stop().await.unwrap();

    let (running, api) = up(dir.path()).await;
    let path = format!("/app/shop/msg/{}/endpoint", posted["id"].as_str().unwrap());
    let deliveries: Value = api.get(&path).await.unwrap();
    assert_eq!(
        deliveries["data"][0]["status"], 0,
        "what was in flight at the stop was recorded: {deliveries}"
    );
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_while_it_is_closed_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (running, _) = up_on(dir.path(), |engine| Box::new(FailsToClose(engine))).await;
    let error = running.stop().await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.status()), ("the disk is gone", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_known_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let (running, _) = up(dir.path()).await;
    let stranger = Api::new(&format!("http://{}", running.address()), "nonsense".to_owned()).unwrap();
    let error = stranger.get::<Value>("/app").await.unwrap_err().to_string();
    assert!(error.contains("does not know this token"), "{error}");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_taken_port_is_told_with_the_next_one() {
    let first = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let error = listen(first.local_addr().unwrap()).await.unwrap_err().to_string();
    assert!(
        error.contains("is taken by another process. Stop it, or start with --listen 127.0.0.1:"),
        "{error}"
    );
}

#[test]
fn the_description_is_json_that_names_the_api() {
    let description: Value = serde_json::from_str(&openapi().unwrap()).unwrap();
    assert!(description["paths"]["/api/v1/app"].is_object());
}
