//! Breakers: R10–R17, and retries by hand beside them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::partner::{self, Arrival, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

const PAUSE: Duration = Duration::from_millis(1_500);
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
timeout = "2s"
[profiles.quick.outage]
delays = ["1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s"]
[profiles.quick.breaker]
pause = "1500ms"
pause_max = "1500ms"
recheck = "300ms"
[profiles.endpoints]
extends = "quick"
[profiles.endpoints.breaker]
scope = "endpoint"
"#;

/// How far before its pause is over a probe may seem to come: clocks are read at both ends.
const EARLY: Duration = Duration::from_millis(20);

async fn breakers(client: &mut Client, app: &str) -> Vec<Value> {
    let answer = client.get(&format!("/api/v1/app/{app}/breaker")).await;
    answer["breakers"].as_array().expect("a list").clone()
}

async fn until_open(client: &mut Client, app: &str) {
    let path = format!("/api/v1/app/{app}/breaker");
    partner::until(client, &path, "an open breaker", |answer| {
        answer["breakers"].as_array().is_some_and(|all| !all.is_empty())
    })
    .await;
}

/// A server whose partner is down, with `many` deliveries waiting behind an open breaker, the last five
/// of them critical. Gives their messages in the order of posting.
async fn down_with(client: &mut Client, partner: &mut Partner, many: usize) -> (String, String, Vec<String>) {
    let (app, endpoint) = partner::subscriber(client, "quick", &partner.url(), json!({})).await;
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(partner::post(client, &app, false, n).await);
    }
    until_open(client, &app).await;
    for n in 5..many {
        messages.push(partner::post(client, &app, n >= many - 5, n).await);
    }
    // Those in flight at the opening.
    while partner.next_within(Duration::from_millis(200)).await.is_some() {}
    (app, endpoint, messages)
}

