//! Runs the timelines of `vectors/timelines.json`, which an independent model computed, through
//! the rules: one delivery, alone at its endpoint, whose attempts end at once and have no jitter.

use std::time::Duration;

use gonets_core::{
    breaker::Breaker,
    decide::{Facts, Finished, Next, after_attempt, after_probe},
    outcome::{Outcome, Seen, classify},
    profile::{Profile, Profiles},
    progress::Progress,
    retry_after,
    time::Timestamp,
};
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

const ACCEPTED: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// What the endpoint answers in a script: `status`, `status:Retry-After`, `timeout`, `network`.
fn meet(text: &str, now: Timestamp, profile: &Profile) -> (Outcome, Option<Duration>) {
    let (status, field) = text.split_once(':').map_or((text, None), |(status, field)| (status, Some(field)));
    let Ok(status) = status.parse::<u16>() else { return (classify(Seen::NoAnswer), None) };
    let fields = field.map(str::as_bytes).into_iter().filter(|_| retry_after::applies_to(status));
    (classify(Seen::Status(status)), retry_after::parse(fields, now, profile.retry_after_cap).pause)
}

/// The one delivery and what is shared with it: the breaker and the endpoint's pause after 429s.
struct World<'a> {
    profile: &'a Profile,
    facts: Facts,
    progress: Progress,
    breaker: Breaker,
    throttled_in_a_row: u32,
}

impl World<'_> {
    /// One attempt at `now`; what follows, and until when the endpoint is paused.
    fn attempt(&mut self, now: Timestamp, probe: bool, meets: &str) -> (Outcome, Next, Timestamp) {
        let (outcome, asked) = meet(meets, now, self.profile);
        let finished = Finished { outcome, retry_after: asked, at: now };
        let decide = if probe { after_probe } else { after_attempt };
        let (progress, next) = decide(self.profile, &self.facts, &self.progress, &finished, 0.0);
        self.progress = progress;
        self.throttled_in_a_row = if outcome == Outcome::Throttled { self.throttled_in_a_row + 1 } else { 0 };
        let pause = (outcome == Outcome::Throttled)
            .then(|| retry_after::throttle_pause(self.throttled_in_a_row, asked));
        (outcome, next, now + pause.unwrap_or_default())
    }

    fn run(&mut self, timeline: &Timeline) -> Course {
        let mut due = ACCEPTED + Duration::from_secs(timeline.held_until_s);
        let mut attempts = Vec::new();
        let mut script = timeline.script.iter().chain(timeline.repeat.iter().cycle());
        loop {
            let now = due.max(self.breaker.probe_at().unwrap_or(due));
            let probe = self.breaker.take_probe(now, Duration::from_secs(15));
            let meets = script.next().expect("the script goes on until the delivery ends");
            let (outcome, next, paused_until) = self.attempt(now, probe.is_some(), meets);
            attempts.push(Attempt {
                at: now.since(ACCEPTED).as_secs(),
                meets: meets.clone(),
                outcome: outcome.name().into(),
                probe: probe.is_some(),
            });
            if let Some(rules) = &self.profile.breaker {
                match probe {
                    Some(probe) => self.breaker.on_probe(rules, probe, now, outcome, None),
                    None => self.breaker.on_attempt(rules, now, now, outcome),
                };
            }
            let end = match next {
                Next::Again { at, .. } => {
                    due = at.max(paused_until);
                    continue;
                }
                Next::Delivered => "delivered".into(),
                Next::Failed(reason) => format!("failed:{reason}"),
                Next::Disable => "held:endpoint_disabled".into(),
            };
            let disabled = next == Next::Disable;
            return Course {
                attempts,
                end,
                ended_at: (!disabled).then(|| now.since(ACCEPTED).as_secs()),
                endpoint: disabled.then(|| "disabled:gone".into()),
            };
        }
    }
}

#[test]
fn every_timeline_comes_out_as_the_independent_model_says() {
    let file: File = serde_json::from_str(include_str!("vectors/timelines.json")).unwrap();
    assert!(file.timelines.len() >= 21);
    let profiles = Profiles::builtin();
    for timeline in &file.timelines {
        let mut world = World {
            profile: profiles.get(&timeline.profile).unwrap(),
            facts: Facts { accepted_at: ACCEPTED, critical: timeline.critical },
            progress: Progress::default(),
            breaker: Breaker::default(),
            throttled_in_a_row: 0,
        };
        assert_eq!(world.run(timeline), timeline.expect, "{}", timeline.name);
    }
}
