//! Endpoints of every ill temper, twenty of each at once, beside one that is well: each attempt
//! ends in time with the outcome of R1, its slot comes back, and the healthy endpoint does not
//! notice. (Peers that speak only obsolete TLS cannot be played with rustls; `egress` plays their
//! bytes.)

mod early;
mod peers;

use std::time::Duration;

use gonets_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use crate::{
    client::Client,
    receiver::{Receiver, Reply},
    server::{Data, Server},
    world,
};

use peers::Temper;

/// Of the profile below.
const TIMEOUT: Duration = Duration::from_secs(1);
/// What any peer may cost beyond the deadline.
const GRACE: Duration = Duration::from_secs(1);
const ENDPOINTS: usize = 20;
const ROUNDS: usize = 3;
/// Between the posts of a round, so that the machine is not busy with playing the peers alone.
const PACE: Duration = Duration::from_millis(40);

const CONFIG: &str = r#"
[limits]
payload_bytes = 8388608

[delivery]
default_profile = "brief"

[profiles.brief]
timeout = "1s"
envelope = "raw"
outage = { delays = ["1h"] }
breaker = { enabled = false }
health = { disable_after = "never" }
"#;

/// A server with a short time-out that trusts the given certificate besides the web's.
fn server(root_pem: &str) -> Server {
    let data = Data::configured(CONFIG);
    let root = data.path().join("root.pem");
    std::fs::write(&root, root_pem).expect("a certificate can be written");
    let config = format!("[egress]\nextra_roots = [{:?}]\n{CONFIG}", root.to_str().expect("a plain path"));
    std::fs::write(data.path().join("gonets.toml"), config).expect("a configuration can be written");
    Server::on(data, &[])
}

/// An application with [`ENDPOINTS`] endpoints, each of which takes one request at a time.
async fn application(client: &mut Client, name: &str, url: &str) -> String {
    let app = world::application(client, &json!({"name": name})).await;
    for _ in 0..ENDPOINTS {
        client.post(&format!("/api/v1/app/{app}/endpoint"), &json!({"url": url, "concurrency": 1})).await;
    }
    app
}

/// The healthy endpoint, asked without a pause until told to stop; gives how long each event took.
async fn healthy(
    address: String,
    app: String,
    receiver_saw: mpsc::UnboundedReceiver<Instant>,
    stop: watch::Receiver<bool>,
) -> (Vec<Duration>, mpsc::UnboundedReceiver<Instant>) {
    let mut client = Client::of(&address);
    let (mut arrivals, mut took) = (receiver_saw, Vec::new());
    while !*stop.borrow() {
        let begun = Instant::now();
        world::post(&mut client, &app, &json!({"n": took.len()})).await;
        let came = tokio::time::timeout(Duration::from_secs(10), arrivals.recv()).await;
        took.push(came.expect("it is delivered").expect("the receiver lives") - begun);
    }
    (took, arrivals)
}

fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() * 99 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_ill_temper_ends_in_time_with_its_outcome_and_a_healthy_endpoint_does_not_notice() {
    let authority = peers::Authority::new();
    let server = server(&authority.pem());
    let mut client = Client::of(server.address());
    let (came, mut arrivals) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |_| {
        let _ = came.send(Instant::now());
        Reply::status(200)
    })
    .await;
    let (well, _) = world::subscriber(&mut client, "healthy", &receiver.url("/")).await;
    let tempers = peers::all(&authority).await;
    let mut apps = Vec::new();
    for temper in &tempers {
        apps.push(application(&mut client, temper.name, &temper.url).await);
    }

    let mut before = Duration::MAX;
    for _ in 0..ROUNDS {
        let (stop, stopped) = watch::channel(false);
        let measured = tokio::spawn(healthy(server.address().to_owned(), well.clone(), arrivals, stopped));
        tokio::time::sleep(TIMEOUT).await;
        stop.send_replace(true);
        let (took, back) = measured.await.expect("it is delivered");
        (before, arrivals) = (before.min(p99(took)), back);
    }

    let memory_before = server.memory_mb();
    let mut beside = Duration::MAX;
    for round in 0..ROUNDS {
        let (stop, stopped) = watch::channel(false);
        let measured = tokio::spawn(healthy(server.address().to_owned(), well.clone(), arrivals, stopped));
        let posted = post_round(&mut client, &apps, round).await;
        check_round(&mut client, &tempers, &apps, &posted).await;
        stop.send_replace(true);
        let (took, back) = measured.await.expect("it is delivered");
        println!("round {round}: {} healthy deliveries, p99 {:?}", took.len(), p99(took.clone()));
        (beside, arrivals) = (beside.min(p99(took)), back);
    }
    let grown = server.memory_mb() - memory_before;
    println!(
        "{} tempers x {ENDPOINTS} x {ROUNDS} rounds: +{grown:.0} MB; p99 of the healthy one {before:?} before, {beside:?} beside",
        tempers.len()
    );
    assert!(grown < 50.0, "{grown:.0} MB");
    assert!(
        beside <= (before * 2).max(before + Duration::from_millis(2)),
        "p99 {before:?} before, {beside:?} beside"
    );
}

