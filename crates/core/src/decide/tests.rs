use super::*;
use crate::profile::{Profile, builtin};

const T0: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const DAY: u64 = 86_400;

fn after(secs: u64) -> Timestamp {
    T0 + Duration::from_secs(secs)
}

fn critical(critical: bool) -> Facts {
    Facts { accepted_at: T0, critical }
}

fn finished(outcome: Outcome, secs: u64) -> Finished {
    Finished { outcome, retry_after: None, at: after(secs) }
}

fn asked(outcome: Outcome, secs: u64, retry_after: u64) -> Finished {
    Finished { retry_after: Some(Duration::from_secs(retry_after)), ..finished(outcome, secs) }
}

fn again(secs: u64, rule: Rule) -> Next {
    Next::Again { at: after(secs), rule }
}

/// A fresh delivery meets these outcomes, each as soon as it is due; what follows the last one.
fn run(profile: &Profile, facts: Facts, outcomes: &[Outcome]) -> (Progress, Next) {
    let mut progress = Progress::default();
    let mut next = Next::Again { at: T0, rule: Rule::DeliverAt };
    for outcome in outcomes {
        let Next::Again { at, .. } = next else { panic!("it ended before {outcome:?}: {next:?}") };
        let finished = Finished { outcome: *outcome, retry_after: None, at };
        (progress, next) = after_attempt(profile, &facts, &progress, &finished, 0.0);
    }
    (progress, next)
}

#[test]
fn r01_the_first_answer_of_each_kind_leads_where_the_table_says() {
    use Outcome::*;
    let table = [
        (Delivered, Next::Delivered, Next::Delivered, Next::Delivered, Next::Delivered),
        (
            Refused,
            again(900, Rule::RefusalLadder),
            Next::Failed(Reason::Refused),
            Next::Failed(Reason::Refused),
            again(5, Rule::OutageLadder),
        ),
        (
            Gone,
            again(900, Rule::RefusalLadder),
            Next::Failed(Reason::Refused),
            Next::Disable,
            again(5, Rule::OutageLadder),
        ),
        (
            Misdirected,
            again(900, Rule::RefusalLadder),
            again(1, Rule::OutageLadder),
            again(60, Rule::OutageLadder),
            again(5, Rule::OutageLadder),
        ),
        (
            Throttled,
            again(1, Rule::OutageLadder),
            again(1, Rule::OutageLadder),
            again(60, Rule::OutageLadder),
            again(5, Rule::OutageLadder),
        ),
        (
            Unavailable,
            again(1, Rule::OutageLadder),
            again(1, Rule::OutageLadder),
            again(60, Rule::OutageLadder),
            again(5, Rule::OutageLadder),
        ),
        (
            Blocked,
            again(300, Rule::AddressRecheck),
            again(300, Rule::AddressRecheck),
            again(300, Rule::AddressRecheck),
            again(300, Rule::AddressRecheck),
        ),
        (
            Interrupted,
            again(0, Rule::Interrupted),
            again(0, Rule::Interrupted),
            again(0, Rule::Interrupted),
            again(0, Rule::Interrupted),
        ),
    ];
    for (outcome, payments_critical, payments, standard, svix) in table {
        for (profile, is_critical, expected) in [
            (builtin::payments(), true, payments_critical),
            (builtin::payments(), false, payments),
            (builtin::standard(), true, standard),
            (builtin::svix(), false, svix),
        ] {
            // Luck 0.5 is no jitter in svix; the others have none at luck 0.
            let luck = if profile.name == "svix" { 0.5 } else { 0.0 };
            let (progress, next) = after_attempt(
                &profile,
                &critical(is_critical),
                &Progress::default(),
                &finished(outcome, 0),
                luck,
            );
            assert_eq!(next, expected, "{outcome:?} in {}, critical: {is_critical}", profile.name);
            assert_eq!(progress.attempts, 1);
        }
    }
}

#[test]
fn r01_a_blocked_address_is_looked_at_again_ever_later_and_spends_nothing() {
    let mut progress = Progress { outage: 3, refusals: 2, ..Progress::default() };
    let mut now = 0;
    for minutes in [5, 10, 20, 30, 30, 30] {
        let (next_progress, next) = after_attempt(
            &builtin::payments(),
            &critical(true),
            &progress,
            &finished(Outcome::Blocked, now),
            0.0,
        );
        now += minutes * 60;
        assert_eq!(next, again(now, Rule::AddressRecheck));
        assert_eq!((next_progress.outage, next_progress.refusals), (3, 2));
        progress = next_progress;
    }
    let (progress, _) = after_attempt(
        &builtin::payments(),
        &critical(true),
        &progress,
        &finished(Outcome::Unavailable, now),
        0.0,
    );
    assert_eq!(progress.blocked, 0);
}

