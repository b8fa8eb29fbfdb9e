//! Names that were well when the endpoint was made, and lead elsewhere when it is delivered to.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::json;
use tokio::{io::AsyncWriteExt, time::Instant};

use super::{OPEN_PORTS, SOON, canary, client, create, server};
use crate::{
    dns::{Dns, Says},
    peer::{Peer, read_request},
    world,
};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));

/// What each name says once the endpoint is there, and what an attempt at it comes to.
fn turned(name: &str) -> Says {
    match name {
        "flips.example" => Says::Addresses(vec![HERE]),
        "mixed.example" => Says::Addresses(vec![OUTSIDE, HERE]),
        "mixed-v6.example" => Says::Addresses(vec![OUTSIDE, "fe80::1".parse().expect("one")]),
        "v6.example" => Says::Addresses(vec!["::1".parse().expect("one")]),
        "mapped.example" => Says::Addresses(vec!["::ffff:127.0.0.1".parse().expect("one")]),
        "metadata.example" => Says::Addresses(vec!["169.254.169.254".parse().expect("one")]),
        "many.example" => {
            let mut all: Vec<IpAddr> = (0..40).map(|n| IpAddr::from([93, 184, 216, n])).collect();
            all.push(HERE);
            Says::Addresses(all)
        }
        "alias.example" => Says::Alias("inner.example".into(), vec![HERE]),
        "bare-alias.example" => Says::Alias("flips.example".into(), Vec::new()),
        "loop.example" => Says::Alias("loop.example".into(), Vec::new()),
        "trouble.example" => Says::Trouble,
        "silent.example" => Says::Silence,
        _ => Says::NoSuchName,
    }
}

