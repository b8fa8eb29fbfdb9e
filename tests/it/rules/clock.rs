//! The wall clock is set, while the server runs and while it does not: R25.

use std::{path::PathBuf, process::Command, time::Duration};

use serde_json::json;

use super::partner::{self, Arrival, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server, binary},
};

/// One failure waits for 4 s.
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
[profiles.quick.outage]
delays = ["4s", "4s"]
"#;
const PAUSE: Duration = Duration::from_secs(4);

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

/// One delivery fails and waits; meanwhile something happens; it comes again after its pause, once. Gives
/// both arrivals. A stall of the machine is not the server's: what comes late has three rounds. What comes
/// early has one.
async fn pause_stays(
    zone: &str,
    offset: impl Fn() -> String,
    meanwhile: impl AsyncFn(Server) -> Server,
) -> [Arrival; 2] {
    let mut late = Vec::new();
    for _ in 0..3 {
        let both = round(zone, &offset(), &meanwhile).await;
        let took = both[1].at - both[0].at;
        assert!(took >= PAUSE - Duration::from_millis(100), "{zone}: it came again after {took:?} already");
        if took <= PAUSE + Duration::from_millis(100) {
            return both;
        }
        late.push(took);
    }
    panic!("{zone}: it came again after {late:?}");
}

async fn round(zone: &str, offset: &str, meanwhile: impl AsyncFn(Server) -> Server) -> [Arrival; 2] {
    let mut receiver = Partner::start(Reply::status(200)).await;
    receiver.answers_first([Reply::status(503)]);
    let server = server(Data::configured(PROFILES), offset, zone);
    let mut client = Client::of(server.address());
    let (app, endpoint) = partner::subscriber(&mut client, "quick", &receiver.url(), json!({})).await;
    let message = partner::post(&mut client, &app, true, 1).await;
    let first = receiver.next().await;
    let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
    partner::until(&mut client, &path, "an attempt", |delivery| delivery["used"]["outage"] == 1).await;
    let server = meanwhile(server).await;
    let again = receiver.next().await;
    assert_eq!(again.id(), message);
    assert!(receiver.next_within(Duration::from_millis(300)).await.is_none(), "it came twice");
    let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
    partner::until(&mut Client::of(server.address()), &path, "delivery", |delivery| {
        delivery["state"] == "delivered"
    })
    .await;
    [first, again]
}

/// It starts with the right time.
fn right() -> String {
    "+0".to_owned()
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
        pause_stays("UTC0", right, day("+1d")),
        pause_stays("UTC0", right, day("-1d")),
        pause_stays("IST-5:30", right, day("+0")),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_a_clock_that_is_set_while_nothing_runs_changes_no_pause() {
    let restart =
        |offset: &'static str, zone: &'static str| async move |old: Server| server(old.kill(), offset, zone);
    tokio::join!(
        pause_stays("UTC0", right, restart("+1d", "UTC0")),
        pause_stays("UTC0", right, restart("-1d", "UTC0")),
        pause_stays("EST5EDT,M3.2.0,M11.1.0", right, restart("+0", "IST-5:30")),
    );
}

/// A pause during which the wall clock passes this instant.
async fn pause_over(zone: &str, instant: &str) {
    let instant = instant.parse::<jiff::Timestamp>().expect("an instant").as_second();
    let two_seconds_before = || format!("{:+}", instant - 2 - jiff::Timestamp::now().as_second());
    let both = pause_stays(zone, two_seconds_before, async |server| server).await;
    let signed = both.map(|arrival| {
        let text = arrival.request.header("webhook-timestamp").expect("a timestamp").to_owned();
        text.parse::<i64>().expect("seconds")
    });
    assert!(signed[0] < instant && instant <= signed[1], "{signed:?} about {instant}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r25_summer_time_begins_and_ends_without_a_pause_noticing() {
    // The rules of Central Europe, spelled out: the system need not have a table of zones.
    let zone = "CET-1CEST,M3.5.0,M10.5.0/3";
    tokio::join!(pause_over(zone, "2027-03-28T01:00:00Z"), pause_over(zone, "2027-10-31T01:00:00Z"));
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
    let throttled = receiver.until_quiet(Duration::from_secs(1)).await;
    let _new = server(old.kill(), "+1d", "UTC");
    receiver.answers(Reply::status(200));
    let first = receiver.next().await;
    let waited = first.at - throttled.last().expect("some came").at;
    assert!(waited >= Duration::from_millis(3_900), "the pause was cut short: {waited:?}");
    let mut came = vec![first.clone()];
    came.extend(receiver.exactly(99).await);
    let burst = came.iter().filter(|one| one.at - first.at <= Duration::from_secs(1)).count();
    assert!(burst <= 3, "{burst} requests in the first second");
}