#[test]
fn r01_a_blocked_delivery_has_its_last_look_when_its_age_comes() {
    let profile = builtin::payments();
    let decide = |secs| {
        after_attempt(
            &profile,
            &critical(false),
            &Progress::default(),
            &finished(Outcome::Blocked, secs),
            0.0,
        )
        .1
    };
    assert_eq!(decide(30 * DAY - 60), again(30 * DAY, Rule::AddressRecheck));
    assert_eq!(decide(30 * DAY), Next::Failed(Reason::Expired));
}

#[test]
fn r01_the_third_interruption_in_a_row_counts_as_unavailable() {
    use Outcome::{Interrupted, Unavailable};
    let run = |outcomes: &[Outcome]| run(&builtin::payments(), critical(false), outcomes);
    let (progress, next) = run(&[Interrupted, Interrupted]);
    assert_eq!((progress.outage, next), (0, again(0, Rule::Interrupted)));
    let (progress, next) = run(&[Interrupted, Interrupted, Interrupted]);
    assert_eq!((progress.outage, next), (1, again(1, Rule::OutageLadder)));
    let (progress, next) = run(&[Interrupted, Interrupted, Interrupted, Interrupted]);
    assert_eq!((progress.outage, next), (1, again(1, Rule::Interrupted)), "the row starts over");
    let (progress, next) = run(&[Interrupted, Interrupted, Unavailable, Interrupted]);
    assert_eq!((progress.outage, next), (1, again(1, Rule::Interrupted)), "another outcome ends the row");
}

#[test]
fn r03_payments_tries_ten_times_in_511_s() {
    let (progress, next) = run(&builtin::payments(), critical(true), &[Outcome::Unavailable; 9]);
    assert_eq!((progress.outage, next), (9, again(511, Rule::OutageLadder)));
    let (progress, next) = run(&builtin::payments(), critical(true), &[Outcome::Unavailable; 10]);
    assert_eq!((progress.attempts, next), (10, Next::Failed(Reason::OutageExhausted)));
}

#[test]
fn r03_standard_tries_seven_times_in_20_6_h() {
    let (_, next) = run(&builtin::standard(), critical(false), &[Outcome::Unavailable; 6]);
    assert_eq!(next, again(74_160, Rule::OutageLadder));
    let (_, next) = run(&builtin::standard(), critical(false), &[Outcome::Unavailable; 7]);
    assert_eq!(next, Next::Failed(Reason::OutageExhausted));
}

