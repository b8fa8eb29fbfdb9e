//! What holds of every delivery, whatever it meets.

use proptest::prelude::*;

use super::*;
use crate::profile::{Profile, builtin};

const T0: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn any_profile() -> impl Strategy<Value = Profile> {
    let delays = || proptest::collection::vec((1u64..200_000).prop_map(Duration::from_millis), 1..8);
    let own = (
        prop_oneof![Just(builtin::payments()), Just(builtin::standard()), Just(builtin::svix())],
        delays(),
        (-0.9f64..0.5, 0.0f64..0.5),
        proptest::option::of((delays(), 1u64..1_000_000)),
        1u64..10_000_000,
    )
        .prop_map(|(mut profile, outage, (low, more), refusal, max_age)| {
            profile.outage.delays = outage;
            profile.outage.jitter = (low, low + more);
            profile.refusal =
                refusal.map(|(delays, span)| RefusalLadder { delays, span: Duration::from_millis(span) });
            profile.max_age = Duration::from_millis(max_age);
            profile
        });
    prop_oneof![Just(builtin::payments()), Just(builtin::standard()), Just(builtin::svix()), own]
}

/// An outcome, its Retry-After, the luck, and how long the attempt was held past its due time.
type Event = (Outcome, Option<Duration>, f64, Duration);

fn any_event() -> impl Strategy<Value = Event> {
    (
        (1usize..8).prop_map(|index| Outcome::ALL[index]),
        proptest::option::of((0u64..5_000).prop_map(Duration::from_secs)),
        0.0f64..1.0,
        prop_oneof![4 => Just(Duration::ZERO), 1 => (0u64..200_000).prop_map(Duration::from_secs)],
    )
}

fn is_outage(profile: &Profile, facts: &Facts, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Throttled | Outcome::Unavailable => true,
        Outcome::Misdirected => profile.refusal.is_none() || !facts.critical,
        Outcome::Gone if profile.gone == Gone::Disable => false,
        Outcome::Refused | Outcome::Gone => {
            profile.outage.refusals && (profile.refusal.is_none() || !facts.critical)
        }
        _ => false,
    }
}

/// What must hold of any single decision.
fn check_step(
    profile: &Profile,
    facts: &Facts,
    before: &Progress,
    finished: &Finished,
    after: &Progress,
    next: Next,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(after.attempts, before.attempts + 1);
    let outage = after.outage - before.outage;
    let refusals = after.refusals - before.refusals;
    prop_assert!(outage + refusals <= 1, "one attempt spends at most one step");
    if finished.outcome == Outcome::Interrupted {
        prop_assert_eq!(refusals, 0);
        prop_assert_eq!(outage == 1, before.interrupted == INTERRUPTED_MAX - 1);
    } else {
        prop_assert_eq!(outage == 1, is_outage(profile, facts, finished.outcome));
    }
    prop_assert!(usize::from(after.outage) <= profile.outage.delays.len() + 1);
    prop_assert!(
        usize::from(after.refusals) <= profile.refusal.as_ref().map_or(0, |ladder| ladder.delays.len() + 1)
    );
    let Next::Again { at, rule } = next else { return Ok(()) };
    prop_assert!(at <= facts.expires_at(profile));
    prop_assert!(at >= finished.at);
    if outage == 1 {
        let asked = finished.retry_after.unwrap_or_default();
        prop_assert!(at >= finished.at + asked, "not before the Retry-After");
        let step = profile.outage.delays[usize::from(before.outage)];
        prop_assert!(at >= finished.at + step.mul_f64((1.0 + profile.outage.jitter.0) * 0.999_999));
    }
    if rule == Rule::RefusalLadder {
        let ladder = profile.refusal.as_ref().unwrap();
        prop_assert_eq!(at, finished.at + ladder.delays[usize::from(before.refusals)]);
        prop_assert!(at <= after.first_refusal.unwrap() + ladder.span);
    }
    Ok(())
}

proptest! {
    #[test]
    fn r05_budgets_never_cross_no_attempt_comes_early_and_every_delivery_ends(
        profile in any_profile(),
        critical in any::<bool>(),
        events in proptest::collection::vec(any_event(), 1..40),
    ) {
        let facts = Facts { accepted_at: T0, critical };
        let mut progress = Progress::default();
        let mut at = T0;
        // Ladder steps, each with up to two interruptions, and looks at a blocked address.
        let looks = profile.max_age.as_secs() / 300 + 2;
        let bound = 3 * (looks + 20 + profile.outage.delays.len() as u64);
        for (count, (outcome, retry_after, luck, held)) in events.iter().cycle().enumerate() {
            prop_assert!((count as u64) < bound, "it does not end");
            at = at + *held;
            if facts.is_expired(&profile, at) {
                break;
            }
            let finished = Finished { outcome: *outcome, retry_after: *retry_after, at };
            let (after, next) = after_attempt(&profile, &facts, &progress, &finished, *luck);
            check_step(&profile, &facts, &progress, &finished, &after, next)?;
            progress = after;
            match next {
                Next::Again { at: due, .. } => at = due,
                Next::Delivered => prop_assert!(false, "nothing was delivered"),
                Next::Failed(_) | Next::Disable => break,
            }
        }
    }

    #[test]
    fn r02_a_success_delivers_whatever_came_before(
        profile in any_profile(),
        critical in any::<bool>(),
        outage in 0u16..100,
        refusals in 0u16..100,
        secs in 0u64..100 * 86_400,
    ) {
        let before = Progress { outage, refusals, ..Progress::default() };
        let facts = Facts { accepted_at: T0, critical };
        let (after, next) = after_attempt(&profile, &facts, &before, &Finished { outcome: Outcome::Delivered, retry_after: None, at: T0 + Duration::from_secs(secs) }, 0.0);
        prop_assert_eq!(next, Next::Delivered);
        prop_assert_eq!((after.outage, after.refusals), (outage, refusals));
    }
}
