//! The breaker (R10–R17): pauses all deliveries of an application, or of an endpoint, while its
//! server is down.
//!
//! ## Why
//! A server that is down answers nobody, so trying every delivery only spends budgets and sockets.
//! One delivery at a time is enough to learn that it is back.
//!
//! ## States
//! *Closed*: attempts are counted in a sliding window, and a failing one judges it (R10). *Open*:
//! nothing is tried by itself until the probe is due (R11). *Probing*: one delivery is on its way
//! with a lease (R12); what it comes to decides (R13).
//!
//! ## What it is not
//! It holds no deliveries, sets no timers and reads no clock. Who asks it which delivery to probe
//! with ranks them by [`ProbeCandidate`]. Attempts by hand and test events never come here (R9,
//! R21), except that a success by hand calls [`Breaker::close`].

mod probe;
mod window;

use std::time::Duration;

pub use probe::{ProbeCandidate, Variety};
use window::Window;

use crate::{
    outcome::{Outcome, Weight},
    profile::BreakerRules,
    time::Timestamp,
};

/// So many probes in a row that were answered but not taken close the breaker (R13).
pub const ANSWERED_PROBES_CLOSE: u8 = 5;
/// After a probe that said nothing about the server the next one comes so much later (R13).
pub const PROBE_LOST_PAUSE: Duration = Duration::from_secs(5);

/// The breaker of one application or endpoint.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    phase: Phase,
    /// The pause that the next failed probe doubles. Of no meaning while closed.
    pause: Duration,
    /// Answered but not taken probes in a row.
    answered: u8,
    window: Window,
    /// When it opened. Of no meaning while closed.
    opened_at: Timestamp,
    /// Attempts that started before the last closing no longer count.
    closed_at: Option<Timestamp>,
    /// The number of the last probe.
    probes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Closed,
    Open {
        probe_at: Timestamp,
    },
    Probing {
        probe: Probe,
        lease_until: Timestamp,
    },
}

/// A probe that was given out; brings its result back to [`Breaker::on_probe`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe(u32);

/// What an event did to the breaker: each is journaled and an operational event (R17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Unchanged,
    /// Nothing is tried by itself before the probe at `probe_at`.
    Opened {
        probe_at: Timestamp,
    },
    /// Still open; the next probe is due at `probe_at`.
    ProbeAt {
        probe_at: Timestamp,
    },
    /// Everything held and due is released, paced (R15).
    Closed,
}

/// An open breaker as it is kept in the store (R16); a closed one is the absence of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct BreakerState {
    pub opened_at: Timestamp,
    pub pause_ms: u64,
    pub probe_at: Timestamp,
    pub answered: u8,
}

impl Breaker {
    /// A breaker as it was kept; the window is empty (R16). `None` is a closed one.
    pub fn restore(state: Option<BreakerState>) -> Self {
        let Some(state) = state else { return Self::default() };
        Self {
            phase: Phase::Open { probe_at: state.probe_at },
            pause: Duration::from_millis(state.pause_ms),
            answered: state.answered,
            opened_at: state.opened_at,
            ..Self::default()
        }
    }

