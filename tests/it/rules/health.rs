//! Endpoint health and the operational events that tell of it: R21.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

const PROFILES: &str = r#"
[profiles.quick]
extends = "standard"
[profiles.quick.outage]
delays = ["100ms", "100ms", "100ms", "100ms", "100ms", "100ms", "100ms", "100ms"]
jitter = [0.0, 0.0]
[profiles.quick.breaker]
enabled = false
[profiles.quick.health]
disable_after = "3s"
min_failures = 10
notices = ["1s"]
[profiles.short]
extends = "quick"
[profiles.short.outage]
delays = ["100ms", "100ms"]
[profiles.short.health]
notices = []
"#;

/// The type and data of an operational event as it came.
fn event(arrival: &partner::Arrival) -> (String, Value) {
    let event: Value = serde_json::from_slice(&arrival.request.body).expect("JSON");
    // With the profile `standard` it comes in an envelope.
    let event = if event["data"]["data"].is_object() { event["data"].clone() } else { event };
    (event["type"].as_str().expect("a type").to_owned(), event["data"].clone())
}

/// An application and an endpoint by this profile, and what its operator hears of it.
async fn watched(client: &mut Client, partner: &Partner, profile: &str) -> (String, String, Partner) {
    let listener = Partner::start(Reply::status(200)).await;
    let body = json!({"url": listener.url(), "filterTypes": [
        "endpoint.failing", "endpoint.warned", "endpoint.disabled", "endpoint.recovered", "endpoint.enabled",
    ]});
    client.post("/api/v1/operational-webhook/endpoint", &body).await;
    let (app, endpoint) = partner::subscriber(client, profile, &partner.url(), json!({})).await;
    (app, endpoint, listener)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_an_endpoint_is_disabled_in_time_not_sooner_and_its_people_are_told_once_each() {
    let mut partner = Partner::start(Reply::status(500)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint, mut listener) = watched(&mut client, &partner, "quick").await;
    // Two failures, then a success: the clock starts anew after it.
    partner.answers_first([500, 500, 200].map(Reply::status));
    partner::post(&mut client, &app, false, 0).await;
    for _ in 0..3 {
        partner.next().await;
    }
    let mut began = None;
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    let mut n = 1;
    let disabled = loop {
        partner::post(&mut client, &app, false, n).await;
        n += 1;
        let next = partner.next_within(Duration::from_millis(200)).await;
        began = began.or(next.map(|arrival| arrival.at));
        let shown = client.get(&path).await;
        if shown["disabled"] == true {
            break shown;
        }
        assert!(began.is_none_or(|began| began.elapsed() < Duration::from_secs(20)), "{shown}");
    };
    let lasted = began.expect("it failed").elapsed();
    assert!(lasted >= Duration::from_millis(2_950), "disabled after {lasted:?}");
    assert_eq!(disabled["disabledReason"], "failing", "{disabled}");
    let mut told = Vec::new();
    while told.last().is_none_or(|kind| kind != "endpoint.disabled") {
        let (kind, data) = event(&listener.next().await);
        assert_eq!(data["endpointId"], json!(endpoint), "{data}");
        told.push(kind);
    }
    told.sort();
    assert_eq!(told, ["endpoint.disabled", "endpoint.failing", "endpoint.warned"]);
    partner.answers(Reply::status(200));
    client.call("PATCH", &path, &[], br#"{"disabled":false}"#).await.expect("an answer");
    assert_eq!(event(&listener.next().await).0, "endpoint.enabled");
    assert!(listener.next_within(Duration::from_millis(500)).await.is_none(), "nothing is told twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_failing_is_told_with_the_first_exhausted_delivery_and_recovered_with_the_next_success() {
    let mut partner = Partner::start(Reply::status(500)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint, mut listener) = watched(&mut client, &partner, "short").await;
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    // Twice the same course: an episode ends with a success, and the next is told anew.
    for n in 0..2 {
        partner.answers(Reply::status(500));
        partner::post(&mut client, &app, false, n).await;
        for _ in 0..3 {
            partner.next().await;
        }
        let (kind, data) = event(&listener.next().await);
        assert_eq!((kind.as_str(), &data["endpointId"]), ("endpoint.failing", &json!(endpoint)), "{data}");
        let shown = client.get(&path).await;
        assert_eq!(shown["status"], "failing", "{shown}");
        // Another exhausted delivery of the same episode is told of no more.
        partner::post(&mut client, &app, false, n).await;
        for _ in 0..3 {
            partner.next().await;
        }
        partner.answers(Reply::status(200));
        partner::post(&mut client, &app, false, n).await;
        partner.next().await;
        let (kind, data) = event(&listener.next().await);
        assert_eq!((kind.as_str(), &data["endpointId"]), ("endpoint.recovered", &json!(endpoint)), "{data}");
        let shown = client.get(&path).await;
        assert_eq!((&shown["status"], &shown["failingSince"]), (&json!("active"), &json!(null)), "{shown}");
    }
    assert!(listener.next_within(Duration::from_millis(300)).await.is_none(), "nothing is told twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_a_success_starts_the_clock_anew_and_few_failures_disable_nothing_however_long() {
    let mut partner = Partner::start(Reply::status(500)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    // Three seconds and ten failures disable it; three are none.
    let (app, rare) = partner::subscriber(&mut client, "short", &partner.url(), json!({})).await;
    partner::post(&mut client, &app, false, 0).await;
    for _ in 0..3 {
        partner.next().await;
    }
    // Of this one more than ten fail, for longer than three seconds, but never without a success for so long.
    let mut other = Partner::start(Reply::status(500)).await;
    let (busy_app, busy) = partner::subscriber(&mut client, "short", &other.url(), json!({})).await;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        other.answers_first([500, 500, 500, 500, 500, 500, 500, 500, 200].map(Reply::status));
        for n in 0..3 {
            partner::post(&mut client, &busy_app, false, n).await;
        }
        // Three deliveries with three attempts each, the last of which succeeds.
        for _ in 0..9 {
            other.next().await;
        }
    }
    for (app, endpoint) in [(&app, &rare), (&busy_app, &busy)] {
        let shown = client.get(&format!("/api/v1/app/{app}/endpoint/{endpoint}")).await;
        assert_eq!(shown["disabled"], false, "{shown}");
    }
}
