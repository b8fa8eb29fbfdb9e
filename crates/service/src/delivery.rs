//! Deliveries: one message on its way to one endpoint, and all that can be said of it (R26).

mod explain;
mod get;
mod name;
mod retry;
mod standing;
mod timeline;

use gonets_core::{
    hold::Hold,
    notice::NoticeKind,
    outcome::Outcome,
    rule::{Reason, Rule},
    time::Timestamp,
};

pub use self::explain::{Explained, MessageState};

/// A delivery as it stands, and how it came to that.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// `<message id>.<endpoint id>`
    pub id: String,
    pub message_id: String,
    pub endpoint_id: String,
    pub event_type: String,
    pub critical: bool,
    pub state: State,
    /// Why it ended without being delivered.
    pub reason: Option<Reason>,
    /// Why it waits without being tried.
    pub hold: Option<Held>,
    /// Steps spent on each ladder (R5).
    pub used_outage: u16,
    pub used_refusal: u16,
    pub attempts: u32,
    pub next: Option<Next>,
    /// When it is too old (R7).
    pub expires_at: Timestamp,
    /// By time.
    pub timeline: Vec<Event>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Waiting,
    Delivered,
    Failed,
    Cancelled,
    Skipped,
}

impl State {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }
}

/// What holds a delivery back, and until when if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub hold: Hold,
    pub until: Option<Timestamp>,
}

/// When it is tried next, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    pub at: Timestamp,
    pub rule: Option<Rule>,
}

/// One thing that happened to a delivery, or that stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub at: Timestamp,
    /// A sentence, without its full stop.
    pub text: String,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Accepted,
    Attempt(Tried),
    /// Earlier attempts are not among the events.
    Shortened,
    /// The next attempt is set.
    Scheduled {
        due: Timestamp,
        rule: Rule,
    },
    /// Something befell its endpoint, its breaker or all of sending meanwhile.
    Transition(NoticeKind),
    Held(Held),
    Ended(State),
}

/// An attempt among the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub attempt_id: String,
    pub number: u32,
    pub outcome: Outcome,
    pub status: Option<u16>,
    pub duration_ms: u64,
    pub by_hand: bool,
    pub probe: bool,
}

/// The word for a transition in the API.
const fn transition(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::BreakerOpened => "breaker_opened",
        NoticeKind::BreakerClosed => "breaker_closed",
        NoticeKind::EndpointFailing => "endpoint_failing",
        NoticeKind::EndpointRecovered => "endpoint_recovered",
        NoticeKind::EndpointDisabled => "endpoint_disabled",
        NoticeKind::EndpointEnabled => "endpoint_enabled",
        NoticeKind::SendingPaused => "sending_paused",
        NoticeKind::SendingResumed => "sending_resumed",
        // The others are not transitions.
        _ => "other",
    }
}

impl What {
    /// The word for it in the API.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Attempt(_) => "attempt",
            Self::Shortened => "shortened",
            Self::Scheduled { .. } => "scheduled",
            Self::Transition(kind) => transition(*kind),
            Self::Held(_) => "held",
            Self::Ended(state) => state.name(),
        }
    }
}
