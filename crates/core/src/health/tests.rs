use super::*;
use crate::profile::builtin;

const DAY: i64 = 86_400;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(secs * 1000)
}

fn standard() -> HealthRules {
    builtin::standard().health
}

fn fail(health: &mut Health, secs: i64) -> HealthChange {
    health.on_attempt(&standard(), Outcome::Unavailable, false, at(secs))
}

const FAILING: HealthChange = HealthChange { failing: true, recovered: false, disable: false };
const DISABLE: HealthChange = HealthChange { failing: false, recovered: false, disable: true };

#[test]
fn r21_it_is_failing_from_the_first_exhausted_delivery_until_a_success() {
    let mut health = Health::default();
    assert_eq!(fail(&mut health, 0), HealthChange::default());
    assert_eq!(health.on_attempt(&standard(), Outcome::Unavailable, true, at(1)), FAILING);
    assert_eq!(health.on_attempt(&standard(), Outcome::Unavailable, true, at(2)), HealthChange::default());
    let change = health.on_attempt(&standard(), Outcome::Delivered, false, at(3));
    assert_eq!(change, HealthChange { recovered: true, ..HealthChange::default() });
    assert_eq!(health, Health::default());
}

#[test]
fn r21_a_block_or_the_breaker_makes_it_failing_and_a_final_refusal_does_not() {
    let mut health = Health::default();
    assert_eq!(health.on_attempt(&standard(), Outcome::Refused, false, at(0)), HealthChange::default());
    assert!(!health.is_failing());
    assert_eq!(health.on_breaker_opened(at(1)), FAILING);
    assert_eq!(health.on_breaker_opened(at(2)), HealthChange::default());
    assert_eq!(Health::default().on_attempt(&standard(), Outcome::Blocked, false, at(0)), FAILING);
}

#[test]
fn r21_our_own_fault_touches_nothing() {
    let mut health = Health::default();
    health.on_attempt(&standard(), Outcome::Interrupted, false, at(0));
    assert_eq!(health, Health::default());
}

#[test]
fn r21_it_is_disabled_after_five_days_and_ten_failures() {
    let mut health = Health::default();
    for secs in 0..9 {
        fail(&mut health, secs);
    }
    assert_eq!(health.on_time(&standard(), at(5 * DAY)), HealthChange::default(), "nine failures");
    assert_eq!(fail(&mut health, 5 * DAY - 1), HealthChange::default(), "not yet five days");
    assert_eq!(health.next_at(&standard()), Some(at(5 * DAY)));
    assert_eq!(health.on_time(&standard(), at(5 * DAY)), DISABLE);
    assert_eq!(fail(&mut health, 5 * DAY + 1), HealthChange::default(), "said once");
}

#[test]
fn r21_the_tenth_failure_after_five_days_disables_it_at_once() {
    let mut health = Health::default();
    for secs in 0..9 {
        fail(&mut health, secs);
    }
    assert_eq!(fail(&mut health, 6 * DAY), DISABLE);
}

#[test]
fn r21_any_success_restarts_the_clock() {
    let mut health = Health::default();
    for secs in 0..20 {
        fail(&mut health, secs);
    }
    health.on_attempt(&standard(), Outcome::Delivered, false, at(4 * DAY));
    for secs in 0..20 {
        assert_eq!(fail(&mut health, 5 * DAY + secs), HealthChange::default());
    }
    assert_eq!(fail(&mut health, 10 * DAY), DISABLE);
}

#[test]
fn r21_payments_never_disables() {
    let rules = builtin::payments().health;
    let mut health = Health::default();
    for day in 0..400 {
        let change = health.on_attempt(&rules, Outcome::Unavailable, true, at(day * DAY));
        assert!(!change.disable);
    }
}

#[test]
fn r21_notices_come_at_1_3_7_and_14_days_each_once() {
    let rules = standard();
    let mut health = Health::default();
    fail(&mut health, 0);
    assert_eq!(health.notice_due(&rules, at(2 * DAY)), None, "not failing yet");
    health.on_breaker_opened(at(10));
    let mut told = Vec::new();
    for hour in 0..24 * 20 {
        if let Some(after) = health.notice_due(&rules, at(hour * 3600)) {
            told.push((hour / 24, after.as_secs() / 86_400));
        }
    }
    assert_eq!(told, [(1, 1), (3, 3), (7, 7), (14, 14)]);
}

#[test]
fn r21_missed_notices_are_passed_over() {
    let rules = standard();
    let mut health = Health::default();
    health.on_breaker_opened(at(0));
    assert_eq!(health.next_at(&rules), Some(at(DAY)));
    assert_eq!(health.notice_due(&rules, at(8 * DAY)), Some(Duration::from_secs(7 * 86_400)));
    assert_eq!(health.notice_due(&rules, at(9 * DAY)), None);
    assert_eq!(health.next_at(&rules), Some(at(14 * DAY)));
}
