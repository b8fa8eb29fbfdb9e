//! The path of one event, from outside.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    client::Client,
    receiver::{Received, Receiver, Reply},
    server::{Data, Server, binary},
    world,
};

/// A receiver that answers with `statuses` in turn, the last for ever, and passes on what came.
async fn scripted(statuses: &'static [u16]) -> (Receiver, mpsc::UnboundedReceiver<Received>) {
    let (sender, came) = mpsc::unbounded_channel();
    let state = Arc::new(Mutex::new((0, sender)));
    let receiver = Receiver::start(move |request| {
        let mut state = state.lock().unwrap();
        let status = statuses[state.0.min(statuses.len() - 1)];
        state.0 += 1;
        let _ = state.1.send(request);
        Reply::status(status)
    })
    .await;
    (receiver, came)
}

async fn next(came: &mut mpsc::UnboundedReceiver<Received>) -> Received {
    tokio::time::timeout(Duration::from_secs(15), came.recv())
        .await
        .expect("a delivery comes")
        .expect("it lives")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_arrives_in_its_envelope_with_its_headers() {
    let (receiver, mut came) = scripted(&[200]).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &receiver.url("/hooks?a=%2F&b")).await;
    let body = json!({
        "eventType": "order.paid", "payload": {"n": 1}, "occurredAt": "2026-01-02T03:04:05.678Z", "apiVersion": "7"
    });
    let id = client.post(&format!("/api/v1/app/{app}/msg"), &body).await["id"].as_str().unwrap().to_owned();
    let received = next(&mut came).await;
    assert_eq!(received.path, "/hooks?a=%2F&b");
    let expected = format!(
        r#"{{"id":"{id}","type":"order.paid","created_at":"2026-01-02T03:04:05.678Z","api_version":"7","data":{{"n":1}}}}"#
    );
    assert_eq!(received.body, expected.as_bytes());
    assert_eq!(received.webhook_id(), id);
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("transfer-encoding"), None);
    assert!(received.header("user-agent").is_some_and(|agent| agent.starts_with("Gonets/")));
    assert!(
        received.header("x-signature").is_some_and(|signature| signature.starts_with("t=")),
        "t-v1 is sent too"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_attempt_comes_again_with_the_same_id_and_a_fresh_signature_and_is_journaled() {
    let (receiver, mut came) = scripted(&[503, 200]).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "shop", "profile": "payments"})).await;
    world::endpoint(&mut client, &app, &receiver.url("/")).await;
    let id = world::post(&mut client, &app, &json!({"n": 1})).await;
    let (first, second) = (next(&mut came).await, next(&mut came).await);
    assert_eq!(first.webhook_id(), second.webhook_id());
    assert_eq!(first.body, second.body);
    assert_ne!(first.header("webhook-signature"), second.header("webhook-signature"));
    let attempts = world::attempts(&mut client, &app, &id, 2).await;
    let statuses: Vec<_> =
        attempts.iter().map(|attempt| attempt["responseStatusCode"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 503], "newest first");
    assert_eq!(attempts[0]["response"], "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_failing_endpoint_is_tried_again() {
    let (well, mut at_well) = scripted(&[200]).await;
    let (ill, mut at_ill) = scripted(&[500, 500, 200]).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "shop", "profile": "payments"})).await;
    world::endpoint(&mut client, &app, &well.url("/")).await;
    world::endpoint(&mut client, &app, &ill.url("/")).await;
    world::post(&mut client, &app, &json!({"n": 1})).await;
    for _ in 0..3 {
        next(&mut at_ill).await;
    }
    next(&mut at_well).await;
    assert!(at_well.try_recv().is_err(), "the healthy endpoint got it once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_event_id_or_idempotency_key_makes_one_message() {
    let (receiver, mut came) = scripted(&[200]).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &receiver.url("/")).await;
    let path = format!("/api/v1/app/{app}/msg");
    let body = br#"{"eventType":"order.paid","eventId":"order-1","payload":{"n":1}}"#;
    let first = client.call("POST", &path, &[], body).await.unwrap();
    assert_eq!(first.status, 202);
    assert_eq!(client.call("POST", &path, &[], body).await.unwrap().status, 409);

    for key in ["mine-1", "auto_3f7a"] {
        let headers = [("idempotency-key", key)];
        let body = br#"{"eventType":"order.paid","payload":{"n":2}}"#;
        let once = client.call("POST", &path, &headers, body).await.unwrap();
        let again = client.call("POST", &path, &headers, body).await.unwrap();
        assert_eq!((once.status, again.status), (202, 202));
        assert_eq!(once.json()["id"], again.json()["id"]);
        let other =
            client.call("POST", &path, &headers, br#"{"eventType":"order.paid","payload":{"n":3}}"#).await;
        let other = other.unwrap();
        assert_eq!(other.status, 409);
        assert_eq!(other.json()["code"], "idempotency_conflict");
    }
    for _ in 0..3 {
        next(&mut came).await;
    }
    assert!(came.try_recv().is_err(), "three messages in all");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_endpoint_does_not_delay_a_healthy_one() {
    let (well, mut at_well) = scripted(&[200]).await;
    let hanging = Receiver::start(|_| Reply::after(200, Duration::from_secs(3600))).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    // svix: an attempt may take 30 s, so all of them hang until the end of this test.
    let stuck = world::application(&mut client, &json!({"name": "stuck", "profile": "svix"})).await;
    world::endpoint(&mut client, &stuck, &hanging.url("/")).await;
    let (healthy, _) = world::subscriber(&mut client, "healthy", &well.url("/")).await;
    for n in 0..200 {
        world::post(&mut client, &stuck, &json!({"n": n})).await;
    }
    // The best of three: the machine may stall.
    let mut took = Duration::MAX;
    for n in 0..3 {
        let begun = tokio::time::Instant::now();
        world::post(&mut client, &healthy, &json!({"n": n})).await;
        next(&mut at_well).await;
        took = took.min(begun.elapsed());
    }
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// Time enough to delete an endpoint before its retry is due, even where the machine stalls.
const AGAIN_AFTER_3_S: &str = r#"
[profiles.again]
outage = { delays = ["3s", "1h"], jitter = [0.0, 0.0] }
breaker = { enabled = false }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_endpoint_gets_nothing_more() {
    let (receiver, mut came) = scripted(&[503]).await;
    let (witness, mut at_witness) = scripted(&[503]).await;
    let server = Server::on(Data::configured(AGAIN_AFTER_3_S), &[]);
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "shop", "profile": "again"})).await;
    let endpoint = world::endpoint(&mut client, &app, &receiver.url("/")).await;
    world::post(&mut client, &app, &json!({"n": 1})).await;
    next(&mut came).await;
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    assert_eq!(client.call("DELETE", &path, &[], b"").await.unwrap().status, 204);
    // Another endpoint's retry, which is due later.
    world::endpoint(&mut client, &app, &witness.url("/")).await;
    world::post(&mut client, &app, &json!({"n": 2})).await;
    for _ in 0..2 {
        next(&mut at_witness).await;
    }
    assert!(came.try_recv().is_err(), "the retry that was due before was cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_running_server_is_a_whole_store() {
    let (receiver, mut came) = scripted(&[200]).await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, _) = world::subscriber(&mut client, "shop", &receiver.url("/")).await;
    let id = world::post(&mut client, &app, &json!({"n": 1})).await;
    next(&mut came).await;
    world::attempts(&mut client, &app, &id, 1).await;

    let restored = Data::new();
    let copy = restored.path().join("gonets.db");
    let mut backup = std::process::Command::new(binary());
    backup.arg("backup").arg(&copy).arg("--data").arg(server.data());
    assert!(backup.status().expect("it runs").success());
    std::fs::copy(server.data().join("master.key"), restored.path().join("master.key"))
        .expect("the key is kept");

    let server = Server::on(restored, &[]);
    let mut client = Client::of(server.address());
    assert_eq!(world::attempts(&mut client, &app, &id, 1).await.len(), 1);
    world::post(&mut client, &app, &json!({"n": 2})).await;
    assert_ne!(next(&mut came).await.webhook_id(), id, "what was delivered before is not delivered again");
}
