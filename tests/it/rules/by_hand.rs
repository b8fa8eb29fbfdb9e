//! What people do to what is held: retries, resets and freezes (R9, R17, R28).

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{
    outage::{PAUSE, PROFILES, down_with},
    partner::{self, Partner},
};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

/// With pauses that no test waits for.
fn long_pauses() -> String {
    PROFILES.replace("pause = \"1500ms\"\npause_max = \"1500ms\"", "pause = \"5m\"\npause_max = \"5m\"")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r09_a_retry_by_hand_goes_out_while_it_is_open_and_its_success_closes_it() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint, messages) = down_with(&mut client, &mut partner, 30).await;
    partner.answers(Reply::status(200));
    let pressed = Instant::now();
    let path = format!("/api/v1/app/{app}/delivery/{}.{endpoint}/retry", messages[20]);
    let answer = client.call("POST", &path, &[], b"").await.expect("an answer");
    assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
    let mut came = partner.next().await;
    while came.id() != messages[20] {
        came = partner.next().await;
    }
    assert!(came.at - pressed < PAUSE, "a person does not wait for the pause");
    let path = format!("/api/v1/app/{app}/breaker");
    partner::until(&mut client, &path, "a closed breaker", |answer| answer["breakers"] == json!([])).await;
    partner.exactly(29).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r17_a_reset_sends_the_probe_at_once() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(&long_pauses()), &[]);
    let mut client = Client::of(server.address());
    let (app, _, _) = down_with(&mut client, &mut partner, 10).await;
    partner.answers(Reply::status(200));
    let path = format!("/api/v1/app/{app}/breaker/reset");
    let answer = client.call("POST", &path, &[], b"").await.expect("an answer");
    assert_eq!(answer.status, 204, "{}", String::from_utf8_lossy(&answer.body));
    partner.exactly(10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r17_another_url_is_tried_at_once_and_takes_what_waits() {
    let mut broken = Partner::start(Reply::status(503)).await;
    let mut whole = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(&long_pauses()), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint, _) = down_with(&mut client, &mut broken, 10).await;
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    let body = json!({"url": whole.url()}).to_string();
    let answer = client.call("PATCH", &path, &[], body.as_bytes()).await.expect("an answer");
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    whole.exactly(10).await;
    assert!(broken.next_within(Duration::ZERO).await.is_none(), "nothing goes to the old one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r28_a_frozen_application_sends_nothing_and_thaws_gently() {
    let mut partner = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    let freeze = format!("/api/v1/app/{app}/freeze");
    assert_eq!(client.call("POST", &freeze, &[], b"").await.expect("an answer").status, 204);
    let mut last = String::new();
    for n in 0..20 {
        last = partner::post(&mut client, &app, false, n).await;
    }
    let delivery = partner::delivery(&mut client, &app, &endpoint, &last).await;
    assert_eq!(delivery["hold"]["name"], "frozen", "{delivery}");
    let server = Server::on(server.kill(), &[]);
    let mut client = Client::of(server.address());
    assert!(partner.next_within(Duration::from_millis(500)).await.is_none(), "it is frozen after a kill too");
    assert_eq!(client.call("DELETE", &freeze, &[], b"").await.expect("an answer").status, 204);
    let came = partner.exactly(20).await;
    let first = came.iter().filter(|one| one.at - came[0].at <= Duration::from_secs(1)).count();
    assert!(first <= 3, "{first} requests in the first second");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r28_an_environment_and_everything_are_frozen_with_all_their_applications() {
    let mut partner = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (first, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    let (second, _) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    for path in ["/api/v1/environment/freeze", "/api/v1/freeze"] {
        assert_eq!(client.call("POST", path, &[], b"").await.expect("an answer").status, 204, "{path}");
        let held = partner::post(&mut client, &first, true, 1).await;
        partner::post(&mut client, &second, true, 2).await;
        let delivery = partner::delivery(&mut client, &first, &endpoint, &held).await;
        assert_eq!((&delivery["state"], &delivery["hold"]["name"]), (&json!("waiting"), &json!("frozen")));
        assert!(partner.next_within(Duration::from_millis(300)).await.is_none(), "{path}: it is frozen");
        assert_eq!(client.call("DELETE", path, &[], b"").await.expect("an answer").status, 204, "{path}");
        partner.next().await;
        partner.next().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r17_a_partner_says_we_are_back_at_most_once_a_minute() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(&long_pauses()), &[]);
    let mut client = Client::of(server.address());
    let (app, _, messages) = down_with(&mut client, &mut partner, 10).await;
    let key = client.post("/api/v1/key", &json!({"name": "partner", "application": app})).await;
    let mut token = Client::with_key(server.address(), key["token"].as_str().expect("a token"));
    let path = format!("/api/v1/app/{app}/breaker/reset");
    assert_eq!(token.call("POST", &path, &[], b"").await.expect("an answer").status, 204);
    // It was not back: the probe fails.
    partner.next().await;
    let again = token.call("POST", &path, &[], b"").await.expect("an answer");
    let wait = again.retry_after.expect("it says when");
    assert_eq!(again.status, 429, "{}", String::from_utf8_lossy(&again.body));
    assert!((1..=60).contains(&wait), "{wait}");
    let freeze = format!("/api/v1/app/{app}/freeze");
    assert_eq!(token.call("POST", &freeze, &[], b"").await.expect("an answer").status, 403);
    assert!(partner.next_within(Duration::from_millis(300)).await.is_none(), "refused is refused");
    // Who operates Gonets may as often as needed.
    partner.answers(Reply::status(200));
    assert_eq!(client.call("POST", &path, &[], b"").await.expect("an answer").status, 204);
    partner.exactly(messages.len()).await;
}