    /// What to keep. A probe in flight is kept as open until its lease ends: after a restart its
    /// result cannot come.
    pub fn state(&self) -> Option<BreakerState> {
        Some(BreakerState {
            opened_at: self.opened_at,
            pause_ms: u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX),
            probe_at: self.probe_at()?,
            answered: self.answered,
        })
    }

    pub fn is_open(&self) -> bool {
        self.phase != Phase::Closed
    }

    /// When the next probe may be given out: the end of the pause or of the lease of the one in
    /// flight. `None` while closed.
    pub fn probe_at(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Closed => None,
            Phase::Open { probe_at } => Some(probe_at),
            Phase::Probing { lease_until, .. } => Some(lease_until),
        }
    }

    /// R12: gives out the probe if it is due. `lease` is the profile's time-out and 5 s.
    pub fn take_probe(&mut self, now: Timestamp, lease: Duration) -> Option<Probe> {
        if self.probe_at().is_none_or(|due| now < due) {
            return None;
        }
        self.probes = self.probes.wrapping_add(1);
        let probe = Probe(self.probes);
        self.phase = Phase::Probing { probe, lease_until: now.saturating_add(lease) };
        Some(probe)
    }

    /// Whether a probe that ended at `at` still counts: no other was given out, and its lease had not
    /// run out (R12). One that does not is judged as any other attempt.
    pub fn awaits(&self, probe: Probe, at: Timestamp) -> bool {
        matches!(self.phase, Phase::Probing { probe: current, lease_until } if current == probe && at <= lease_until)
    }

    /// R10, R11: an attempt ended that was no probe.
    ///
    /// `started` and `at` are when it began and ended. Of one that was in flight when the breaker
    /// opened a failure changes nothing, and a success makes the probe due now.
    pub fn on_attempt(
        &mut self,
        rules: &BreakerRules,
        started: Timestamp,
        at: Timestamp,
        outcome: Outcome,
    ) -> Change {
        let weight = outcome.weight();
        match self.phase {
            Phase::Closed => self.count(rules, started, at, weight),
            Phase::Open { probe_at } if weight == Weight::Success && probe_at > at => self.look_again(at),
            Phase::Open { .. } | Phase::Probing { .. } => Change::Unchanged,
        }
    }

    fn count(&mut self, rules: &BreakerRules, started: Timestamp, at: Timestamp, weight: Weight) -> Change {
        let from_before = self.closed_at.is_some_and(|closed| started < closed);
        if weight == Weight::NotCounted || (weight != Weight::Success && from_before) {
            return Change::Unchanged;
        }
        let failed = weight == Weight::Failed;
        self.window.push(at, failed, rules.window);
        if !failed || !self.window.is_bad(rules) {
            return Change::Unchanged;
        }
        self.pause = rules.pause;
        self.answered = 0;
        self.window = Window::default();
        self.opened_at = at;
        let probe_at = at.saturating_add(rules.pause);
        self.phase = Phase::Open { probe_at };
        Change::Opened { probe_at }
    }

    /// R13: the probe ended. A result that comes after another probe was given out, or after the
    /// breaker closed, no longer counts.
    ///
    /// `at_least` is what the answer asked for: its Retry-After, or after a 429 the throttle pause
    /// of R8.
    pub fn on_probe(
        &mut self,
        rules: &BreakerRules,
        probe: Probe,
        at: Timestamp,
        outcome: Outcome,
        at_least: Option<Duration>,
    ) -> Change {
        if !matches!(self.phase, Phase::Probing { probe: current, .. } if current == probe) {
            return Change::Unchanged;
        }
        let at_least = at_least.unwrap_or_default();
        match outcome {
            Outcome::Delivered => self.close(at),
            Outcome::Unavailable => {
                self.answered = 0;
                self.pause = self.pause.saturating_mul(2).min(rules.pause_max);
                self.look_again(at.saturating_add(self.pause.max(at_least)))
            }
            Outcome::Throttled => {
                self.answered = 0;
                self.look_again(at.saturating_add(self.pause.max(at_least)))
            }
            Outcome::Refused | Outcome::Gone | Outcome::Misdirected => {
                self.answered = self.answered.saturating_add(1);
                if self.answered >= ANSWERED_PROBES_CLOSE {
                    return self.close(at);
                }
                self.look_again(at.saturating_add(rules.recheck))
            }
            Outcome::Blocked | Outcome::Interrupted => self.look_again(at.saturating_add(PROBE_LOST_PAUSE)),
        }
    }

    /// R17: reset by hand or because the URL changed: the pause starts over and a probe is due at
    /// once. One that is in flight stays the probe.
    pub fn reset(&mut self, rules: &BreakerRules, now: Timestamp) -> Change {
        self.pause = rules.pause;
        self.answered = 0;
        match self.phase {
            Phase::Closed => {
                self.window = Window::default();
                Change::Unchanged
            }
            Phase::Open { .. } => self.look_again(now),
            Phase::Probing { .. } => Change::Unchanged,
        }
    }

    /// R9, R13: closes it: a probe or a retry by hand was delivered.
    pub fn close(&mut self, at: Timestamp) -> Change {
        if !self.is_open() {
            return Change::Unchanged;
        }
        let probes = self.probes;
        *self = Self { closed_at: Some(at), probes, ..Self::default() };
        Change::Closed
    }

    fn look_again(&mut self, probe_at: Timestamp) -> Change {
        self.phase = Phase::Open { probe_at };
        Change::ProbeAt { probe_at }
    }
}

#[cfg(test)]
mod tests;
