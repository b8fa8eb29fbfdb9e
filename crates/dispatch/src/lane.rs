//! One endpoint's lane: its window, its caps, and what holds it.

use gonets_core::{gate::Throttle, time::Timestamp};

use crate::{
    cap::Cap,
    config::LaneConfig,
    pace::Pace,
    window::{Item, Window},
};

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) config: LaneConfig,
    pub(crate) window: Window,
    pub(crate) cap: Cap,
    pub(crate) pace: Pace,
    /// The pause that the endpoint asked for with 429 (R8).
    pub(crate) throttle: Throttle,
    /// Disabled by its owner or by Gonets; set here at once when an answer says so.
    pub(crate) disabled: bool,
    pub(crate) in_flight: u32,
}

impl Lane {
    pub(crate) fn new(config: LaneConfig) -> Self {
        let mut pace = Pace::default();
        pace.configure(config.throttle_rate);
        Self {
            cap: Cap::new(config.concurrency),
            window: Window::default(),
            throttle: Throttle::default(),
            disabled: config.disabled,
            in_flight: 0,
            pace,
            config,
        }
    }

    pub(crate) fn configure(&mut self, config: LaneConfig, now: Timestamp) {
        self.cap.limit(config.concurrency);
        self.pace.configure(config.throttle_rate);
        if self.disabled && !config.disabled {
            self.cap.restart();
            self.pace.release(now);
        }
        self.disabled = config.disabled;
        self.config = config;
    }

    /// Ends a pause whose time has come. The lane starts gently (R15).
    pub(crate) fn end_pause(&mut self, now: Timestamp) {
        if self.throttle.until.is_some_and(|until| until <= now) {
            self.throttle.until = None;
            self.cap.restart();
            self.pace.release(now);
        }
    }

    /// By hand: the pause ends now.
    pub(crate) fn lift(&mut self, now: Timestamp) {
        self.throttle.until = self.throttle.until.map(|_| now);
        self.end_pause(now);
    }

    /// Whether it has something to try and room for it. A pause holds what is in turn, not a retry
    /// by hand: a person waits for that (R9).
    pub(crate) fn wants_slot(&self) -> bool {
        let in_turn = self.throttle.until.is_none() && self.window.has_ready();
        self.in_flight < self.cap.now() && (in_turn || self.window.has_by_hand())
    }

    /// What to try next: retries by hand first.
    pub(crate) fn next(&mut self) -> Option<Item> {
        if let Some(item) = self.window.next_by_hand() {
            return Some(item);
        }
        if self.throttle.until.is_some() { None } else { self.window.next() }
    }
}
