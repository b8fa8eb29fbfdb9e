//! The tables of the documentation are made from the code, so that they cannot drift. After a change,
//! `GONETS_WRITE_DOCS=1 cargo test -p gonets-core --test docs` writes them.

use std::{fmt::Write, path::PathBuf, time::Duration};

use gonets_core::{
    duration,
    hold::Hold,
    notice::NoticeKind,
    outcome::{HealthWeight, Outcome, Weight},
    profile::{BreakerScope, EnvelopeKind, Gone, Profile, WhileDisabled, builtin},
    rule::{Reason, Rule},
};

/// Replaces, or compares, the part of a page between `<!-- name -->` and `<!-- /name -->`.
fn section(page: &str, name: &str, wanted: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let from = text.find(&begin).unwrap_or_else(|| panic!("{page} has no {begin}")) + begin.len();
    let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("{page} has no {end}"));
    if std::env::var_os("GONETS_WRITE_DOCS").is_some() {
        let written = format!("{}{wanted}{}", &text[..from], &text[to..]);
        std::fs::write(&path, written).expect("the page can be written");
    } else {
        assert_eq!(&text[from..to], wanted, "{page}, {name}: write it anew with GONETS_WRITE_DOCS=1");
    }
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let columns = head.matches('|').count() - 1;
    let mut text = format!("{head}\n|{}\n", "---|".repeat(columns));
    for row in rows {
        text.push_str(&row);
        text.push('\n');
    }
    text
}

#[test]
fn the_words_of_the_state_machine_are_those_of_the_code() {
    let ladder = |outcome| match outcome {
        Outcome::Delivered => "done",
        Outcome::Refused | Outcome::Gone => "refusal ladder if critical and there is one; else it fails",
        Outcome::Throttled | Outcome::Unavailable => "outage ladder",
        Outcome::Misdirected => "refusal ladder if critical and there is one; else outage ladder",
        Outcome::Blocked => "none: looked at again after 5 min, doubling to 30 min",
        Outcome::Interrupted => "none: again at once; the third in a row counts as unavailable",
    };
    let seen = |outcome| match outcome {
        Outcome::Delivered => "2xx",
        Outcome::Refused => "4xx other than 410 and 429",
        Outcome::Gone => "410; where the profile says so the endpoint is disabled at once",
        Outcome::Throttled => "429",
        Outcome::Unavailable => "5xx, no connection, TLS or DNS failure, malformed answer, time-out",
        Outcome::Misdirected => "3xx, a lone 1xx, 101",
        Outcome::Blocked => "nothing was sent: the address leads inside",
        Outcome::Interrupted => "our own fault: a restart, no file handles",
    };
    let breaker = |outcome: Outcome| match outcome.weight() {
        Weight::Success => "success",
        Weight::Reachable => "reachable",
        Weight::Failed => "failed",
        Weight::NotCounted => "not counted",
    };
    let health = |outcome: Outcome| match outcome.health() {
        HealthWeight::Success => "success",
        HealthWeight::Failure => "failure",
        HealthWeight::NotCounted => "not counted",
    };
    let rows = Outcome::ALL.into_iter().map(|one| {
        format!("| {} | {} | {} | {} | {} |", one.name(), seen(one), ladder(one), breaker(one), health(one))
    });
    let head = "| outcome | seen | then | the breaker counts it as | the endpoint's health |";
    section("state-machine.md", "outcomes", &table(head, rows));
    let rows = Rule::ALL.iter().map(|one| format!("| `{}` | {} |", one.name(), one.sentence()));
    section("state-machine.md", "rules", &table("| rule | means |", rows));
    let rows = Reason::ALL.iter().map(|one| format!("| `{}` | {} |", one.name(), one.sentence()));
    section("state-machine.md", "reasons", &table("| reason | means |", rows));
    let rows = Hold::ALL.iter().map(|one| format!("| `{}` | {} |", one.name(), one.sentence()));
    section("state-machine.md", "holds", &table("| hold | means, and how it ends |", rows));
    let mailed = |kind: NoticeKind| if kind.is_mailed() { "yes" } else { "" };
    let rows = NoticeKind::ALL
        .iter()
        .map(|one| format!("| `{}` | {} | {} |", one.name(), one.sentence(), mailed(*one)));
    section("notices.md", "notices", &table("| type | comes when | mailed |", rows));
}

/// `8 min 31 s`, as people say it.
fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let shown: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if shown.is_empty() { "at once".to_owned() } else { shown.join(" ") }
}

fn steps(delays: &[Duration]) -> String {
    let mut at = Duration::ZERO;
    let mut text = String::from("at once");
    for (n, delay) in delays.iter().enumerate() {
        at += *delay;
        let _ = write!(text, "; attempt {} after {}", n + 2, spoken(at));
    }
    text
}

