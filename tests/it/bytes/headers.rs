//! A customer's own headers: what could bend the request is refused by name, and what is taken
//! arrives as it was given, with nothing beside it.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    client::Client,
    peer::{Peer, keep},
    server::Server,
    world,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Names that Gonets sets or never sends, in any case.
const RESERVED: [&str; 38] = [
    "host",
    "HOST",
    "Content-Length",
    "content-type",
    "Transfer-Encoding",
    "CONNECTION",
    "keep-alive",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "Proxy-Authorization",
    "proxy-connection",
    "webhook-id",
    "Webhook-Timestamp",
    "WEBHOOK-SIGNATURE",
    "webhook-anything",
    "X-Webhook-Id",
    "x-webhook-signature",
    "X-Webhook-Signature-Old",
    "svix-id",
    "Svix-Signature",
    "SVIX-TIMESTAMP",
    "X-Signature",
    "x-signature",
    "X-Event-Id",
    "Metadata",
    "Metadata-Flavor",
    "METADATA-FLAVOR",
    "X-Google-Metadata-Request",
    "X-aws-ec2-metadata-token",
    "X-aws-ec2-metadata-token-ttl-seconds",
    "x-aws-ec2-metadata-Token",
    "X-aliyun-ecs-metadata-token",
    "X-Metadata-Token",
    "Content-TYPE",
    "eXpect",
    "tRANSFER-eNCODING",
];

/// Name, value.
fn malformed() -> Vec<(String, String)> {
    let long = "v".repeat(8 * 1024);
    [
        ("X-A", "a\r\nX-Injected: 1"),
        ("X-A", "Bearer x\n"),
        ("X-A", "a\rb"),
        ("X-A", "a\0b"),
        ("X-A", "a\u{7f}b"),
        ("X-A", " a"),
        ("X-A", "a "),
        ("X-A", "عبدالله"),
        ("X-A", "é"),
        ("X-A", &long),
        ("X-A", ""),
        ("", "v"),
        ("X Y", "v"),
        ("X:Y", "v"),
        ("X-A\r\nX-Injected", "1"),
        ("é", "v"),
        ("X-A\0", "v"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_could_bend_a_request_are_refused_by_name() {
    let server = Server::start();
    let mut client = Client::of(server.address());
    let (app, endpoint) = world::subscriber(&mut client, "shop", "http://127.0.0.1:9/").await;
    let endpoints = format!("/api/v1/app/{app}/endpoint");
    let headers = format!("{endpoints}/{endpoint}/headers");
    let reserved = RESERVED.map(|name| (name.to_owned(), "v".to_owned()));
    let mut taken = Vec::new();
    for (name, value) in reserved.into_iter().chain(malformed()) {
        let set = json!({&name: value});
        for (method, path, body) in [
            ("POST", &endpoints, json!({"url": "http://127.0.0.1:9/", "headers": set})),
            ("PUT", &headers, json!({"headers": set})),
            ("PATCH", &headers, json!({"headers": set})),
        ] {
            let answer =
                client.call(method, path, &[], body.to_string().as_bytes()).await.expect("an answer");
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            let shown: String = name.chars().take_while(|c| c.is_ascii_graphic()).collect();
            if answer.status != 422 || !text.contains(&shown) || !text.contains("headers") {
                let value: String = value.chars().take(20).collect();
                taken.push(format!("{method} {name:?}: {value:?}: {} {text}", answer.status));
            }
        }
    }
    let now = client.get(&headers).await;
    assert!(taken.is_empty(), "not refused by name:\n{}", taken.join("\n"));
    assert_eq!(now["headers"], json!({}), "nothing of it stayed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_are_taken_arrive_as_they_are_with_nothing_beside_them() {
    let (sender, mut came) = mpsc::unbounded_channel();
    let peer = Peer::start(move |stream| {
        let sender = sender.clone();
        async move { keep(stream, OK, |raw| drop(sender.send(raw))).await }
    })
    .await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "shop"})).await;
    let own = [
        ("Authorization", "Bearer abc.def-123=="),
        ("X-Api-Key", "k"),
        ("x-lower", "with inner  spaces\tand a tab"),
        ("X-Punctuation", "!#$%&'*+-.^_`|~:;,\"(){}[]<>?/@\\="),
    ];
    let headers: serde_json::Map<_, _> =
        own.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let path = format!("/api/v1/app/{app}/endpoint");
    client.post(&path, &json!({"url": peer.url("/"), "headers": headers})).await;
    world::post(&mut client, &app, &json!({"n": 1})).await;
    let raw = tokio::time::timeout(Duration::from_secs(10), came.recv()).await.expect("it comes");
    let raw = raw.expect("the peer lives");
    for (name, value) in own {
        assert_eq!(raw.header(name), Some(value));
    }
    let mut names: Vec<_> = raw
        .lines()
        .skip(1)
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no header: {line:?}")).0)
        .filter(|name| !own.iter().any(|(own, _)| own == name))
        .map(str::to_lowercase)
        .collect();
    names.sort();
    let ours = [
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-event-id",
        "x-signature",
    ];
    assert_eq!(names, ours, "{:?}", raw.lines().collect::<Vec<_>>());
    // Field report 019: some receivers look for the documented spelling only.
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert!(
            raw.header(name).is_some(),
            "{name} is spelled otherwise: {:?}",
            raw.lines().collect::<Vec<_>>()
        );
    }
}
