//! The timelines of the vectors with real sockets: each ladder and the breaker scaled by a factor of its
//! own, −5/+50 ms.
//!
//! Left out are those that say what whole seconds cannot (the pauses after one 429 upon another), and those
//! of messages that are held for days; `crates/testkit` plays these in virtual time.

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
/// minutes of the breaker 750 ms, so that its pauses are longer than the ladder's steps, as in life. A
/// minute of `standard` is 4 ms, with a window of its breaker to match.
const PROFILES: &str = r#"
[profiles.quick]
extends = "payments"
retry_after_cap = "1s"
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
timeout = "200ms"
[profiles.plain.outage]
delays = ["4ms", "20ms", "120ms", "480ms", "1440ms", "2880ms"]
jitter = [0.0, 0.0]
[profiles.plain.breaker]
window = "20ms"
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

/// What `plain` waits for an answer.
const PATIENCE: Duration = Duration::from_millis(200);

impl Timeline {
    fn answers(&self) -> impl Iterator<Item = &String> {
        self.script.iter().chain(&self.repeat)
    }

    /// Those that can be scaled; Retry-After is whole seconds, so each is one second here, which is also
    /// its cap.
    fn fits(&self) -> bool {
        let is_throttled = self.answers().any(|answer| answer.starts_with("429"));
        let is_short = self.profile == "payments" && self.script.len() == 2;
        self.held_until_s == 0 && (!is_throttled || is_short)
    }

    /// From one arrival to the next, as the profiles above have it.
    fn scaled(&self, seconds: u64) -> Duration {
        let asked = self.answers().any(|answer| answer.contains(':'));
        let timed_out = self.answers().any(|answer| answer == "timeout");
        let pause = Duration::from_millis(match (self.profile.as_str(), seconds) {
            _ if asked => 1_000,
            ("payments", 900 | 3_600 | 14_400 | 43_200 | 86_400) => seconds / 15,
            ("payments", 300 | 600 | 1_200 | 1_800) => seconds * 5 / 2,
            ("payments", seconds) => seconds * 20,
            (_, seconds) => seconds / 15,
        });
        pause + if timed_out { PATIENCE } else { Duration::ZERO }
    }
}

/// What a receiver answers that meets us so.
fn reply(answer: &String) -> Reply {
    if answer == "timeout" {
        return Reply::after(200, Duration::from_secs(600));
    }
    let (status, retry_after) = answer.split_once(':').unwrap_or((answer, ""));
    let lines = match retry_after {
        "" => String::new(),
        // What is over the cap stays so.
        "90000" => "retry-after: 90000\r\n".to_owned(),
        _ => "retry-after: 1\r\n".to_owned(),
    };
    Reply { lines, ..Reply::status(status.parse().expect("a status")) }
}

/// Plays one; what was wrong, if anything was.
async fn play(address: String, timeline: &Timeline) -> Result<(), String> {
    let last = timeline.repeat.as_ref().or(timeline.script.last()).expect("an answer");
    let mut receiver = Partner::start(reply(last)).await;
    receiver.answers_first(timeline.script.iter().map(reply));
    let mut client = Client::of(&address);
    let profile = if timeline.profile == "payments" { "quick" } else { "plain" };
    let (app, endpoint) = partner::subscriber(&mut client, profile, &receiver.url(), json!({})).await;
    let message = partner::post(&mut client, &app, timeline.critical, 1).await;
    let expected: Vec<_> =
        timeline.expect.attempts.windows(2).map(|two| timeline.scaled(two[1].at - two[0].at)).collect();
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
    let mut left: Vec<_> = file.timelines.into_iter().filter(Timeline::fits).collect();
    assert!(left.len() >= 17, "{}", left.len());
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
