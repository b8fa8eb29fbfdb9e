//! What is said when an endpoint is made or changed.

use serde_json::{Value, json};

use super::{OPEN_PORTS, canary, client, create, server};
use crate::{
    dns::{Dns, Says},
    world,
};

fn table() -> Value {
    serde_json::from_str(include_str!("../../../crates/egress/tests/vectors/egress.json"))
        .expect("the table is JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_url_of_the_table_is_taken_or_refused_as_it_says() {
    let dns = Dns::start(|_, _| Says::NoSuchName).await;
    let server = server(&dns, "");
    let mut client = client(&server);
    let app = world::application(&mut client, &json!({"name": "shop"})).await;
    let good = "https://partner.example/";
    let (_, endpoint) = create(&mut client, &app, good).await;
    let path = format!("/api/v1/app/{app}/endpoint/{}", endpoint["id"].as_str().expect("an id"));
    let table = table();
    for row in table["urls"].as_array().expect("rows") {
        let (url, verdict) = (row["url"].as_str().expect("a url"), row["verdict"].as_str().expect("one"));
        let (status, answer) = create(&mut client, &app, url).await;
        let patched = client
            .call("PATCH", &path, &[], json!({"url": url}).to_string().as_bytes())
            .await
            .expect("answers");
        if verdict == "ok" {
            let canonical = row["canonical"].as_str().unwrap_or(url);
            assert_eq!((status, answer["url"].as_str()), (201, Some(canonical)), "{url}: {answer}");
            assert_eq!((patched.status, patched.json()["url"].as_str()), (200, Some(canonical)), "{url}");
        } else {
            for (status, answer) in [(status, answer), (patched.status, patched.json())] {
                assert_eq!(status, 422, "{url} is {verdict}: {answer}");
                assert_eq!(answer["detail"][0]["loc"], json!(["body", "url"]), "{url}: {answer}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_denied_address_is_refused_as_a_literal_and_behind_a_name() {
    let table = table();
    let rows = table["addresses"].as_array().expect("rows").clone();
    let behind: Vec<std::net::IpAddr> =
        rows.iter().map(|row| row["address"].as_str().expect("one").parse().expect("an address")).collect();
    let dns = Dns::start(move |name, _| match name.strip_prefix('n').and_then(|rest| rest.split_once('.')) {
        Some((n, "rows.example")) => Says::Addresses(vec![behind[n.parse::<usize>().expect("a number")]]),
        _ => Says::NoSuchName,
    })
    .await;
    let server = server(&dns, "");
    let mut client = client(&server);
    for (n, row) in rows.iter().enumerate() {
        let app = world::application(&mut client, &json!({"name": "shop"})).await;
        let (address, allowed) = (row["address"].as_str().expect("one"), row["allowed"] == true);
        let literal = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
        for url in [format!("https://{literal}/"), format!("https://n{n}.rows.example/")] {
            let (status, answer) = create(&mut client, &app, &url).await;
            assert_eq!(status, if allowed { 201 } else { 422 }, "{address} by {url}: {answer}");
        }
    }
}

/// What a partner may try to reach this machine by; PORT stands for a listener's.
const SPELLINGS: [&str; 34] = [
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.255.255.254:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://a.localhost:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[fe80::1%25lo]:PORT/",
    "http://１２７.0.0.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.1:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://partner.example@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@partner.example/",
    "http://127.0.0.1:PORT\\@partner.example/",
    "http:127.0.0.1:PORT/",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_this_machine_is_taken_even_with_every_port_and_http_open() {
    let dns = Dns::start(|_, _| Says::Addresses(vec!["127.0.0.1".parse().expect("one")])).await;
    let server = server(&dns, OPEN_PORTS);
    let mut client = client(&server);
    let app = world::application(&mut client, &json!({"name": "shop"})).await;
    let canaries = [canary("127.0.0.1:0").await, canary("[::1]:0").await];
    for spelling in SPELLINGS {
        for canary in &canaries {
            let url = spelling.replace("PORT", &canary.port().to_string());
            let (status, answer) = create(&mut client, &app, &url).await;
            assert_eq!(status, 422, "{url}: {answer}");
        }
    }
    // An allowed form whose name leads here.
    let (status, answer) =
        create(&mut client, &app, &format!("http://here.example:{}/", canaries[0].port())).await;
    assert_eq!(status, 422, "{answer}");
    world::post(&mut client, &app, &json!({"n": 1})).await;
    assert_eq!(canaries.map(|canary| canary.connections()), [0, 0]);
}