/// What comes during the release: the first second after `from` and the order of all.
fn check_release(arrivals: &[Arrival], waiting: &[String], critical: &[String]) {
    let from = arrivals[0].at;
    let in_first_second = arrivals.iter().filter(|one| one.at - from <= Duration::from_secs(1)).count();
    assert!(in_first_second <= 3, "{in_first_second} requests in the first second");
    let ids: Vec<_> = arrivals.iter().map(Arrival::id).collect();
    let mut sorted: Vec<_> = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len(), "each comes once");
    for id in waiting {
        assert!(ids.contains(id), "{id} did not come");
    }
    let place = |id: &String| ids.iter().position(|one| one == id).expect("it came");
    let last_critical = critical.iter().map(place).max().unwrap_or(0);
    let of_others = waiting.iter().filter(|id| !critical.contains(id)).map(place);
    let passed = of_others.clone().filter(|at| *at < last_critical).count();
    assert!(passed == 0, "{passed} others came before the last critical one");
    // While they go one by one, they go by age.
    let slow: Vec<_> = ids.iter().take(8).filter(|id| !critical.contains(id)).collect();
    assert!(slow.windows(2).all(|two| two[0] < two[1]), "{slow:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r12_r15_one_request_per_pause_while_it_is_down_and_a_gentle_release_when_it_heals() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint, messages) = down_with(&mut client, &mut partner, 200).await;
    let mut last = None;
    for _ in 0..3 {
        let probe = partner.next().await.at;
        if let Some(last) = last {
            assert!(probe - last >= PAUSE - EARLY, "two requests within {:?}", probe - last);
        }
        last = Some(probe);
    }
    partner.answers(Reply::status(200));
    let probe = partner.next().await;
    assert!(probe.at - last.expect("there were three") >= PAUSE - EARLY);
    let arrivals = partner.until_quiet(Duration::from_secs(3)).await;
    let critical: Vec<_> = messages[195..].iter().filter(|id| **id != probe.id()).cloned().collect();
    let waiting: Vec<_> = messages.iter().filter(|id| **id != probe.id()).cloned().collect();
    check_release(&arrivals, &waiting, &critical);
    // What was only held had one attempt: the one that delivered it.
    for id in &messages[20..30] {
        let delivery = partner::delivery(&mut client, &app, &endpoint, id).await;
        assert_eq!(
            (&delivery["state"], &delivery["attempts"]),
            (&json!("delivered"), &json!(1)),
            "{delivery}"
        );
    }
    assert!(breakers(&mut client, &app).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_a_breaker_and_a_probe_survive_a_kill() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, _, messages) = down_with(&mut client, &mut partner, 60).await;
    // The next probe hangs, and we are killed meanwhile.
    partner.answers(Reply::after(200, Duration::from_secs(60)));
    let hanging = partner.next().await;
    let server = Server::on(server.kill(), &[]);
    let mut client = Client::of(server.address());
    until_open(&mut client, &app).await;
    partner.answers(Reply::status(200));
    let probe = partner.next().await;
    // Its lease is the time-out of 2 s and 5 s more.
    let waited = probe.at - hanging.at;
    assert!(waited >= Duration::from_secs(7) - EARLY, "another probe after {waited:?}");
    let arrivals = partner.until_quiet(Duration::from_secs(3)).await;
    let gone = [probe.id()];
    let waiting: Vec<_> = messages.iter().filter(|id| !gone.contains(id)).cloned().collect();
    let critical: Vec<_> = messages[55..].iter().filter(|id| !gone.contains(id)).cloned().collect();
    check_release(&arrivals, &waiting, &critical);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_a_balancer_that_answers_404_while_its_application_is_down_costs_at_most_five() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(partner::post(&mut client, &app, false, n).await);
    }
    until_open(&mut client, &app).await;
    for n in 5..105 {
        messages.push(partner::post(&mut client, &app, false, n).await);
    }
    while partner.next_within(Duration::from_millis(200)).await.is_some() {}
    partner.answers(Reply::status(404));
    for _ in 0..3 {
        partner.next().await;
    }
    partner.answers(Reply::status(200));
    partner.until_quiet(Duration::from_secs(3)).await;
    let mut lost = 0;
    for id in &messages {
        let delivery = partner::delivery(&mut client, &app, &endpoint, id).await;
        match delivery["state"].as_str() {
            Some("delivered") => {}
            Some("failed") => lost += 1,
            _ => panic!("{delivery}"),
        }
    }
    assert!((1..=5).contains(&lost), "{lost} were lost to the 404s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r10_refusals_never_open_it() {
    let mut partner = Partner::start(Reply::status(403)).await;
    let server = Server::on(Data::configured(PROFILES), &[]);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    let mut last = String::new();
    for n in 0..50 {
        last = partner::post(&mut client, &app, false, n).await;
    }
    let path = format!("/api/v1/app/{app}/delivery/{last}.{endpoint}");
    partner::until(&mut client, &path, "a refusal", |delivery| delivery["reason"] == "refused").await;
    assert!(breakers(&mut client, &app).await.is_empty());
    assert_eq!(partner.until_quiet(Duration::from_millis(300)).await.len(), 50);
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
    let came = partner.until_quiet(Duration::from_secs(3)).await;
    assert!(came.len() >= 28, "{} of the others came", came.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r17_a_reset_sends_the_probe_at_once() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let config =
        PROFILES.replace("pause = \"1500ms\"\npause_max = \"1500ms\"", "pause = \"5m\"\npause_max = \"5m\"");
    let server = Server::on(Data::configured(&config), &[]);
    let mut client = Client::of(server.address());
    let (app, _, _) = down_with(&mut client, &mut partner, 10).await;
    partner.answers(Reply::status(200));
    let path = format!("/api/v1/app/{app}/breaker/reset");
    let answer = client.call("POST", &path, &[], b"").await.expect("an answer");
    assert_eq!(answer.status, 204, "{}", String::from_utf8_lossy(&answer.body));
    let came = partner.until_quiet(Duration::from_secs(3)).await;
    assert_eq!(came.len(), 10);
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
    let came = partner.until_quiet(Duration::from_secs(3)).await;
    assert_eq!(came.len(), 20);
    let first = came.iter().filter(|one| one.at - came[0].at <= Duration::from_secs(1)).count();
    assert!(first <= 3, "{first} requests in the first second");
}
