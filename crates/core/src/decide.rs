//! What happens to a delivery after an attempt (R1–R8, R14).
//!
//! One pure function decides, for the engine, for `simulate` and for the tests: from the profile,
//! what the delivery has used, and what the attempt came to. It knows one delivery only. What
//! several have in common, a breaker, a throttled or disabled endpoint, may hold the next attempt
//! back further, but never brings it forward.

use std::time::Duration;

use crate::{
    outcome::Outcome,
    profile::{Gone, OutageLadder, Profile, RefusalLadder},
    progress::Progress,
    rule::{Reason, Rule},
    time::Timestamp,
};

/// The first wait before a blocked address is looked at again; doubles from time to time (R1).
pub const ADDRESS_RECHECK: Duration = Duration::from_secs(5 * 60);
/// The longest wait before a blocked address is looked at again (R1).
pub const ADDRESS_RECHECK_MAX: Duration = Duration::from_secs(30 * 60);
/// Of so many interrupted attempts in a row the last counts as unavailable (R1).
pub const INTERRUPTED_MAX: u8 = 3;

/// What was settled about a delivery when its message was accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// When the message was accepted, or its `deliverAt`: where its age begins (R7).
    pub accepted_at: Timestamp,
    /// R6.
    pub critical: bool,
}

impl Facts {
    /// The last instant at which the delivery may be tried by itself (R7).
    pub fn expires_at(&self, profile: &Profile) -> Timestamp {
        self.accepted_at.saturating_add(profile.max_age)
    }

    /// Whether a delivery that waits is over by R7.
    pub fn is_expired(&self, profile: &Profile, now: Timestamp) -> bool {
        now > self.expires_at(profile)
    }
}

/// An attempt that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    pub outcome: Outcome,
    /// Of a 429 or 503 only, read and capped by [`crate::retry_after::parse`] (R8).
    pub retry_after: Option<Duration>,
    /// When it ended; pauses run from here.
    pub at: Timestamp,
}

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    Delivered,
    Failed(Reason),
    /// Another attempt, not before `at`.
    Again {
        at: Timestamp,
        rule: Rule,
    },
    /// 410 with `gone = "disable"`: the endpoint is disabled at once; the delivery stays waiting,
    /// held with its neighbours (R19).
    Disable,
}

/// Decides what happens after an attempt that the ladders count.
///
/// `luck` is uniform in `[0, 1)` and places the pause within the profile's jitter; with a jitter
/// of `(0, x)`, luck 0 means none.
pub fn after_attempt(
    profile: &Profile,
    facts: &Facts,
    before: &Progress,
    finished: &Finished,
    luck: f64,
) -> (Progress, Next) {
    decide(profile, facts, before, finished, luck, true)
}

/// Decides what happens after an attempt that was the breaker's probe: the same, but where the
/// profile says `probe_spends = false` a failed probe spends no step of the outage ladder and the
/// delivery stays due, held by the breaker (R14).
pub fn after_probe(
    profile: &Profile,
    facts: &Facts,
    before: &Progress,
    finished: &Finished,
    luck: f64,
) -> (Progress, Next) {
    let spends = profile.breaker.as_ref().is_none_or(|breaker| breaker.probe_spends);
    decide(profile, facts, before, finished, luck, spends)
}

fn decide(
    profile: &Profile,
    facts: &Facts,
    before: &Progress,
    finished: &Finished,
    luck: f64,
    spends: bool,
) -> (Progress, Next) {
    let mut progress = counted(before, finished.outcome);
    let next = match ladder(profile, facts, &mut progress, finished.outcome) {
        Ladder::Ended(next) => next,
        Ladder::Outage if spends => outage_step(&profile.outage, &mut progress, finished, luck),
        Ladder::Outage => {
            Next::Again { at: finished.at + finished.retry_after.unwrap_or_default(), rule: Rule::Breaker }
        }
        Ladder::Refusal(ladder) => refusal_step(ladder, &mut progress, finished.at),
        Ladder::Recheck => recheck(progress.blocked, finished.at, facts.expires_at(profile)),
        Ladder::AtOnce => Next::Again { at: finished.at, rule: Rule::Interrupted },
    };
    (progress, within_age(next, facts.expires_at(profile)))
}

/// Where an outcome leads.
enum Ladder<'a> {
    Ended(Next),
    Outage,
    Refusal(&'a RefusalLadder),
    Recheck,
    AtOnce,
}

