//! Endpoints of every ill temper, twenty of each at once, beside one that is well: each attempt
//! ends in time with the outcome of R1, its slot comes back, and the healthy endpoint does not
//! notice. (Peers that speak only obsolete TLS cannot be played with rustls; `egress` plays their
//! bytes.)

mod early;
mod peers;

use std::time::Duration;

use gonets_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

use crate::{
    client::Client,
    healthy::Pair,
    server::{Data, Server},
    world,
};

use peers::Temper;

/// Of the profile below. Peers that answer at once need a few milliseconds of it, and a second more
/// on a machine that stalls.
const TIMEOUT: Duration = Duration::from_secs(3);
/// What any peer may cost beyond the deadline: nothing, but for such a machine.
const GRACE: Duration = Duration::from_secs(3);
const ENDPOINTS: usize = 20;
const ROUNDS: usize = 3;
/// Until one has shown that the healthy endpoint does not notice.
const MOST_ROUNDS: usize = 6;
/// Between the posts of a round, so that the machine is not busy with playing the peers alone.
const PACE: Duration = Duration::from_millis(40);

const CONFIG: &str = r#"
[limits]
payload_bytes = 8388608

[delivery]
default_profile = "brief"

[profiles.brief]
timeout = "3s"
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_ill_temper_ends_in_time_with_its_outcome_and_a_healthy_endpoint_does_not_notice() {
    let authority = peers::Authority::new();
    let (server, quiet) = (server(&authority.pem()), Server::start());
    let mut client = Client::of(server.address());
    let mut pair = Pair::at(&server, &quiet).await;
    let tempers = peers::all(&authority).await;
    let mut apps = Vec::new();
    for temper in &tempers {
        apps.push(application(&mut client, temper.name, &temper.url).await);
    }

    let memory_before = server.memory_mb();
    let mut rounds = 0;
    while rounds < ROUNDS || (rounds < MOST_ROUNDS && !pair.is_unnoticed()) {
        let (stop, stopped) = watch::channel(false);
        let asked = tokio::spawn(async move {
            pair.round(|_| *stopped.borrow()).await;
            pair
        });
        let posted = post_round(&mut client, &apps, rounds).await;
        check_round(&mut client, &tempers, &apps, &posted).await;
        stop.send_replace(true);
        pair = asked.await.expect("it is delivered");
        rounds += 1;
    }
    let grown = server.memory_mb() - memory_before;
    println!("{} tempers x {ENDPOINTS} x {rounds} rounds: +{grown:.0} MB; {}", tempers.len(), pair.told());
    assert!(grown < 50.0, "{grown:.0} MB");
    assert!(pair.is_unnoticed(), "{}", pair.told());
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
