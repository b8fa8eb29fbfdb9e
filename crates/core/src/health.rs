//! Endpoint health (R21): when an endpoint is *failing*, when it is disabled by itself, and when
//! its people are told.
//!
//! Two clocks are not one: the endpoint is failing from the first exhausted delivery, the
//! breaker's opening or a block; but the time after which it is disabled, and the notices, count
//! from its first failure. Any success ends both. Test events and attempts by hand that fail never
//! come here.

use std::time::Duration;

use crate::{
    outcome::{HealthWeight, Outcome},
    profile::HealthRules,
    time::Timestamp,
};

/// The health of one endpoint: small, kept in the store. A fresh or re-enabled endpoint is
/// `Health::default()`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Health {
    /// The first failure since the last success.
    pub first_failure: Option<Timestamp>,
    /// Failed attempts since the last success.
    pub failures: u32,
    /// When it became failing.
    pub failing_since: Option<Timestamp>,
    /// How many of the profile's notices are behind it in this episode.
    pub notices: u8,
    /// It was said to disable it; said once per episode.
    pub disabled: bool,
}

/// What an event did: each that is true is journaled and an operational event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HealthChange {
    /// `endpoint.failing`
    pub failing: bool,
    /// `endpoint.recovered`
    pub recovered: bool,
    /// Disable the endpoint: `endpoint.disabled`
    pub disable: bool,
}

impl Health {
    pub const fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }

    /// An attempt ended. `exhausted`: its delivery failed because a ladder is spent; a single
    /// final refusal is not that.
    pub fn on_attempt(
        &mut self,
        rules: &HealthRules,
        outcome: Outcome,
        exhausted: bool,
        at: Timestamp,
    ) -> HealthChange {
        match outcome.health() {
            HealthWeight::NotCounted if exhausted => {
                HealthChange { failing: self.fail(at), ..HealthChange::default() }
            }
            HealthWeight::NotCounted => HealthChange::default(),
            HealthWeight::Success => {
                let recovered = self.is_failing();
                *self = Self::default();
                HealthChange { recovered, ..HealthChange::default() }
            }
            HealthWeight::Failure => {
                self.first_failure.get_or_insert(at);
                self.failures = self.failures.saturating_add(1);
                let failing = (exhausted || outcome == Outcome::Blocked) && self.fail(at);
                HealthChange { failing, disable: self.should_disable(rules, at), recovered: false }
            }
        }
    }

    /// The breaker opened over this endpoint's failures.
    pub fn on_breaker_opened(&mut self, at: Timestamp) -> HealthChange {
        HealthChange { failing: self.fail(at), ..HealthChange::default() }
    }

    /// Time passed; call it at [`next_at`](Self::next_at). Says whether to disable the endpoint.
    pub fn on_time(&mut self, rules: &HealthRules, now: Timestamp) -> HealthChange {
        HealthChange { disable: self.should_disable(rules, now), ..HealthChange::default() }
    }

    /// The notice to send now: the latest that is due and not yet sent in this episode. Earlier
    /// ones that were missed are passed over.
    pub fn notice_due(&mut self, rules: &HealthRules, now: Timestamp) -> Option<Duration> {
        let first = self.first_failure.filter(|_| self.is_failing())?;
        let due = rules.notices.iter().take_while(|after| now >= first.saturating_add(**after)).count();
        if due <= usize::from(self.notices) {
            return None;
        }
        self.notices = u8::try_from(due).unwrap_or(u8::MAX);
        rules.notices.get(due - 1).copied()
    }

    /// When time alone next changes something; `None` if it does not.
    pub fn next_at(&self, rules: &HealthRules) -> Option<Timestamp> {
        let first = self.first_failure?;
        let notice = rules.notices.get(usize::from(self.notices)).filter(|_| self.is_failing());
        let disable = rules.disable_after.filter(|_| !self.disabled && self.failures >= rules.min_failures);
        notice.copied().into_iter().chain(disable).min().map(|after| first.saturating_add(after))
    }

    fn fail(&mut self, at: Timestamp) -> bool {
        let new = !self.is_failing();
        self.first_failure.get_or_insert(at);
        self.failing_since.get_or_insert(at);
        new
    }

    fn should_disable(&mut self, rules: &HealthRules, now: Timestamp) -> bool {
        let long_enough = match (rules.disable_after, self.first_failure) {
            (Some(after), Some(first)) => now >= first.saturating_add(after),
            _ => false,
        };
        let disable = long_enough && self.failures >= rules.min_failures && !self.disabled;
        self.disabled |= disable;
        disable
    }
}

#[cfg(test)]
mod tests;
