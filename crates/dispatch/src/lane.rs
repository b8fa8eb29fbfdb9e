//! One endpoint's lane: its window, its caps, and what holds it.

use gonets_core::{
    gate::{Gate, GateChange, GateWrite, Scope, Throttle},
    health::Health,
    notice::About,
    time::Timestamp,
};

use crate::{
    cap::Cap,
    config::LaneConfig,
    input::Arrival,
    pace::Pace,
    window::{Turn, Window, Wish},
};

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) config: LaneConfig,
    pub(crate) window: Window,
    pub(crate) cap: Cap,
    pub(crate) pace: Pace,
    pub(crate) throttle: Throttle,
    pub(crate) health: Health,
    /// The scope of the breaker in front of it.
    pub(crate) circuit: Option<Scope>,
    /// An attempt of it was unanswered since it last took something: the breaker's probe is looked
    /// for here first (R12).
    pub(crate) failed: bool,
    /// Disabled by its owner or by Gonets; set here at once when an answer says so.
    pub(crate) disabled: bool,
    pub(crate) in_flight: u32,
    /// Whether its release is to survive a restart, and whether the store knows of it.
    keeps_release: bool,
    release_kept: bool,
}

/// What a new configuration means for a lane that was there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Configured {
    pub(crate) enabled: bool,
    pub(crate) thawed: bool,
    /// Its server is another.
    pub(crate) moved: bool,
    /// Its health held nothing before.
    pub(crate) well: bool,
}

impl Lane {
    /// `kept` is its gate from before the start, if there was one.
    pub(crate) fn new(config: LaneConfig, kept: &Gate, now: Timestamp) -> Self {
        let mut pace = Pace::default();
        pace.configure(config.throttle_rate);
        let was_releasing = kept.lane_releasing.is_some();
        let mut lane = Self {
            cap: Cap::new(config.concurrency),
            window: Window::default(),
            throttle: kept.throttle.restored(now),
            health: kept.health,
            circuit: None,
            failed: kept.health.first_failure.is_some(),
            disabled: config.disabled,
            in_flight: 0,
            keeps_release: false,
            release_kept: was_releasing,
            pace,
            config,
        };
        if was_releasing {
            lane.release(now);
        }
        lane
    }

    /// What this lets go of or changes besides is said.
    pub(crate) fn configure(&mut self, config: LaneConfig) -> Configured {
        self.cap.limit(config.concurrency);
        self.pace.configure(config.throttle_rate);
        let configured = Configured {
            enabled: self.disabled && !config.disabled,
            thawed: self.config.frozen && !config.frozen,
            moved: self.config.host != config.host,
            well: self.health == Health::default(),
        };
        if configured.enabled {
            // A new episode (R21).
            self.health = Health::default();
            self.failed = false;
        }
        if self.config.ordered != config.ordered {
            // What is in memory was read in another order.
            self.window.ended();
        }
        self.disabled = config.disabled;
        self.config = config;
        configured
    }

    pub(crate) fn arrived(&mut self, arrival: &Arrival, bound: usize, early: bool) {
        if self.config.ordered {
            self.window.arrived_in_order(arrival);
        } else {
            self.window.arrived(arrival, bound, early);
        }
    }

    /// What was held comes out at a pace (R15), also after a restart.
    pub(crate) fn release(&mut self, now: Timestamp) {
        self.start_gently(now);
        self.keeps_release = true;
    }

    /// As [`Self::release`], but only as long as the process lives.
    pub(crate) fn start_gently(&mut self, now: Timestamp) {
        self.cap.restart();
        self.pace.release(now);
    }

    /// The release as it is to be kept, if the store does not know that it began, or that it is over.
    pub(crate) fn release_to_keep(&mut self, now: Timestamp) -> Option<GateWrite> {
        let is_releasing = self.keeps_release && self.pace.is_releasing();
        if is_releasing == self.release_kept {
            return None;
        }
        self.release_kept = is_releasing;
        self.keeps_release = is_releasing;
        Some(self.write(GateChange::LaneReleasing(is_releasing.then_some(now))))
    }

    /// Nothing goes out, by hand or otherwise.
    pub(crate) fn is_shut(&self) -> bool {
        self.disabled || self.config.frozen
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::Endpoint(self.config.endpoint)
    }

    pub(crate) fn write(&self, change: GateChange) -> GateWrite {
        GateWrite { scope: self.scope(), change }
    }

    pub(crate) fn about(&self) -> About {
        About {
            environment: Some(self.config.environment),
            app: Some(self.config.app),
            endpoint: Some(self.config.endpoint),
            message: None,
        }
    }

    /// Ends a pause whose time has come. The lane starts gently (R15).
    pub(crate) fn end_pause(&mut self, now: Timestamp) {
        if self.throttle.until.is_some_and(|until| until <= now) {
            self.throttle.until = None;
            self.release(now);
        }
    }

    /// Whether something in turn may go out, as far as the lane itself knows; retries by hand are not
    /// meant.
    pub(crate) fn may_start(&self, bound: usize) -> bool {
        !self.is_shut() && self.throttle.until.is_none() && self.has_room(bound)
    }

    /// Room for one more request. A store that stalls must not let a quick lane run ahead of it.
    pub(crate) fn has_room(&self, bound: usize) -> bool {
        let most = if self.config.ordered { 1 } else { self.cap.now() };
        self.in_flight < most && self.window.unrecorded() < bound
    }

    /// The next in turn, live traffic in its share.
    pub(crate) fn first(&self) -> Option<Turn> {
        self.window.first(self.pace.live_turn())
    }

    /// What to read now, if anything; the read counts as begun.
    pub(crate) fn wish(&mut self, now: Timestamp, bound: usize) -> Option<Wish> {
        if self.config.ordered { self.window.wish_in_order(now, bound) } else { self.window.wish(now, bound) }
    }
}
