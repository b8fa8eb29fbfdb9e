use proptest::prelude::*;

use super::*;
use crate::profile::builtin;

const LEASE: Duration = Duration::from_secs(15);

fn rules() -> BreakerRules {
    builtin::payments().breaker.unwrap()
}

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(secs * 1000)
}

fn attempt(breaker: &mut Breaker, secs: i64, outcome: Outcome) -> Change {
    breaker.on_attempt(&rules(), at(secs), at(secs), outcome)
}

/// Open since second 4, first probe at 304.
fn opened() -> Breaker {
    let mut breaker = Breaker::default();
    for secs in 0..4 {
        assert_eq!(attempt(&mut breaker, secs, Outcome::Unavailable), Change::Unchanged);
    }
    assert_eq!(attempt(&mut breaker, 4, Outcome::Unavailable), Change::Opened { probe_at: at(304) });
    breaker
}

fn probe(breaker: &mut Breaker, secs: i64, outcome: Outcome, at_least: Option<u64>) -> Change {
    let probe = breaker.take_probe(at(secs), LEASE).unwrap();
    breaker.on_probe(&rules(), probe, at(secs), outcome, at_least.map(Duration::from_secs))
}

fn next(secs: i64) -> Change {
    Change::ProbeAt { probe_at: at(secs) }
}

#[test]
fn r10_it_opens_at_five_attempts_of_which_four_failed() {
    let mut breaker = Breaker::default();
    attempt(&mut breaker, 0, Outcome::Delivered);
    for secs in 1..4 {
        assert_eq!(attempt(&mut breaker, secs, Outcome::Unavailable), Change::Unchanged);
    }
    assert!(matches!(attempt(&mut breaker, 4, Outcome::Unavailable), Change::Opened { .. }));
}

#[test]
fn r10_three_of_five_are_not_enough() {
    let mut breaker = Breaker::default();
    for (secs, outcome) in [(0, Outcome::Delivered), (1, Outcome::Refused)] {
        attempt(&mut breaker, secs, outcome);
    }
    for secs in 2..9 {
        assert_eq!(attempt(&mut breaker, secs, Outcome::Unavailable), Change::Unchanged, "{secs}");
    }
    assert!(matches!(attempt(&mut breaker, 9, Outcome::Unavailable), Change::Opened { .. }), "8 of 10");
}

#[test]
fn r10_4xx_never_opens_it_and_what_is_not_counted_does_not_count() {
    let mut breaker = Breaker::default();
    for secs in 0..100 {
        for outcome in [
            Outcome::Refused,
            Outcome::Gone,
            Outcome::Throttled,
            Outcome::Misdirected,
            Outcome::Blocked,
            Outcome::Interrupted,
        ] {
            assert_eq!(attempt(&mut breaker, secs, outcome), Change::Unchanged);
        }
    }
    let mut breaker = Breaker::default();
    for secs in 0..4 {
        attempt(&mut breaker, secs, Outcome::Unavailable);
    }
    assert_eq!(attempt(&mut breaker, 4, Outcome::Interrupted), Change::Unchanged);
    assert_eq!(attempt(&mut breaker, 4, Outcome::Blocked), Change::Unchanged);
}

#[test]
fn r10_it_is_judged_only_when_an_attempt_fails() {
    let mut breaker = Breaker::default();
    for secs in [0, 1, 2, 3] {
        attempt(&mut breaker, secs, Outcome::Unavailable);
    }
    assert_eq!(attempt(&mut breaker, 4, Outcome::Delivered), Change::Unchanged);
    assert!(!breaker.is_open());
}

#[test]
fn r10_an_attempt_exactly_300_s_old_is_out() {
    for (last, opens) in [(299, true), (300, false)] {
        let mut breaker = Breaker::default();
        for secs in [0, 100, 200, 250] {
            attempt(&mut breaker, secs, Outcome::Unavailable);
        }
        assert_eq!(attempt(&mut breaker, last, Outcome::Unavailable) != Change::Unchanged, opens, "{last}");
    }
}

#[test]
fn r11_the_pause_doubles_to_half_an_hour() {
    let mut breaker = opened();
    let mut now = 304;
    for pause in [600, 1200, 1800, 1800] {
        assert_eq!(probe(&mut breaker, now, Outcome::Unavailable, None), next(now + pause));
        now += pause;
    }
}

