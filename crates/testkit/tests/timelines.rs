//! The timelines of `vectors/timelines.json` through the machine and SQLite, to the millisecond; and what
//! becomes of a message that waits for an endpoint (R18).

use std::{sync::Arc, time::Duration};

use gonets_core::{
    outcome::{Outcome, Seen, classify},
    profile::{Profile, Profiles},
    retry_after,
    rule::Reason,
    time::{Clock, Timestamp},
};
use gonets_store::record::{DeliveryState, SettledState};
use gonets_store_sqlite::{Checkpoints, Options, Sqlite};
use gonets_testkit::{
    clock::ManualClock,
    course::{Course, Peer},
};
use serde::Deserialize;

const ACCEPTED: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const DAY: Duration = Duration::from_secs(86_400);

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
    expect: Expected,
}

#[derive(Deserialize)]
struct Expected {
    attempts: Vec<Attempt>,
    end: String,
    ended_at: Option<u64>,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Attempt {
    at: u64,
    outcome: String,
    probe: bool,
}

/// A built-in profile without its jitter.
fn profile(name: &str) -> Arc<Profile> {
    let mut profile = Profile::clone(Profiles::builtin().get(name).expect("a built-in profile"));
    profile.outage.jitter = (0.0, 0.0);
    Arc::new(profile)
}

fn begin(profile: &Arc<Profile>, critical: bool, peer: Peer) -> (Course, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clock = ManualClock::at(ACCEPTED);
    let options = Options { checkpoints: Checkpoints::ByWriter, ..Options::new(Arc::new(clock.clone())) };
    let (engine, readers) = Sqlite::open(folder.path(), options).expect("the store opens");
    (Course::begin((Box::new(engine), readers), clock, Arc::clone(profile), critical, peer), folder)
}

/// What is met, as the vectors write it.
fn meet(text: &str, cap: Duration, now: Timestamp) -> (Outcome, Option<Duration>) {
    let (status, field) = text.split_once(':').map_or((text, None), |(status, field)| (status, Some(field)));
    let Ok(status) = status.parse::<u16>() else { return (classify(Seen::NoAnswer), None) };
    let fields = field.map(str::as_bytes).into_iter().filter(|_| retry_after::applies_to(status));
    (classify(Seen::Status(status)), retry_after::parse(fields, now, cap).pause)
}

fn seconds(since: Duration) -> u64 {
    assert_eq!(since.subsec_millis(), 0, "{since:?}");
    since.as_secs()
}

#[test]
fn every_timeline_comes_out_of_the_machine_and_the_store() {
    let text = include_str!("../../core/tests/vectors/timelines.json");
    let file: File = serde_json::from_str(text).expect("the vectors");
    assert!(file.timelines.len() >= 21);
    for timeline in file.timelines {
        let profile = profile(&timeline.profile);
        let cap = profile.retry_after_cap;
        let answers: Vec<String> = timeline.script.clone();
        let repeat = timeline.repeat.clone().or(timeline.script.last().cloned()).expect("an answer");
        let peer: Peer = Box::new(move |n, now| meet(answers.get(n).unwrap_or(&repeat), cap, now));
        let (mut course, _folder) = begin(&profile, timeline.critical, peer);
        course.pass(ACCEPTED + Duration::from_secs(timeline.held_until_s));
        let endpoint = course.endpoint();
        course.pass(ACCEPTED + 40 * DAY);
        let tried: Vec<_> = course
            .tried
            .iter()
            .map(|tried| Attempt {
                at: seconds(tried.at.since(ACCEPTED)),
                outcome: tried.outcome.name().to_owned(),
                probe: tried.probe,
            })
            .collect();
        assert_eq!(tried, timeline.expect.attempts, "{}", timeline.name);
        let (end, ended_at) = match course.delivery(endpoint).expect("it is there") {
            DeliveryState::Settled { state: SettledState::Delivered, at, .. } => {
                ("delivered".into(), Some(at))
            }
            DeliveryState::Settled { reason: Some(reason), at, .. } => (format!("failed:{reason}"), Some(at)),
            _ if course.disabled => ("held:endpoint_disabled".into(), None),
            other => panic!("{}: {other:?}", timeline.name),
        };
        assert_eq!(end, timeline.expect.end, "{}", timeline.name);
        let ended_at = ended_at.map(|at| seconds(at.since(ACCEPTED)));
        assert_eq!(ended_at, timeline.expect.ended_at, "{}", timeline.name);
    }
}

fn refusing() -> Peer {
    Box::new(|_, _| (Outcome::Refused, None))
}

#[test]
fn r18_a_message_that_waited_for_days_has_its_whole_refusal_ladder_also_after_an_endpoint_came_and_went() {
    for goes_between in [false, true] {
        let (mut course, _folder) = begin(&profile("payments"), true, refusing());
        course.pass(ACCEPTED + 5 * DAY);
        assert!(course.is_unrouted() && course.tried.is_empty());
        if goes_between {
            // It is refused twice there, and what it used is forgotten with the endpoint.
            let first = course.endpoint();
            course.pass(ACCEPTED + 5 * DAY + Duration::from_secs(1_000));
            course.delete(first);
            assert!(course.is_unrouted());
            course.tried.clear();
            course.pass(ACCEPTED + 8 * DAY);
        }
        let from = course.clock.now();
        let endpoint = course.endpoint();
        course.pass(ACCEPTED + 20 * DAY);
        let times: Vec<_> = course.tried.iter().map(|tried| seconds(tried.at.since(from))).collect();
        assert_eq!(times, [0, 900, 4_500, 18_900, 62_100, 148_500]);
        let ended = course.delivery(endpoint);
        assert!(
            matches!(ended, Some(DeliveryState::Settled { reason: Some(Reason::RefusalsExhausted), .. })),
            "{ended:?}"
        );
    }
}

#[test]
fn r07_a_message_without_an_endpoint_expires_at_thirty_days_and_not_before() {
    let (mut course, _folder) = begin(&profile("payments"), true, refusing());
    course.pass(ACCEPTED + 30 * DAY);
    course.sweep(None);
    assert!(course.is_unrouted());
    course.pass(ACCEPTED + 30 * DAY + Duration::from_millis(1));
    course.sweep(None);
    assert!(!course.is_unrouted());
    assert_eq!(course.ended_unrouted(), Some(Reason::Expired));
    course.endpoint();
    course.pass(ACCEPTED + 40 * DAY);
    assert!(course.tried.is_empty(), "nothing too old is sent");
}
