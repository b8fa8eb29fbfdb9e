//! What stands behind one breaker: an application's lanes, or a single one (R10).
//!
//! The rules are [`gonets_core::breaker`]'s. Here is what they need several lanes for: who belongs
//! together, who was the last probe, and the pace at which all of them come back, since they share a
//! server (R15).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use gonets_core::{
    breaker::{Breaker, BreakerState, Variety},
    gate::{GateChange, GateWrite, Scope},
    ids::{AppNo, EndpointNo, MessageId},
    limits,
    outcome::{Outcome, Weight},
    profile::{BreakerRules, BreakerScope, Profile},
    time::Timestamp,
};

use crate::{config::LaneConfig, pace::Pace};

#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) scope: Scope,
    pub(crate) app: AppNo,
    pub(crate) profile: Arc<Profile>,
    pub(crate) rules: BreakerRules,
    pub(crate) breaker: Breaker,
    pub(crate) lanes: BTreeSet<EndpointNo>,
    /// The last probe, if it was answered but not taken (R13).
    pub(crate) last: Option<Probed>,
    /// Unanswered attempts since the last success.
    pub(crate) failures: u64,
    /// How what was held comes back, and whether the store knows of it.
    pub(crate) pace: Pace,
    pub(crate) release_kept: bool,
}

/// A delivery that was a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probed {
    pub(crate) endpoint: EndpointNo,
    pub(crate) message: MessageId,
    pub(crate) kind: u32,
}

impl Circuit {
    /// The scope of the breaker in front of a lane, if its profile has one.
    pub(crate) fn scope_of(config: &LaneConfig) -> Option<Scope> {
        config.profile.breaker.as_ref().map(|rules| match rules.scope {
            BreakerScope::Application => Scope::Application(config.app),
            BreakerScope::Endpoint => Scope::Endpoint(config.endpoint),
        })
    }

    /// `None` for a profile without a breaker.
    pub(crate) fn new(scope: Scope, config: &LaneConfig, breaker: Breaker) -> Option<Self> {
        let rules = config.profile.breaker.clone()?;
        Some(Self {
            scope,
            app: config.app,
            profile: Arc::clone(&config.profile),
            rules,
            breaker,
            lanes: BTreeSet::new(),
            last: None,
            failures: 0,
            pace: Pace::default(),
            release_kept: false,
        })
    }

    /// The values of a profile are those of the moment in which they are used (R6).
    pub(crate) fn configure(&mut self, profile: &Arc<Profile>) {
        if !Arc::ptr_eq(&self.profile, profile)
            && let Some(rules) = &profile.breaker
        {
            self.rules = rules.clone();
            self.profile = Arc::clone(profile);
        }
    }

    /// R12: how long a probe is waited for.
    pub(crate) fn lease(&self) -> Duration {
        self.profile.timeout + limits::PROBE_LEASE_EXTRA
    }

    /// An attempt ended: for those who are told of the breaker.
    pub(crate) fn count(&mut self, by_hand: bool, outcome: Outcome) {
        match outcome.weight() {
            Weight::Success => self.failures = 0,
            Weight::Failed if !by_hand => self.failures += 1,
            Weight::Failed | Weight::Reachable | Weight::NotCounted => {}
        }
    }

    /// The breaker as it is to be kept now.
    pub(crate) fn gate(&self) -> GateWrite {
        GateWrite { scope: self.scope, change: GateChange::Breaker(self.breaker.state()) }
    }

    /// What was let go when the process ended is let go gently from the beginning.
    pub(crate) fn take_up_release(&mut self, was_releasing: bool, now: Timestamp) {
        self.release_kept = was_releasing;
        if was_releasing && !self.breaker.is_open() {
            self.pace.release(now);
        }
    }

    /// The release as it is to be kept, if the store does not know that it began, or that it is over.
    pub(crate) fn release_to_keep(&mut self, now: Timestamp) -> Option<GateWrite> {
        let is_releasing = self.pace.is_releasing();
        if is_releasing == self.release_kept {
            return None;
        }
        self.release_kept = is_releasing;
        let change = GateChange::BreakerReleasing(is_releasing.then_some(now));
        Some(GateWrite { scope: self.scope, change })
    }

    /// How a delivery differs from the last probe.
    pub(crate) fn variety(&self, endpoint: EndpointNo, message: MessageId, kind: u32) -> Variety {
        match self.last {
            Some(last) if last.endpoint == endpoint && last.message == message => Variety::Same,
            Some(last) if last.kind == kind => Variety::SameType,
            _ => Variety::Other,
        }
    }

    /// While it is open, or lets go of what it held, its lanes do not start by themselves.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.breaker.is_open() && !self.pace.is_releasing()
    }

    /// A breaker that was kept, as it is taken up: no pause, lease or Retry-After of a probe is longer
    /// than it can have been (R25).
    pub(crate) fn restored(state: Option<BreakerState>, profile: &Profile, now: Timestamp) -> Breaker {
        let lease = profile.timeout + limits::PROBE_LEASE_EXTRA;
        let state = state.map(|mut state| {
            let pause = Duration::from_millis(state.pause_ms);
            let longest = now.saturating_add(pause.max(lease).max(profile.retry_after_cap));
            state.probe_at = state.probe_at.min(longest);
            state
        });
        Breaker::restore(state)
    }
}