#[test]
fn r11_late_results_of_attempts_in_flight_when_it_opened() {
    let mut breaker = opened();
    assert_eq!(attempt(&mut breaker, 5, Outcome::Unavailable), Change::Unchanged);
    assert_eq!(attempt(&mut breaker, 5, Outcome::Refused), Change::Unchanged);
    assert_eq!(breaker.probe_at(), Some(at(304)));
    assert_eq!(attempt(&mut breaker, 6, Outcome::Delivered), next(6));
    assert!(breaker.take_probe(at(6), LEASE).is_some());
    assert_eq!(attempt(&mut breaker, 7, Outcome::Delivered), Change::Unchanged, "the probe is in flight");
}

#[test]
fn r11_a_failure_from_before_the_closing_does_not_count_after_it() {
    let mut breaker = opened();
    assert_eq!(probe(&mut breaker, 304, Outcome::Delivered, None), Change::Closed);
    for _ in 0..10 {
        assert_eq!(breaker.on_attempt(&rules(), at(3), at(305), Outcome::Unavailable), Change::Unchanged);
    }
}

#[test]
fn r12_exactly_one_probe_is_out_and_its_lease_ends() {
    let mut breaker = opened();
    assert_eq!(breaker.take_probe(at(303), LEASE), None);
    let first = breaker.take_probe(at(304), LEASE).unwrap();
    assert_eq!(breaker.take_probe(at(318), LEASE), None);
    let second = breaker.take_probe(at(319), LEASE).unwrap();
    assert_eq!(breaker.on_probe(&rules(), first, at(320), Outcome::Delivered, None), Change::Unchanged);
    assert_eq!(breaker.on_probe(&rules(), second, at(321), Outcome::Delivered, None), Change::Closed);
    assert_eq!(breaker.on_probe(&rules(), second, at(322), Outcome::Delivered, None), Change::Unchanged);
}

#[test]
fn r12_a_closed_breaker_gives_out_no_probe() {
    assert_eq!(Breaker::default().take_probe(at(1_000_000), LEASE), None);
}

#[test]
fn r13_a_delivered_probe_closes_it_with_an_empty_window() {
    let mut breaker = opened();
    probe(&mut breaker, 304, Outcome::Unavailable, None);
    assert_eq!(probe(&mut breaker, 904, Outcome::Delivered, None), Change::Closed);
    for secs in 905..909 {
        assert_eq!(attempt(&mut breaker, secs, Outcome::Unavailable), Change::Unchanged);
    }
    assert_eq!(attempt(&mut breaker, 909, Outcome::Unavailable), Change::Opened { probe_at: at(1209) });
}

#[test]
fn r13_an_unavailable_probe_waits_at_least_its_retry_after() {
    let mut breaker = opened();
    assert_eq!(probe(&mut breaker, 304, Outcome::Unavailable, Some(3600)), next(3904));
    assert_eq!(probe(&mut breaker, 3904, Outcome::Unavailable, Some(1)), next(3904 + 1200));
}

#[test]
fn r13_five_answered_probes_in_a_row_close_it() {
    let mut breaker = opened();
    let mut now = 304;
    for outcome in [Outcome::Refused, Outcome::Gone, Outcome::Misdirected, Outcome::Refused] {
        assert_eq!(probe(&mut breaker, now, outcome, None), next(now + 30));
        now += 30;
    }
    assert_eq!(probe(&mut breaker, now, Outcome::Refused, None), Change::Closed);
}

#[test]
fn r13_an_unavailable_probe_breaks_the_row_and_a_lost_one_does_not() {
    let mut breaker = opened();
    let mut now = 304;
    for _ in 0..4 {
        probe(&mut breaker, now, Outcome::Refused, None);
        now += 30;
    }
    assert_eq!(probe(&mut breaker, now, Outcome::Interrupted, None), next(now + 5));
    now += 5;
    assert_eq!(
        probe(&mut breaker, now, Outcome::Unavailable, None),
        next(now + 600),
        "doubled once, not more"
    );
    now += 600;
    for _ in 0..4 {
        assert_eq!(probe(&mut breaker, now, Outcome::Refused, None), next(now + 30));
        now += 30;
    }
    assert_eq!(probe(&mut breaker, now, Outcome::Blocked, None), next(now + 5));
    assert_eq!(probe(&mut breaker, now + 5, Outcome::Refused, None), Change::Closed);
}

#[test]
fn r13_a_throttled_probe_does_not_double_the_pause() {
    let mut breaker = opened();
    assert_eq!(probe(&mut breaker, 304, Outcome::Throttled, Some(1)), next(604));
    assert_eq!(probe(&mut breaker, 604, Outcome::Throttled, Some(900)), next(1504));
    assert_eq!(probe(&mut breaker, 1504, Outcome::Unavailable, None), next(2104));
}

