//! Messages without an endpoint, and what becomes too old: R7, R18.

use std::time::Duration;

use serde_json::json;

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
    world,
};

const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
[profiles.quick.refusal]
delays = ["50ms", "50ms", "50ms"]
span = "1h"
[profiles.patient]
extends = "quick"
[profiles.patient.outage]
delays = ["1h"]
[profiles.brief]
extends = "quick"
max_age = "2s"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r18_a_message_waits_for_an_endpoint_also_when_the_last_one_is_deleted_and_has_its_whole_ladder() {
    let mut partner = Partner::start(Reply::status(401)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "quick", "profile": "quick"})).await;
    let message = partner::post(&mut client, &app, true, 1).await;
    let path = format!("/api/v1/app/{app}/msg/{message}/explain");
    let explained = client.get(&path).await;
    assert_eq!(explained["hold"]["name"], "no_endpoint", "{explained}");
    // An endpoint comes and goes before anything is sent.
    let body = json!({"url": partner.url(), "disabled": true});
    let first = client.post(&format!("/api/v1/app/{app}/endpoint"), &body).await;
    let first = first["id"].as_str().expect("an id").to_owned();
    partner::until(&mut client, &path, "a delivery", |explained| explained["deliveries"] != json!([])).await;
    client.call("DELETE", &format!("/api/v1/app/{app}/endpoint/{first}"), &[], b"").await.expect("an answer");
    partner::until(&mut client, &path, "no endpoint", |explained| explained["hold"]["name"] == "no_endpoint")
        .await;
    let server = Server::on(server.kill(), &[]);
    let mut client = Client::of(server.address());
    let second = world::endpoint(&mut client, &app, &partner.url()).await;
    let came = partner.until_quiet(Duration::from_secs(1)).await;
    assert_eq!(came.len(), 4, "one attempt and three steps of the refusal ladder");
    let delivery = partner::delivery(&mut client, &app, &second, &message).await;
    assert_eq!(delivery["reason"], "refusals_exhausted", "{delivery}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_what_is_held_expires_when_its_age_comes() {
    let mut partner = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let unrouted = world::application(&mut client, &json!({"name": "brief", "profile": "brief"})).await;
    let waits = partner::post(&mut client, &unrouted, true, 1).await;
    let more = json!({"disabled": true});
    let (app, endpoint) = partner::subscriber(&mut client, "brief", &partner.url(), more).await;
    let held = partner::post(&mut client, &app, true, 2).await;
    let path = format!("/api/v1/app/{app}/delivery/{held}.{endpoint}");
    let ended = partner::until(&mut client, &path, "its end", |delivery| delivery["state"] == "failed").await;
    assert_eq!(ended["reason"], "expired", "{ended}");
    let path = format!("/api/v1/app/{unrouted}/msg/{waits}/explain");
    let ended = partner::until(&mut client, &path, "its end", |message| message["state"] == "failed").await;
    assert_eq!(ended["reason"], "expired", "{ended}");
    world::endpoint(&mut client, &unrouted, &partner.url()).await;
    assert!(partner.next_within(Duration::from_millis(500)).await.is_none(), "nothing too old is sent");
    let balance = client.get(&format!("/api/v1/app/{app}/balance")).await;
    assert_eq!(balance["balanced"], true, "{balance}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r18_what_failed_at_an_endpoint_that_was_deleted_is_delivered_by_the_next_under_the_same_id() {
    let mut broken = Partner::start(Reply::status(503)).await;
    let mut whole = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, first) = partner::subscriber(&mut client, "patient", &broken.url(), json!({})).await;
    let mut messages = Vec::new();
    for n in 0..3 {
        messages.push(partner::post(&mut client, &app, false, n).await);
    }
    broken.exactly(3).await;
    let path = format!("/api/v1/app/{app}/endpoint/{first}");
    assert_eq!(client.call("DELETE", &path, &[], b"").await.expect("an answer").status, 204);
    for message in &messages {
        let path = format!("/api/v1/app/{app}/msg/{message}/explain");
        partner::until(&mut client, &path, "no endpoint", |explained| {
            explained["hold"]["name"] == "no_endpoint"
        })
        .await;
    }
    let second = world::endpoint(&mut client, &app, &whole.url()).await;
    let mut came: Vec<_> = whole.exactly(3).await.iter().map(|arrival| arrival.id()).collect();
    came.sort();
    assert_eq!(came, messages);
    for message in &messages {
        let path = format!("/api/v1/app/{app}/delivery/{message}.{second}");
        partner::until(&mut client, &path, "delivery", |delivery| delivery["state"] == "delivered").await;
    }
    let balance = client.get(&format!("/api/v1/app/{app}/balance")).await;
    assert_eq!(balance["balanced"], true, "{balance}");
}
