//! The wall clock is set, while the server runs and while it does not: R25.

use std::{path::PathBuf, process::Command, time::Duration};

use serde_json::json;
use tokio::time::Instant;

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server, binary},
};

/// One failure waits for 6 s, one message is for later, some are held by a throttle of 4 s.
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
[profiles.quick.outage]
delays = ["6s", "6s"]
"#;
const PAUSE: Duration = Duration::from_secs(6);

/// The library that gives a process another wall clock; `make test` installs it.
fn faketime() -> PathBuf {
    let found = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
        .iter()
        .map(|dir| PathBuf::from(dir).join("faketime/libfaketime.so.1"))
        .find(|path| path.exists());
    found.expect("libfaketime is needed: run `make test`, or install Debian's package faketime")
}

/// A server whose wall clock is `offset` off; a file that holds it can change it while it runs.
fn server(data: Data, offset: &str, zone: &str) -> Server {
    let file = data.path().join("faketime");
    std::fs::write(&file, offset).expect("the offset can be written");
    let mut command = Command::new(binary());
    command
        .env("LD_PRELOAD", faketime())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_TIMESTAMP_FILE", &file)
        .env("TZ", zone);
    Server::run(data, command)
}

/// One delivery fails and waits; meanwhile something happens; it comes again after its pause, once.
async fn pause_stays(zone: &str, meanwhile: impl AsyncFnOnce(Server) -> Server) {
    let mut receiver = Partner::start(Reply::status(200)).await;
    receiver.answers_first([Reply::status(503)]);
    let server = server(Data::configured(PROFILES), "+0", zone);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &receiver.url(), json!({})).await;
    let message = partner::post(&mut client, &app, true, 1).await;
    let first = receiver.next().await;
    let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
    partner::until(&mut client, &path, "an attempt", |delivery| delivery["used"]["outage"] == 1).await;
    let _server = meanwhile(server).await;
    let again = receiver.next().await;
    assert_eq!(again.id(), message);
    let took = again.at - first.at;
    assert!(
        took >= PAUSE - Duration::from_millis(100) && took <= PAUSE + Duration::from_millis(1_500),
        "{zone}: it came again after {took:?}"
    );
    assert!(receiver.next_within(Duration::from_millis(500)).await.is_none(), "it came twice");
}

fn set(server: &Server, offset: &str) {
    std::fs::write(server.data().join("faketime"), offset).expect("the offset can be written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_a_clock_that_is_set_while_it_runs_changes_no_pause() {
    let day = |offset: &'static str| {
        async move |server: Server| {
            set(&server, offset);
            server
        }
    };
    tokio::join!(
        pause_stays("UTC", day("+1d")),
        pause_stays("UTC", day("-1d")),
        pause_stays("Asia/Kolkata", day("+0")),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_a_clock_that_is_set_while_nothing_runs_changes_no_pause() {
    let restart =
        |offset: &'static str, zone: &'static str| async move |old: Server| server(old.kill(), offset, zone);
    tokio::join!(
        pause_stays("UTC", restart("+1d", "UTC")),
        pause_stays("UTC", restart("-1d", "UTC")),
        // The same instant in another zone, as when summer time begins.
        pause_stays("America/New_York", restart("+0", "Europe/Berlin")),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_nothing_bursts_expires_or_is_lost_by_a_jump_of_a_day() {
    let mut receiver =
        Partner::start(Reply { lines: "retry-after: 4\r\n".into(), ..Reply::status(429) }).await;
    let old = server(Data::configured(PROFILES), "+0", "UTC");
    let mut client = Client::of(old.address());
    let (app, _) = partner::subscriber(&mut client, "quick", &receiver.url(), json!({})).await;
    for n in 0..100 {
        partner::post(&mut client, &app, true, n).await;
    }
    let paused = Instant::now();
    receiver.until_quiet(Duration::from_secs(1)).await;
    let _new = server(old.kill(), "+1d", "UTC");
    receiver.answers(Reply::status(200));
    let first = receiver.next().await;
    let waited = first.at - paused;
    assert!(waited >= Duration::from_millis(3_500), "the pause was cut short: {waited:?}");
    let mut came = vec![first.clone()];
    came.extend(receiver.exactly(99).await);
    let burst = came.iter().filter(|one| one.at - first.at <= Duration::from_secs(1)).count();
    assert!(burst <= 3, "{burst} requests in the first second");
}
