//! Breakers, probes and releases outlive a kill: R15, R16.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;

use super::{
    outage::{EARLY, PAUSE, PROFILES, check_release, down_with, until_open},
    partner::{self, Arrival, Partner},
};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

/// A server with 60 deliveries waiting behind an open breaker, the last five of them critical.
async fn down(partner: &mut Partner) -> (Server, String, String, Vec<String>) {
    let server = Server::on(Data::configured(PROFILES), &[]);
    let (app, endpoint, messages) = down_with(&mut Client::of(server.address()), partner, 60).await;
    (server, app, endpoint, messages)
}

/// Starts it again, and checks that it remembers what holds the application.
async fn again(server: Server, app: &str) -> (Server, Client) {
    let server = Server::on(server.kill(), &[]);
    let mut client = Client::of(server.address());
    until_open(&mut client, app).await;
    (server, client)
}

fn without(messages: &[String], gone: &[String]) -> Vec<String> {
    messages.iter().filter(|id| !gone.contains(id)).cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_a_probe_that_hangs_survives_a_kill_by_its_lease() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let (server, app, _, messages) = down(&mut partner).await;
    // The next probe hangs, and we are killed meanwhile.
    partner.answers(Reply::after(200, Duration::from_secs(60)));
    let hanging = partner.next().await;
    let _again = again(server, &app).await;
    partner.answers(Reply::status(200));
    let probe = partner.next().await;
    // Its lease is the time-out of 2 s and 5 s more.
    let waited = probe.at - hanging.at;
    assert!(waited >= Duration::from_secs(7) - EARLY, "another probe after {waited:?}");
    let arrivals = partner.exactly(59).await;
    let gone = [probe.id()];
    check_release(&arrivals, &without(&messages, &gone), &without(&messages[55..], &gone));
}

/// Killed between two probes; gives the probe before, and what came from the next on, when all is well.
async fn killed_between_probes() -> (Arrival, Vec<Arrival>, Vec<String>) {
    let mut partner = Partner::start(Reply::status(503)).await;
    let (server, app, endpoint, messages) = down(&mut partner).await;
    let before = partner.next().await;
    let path = format!("/api/v1/app/{app}/delivery/{}.{endpoint}", before.id());
    // Its result is known before the kill: no lease is in the way of the next.
    let mut client = Client::of(server.address());
    partner::until(&mut client, &path, "the probe's result", |delivery| {
        let timeline = delivery["timeline"].as_array().expect("a timeline");
        timeline.iter().any(|event| event["kind"] == "attempt" && event["probe"] == true)
    })
    .await;
    let (_server, mut client) = again(server, &app).await;
    partner.answers(Reply::status(200));
    let arrivals = partner.exactly(60).await;
    // What was only held was tried once.
    for id in &messages[20..30] {
        let delivery = partner::delivery(&mut client, &app, &endpoint, id).await;
        let end = (&delivery["state"], &delivery["attempts"]);
        assert_eq!(end, (&json!("delivered"), &json!(1)), "{delivery}");
    }
    (before, arrivals, messages)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_an_open_breaker_survives_a_kill_and_nothing_comes_before_its_pause_is_over() {
    let (before, arrivals, messages) = killed_between_probes().await;
    let waited = arrivals[0].at - before.at;
    assert!(waited >= PAUSE - EARLY, "the next came after {waited:?}");
    let gone = [arrivals[0].id()];
    // The probe before is not among them: after a start, a critical one that waits on its ladder is read
    // when the window has room, and some others are in memory before it.
    let critical = without(&messages[55..], &[gone[0].clone(), before.id()]);
    check_release(&arrivals[1..], &without(&messages, &gone), &critical);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r15_a_kill_in_the_middle_of_a_release_loses_nothing() {
    let (arrivals, mut came, messages) = killed_in_release().await;
    for arrival in &arrivals {
        *came.entry(arrival.id()).or_default() += 1;
    }
    for id in &messages {
        assert!(came.contains_key(id), "{id} did not come");
    }
    // Those whose outcome was not recorded when it was killed come again.
    let twice = came.values().filter(|count| **count > 1).count();
    assert!(twice <= 6, "{twice} came again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r15_a_kill_in_the_middle_of_a_release_makes_no_stampede_of_the_rest() {
    let (arrivals, _, _) = killed_in_release().await;
    let from = arrivals[0].at;
    let in_first_second = arrivals.iter().filter(|one| one.at - from <= Duration::from_secs(1)).count();
    // It was at four a second at most when it was killed.
    assert!(in_first_second <= 8, "{in_first_second} requests in the first second after the start");
}

/// Killed after six of 60; gives what came after it, how often each came before it, and the messages.
async fn killed_in_release() -> (Vec<Arrival>, BTreeMap<String, usize>, Vec<String>) {
    let mut partner = Partner::start(Reply::status(503)).await;
    let (server, _, _, messages) = down(&mut partner).await;
    partner.answers(Reply::status(200));
    let mut came = BTreeMap::<String, usize>::new();
    for _ in 0..6 {
        *came.entry(partner.next().await.id()).or_default() += 1;
    }
    let _server = Server::on(server.kill(), &[]);
    let arrivals = partner.until_quiet(Duration::from_secs(2)).await;
    (arrivals, came, messages)
}