fn profile_table(profile: &Profile) -> String {
    let mut rows = Vec::new();
    let mut row = |what: &str, value: String| rows.push(format!("| {what} | {value} |"));
    row("time-out of an attempt", spoken(profile.timeout));
    let jitter = match profile.outage.jitter {
        (0.0, 0.0) => "no jitter".to_owned(),
        (low, high) => format!("each pause is changed by {:+.0} to {:+.0} %", low * 100.0, high * 100.0),
    };
    let attempts = profile.outage_attempts();
    row(
        "5xx, time-out, no connection, 429",
        format!("{attempts} attempts ({jitter}): {}", steps(&profile.outage.delays)),
    );
    let refused = match &profile.refusal {
        Some(ladder) => format!(
            "critical messages: {} attempts, {}; at most {} from the first refusal. All others: failed at once",
            ladder.delays.len() + 1,
            steps(&ladder.delays),
            spoken(ladder.span)
        ),
        None if profile.outage.refusals => "as 5xx".to_owned(),
        None => "failed at once".to_owned(),
    };
    row("other 4xx", refused);
    let gone = match profile.gone {
        Gone::Refuse => "as other 4xx",
        Gone::Disable => "the endpoint is disabled at once; its deliveries are held",
    };
    row("410", gone.to_owned());
    row(
        "3xx",
        if profile.refusal.is_some() { "critical: as 4xx; else as 5xx" } else { "as 5xx; never followed" }
            .to_owned(),
    );
    row("Retry-After on 429 and 503", format!("heeded up to {}", spoken(profile.retry_after_cap)));
    let breaker = match &profile.breaker {
        None => "none".to_owned(),
        Some(rules) => format!(
            "one for each {}: opens at {} or more attempts within {} of which {:.0} % found the server down; pauses of {} to {}; a failed probe {}",
            if rules.scope == BreakerScope::Application { "application" } else { "endpoint" },
            rules.min_attempts,
            spoken(rules.window),
            rules.failure_ratio * 100.0,
            spoken(rules.pause),
            spoken(rules.pause_max),
            if rules.probe_spends { "spends a step" } else { "spends nothing" },
        ),
    };
    row("breaker", breaker);
    let disabled = match profile.health.disable_after {
        None => "never by itself".to_owned(),
        Some(after) => format!(
            "{} after the first failure without a success, and {} failed attempts",
            spoken(after),
            profile.health.min_failures
        ),
    };
    row("an endpoint is disabled", disabled);
    let notices: Vec<_> = profile.health.notices.iter().map(|after| spoken(*after)).collect();
    row("its people are told after", notices.join(", "));
    let skips = match profile.while_disabled {
        WhileDisabled::Hold => "held until it is enabled",
        WhileDisabled::Skip => "skipped, and journaled so",
    };
    row("new messages for a disabled endpoint", skips.to_owned());
    let unrouted = if profile.hold_unrouted { "wait for the first endpoint" } else { "are routed nowhere" };
    row("messages of an application without endpoints", unrouted.to_owned());
    row("too old", format!("{} after acceptance", spoken(profile.max_age)));
    let envelope = match profile.envelope {
        EnvelopeKind::Raw => "the payload itself",
        EnvelopeKind::Event => "`{\"id\",\"type\",\"created_at\",\"api_version\",\"data\"}`",
    };
    row("body", envelope.to_owned());
    let schemes: Vec<_> = profile.signatures.iter().map(|scheme| format!("`{}`", scheme.name())).collect();
    row("signatures", schemes.join(", "));
    let critical: Vec<_> = profile
        .critical
        .iter()
        .map(|rule| match &rule.pointer {
            None => format!("`{}`", rule.event_type),
            Some(pointer) => format!("`{}` with `{pointer}` in {}", rule.event_type, rule.values.join(", ")),
        })
        .collect();
    row(
        "critical messages",
        if critical.is_empty() { "none, unless a message says so".to_owned() } else { critical.join("; ") },
    );
    table("| with this profile | |", rows.into_iter())
}

#[test]
fn the_profiles_are_those_of_the_code() {
    for name in builtin::NAMES {
        let profile = builtin::get(name).expect("a built-in profile");
        let text = format!("## `{name}`\n\n{}\n", profile_table(&profile));
        section("profiles.md", name, &text);
    }
}

#[test]
fn times_are_said_as_people_say_them() {
    assert_eq!(spoken(Duration::from_secs(511)), "8 min 31 s");
    assert_eq!(spoken(Duration::from_secs(148_500)), "1 d 17 h 15 min");
    assert_eq!(duration::format(Duration::from_secs(60)), "1m");
}