#[test]
fn r16_it_survives_a_restart_with_an_empty_window() {
    let mut breaker = opened();
    probe(&mut breaker, 304, Outcome::Unavailable, None);
    let mut restored = Breaker::restore(breaker.state());
    assert_eq!(restored.state(), breaker.state());
    assert_eq!(restored.take_probe(at(903), LEASE), None);
    assert_eq!(probe(&mut restored, 904, Outcome::Unavailable, None), next(904 + 1200));

    let mut closed = Breaker::default();
    for secs in 0..4 {
        attempt(&mut closed, secs, Outcome::Unavailable);
    }
    let mut restored = Breaker::restore(closed.state());
    assert_eq!(attempt(&mut restored, 4, Outcome::Unavailable), Change::Unchanged);
}

#[test]
fn r26_it_knows_since_when_it_is_open_whatever_its_probes_come_to() {
    let mut breaker = opened();
    let since = breaker.state().map(|state| state.opened_at);
    assert_eq!(since, Some(at(4)));
    probe(&mut breaker, 304, Outcome::Unavailable, None);
    let restored = Breaker::restore(breaker.state());
    assert_eq!(restored.state().map(|state| state.opened_at), since);
}

#[test]
fn r16_a_probe_in_flight_is_lost_in_a_restart_and_its_lease_ends() {
    let mut breaker = opened();
    breaker.take_probe(at(304), LEASE);
    let mut restored = Breaker::restore(breaker.state());
    assert_eq!(restored.take_probe(at(318), LEASE), None);
    assert!(restored.take_probe(at(319), LEASE).is_some());
}

#[test]
fn r17_a_reset_makes_a_probe_due_at_once_and_the_pause_start_over() {
    let mut breaker = opened();
    probe(&mut breaker, 304, Outcome::Unavailable, None);
    assert_eq!(breaker.reset(&rules(), at(400)), next(400));
    assert_eq!(probe(&mut breaker, 400, Outcome::Unavailable, None), next(1000));
    assert_eq!(Breaker::default().reset(&rules(), at(0)), Change::Unchanged);
}

#[test]
fn r17_a_reset_leaves_the_probe_in_flight_and_shortens_what_follows() {
    let mut breaker = opened();
    for now in [304, 904, 2104] {
        probe(&mut breaker, now, Outcome::Unavailable, None);
    }
    let in_flight = breaker.take_probe(at(3904), LEASE).unwrap();
    assert_eq!(breaker.reset(&rules(), at(3905)), Change::Unchanged);
    assert_eq!(breaker.on_probe(&rules(), in_flight, at(3906), Outcome::Unavailable, None), next(3906 + 600));
}

#[test]
fn r09_a_success_by_hand_closes_it() {
    let mut breaker = opened();
    let in_flight = breaker.take_probe(at(304), LEASE).unwrap();
    assert_eq!(breaker.close(at(305)), Change::Closed);
    assert_eq!(breaker.close(at(306)), Change::Unchanged);
    assert_eq!(breaker.on_probe(&rules(), in_flight, at(307), Outcome::Unavailable, None), Change::Unchanged);
    assert!(!breaker.is_open());
}

proptest! {
    /// Whatever happens, an open breaker says when the next probe is, never further away than its
    /// longest pause or what was asked for, and never gives out two within a lease.
    #[test]
    fn r12_an_open_breaker_always_has_an_end(
        events in proptest::collection::vec((0usize..8, 0i64..2_000, any::<bool>(), 0u64..4_000), 1..200),
    ) {
        let mut breaker = Breaker::default();
        let mut now = 0;
        let mut lease_end = None;
        for (outcome, later, take, asked) in events {
            now += later;
            let outcome = Outcome::ALL[outcome];
            match breaker.take_probe(at(now), LEASE).filter(|_| breaker.is_open()) {
                Some(probe) => {
                    prop_assert!(lease_end.is_none_or(|end| at(now) >= end));
                    lease_end = Some(at(now) + LEASE);
                    if take {
                        breaker.on_probe(&rules(), probe, at(now), outcome, Some(Duration::from_secs(asked)));
                        lease_end = None;
                    }
                }
                None => {
                    breaker.on_attempt(&rules(), at(now), at(now), outcome);
                }
            }
            prop_assert_eq!(breaker.probe_at().is_some(), breaker.is_open());
            // 4,000 s is the most that an answer asks for here, and longer than the longest pause.
            prop_assert!(breaker.probe_at().is_none_or(|probe_at| probe_at <= at(now + 4_000)));
        }
    }
}
