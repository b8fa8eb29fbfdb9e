//! Payloads that serialisers like to improve.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};

use super::{key, verified};
use crate::{
    client::Client,
    receiver::{Received, Receiver, Reply},
    server::{Data, Server},
    world,
};

/// Two attempts before the server is killed, the third after it is back: on a slow machine too, so
/// the pause is long.
const CONFIG: &str = r#"
[profiles.bare]
envelope = "raw"
outage = { delays = ["200ms", "20s"], jitter = [0.0, 0.0] }
breaker = { enabled = false }

[profiles.wrapped]
extends = "bare"
envelope = "event"
"#;
const ATTEMPTS: usize = 3;

/// JSON texts whose every byte means something to somebody.
fn payloads() -> Vec<String> {
    let mut all: Vec<String> = [
        // Field reports 001, 002, 003, 005.
        r#"{"t":"🚀 é тест"}"#,
        r#"{"t":"\ud83d\ude80 \u00e9 \u0442\u0435\u0441\u0442"}"#,
        "{\"t\":\"\u{1f680} \u{10ffff} e\u{301} \u{200f} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\"}",
        "{\"t\":\"\u{2028}\u{2029}\u{feff}\"}",
        r#"{"p_id":7615917337495251231}"#,
        r#"{"h":"<b>&amp;</b></script>","u":"https:\/\/x.example\/p"}"#,
        // Numbers.
        r#"{"n":[1.0,1.00,-0,-0.0,1e2,1E+2,1e-07,0.1000000000000000055511151231257827,1e400,-1e400]}"#,
        r#"{"n":123456789012345678901234567890.123456789012345678901234567890}"#,
        r#"{"n":[9007199254740993,18446744073709551616,-9223372036854775809]}"#,
        // Keys.
        r#"{"b":1,"a":2,"B":3,"A":4,"10":5,"9":6}"#,
        r#"{"a":1,"a":2,"a":{"a":3,"a":4}}"#,
        r#"{"":0," ":1,"é":2,"e\u0301":3}"#,
        // White space.
        r#"{ "a" : 1 }"#,
        "{\r\n\t\"a\" :\t[ 1 ,\n 2 ]\r\n}",
        r#"[ ]"#,
        "{\"a\":\"tab\\t and \\u0009, slash / and \\/, \\u003c\"}",
        // No objects.
        "\"text\"",
        "\"\"",
        "null",
        "true",
        "0",
        "[]",
        "{}",
        // Legal, and refused by some stores.
        r#"{"s":"a\u0000b"}"#,
        r#"{"s":"\ud800"}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    all.push(format!("{}1{}", "[".repeat(100), "]".repeat(100)));
    // Field report 001: two hundred that mix them all.
    let parts = ["abc", "é", "Привет", "🚀", "\u{2028}", "</script>", "\\/", "\\u00e9", "\\\""];
    let mut random = fastrand::Rng::with_seed(1);
    for n in 0..200 {
        let text: String = (0..random.usize(1..20)).map(|_| parts[random.usize(0..parts.len())]).collect();
        all.push(format!("{{\"n\":{n},\"t\":\"{text}\"}}"));
    }
    all
}

/// Refuses every message until its third attempt, and passes on what came.
async fn third_time_lucky() -> (Receiver, mpsc::UnboundedReceiver<Received>) {
    let (sender, came) = mpsc::unbounded_channel();
    let counts: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    let receiver = Receiver::start(move |request| {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(request.webhook_id().to_owned()).or_default();
        *count += 1;
        let _ = sender.send(request);
        Reply::status(if *count < ATTEMPTS { 503 } else { 200 })
    })
    .await;
    (receiver, came)
}

/// Posts the text as it is; gives the message's id.
async fn post(client: &mut Client, app: &str, payload: &str) -> String {
    let body = format!("{{\"eventType\":\"order.paid\",\"payload\":{payload}}}");
    let path = format!("/api/v1/app/{app}/msg");
    let answer = client.call("POST", &path, &[], body.as_bytes()).await.expect("an answer");
    assert_eq!(answer.status, 202, "{payload}: {}", String::from_utf8_lossy(&answer.body));
    // Not every text here is one that a JSON library reads.
    let text = String::from_utf8(answer.body).expect("UTF-8");
    let rest = text.strip_prefix("{\"id\":\"").expect("an id first");
    rest.split('"').next().expect("its end").to_owned()
}

/// Checks `many` requests against what was posted.
async fn check(
    came: &mut mpsc::UnboundedReceiver<Received>,
    many: usize,
    posted: &HashMap<String, String>,
    secret: &str,
    is_wrapped: bool,
) {
    let mut seen = HashMap::new();
    for _ in 0..many {
        let received = tokio::time::timeout(Duration::from_secs(40), came.recv()).await;
        let received = received.expect("it comes in time").expect("the receiver lives");
        let payload = posted.get(received.webhook_id()).expect("it was posted");
        if is_wrapped {
            let end = format!(",\"data\":{payload}}}");
            assert!(received.body.ends_with(end.as_bytes()), "{payload}: {:?}", received.body);
        } else {
            assert_eq!(received.body, payload.as_bytes(), "{payload}");
        }
        assert_eq!(received.header("content-length"), Some(received.body.len().to_string().as_str()));
        assert_eq!(verified(&received, &[key(secret)]), Ok(()), "{payload}");
        *seen.entry(received.webhook_id().to_owned()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), posted.len(), "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payloads_arrive_byte_for_byte_at_first_on_a_retry_and_after_a_crash() {
    let mut server = Server::on(Data::configured(CONFIG), &[]);
    let mut client = Client::of(server.address());
    let mut worlds = Vec::new();
    for profile in ["bare", "wrapped"] {
        let (receiver, came) = third_time_lucky().await;
        let app = world::application(&mut client, &json!({"name": profile, "profile": profile})).await;
        let endpoint = world::endpoint(&mut client, &app, &receiver.url("/")).await;
        let secret = world::secret(&mut client, &app, &endpoint).await;
        let mut posted = HashMap::new();
        for payload in payloads() {
            posted.insert(post(&mut client, &app, &payload).await, payload);
        }
        worlds.push((app, secret, posted, came, profile == "wrapped"));
    }
    for (app, secret, posted, came, is_wrapped) in &mut worlds {
        check(came, posted.len() * 2, posted, secret, *is_wrapped).await;
        for (message, payload) in posted.iter() {
            let deadline = Instant::now() + Duration::from_secs(10);
            world::attempts_by(&mut client, app, message, 2, deadline).await;
            let path = format!("/api/v1/app/{app}/msg/{message}");
            let answer = client.call("GET", &path, &[], b"").await.expect("an answer");
            let text = String::from_utf8(answer.body).expect("UTF-8");
            assert!(text.contains(&format!("\"payload\":{payload}")), "read back: {payload}: {text}");
        }
    }
    server = Server::on(server.kill(), &[]);
    for (_, secret, posted, came, is_wrapped) in &mut worlds {
        check(came, posted.len(), posted, secret, *is_wrapped).await;
        assert!(came.try_recv().is_err(), "none came more often than {ATTEMPTS} times");
    }
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_texts_have_their_known_digests_on_the_wire() {
    let (receiver, mut came) = third_time_lucky().await;
    let server = Server::on(Data::configured(CONFIG), &[]);
    let mut client = Client::of(server.address());
    let app = world::application(&mut client, &json!({"name": "shop", "profile": "bare"})).await;
    world::endpoint(&mut client, &app, &receiver.url("/")).await;
    for (payload, length, sha256) in [
        (r#"{"t":"🚀 é тест"}"#, 24, "6d0f7784d7b30617b27fcbfd1320f65ca64a4fea4e0b8c48fc4c1de1e1f84a32"),
        (r#"{"s":"a\u0000b"}"#, 16, "209f0dbbd66e56515e3c5b1ea588adf6fb6c33f34d7b557dae793b02a3890c48"),
        (r#"{"s":"\ud800"}"#, 14, "d06a70a1ca4d3ac4099cd5f35ecbb551be652247e0950c05790e8f0c58010851"),
    ] {
        let message = post(&mut client, &app, payload).await;
        let received = loop {
            let next = tokio::time::timeout(Duration::from_secs(10), came.recv()).await;
            let next = next.expect("it comes").expect("the receiver lives");
            if next.webhook_id() == message {
                break next;
            }
        };
        assert_eq!(received.header("content-length"), Some(length.to_string().as_str()));
        assert_eq!(received.header("content-type"), Some("application/json"));
        let hex: String =
            digest(&SHA256, &received.body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, sha256, "{payload}");
    }
}
