//! Other people's libraries as judges: what Gonets signs, the official libraries verify; what the
//! official SDK asks, Gonets answers.
//!
//! They are installed by `make test` (scripts/test-tools.sh) into `.tools`.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    client::Client,
    receiver::{Received, Receiver, Reply},
    server::{KEY, Server},
    world,
};

/// The repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn python() -> Command {
    let python = root().join(".tools/venv/bin/python");
    assert!(
        python.exists(),
        "{} is missing: run the tests with `make test`, which installs it",
        python.display()
    );
    Command::new(python)
}

/// A receiver that keeps everything.
struct Keeper {
    kept: Arc<Mutex<Vec<Received>>>,
    count: watch::Receiver<usize>,
    receiver: Receiver,
}

impl Keeper {
    async fn start() -> Self {
        let kept: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (sender, count) = watch::channel(0);
        let keep = Arc::clone(&kept);
        let receiver = Receiver::start(move |request| {
            keep.lock().unwrap().push(request);
            sender.send_modify(|n| *n += 1);
            Reply::status(200)
        })
        .await;
        Self { kept, count, receiver }
    }

    async fn wait_for(&mut self, many: usize) -> Vec<Received> {
        let wait = self.count.wait_for(|n| *n >= many);
        tokio::time::timeout(Duration::from_secs(20), wait)
            .await
            .expect("deliveries come")
            .expect("it lives");
        self.kept.lock().unwrap().clone()
    }
}

/// A delivery as the verifying programs read it.
fn line(secret: &str, received: &Received) -> String {
    let headers: serde_json::Map<String, Value> =
        received.headers.iter().map(|(name, value)| (name.to_lowercase(), json!(value))).collect();
    json!({"secret": secret, "headers": headers, "body_b64": STANDARD.encode(&received.body)}).to_string()
}

/// Runs a verifying program over deliveries; gives whether it took all, and what it printed.
fn verify(mut program: Command, lines: &[String]) -> (bool, String) {
    let mut child =
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the verifying program starts");
    let mut input = child.stdin.take().expect("its input is piped");
    for line in lines {
        writeln!(input, "{line}").expect("it reads");
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn verifiers() -> [Command; 2] {
    let mut py = python();
    py.arg(root().join("tests/it/sdk/verify.py"));
    let mut node = Command::new("node");
    node.arg(root().join("tests/it/sdk/verify.mjs")).arg(root().join(".tools/node"));
    [py, node]
}

const PAYLOADS: [&str; 6] = [
    r#"{"a":1}"#,
    r#"{ "a" : 1 }"#,
    r#"{"t":"🚀 é тест"}"#,
    r#"{"p_id":7615917337495251231}"#,
    r#"{"u":"https:\/\/x.example\/p","h":"<b>&amp;</b>"}"#,
    r#"{"b":1,"a":2,"a":3}"#,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_libraries_verify_every_delivery_and_refuse_a_changed_one() {
    let mut keeper = Keeper::start().await;
    let server = Server::start();
    let mut client = Client::of(server.address());
    let mut secrets = Vec::new();
    for profile in ["standard", "payments", "svix"] {
        let app = world::application(&mut client, &json!({"name": profile, "profile": profile})).await;
        let endpoint = world::endpoint(&mut client, &app, &keeper.receiver.url(&format!("/{profile}"))).await;
        secrets.push((format!("/{profile}"), world::secret(&mut client, &app, &endpoint).await));
        for payload in PAYLOADS {
            let body = format!(r#"{{"eventType":"order.paid","payload":{payload}}}"#);
            let path = format!("/api/v1/app/{app}/msg");
            let answer = client.call("POST", &path, &[], body.as_bytes()).await.expect("an answer");
            assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
        }
    }
    let received = keeper.wait_for(3 * PAYLOADS.len()).await;
    let secret_of =
        |r: &Received| secrets.iter().find(|(path, _)| *path == r.path).expect("a known path").1.clone();
    for payload in PAYLOADS {
        let raw = received.iter().filter(|r| r.path == "/svix" && r.body == payload.as_bytes()).count();
        assert_eq!(raw, 1, "the payload travels byte for byte: {payload}");
    }
    let lines: Vec<_> = received.iter().map(|r| line(&secret_of(r), r)).collect();
    for program in verifiers() {
        let (all, printed) = verify(program, &lines);
        assert!(all, "{printed}");
        assert_eq!(printed.lines().count(), lines.len(), "{printed}");
    }
    let mut forged = received[0].clone();
    forged.body = bytes::Bytes::from_static(b"{\"a\":2}");
    for program in verifiers() {
        let (all, printed) = verify(program, &[line(&secret_of(&received[0]), &forged)]);
        assert!(!all, "a changed body was taken: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_sdk_creates_an_application_and_an_endpoint_and_sends_a_message() {
    let mut keeper = Keeper::start().await;
    let server = Server::start();
    let mut program = python();
    program.arg(root().join("tests/it/sdk/svix_client.py")).args([
        server.url(),
        KEY.to_owned(),
        keeper.receiver.url("/sdk"),
    ]);
    let output =
        tokio::task::spawn_blocking(move || program.output()).await.expect("it runs").expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let received = keeper.wait_for(1).await;
    assert_eq!(received[0].webhook_id(), made["message_id"].as_str().expect("a message id"));
    let secret = made["secret"].as_str().expect("a secret");
    for program in verifiers() {
        let (all, printed) = verify(program, &[line(secret, &received[0])]);
        assert!(all, "{printed}");
    }
}
