//! Breakers: what opens them, probes, and the release (R10–R15).

use std::time::Duration;

use serde_json::json;

use super::{
    outage::{EARLY, PAUSE, PROFILES, breakers, check_release, down_with, until_open},
    partner::{self, Partner},
};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

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
    let arrivals = partner.exactly(199).await;
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
    partner.until_quiet(Duration::from_millis(1_500)).await;
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
async fn r11_the_pause_doubles_up_to_its_most_and_each_ends_with_one_probe() {
    let mut partner = Partner::start(Reply::status(503)).await;
    let config = PROFILES
        .replace("pause = \"1500ms\"", "pause = \"500ms\"")
        .replace("pause_max = \"1500ms\"", "pause_max = \"2s\"");
    let server = Server::on(Data::configured(&config), &[]);
    let mut client = Client::of(server.address());
    let (app, _) = partner::subscriber(&mut client, "quick", &partner.url(), json!({})).await;
    // Five are tried, and what comes after the opening waits.
    for n in 0..25 {
        partner::post(&mut client, &app, false, n).await;
    }
    let mut came = vec![partner.next().await.at];
    // Whatever was in flight came within a fraction of the first pause.
    let opening = partner.until_quiet(Duration::from_millis(300)).await;
    came.extend(opening.iter().map(|arrival| arrival.at));
    let opened = *came.last().expect("some came");
    let mut last = opened;
    for pause in [500, 1_000, 2_000, 2_000].map(Duration::from_millis) {
        let probe = partner.next().await.at;
        let took = probe - last;
        assert!(took >= pause - EARLY, "{took:?} instead of {pause:?}");
        assert!(took <= pause + Duration::from_millis(400), "{took:?} instead of {pause:?}");
        last = probe;
    }
}
