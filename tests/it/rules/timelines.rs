//! The timelines of the vectors with real sockets: each ladder and the breaker scaled by a factor of its
//! own, −5/+50 ms.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::partner::{self, Partner};
use crate::{
    client::Client,
    receiver::Reply,
    server::{Data, Server},
};

/// Seconds of the outage ladder are 20 ms here, quarters of an hour of the refusal ladder 60 ms, and five
/// minutes of the breaker 750 ms, so that its pauses are longer than the ladder's steps, as in life.
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
[profiles.quick.outage]
delays = ["20ms", "40ms", "80ms", "160ms", "320ms", "640ms", "1280ms", "2s", "3s"]
[profiles.quick.refusal]
delays = ["60ms", "240ms", "960ms", "2880ms", "5760ms"]
span = "60s"
[profiles.quick.breaker]
pause = "750ms"
pause_max = "4500ms"
recheck = "30ms"
[profiles.plain]
extends = "standard"
[profiles.plain.outage]
delays = ["60ms", "300ms", "1800ms"]
jitter = [0.0, 0.0]
"#;

#[derive(Deserialize)]
struct File {
    timelines: Vec<Timeline>,
}

#[derive(Deserialize)]
struct Timeline {
    name: String,
    profile: String,
    critical: bool,
    script: Vec<String>,
    repeat: Option<String>,
    held_until_s: u64,
    expect: Course,
}

#[derive(Deserialize)]
struct Course {
    attempts: Vec<Attempt>,
    end: String,
}

#[derive(Deserialize)]
struct Attempt {
    at: u64,
}

/// A pause of the vectors as the profiles above have it.
fn scaled(profile: &str, seconds: u64) -> Duration {
    Duration::from_millis(match (profile, seconds) {
        ("payments", 900 | 3_600 | 14_400 | 43_200 | 86_400) => seconds / 15,
        ("payments", 300 | 600 | 1_200 | 1_800) => seconds * 5 / 2,
        ("payments", seconds) => seconds * 20,
        (_, seconds) => seconds,
    })
}

/// Those whose pauses can be scaled: Retry-After and the pauses after 429 are whole seconds, and nobody
/// holds a message for days here.
fn fits(timeline: &Timeline) -> bool {
    let answers = || timeline.script.iter().chain(&timeline.repeat);
    timeline.held_until_s == 0
        && answers().all(|answer| answer.parse::<u16>().is_ok_and(|status| status != 429))
}

/// Plays one; what was wrong, if anything was.
async fn play(address: String, timeline: &Timeline) -> Result<(), String> {
    let statuses = |text: &String| Reply::status(text.parse().expect("a status"));
    let last = timeline.repeat.as_ref().or(timeline.script.last()).expect("an answer");
    let mut receiver = Partner::start(statuses(last)).await;
    receiver.answers_first(timeline.script.iter().map(statuses));
    let mut client = Client::of(&address);
    let profile = if timeline.profile == "payments" { "quick" } else { "plain" };
    let (app, endpoint) = partner::subscriber(&mut client, profile, &receiver.url(), json!({})).await;
    let message = partner::post(&mut client, &app, timeline.critical, 1).await;
    let expected: Vec<_> = timeline
        .expect
        .attempts
        .windows(2)
        .map(|two| scaled(&timeline.profile, two[1].at - two[0].at))
        .collect();
    let mut last: Instant = receiver.next().await.at;
    for (n, pause) in expected.into_iter().enumerate() {
        let Some(arrival) = receiver.next_within(pause + Duration::from_secs(2)).await else {
            return Err(format!("attempt {} did not come", n + 2));
        };
        let took = arrival.at - last;
        let early = pause.saturating_sub(Duration::from_millis(5));
        if took < early || took > pause + Duration::from_millis(50) {
            return Err(format!("attempt {} came after {took:?} instead of {pause:?}", n + 2));
        }
        last = arrival.at;
    }
    let (state, reason) = timeline.expect.end.split_once(':').unwrap_or((&timeline.expect.end, ""));
    let path = format!("/api/v1/app/{app}/delivery/{message}.{endpoint}");
    let is_held = state == "held";
    let state = if is_held { "waiting" } else { state };
    partner::until(&mut client, &path, &timeline.expect.end, |delivery| {
        let shown = if is_held { &delivery["hold"]["name"] } else { &delivery["reason"] };
        delivery["state"] == state && shown.as_str().unwrap_or_default() == reason
    })
    .await;
    match receiver.next_within(Duration::from_millis(100)).await {
        Some(_) => Err("one more attempt came after the end".to_owned()),
        None => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_timeline_that_can_be_scaled_comes_out_within_50_ms() {
    let text = include_str!("../../../crates/core/tests/vectors/timelines.json");
    let file: File = serde_json::from_str(text).expect("the vectors");
    let mut left: Vec<_> = file.timelines.into_iter().filter(fits).collect();
    assert!(left.len() >= 13, "{}", left.len());
    let server = Server::on(Data::configured(PROFILES), &[]);
    // A stall of the machine is not the server's: what came out wrong is played again, twice.
    let mut wrong = Vec::new();
    for _ in 0..3 {
        let round = left.into_iter().map(|timeline| {
            let address = server.address().to_owned();
            tokio::spawn(async move { (play(address, &timeline).await, timeline) })
        });
        let mut failed = Vec::new();
        wrong.clear();
        for played in round.collect::<Vec<_>>() {
            if let (Err(what), timeline) = played.await.expect("it does not panic") {
                wrong.push(format!("{}: {what}", timeline.name));
                failed.push(timeline);
            }
        }
        left = failed;
        if left.is_empty() {
            return;
        }
    }
    panic!("{wrong:#?}");
}