/// Blocked: what is denied was seen. Unavailable: there was nothing to see.
const NAMES: [(&str, &str); 13] = [
    ("flips.example", "blocked"),
    ("mixed.example", "blocked"),
    ("mixed-v6.example", "blocked"),
    ("v6.example", "blocked"),
    ("mapped.example", "blocked"),
    ("metadata.example", "blocked"),
    ("many.example", "blocked"),
    ("alias.example", "blocked"),
    ("bare-alias.example", "blocked"),
    ("loop.example", "unavailable"),
    ("trouble.example", "unavailable"),
    ("silent.example", "unavailable"),
    ("gone.example", "unavailable"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_leads_here_after_its_endpoint_was_made_is_blocked_and_journaled() {
    let has_turned = Arc::new(AtomicBool::new(false));
    let turns = Arc::clone(&has_turned);
    let dns = Dns::start(move |name, _| match turns.load(Ordering::SeqCst) {
        true => turned(name),
        false => Says::Addresses(vec![OUTSIDE]),
    })
    .await;
    let server = server(&dns, OPEN_PORTS);
    let mut client = client(&server);
    let canaries = [canary("127.0.0.1:0").await, canary("[::1]:0").await];
    let (mut apps, mut endpoints) = (Vec::new(), Vec::new());
    for (name, outcome) in NAMES {
        let app = world::application(&mut client, &json!({"name": name})).await;
        for canary in &canaries {
            let (status, answer) =
                create(&mut client, &app, &format!("http://{name}:{}/", canary.port())).await;
            assert_eq!(status, 201, "{name}: {answer}");
            endpoints.push((app.clone(), answer["id"].as_str().expect("an id").to_owned(), name, outcome));
        }
        apps.push(app);
    }
    has_turned.store(true, Ordering::SeqCst);
    for (app, endpoint, name, outcome) in &endpoints {
        let path = format!("/api/v1/app/{app}/endpoint/{endpoint}/test");
        let tried = client.call("POST", &path, &[], b"").await.expect("an answer").json();
        assert_eq!((&tried["outcome"], &tried["sends"]), (&json!(outcome), &json!(0)), "{name}: {tried}");
    }
    let mut messages = Vec::new();
    for app in &apps {
        messages.push(world::post(&mut client, app, &json!({"n": 1})).await);
    }
    for (((name, outcome), app), message) in NAMES.into_iter().zip(&apps).zip(&messages) {
        let deadline = Instant::now() + SOON;
        for attempt in world::attempts_by(&mut client, app, message, 2, deadline).await {
            assert_eq!(attempt["outcome"], outcome, "{name}: {attempt}");
            assert_eq!(attempt["responseStatusCode"], 0, "{name}: {attempt}");
            assert_eq!(attempt["sends"], 0, "{name}: {attempt}");
            if outcome == "blocked" {
                assert_eq!(attempt["cause"], "address", "{name}: {attempt}");
            }
        }
    }
    assert_eq!(canaries.map(|canary| canary.connections()), [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resend_by_hand_is_vetted_like_any_other_attempt() {
    let has_turned = Arc::new(AtomicBool::new(false));
    let turns = Arc::clone(&has_turned);
    let dns = Dns::start(move |_, _| {
        Says::Addresses(vec![if turns.load(Ordering::SeqCst) { HERE } else { OUTSIDE }])
    })
    .await;
    let server = server(&dns, OPEN_PORTS);
    let mut client = client(&server);
    let canary = canary("127.0.0.1:0").await;
    let app = world::application(&mut client, &json!({"name": "shop"})).await;
    let (status, endpoint) =
        create(&mut client, &app, &format!("http://flips.example:{}/", canary.port())).await;
    assert_eq!(status, 201, "{endpoint}");
    has_turned.store(true, Ordering::SeqCst);
    let message = world::post(&mut client, &app, &json!({"n": 1})).await;
    world::attempts_by(&mut client, &app, &message, 1, Instant::now() + SOON).await;
    let endpoint = endpoint["id"].as_str().expect("an id");
    let path = format!("/api/v1/app/{app}/msg/{message}/endpoint/{endpoint}/resend");
    let deadline = Instant::now() + SOON;
    // The attempt before is listed once it is on disk, and under way until that is known.
    while client.call("POST", &path, &[], b"{}").await.expect("an answer").status != 202 {
        assert!(Instant::now() < deadline, "it was refused to the end");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let attempts = world::attempts_by(&mut client, &app, &message, 2, Instant::now() + SOON).await;
    assert!(attempts.iter().all(|attempt| attempt["outcome"] == "blocked"), "{attempts:?}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let dns = Dns::start(|_, _| Says::NoSuchName).await;
    // One address of this machine is open, so that there is someone to redirect from.
    let server = server(&dns, &format!("{OPEN_PORTS}\nallow_networks = [\"127.0.0.2/32\"]"));
    let mut client = client(&server);
    let canary = canary("127.0.0.1:0").await;
    for status in [301, 302, 303, 307, 308] {
        let location = canary.url("/inside");
        let peer = Peer::at("127.0.0.2:0", move |mut stream| {
            let answer =
                format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            async move {
                while read_request(&mut stream).await.is_some() {
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
            }
        })
        .await;
        let app = world::application(&mut client, &json!({"name": "shop"})).await;
        let (made, answer) = create(&mut client, &app, &peer.url("/")).await;
        assert_eq!(made, 201, "{answer}");
        let path = format!("/api/v1/app/{app}/endpoint/{}/test", answer["id"].as_str().expect("an id"));
        let tried = client.call("POST", &path, &[], b"").await.expect("an answer").json();
        assert_eq!(
            (&tried["outcome"], &tried["responseStatusCode"]),
            (&json!("misdirected"), &json!(status))
        );
        let message = world::post(&mut client, &app, &json!({"n": 1})).await;
        let attempts = world::attempts_by(&mut client, &app, &message, 1, Instant::now() + SOON).await;
        assert_eq!(attempts[0]["responseStatusCode"], status, "{attempts:?}");
        assert_eq!(attempts[0]["outcome"], "misdirected", "{attempts:?}");
        let (refused, answer) = create(&mut client, &app, &canary.url("/inside")).await;
        assert_eq!(refused, 422, "{answer}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_operator_closes_is_closed_though_it_is_public_or_opened() {
    let dns = Dns::start(|_, _| Says::Addresses(vec![OUTSIDE])).await;
    let closed =
        "deny_networks = [\"93.184.216.0/24\", \"127.0.0.3/32\"]\nallow_networks = [\"127.0.0.0/8\"]";
    let server = server(&dns, &format!("{OPEN_PORTS}\n{closed}"));
    let mut client = client(&server);
    let canary = canary("127.0.0.3:0").await;
    let app = world::application(&mut client, &json!({"name": "shop"})).await;
    for url in ["http://93.184.216.34/", "http://partner.example/", canary.url("/").as_str()] {
        let (status, answer) = create(&mut client, &app, url).await;
        assert_eq!(status, 422, "{url}: {answer}");
        assert!(answer.to_string().contains("egress.deny_networks"), "the setting is named: {answer}");
    }
    assert_eq!(canary.connections(), 0);
}