/// Two messages to each application; gives their ids and when they were posted.
async fn post_round(client: &mut Client, apps: &[String], round: usize) -> Vec<([String; 2], Instant)> {
    let mut posted = Vec::new();
    for app in apps {
        let at = Instant::now();
        let first = world::post(client, app, &json!({"round": round, "n": 1})).await;
        let second = world::post(client, app, &json!({"round": round, "n": 2})).await;
        posted.push(([first, second], at));
        tokio::time::sleep(PACE).await;
    }
    posted
}

async fn check_round(
    client: &mut Client,
    tempers: &[Temper],
    apps: &[String],
    posted: &[([String; 2], Instant)],
) {
    for ((temper, app), ([first, second], at)) in tempers.iter().zip(apps).zip(posted) {
        // Each in its turn: one request at a time.
        let deadline = *at + (TIMEOUT + GRACE) * 2;
        let first = world::attempts_by(client, app, first, ENDPOINTS, deadline).await;
        let second = world::attempts_by(client, app, second, ENDPOINTS, deadline).await;
        assert_eq!((first.len(), second.len()), (ENDPOINTS, ENDPOINTS), "{}: tried once each", temper.name);
        for attempt in first.iter().chain(&second) {
            check(temper, attempt);
        }
        for attempt in &first {
            let next = second.iter().find(|next| next["endpointId"] == attempt["endpointId"]);
            let next = next.expect("each endpoint got both");
            // Which of the two went first is the lane's to say.
            let (one, other) = (started(attempt), started(next));
            let apart = one.since(other).max(other.since(one));
            assert!(apart <= TIMEOUT + GRACE, "{}: slot back after {apart:?}", temper.name);
        }
    }
}

fn check(temper: &Temper, attempt: &Value) {
    let name = temper.name;
    assert_eq!(attempt["outcome"], temper.outcome, "{name}: {attempt}");
    assert_eq!(attempt["responseStatusCode"], temper.status, "{name}: {attempt}");
    assert_eq!(attempt["cause"].as_str(), temper.cause, "{name}: {attempt}");
    assert_eq!(attempt["number"], 1, "{name}: {attempt}");
    let took = Duration::from_millis(attempt["responseDurationMs"].as_u64().expect("a duration"));
    assert!(took <= TIMEOUT + GRACE, "{name}: took {took:?}");
    if temper.lasts {
        assert!(took >= TIMEOUT - Duration::from_millis(50), "{name}: ended after {took:?}");
    }
    let response = attempt["response"].as_str().expect("text");
    // Of invalid bytes, each may be shown as a character of three.
    assert!(response.len() <= 3 * 16 * 1024, "{name}: {} bytes kept", response.len());
    if let Some(shown) = temper.shown {
        assert_eq!(response, shown, "{name}");
    }
}

fn started(attempt: &Value) -> Timestamp {
    let text = attempt["timestamp"].as_str().expect("a time");
    Timestamp::parse_rfc3339(text).unwrap_or_else(|| panic!("no time: {text}"))
}