#[test]
fn r03_jitter_lengthens_standard_and_moves_svix_both_ways() {
    let pause = |profile: &Profile, luck| {
        let facts = critical(false);
        match after_attempt(profile, &facts, &Progress::default(), &finished(Outcome::Unavailable, 0), luck).1
        {
            Next::Again { at, .. } => at.since(T0).as_millis(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pause(&builtin::standard(), 0.0), 60_000);
    assert_eq!(pause(&builtin::standard(), 0.5), 63_000);
    assert_eq!(pause(&builtin::svix(), 0.0), 4_000);
    assert_eq!(pause(&builtin::svix(), 0.5), 5_000);
    assert_eq!(pause(&builtin::svix(), 1.0), 6_000);
    assert_eq!(pause(&builtin::payments(), 0.9), 1_000);
}

#[test]
fn r04_the_refusal_ladder_ends_48_h_after_the_first_refusal() {
    let facts = critical(true);
    let first = T0 + Duration::from_secs(6 * DAY);
    let step = |refusals: u16, at: Timestamp| {
        let before = Progress { refusals, first_refusal: Some(first), ..Progress::default() };
        let finished = Finished { outcome: Outcome::Refused, retry_after: None, at };
        after_attempt(&builtin::payments(), &facts, &before, &finished, 0.0).1
    };
    let hours = |hours: u64| first + Duration::from_secs(hours * 3600);
    assert_eq!(step(4, hours(24)), Next::Again { at: hours(48), rule: Rule::RefusalLadder });
    let late = hours(24) + Duration::from_millis(1);
    assert_eq!(step(4, late), Next::Failed(Reason::RefusalsExhausted));
    assert_eq!(
        step(0, hours(50)),
        Next::Failed(Reason::RefusalsExhausted),
        "held past the span, then refused"
    );
    assert_eq!(step(5, hours(1)), Next::Failed(Reason::RefusalsExhausted), "no step is left");
}

#[test]
fn r04_the_span_starts_at_the_first_refusal_and_stays_there() {
    let (progress, _) = run(&builtin::payments(), critical(true), &[Outcome::Unavailable, Outcome::Refused]);
    assert_eq!(progress.first_refusal, Some(after(1)));
    let (progress, _) = after_attempt(
        &builtin::payments(),
        &critical(true),
        &progress,
        &finished(Outcome::Misdirected, 901),
        0.0,
    );
    assert_eq!((progress.first_refusal, progress.refusals), (Some(after(1)), 2));
}

#[test]
fn r05_each_ladder_resumes_where_it_was() {
    use Outcome::{Refused, Throttled, Unavailable};
    let (progress, next) =
        run(&builtin::payments(), critical(true), &[Unavailable, Refused, Throttled, Refused, Unavailable]);
    assert_eq!((progress.outage, progress.refusals), (3, 2));
    assert_eq!(next, again(1 + 900 + 2 + 3600 + 4, Rule::OutageLadder));
}

#[test]
fn r06_a_message_that_is_not_critical_has_no_refusal_ladder() {
    let (progress, next) = run(&builtin::payments(), critical(false), &[Outcome::Refused]);
    assert_eq!((progress.refusals, next), (0, Next::Failed(Reason::Refused)));
}

#[test]
fn r07_a_step_past_the_age_fails_the_delivery_at_once() {
    let decide = |secs, outcome| {
        let finished = finished(outcome, secs);
        after_attempt(&builtin::payments(), &critical(true), &Progress::default(), &finished, 0.0).1
    };
    assert_eq!(decide(30 * DAY - 1, Outcome::Unavailable), again(30 * DAY, Rule::OutageLadder));
    assert_eq!(decide(30 * DAY, Outcome::Unavailable), Next::Failed(Reason::Expired));
    assert_eq!(decide(30 * DAY - 899, Outcome::Refused), Next::Failed(Reason::Expired));
    assert_eq!(decide(30 * DAY + 1, Outcome::Interrupted), Next::Failed(Reason::Expired));
    assert_eq!(decide(31 * DAY, Outcome::Delivered), Next::Delivered);
}

#[test]
fn r07_a_held_delivery_is_over_after_its_age() {
    let profile = builtin::payments();
    assert!(!critical(true).is_expired(&profile, after(30 * DAY)));
    assert!(critical(true).is_expired(&profile, after(30 * DAY) + Duration::from_millis(1)));
}

#[test]
fn r08_retry_after_delays_and_never_shortens() {
    let decide = |profile: &Profile, finished: Finished, luck| {
        after_attempt(profile, &critical(false), &Progress::default(), &finished, luck).1
    };
    let payments = builtin::payments();
    assert_eq!(decide(&payments, asked(Outcome::Throttled, 0, 20), 0.0), again(20, Rule::RetryAfter));
    assert_eq!(decide(&payments, asked(Outcome::Unavailable, 0, 20), 0.9), again(20, Rule::RetryAfter));
    assert_eq!(decide(&payments, asked(Outcome::Throttled, 0, 0), 0.0), again(1, Rule::OutageLadder));
    assert_eq!(
        decide(&builtin::standard(), asked(Outcome::Throttled, 0, 5), 0.0),
        again(60, Rule::OutageLadder)
    );
    assert_eq!(
        decide(&builtin::standard(), asked(Outcome::Throttled, 0, 600), 0.5),
        again(630, Rule::RetryAfter)
    );
    assert_eq!(
        decide(&builtin::svix(), asked(Outcome::Throttled, 0, 600), 0.0),
        again(600, Rule::RetryAfter)
    );
}

#[test]
fn r08_a_retry_after_past_the_age_fails_the_delivery() {
    let finished = asked(Outcome::Throttled, 30 * DAY - 10, 11);
    let (_, next) =
        after_attempt(&builtin::payments(), &critical(false), &Progress::default(), &finished, 0.0);
    assert_eq!(next, Next::Failed(Reason::Expired));
}

#[test]
fn r14_a_failed_probe_spends_a_step_in_payments_and_none_in_standard() {
    let before = Progress { outage: 4, ..Progress::default() };
    let probe = |profile: &Profile, finished: Finished| {
        let (progress, next) = after_probe(profile, &critical(false), &before, &finished, 0.0);
        (progress.outage, next)
    };
    let down = finished(Outcome::Unavailable, 300);
    assert_eq!(probe(&builtin::payments(), down), (5, again(316, Rule::OutageLadder)));
    assert_eq!(probe(&builtin::standard(), down), (4, again(300, Rule::Breaker)));
    assert_eq!(
        probe(&builtin::standard(), asked(Outcome::Throttled, 300, 60)),
        (4, again(360, Rule::Breaker))
    );
    assert_eq!(probe(&builtin::standard(), finished(Outcome::Delivered, 300)), (4, Next::Delivered));
    assert_eq!(
        probe(&builtin::standard(), finished(Outcome::Refused, 300)),
        (4, Next::Failed(Reason::Refused))
    );
    assert_eq!(
        probe(&builtin::standard(), finished(Outcome::Unavailable, 31 * DAY)),
        (4, Next::Failed(Reason::Expired))
    );
}

#[test]
fn a_profile_that_became_shorter_ends_what_is_past_its_end() {
    let before = Progress { outage: 9, ..Progress::default() };
    let (_, next) = after_attempt(
        &builtin::standard(),
        &critical(false),
        &before,
        &finished(Outcome::Unavailable, 0),
        0.0,
    );
    assert_eq!(next, Next::Failed(Reason::OutageExhausted));
}