/// The counters that do not depend on a ladder.
fn counted(before: &Progress, outcome: Outcome) -> Progress {
    let in_a_row = |same: bool, count: u8| if same { count.saturating_add(1) } else { 0 };
    Progress {
        attempts: before.attempts.saturating_add(1),
        interrupted: in_a_row(outcome == Outcome::Interrupted, before.interrupted),
        blocked: in_a_row(outcome == Outcome::Blocked, before.blocked),
        ..*before
    }
}

/// R1, third column.
fn ladder<'a>(profile: &'a Profile, facts: &Facts, progress: &mut Progress, outcome: Outcome) -> Ladder<'a> {
    let refusal = profile.refusal.as_ref().filter(|_| facts.critical);
    match (outcome, refusal) {
        (Outcome::Delivered, _) => Ladder::Ended(Next::Delivered),
        (Outcome::Gone, _) if profile.gone == Gone::Disable => Ladder::Ended(Next::Disable),
        (Outcome::Refused | Outcome::Gone | Outcome::Misdirected, Some(ladder)) => Ladder::Refusal(ladder),
        (Outcome::Refused | Outcome::Gone, None) if !profile.outage.refusals => {
            Ladder::Ended(Next::Failed(Reason::Refused))
        }
        (Outcome::Refused | Outcome::Gone | Outcome::Misdirected, None) => Ladder::Outage,
        (Outcome::Throttled | Outcome::Unavailable, _) => Ladder::Outage,
        (Outcome::Blocked, _) => Ladder::Recheck,
        (Outcome::Interrupted, _) if progress.interrupted >= INTERRUPTED_MAX => {
            progress.interrupted = 0;
            Ladder::Outage
        }
        (Outcome::Interrupted, _) => Ladder::AtOnce,
    }
}

/// R3 and R8: one step of the outage ladder, not before the Retry-After.
fn outage_step(ladder: &OutageLadder, progress: &mut Progress, finished: &Finished, luck: f64) -> Next {
    let step = usize::from(progress.outage);
    progress.outage = progress.outage.saturating_add(1);
    let Some(delay) = ladder.delays.get(step) else {
        return Next::Failed(Reason::OutageExhausted);
    };
    let (low, high) = ladder.jitter;
    let jitter = low + (high - low) * luck.clamp(0.0, 1.0);
    let pause = stretched(*delay, jitter);
    // Jitter on a Retry-After only adds: a negative one would come before what was asked for.
    let asked = finished.retry_after.map(|pause| stretched(pause, jitter.max(0.0)));
    match asked {
        Some(asked) if asked > pause => Next::Again { at: finished.at + asked, rule: Rule::RetryAfter },
        _ => Next::Again { at: finished.at + pause, rule: Rule::OutageLadder },
    }
}

/// `pause * (1 + jitter)`, in whole milliseconds rounded up, so that a Retry-After is never undercut.
fn stretched(pause: Duration, jitter: f64) -> Duration {
    if jitter == 0.0 {
        return pause;
    }
    let millis = (pause.as_millis() as f64 * (1.0 + jitter)).ceil();
    Duration::from_millis(millis.max(0.0) as u64)
}

/// R4: one step of the refusal ladder, scheduled only inside its span from the first refusal.
fn refusal_step(ladder: &RefusalLadder, progress: &mut Progress, at: Timestamp) -> Next {
    let first = *progress.first_refusal.get_or_insert(at);
    let step = usize::from(progress.refusals);
    progress.refusals = progress.refusals.saturating_add(1);
    let last = first.saturating_add(ladder.span);
    match ladder.delays.get(step).map(|delay| at.saturating_add(*delay)) {
        Some(next) if next <= last => Next::Again { at: next, rule: Rule::RefusalLadder },
        _ => Next::Failed(Reason::RefusalsExhausted),
    }
}

/// R1: a blocked delivery is held and looked at again after 5 min, doubling to 30 min; the last
/// look is when its age comes.
fn recheck(blocked_in_a_row: u8, at: Timestamp, expires_at: Timestamp) -> Next {
    if at >= expires_at {
        return Next::Failed(Reason::Expired);
    }
    let doublings = u32::from(blocked_in_a_row.saturating_sub(1)).min(16);
    let wait = ADDRESS_RECHECK.saturating_mul(1 << doublings).min(ADDRESS_RECHECK_MAX);
    Next::Again { at: at.saturating_add(wait).min(expires_at), rule: Rule::AddressRecheck }
}

/// R7: an attempt that would come after the age fails the delivery at once.
fn within_age(next: Next, expires_at: Timestamp) -> Next {
    match next {
        Next::Again { at, .. } if at > expires_at => Next::Failed(Reason::Expired),
        other => other,
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
