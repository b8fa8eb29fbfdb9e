//! Test events: sent like any other, kept nowhere.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::{
    client::Client,
    receiver::{Receiver, Reply},
    server::Server,
    world,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_event_reaches_even_a_disabled_endpoint_and_leaves_no_trace() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing = Arc::clone(&seen);
    // 410 would disable an endpoint of this profile, were it the answer to a delivery.
    let receiver = Receiver::start(move |request| {
        seeing.lock().unwrap().push(request);
        Reply::status(410)
    })
    .await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, endpoint) = world::subscriber(&mut client, "shop", &receiver.url("/hook")).await;
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    let tried = client.post(&format!("{path}/test"), &json!({"eventType": "order.paid"})).await;
    assert_eq!((&tried["outcome"], &tried["responseStatusCode"]), (&json!("gone"), &json!(410)), "{tried}");
    let shown = client.get(&path).await;
    assert_eq!(shown["disabled"], false, "a test event disables nothing: {shown}");
    let patch = client.call("PATCH", &path, &[], br#"{"disabled":true}"#).await.expect("an answer");
    assert_eq!(patch.status, 200);
    let tried = client.call("POST", &format!("{path}/test"), &[], b"").await.expect("an answer");
    assert_eq!(tried.json()["outcome"], "gone");

    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(seen.len(), 2);
    assert!(seen[0].body.ends_with(br#""data":{"test":true}}"#), "{:?}", seen[0].body);
    assert!(seen[0].header("webhook-signature").is_some_and(|signature| signature.starts_with("v1,")));
    assert_ne!(seen[0].webhook_id(), seen[1].webhook_id());
    for list in [format!("/api/v1/app/{app}/msg"), format!("/api/v1/app/{app}/attempt/endpoint/{endpoint}")] {
        let listed = client.get(&list).await;
        assert_eq!(listed["data"], json!([]), "{list}: {listed}");
    }
}
