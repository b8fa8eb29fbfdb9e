//! What waits at an endpoint that is disabled or throttled: R1, R8, R19, and strict order (R24).

use std::time::Duration;

use serde_json::json;
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
delays = ["100ms", "100ms", "100ms", "100ms"]
jitter = [0.0, 0.0]
[profiles.holding]
extends = "quick"
while_disabled = "hold"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r01_r19_after_410_at_most_four_more_requests_come_and_the_rest_is_held_and_goes_out_when_enabled() {
    // Slow enough that five are under way when the first is answered.
    let mut partner = Partner::start(Reply::after(410, Duration::from_millis(300))).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let more = json!({"concurrency": 5, "disabled": true});
    let (app, endpoint) = partner::subscriber(&mut client, "holding", &partner.url(), more).await;
    let mut messages = Vec::new();
    for n in 0..50 {
        messages.push(partner::post(&mut client, &app, false, n).await);
    }
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    client.call("PATCH", &path, &[], br#"{"disabled":false}"#).await.expect("an answer");
    partner::until(&mut client, &path, "disabling", |shown| shown["disabled"] == true).await;
    let came = partner.until_quiet(Duration::from_secs(1)).await;
    assert!((1..=5).contains(&came.len()), "{} requests", came.len());
    let shown = client.get(&path).await;
    assert_eq!((&shown["status"], &shown["disabledReason"]), (&json!("disabled"), &json!("gone")), "{shown}");
    let held = partner::delivery(&mut client, &app, &endpoint, &messages[49]).await;
    assert_eq!(held["hold"]["name"], "endpoint_disabled", "{held}");
    partner.answers(Reply::status(200));
    client.call("PATCH", &path, &[], br#"{"disabled":false}"#).await.expect("an answer");
    // All of them, those that were answered 410 too.
    partner.exactly(50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r19_enabling_with_skip_cancels_what_was_held() {
    let mut partner = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let more = json!({"disabled": true});
    let (app, endpoint) = partner::subscriber(&mut client, "holding", &partner.url(), more).await;
    let mut held = String::new();
    for n in 0..700 {
        held = partner::post(&mut client, &app, false, n).await;
    }
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    let answer =
        client.call("PATCH", &path, &[], br#"{"disabled":false,"held":"skip"}"#).await.expect("an answer");
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let after = partner::post(&mut client, &app, false, 701).await;
    assert_eq!(partner.exactly(1).await[0].id(), after);
    let delivery = partner::delivery(&mut client, &app, &endpoint, &held).await;
    assert_eq!(delivery["state"], "cancelled", "{delivery}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r19_what_comes_for_a_disabled_endpoint_is_journaled_as_skipped_where_the_profile_skips() {
    let mut partner = Partner::start(Reply::status(200)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let more = json!({"disabled": true});
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), more).await;
    let message = partner::post(&mut client, &app, false, 1).await;
    let delivery = partner::delivery(&mut client, &app, &endpoint, &message).await;
    assert_eq!((&delivery["state"], &delivery["reason"]), (&json!("skipped"), &json!("endpoint_disabled")));
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}");
    client.call("PATCH", &path, &[], br#"{"disabled":false}"#).await.expect("an answer");
    assert!(partner.next_within(Duration::from_millis(500)).await.is_none(), "it was skipped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r24_in_strict_order_nothing_passes_what_failed_before() {
    let mut partner = Partner::start(Reply::status(200)).await;
    partner.answers_first([200, 200, 503, 503].map(Reply::status));
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let more = json!({"ordered": true});
    let (app, _) = partner::subscriber(&mut client, "quick", &partner.url(), more).await;
    let mut messages = Vec::new();
    for n in 0..30 {
        messages.push(partner::post(&mut client, &app, n % 3 == 0, n).await);
    }
    let came: Vec<_> = partner.exactly(32).await.iter().map(|one| one.id()).collect();
    let mut expected = messages.clone();
    expected.insert(2, messages[2].clone());
    expected.insert(2, messages[2].clone());
    assert_eq!(came, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r08_a_throttled_endpoint_gets_few_requests_also_after_a_kill_and_can_be_let_go_by_hand() {
    let mut partner =
        Partner::start(Reply { lines: "retry-after: 30\r\n".into(), ..Reply::status(429) }).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    for n in 0..200 {
        partner::post(&mut client, &app, false, n).await;
    }
    let came = partner.until_quiet(Duration::from_secs(1)).await;
    assert!(came.len() <= 8, "{} requests", came.len());
    let server = Server::on(server.kill(), &[]);
    let mut client = Client::of(server.address());
    assert!(partner.next_within(Duration::from_secs(1)).await.is_none(), "the pause survives");
    let shown = client.get(&format!("/api/v1/app/{app}/breaker")).await;
    assert_eq!(shown["throttles"].as_array().map(Vec::len), Some(1), "{shown}");
    partner.answers(Reply::status(200));
    let path = format!("/api/v1/app/{app}/endpoint/{endpoint}/lift");
    let lifted = Instant::now();
    assert_eq!(client.call("POST", &path, &[], b"").await.expect("an answer").status, 204);
    let first = partner.next().await;
    assert!(first.at - lifted < Duration::from_secs(1));
    let came = partner.exactly(199).await;
    let in_first_second = came.iter().filter(|one| one.at - first.at <= Duration::from_secs(1)).count() + 1;
    assert!(in_first_second <= 3, "{in_first_second} in the first second");
}
