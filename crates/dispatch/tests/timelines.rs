//! The timelines of `vectors/timelines.json`, which an independent model computed, through the machine
//! itself: to the millisecond.

use std::{sync::Arc, time::Duration};

use gonets_core::profile::Profiles;
use gonets_dispatch::simulate::{End, Meets, Plan, Script, simulate};
use serde::Deserialize;

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

#[derive(Deserialize, PartialEq, Debug)]
struct Course {
    attempts: Vec<Attempt>,
    end: String,
    ended_at: Option<u64>,
    endpoint: Option<String>,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Attempt {
    at: u64,
    meets: String,
    outcome: String,
    probe: bool,
}

fn meets(text: &str) -> Meets {
    text.parse().expect("the vectors hold answers")
}

/// Whole seconds, as the vectors have them: any millisecond more is a mistake.
fn seconds(at: Duration) -> u64 {
    assert_eq!(at.subsec_millis(), 0, "{at:?}");
    at.as_secs()
}

#[test]
fn every_timeline_comes_out_of_the_machine() {
    let file: File =
        serde_json::from_str(include_str!("../../core/tests/vectors/timelines.json")).expect("the vectors");
    assert!(file.timelines.len() >= 21);
    let profiles = Profiles::builtin();
    for timeline in file.timelines {
        let answers = timeline.script.iter().map(|text| meets(text)).collect();
        let plan = Plan {
            profile: Arc::clone(profiles.get(&timeline.profile).expect("a built-in profile")),
            critical: timeline.critical,
            script: Script::new(answers, timeline.repeat.as_deref().map(meets)).expect("an answer"),
            held_for: Duration::from_secs(timeline.held_until_s),
        };
        let played = simulate(&plan);
        let is_disabled = matches!(played.end, End::Held(_));
        let course = Course {
            attempts: played
                .attempts
                .iter()
                .map(|attempt| Attempt {
                    at: seconds(attempt.at),
                    meets: attempt.meets.to_string(),
                    outcome: attempt.outcome.name().to_owned(),
                    probe: attempt.probe,
                })
                .collect(),
            end: played.end.to_string(),
            ended_at: (!is_disabled).then(|| seconds(played.ended_at)),
            endpoint: is_disabled.then(|| "disabled:gone".to_owned()),
        };
        assert_eq!(course, timeline.expect, "{}", timeline.name);
    }
}

fn play(profile: &str, critical: bool, held_for: Duration, answers: &str) -> (Vec<u64>, String, Duration) {
    let answers = answers.split(',').map(meets).collect();
    let plan = Plan {
        profile: Arc::clone(Profiles::builtin().get(profile).expect("a built-in profile")),
        critical,
        script: Script::new(answers, None).expect("an answer"),
        held_for,
    };
    let played = simulate(&plan);
    let times = played.attempts.iter().map(|attempt| seconds(attempt.at)).collect();
    (times, played.end.to_string(), played.ended_at)
}

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn r07_a_message_that_is_held_past_its_age_is_never_tried() {
    let (times, end, ended_at) = play("payments", true, 31 * DAY, "200");
    assert_eq!((times.len(), end.as_str(), ended_at), (0, "failed:expired", 30 * DAY));
}

#[test]
fn r01_a_blocked_address_is_looked_at_again_until_the_age_ends_it() {
    let (times, end, ended_at) = play("payments", true, Duration::ZERO, "blocked");
    assert_eq!(times[..6], [0, 300, 900, 2_100, 3_900, 5_700]);
    assert_eq!(end, "failed:expired");
    assert_eq!(ended_at, 30 * DAY);
}

#[test]
fn r01_the_third_interruption_in_a_row_counts_as_an_outage() {
    let (times, end, _) = play("payments", false, Duration::ZERO, "interrupted,interrupted,interrupted,200");
    assert_eq!(times, [0, 0, 0, 1]);
    assert_eq!(end, "delivered");
}
