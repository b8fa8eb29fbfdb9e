//! Deliveries and their timelines.

use gonets_service::delivery::{Delivery, Event, Explained, Held, MessageState, Tried, What};
use serde::Serialize;
use utoipa::ToSchema;

/// A delivery: one message on its way to one endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryOut {
    /// `<message id>.<endpoint id>`
    #[schema(example = "msg_01ktn4c9gk70e800000007z5fe.ep_00000000007000800000000r0t")]
    pub id: String,
    pub message_id: String,
    pub endpoint_id: String,
    #[schema(example = "order.paid")]
    pub event_type: String,
    pub critical: bool,
    /// `waiting`, `delivered`, `failed`, `cancelled` or `skipped`.
    #[schema(example = "waiting")]
    pub state: &'static str,
    /// Why it ended without being delivered, such as `outage_exhausted`.
    pub reason: Option<&'static str>,
    /// Why it waits without being tried.
    pub hold: Option<HoldOut>,
    pub used: UsedOut,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next; of one that is held the end of the hold, if that is known.
    pub next_attempt: Option<String>,
    /// The rule that set it, such as `outage_ladder`.
    #[schema(example = "outage_ladder")]
    pub next_attempt_rule: Option<&'static str>,
    /// When it is too old to be tried by itself.
    pub expires_at: String,
    pub timeline: Vec<TimelineOut>,
}

/// Steps spent on each ladder.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsedOut {
    pub outage: u16,
    pub refusal: u16,
}

/// What holds a delivery back.
#[derive(Debug, Serialize, ToSchema)]
pub struct HoldOut {
    /// `no_endpoint`, `endpoint_disabled`, `breaker_open`, `throttled`, `address_not_allowed`,
    /// `behind_another`, `frozen` or `sending_paused`.
    #[schema(example = "breaker_open")]
    pub name: &'static str,
    #[schema(example = "the server is down; one delivery at a time is tried until it answers")]
    pub sentence: &'static str,
    /// When it ends or is looked at again, if that is known.
    pub until: Option<String>,
}

impl From<Held> for HoldOut {
    fn from(held: Held) -> Self {
        Self {
            name: held.hold.name(),
            sentence: held.hold.sentence(),
            until: held.until.map(|until| until.to_rfc3339()),
        }
    }
}

/// One event of a timeline; what does not apply to its kind is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineOut {
    pub at: String,
    /// `accepted`, `attempt`, `shortened` (earlier attempts are not shown), `scheduled`, `breaker_opened`,
    /// `breaker_closed`, `endpoint_failing`, `endpoint_recovered`, `endpoint_disabled`, `endpoint_enabled`,
    /// `sending_paused`, `sending_resumed`,
    /// `held`, `delivered`, `failed`, `cancelled` or `skipped`.
    #[schema(example = "attempt")]
    pub kind: &'static str,
    #[schema(example = "attempt 1: 503 in 212 ms")]
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The HTTP status, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<bool>,
    /// It was a breaker's probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<bool>,
    /// Of one that is scheduled: when it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<HoldOut>,
}

impl From<Event> for TimelineOut {
    fn from(event: Event) -> Self {
        let (at, kind, text) = (event.at.to_rfc3339(), event.what.kind(), event.text);
        let bare = Self { at, kind, text, ..Self::default() };
        match event.what {
            What::Attempt(tried) => bare.tried(tried),
            What::Scheduled { due, rule } => {
                Self { due: Some(due.to_rfc3339()), rule: Some(rule.name()), ..bare }
            }
            What::Held(held) => Self { hold: Some(held.into()), ..bare },
            What::Accepted | What::Shortened | What::Transition(_) | What::Ended(_) => bare,
        }
    }
}

impl TimelineOut {
    fn tried(self, tried: Tried) -> Self {
        Self {
            attempt_id: Some(tried.attempt_id),
            number: Some(tried.number),
            outcome: Some(tried.outcome.name()),
            status: tried.status,
            duration_ms: Some(tried.duration_ms),
            by_hand: Some(tried.by_hand),
            probe: Some(tried.probe),
            ..self
        }
    }
}

impl From<Delivery> for DeliveryOut {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id,
            message_id: delivery.message_id,
            endpoint_id: delivery.endpoint_id,
            event_type: delivery.event_type,
            critical: delivery.critical,
            state: delivery.state.name(),
            reason: delivery.reason.map(|reason| reason.name()),
            hold: delivery.hold.map(HoldOut::from),
            used: UsedOut { outage: delivery.used_outage, refusal: delivery.used_refusal },
            attempts: delivery.attempts,
            next_attempt: delivery.next.map(|next| next.at.to_rfc3339()),
            next_attempt_rule: delivery.next.and_then(|next| next.rule).map(|rule| rule.name()),
            expires_at: delivery.expires_at.to_rfc3339(),
            timeline: delivery.timeline.into_iter().map(TimelineOut::from).collect(),
        }
    }
}

/// What became of a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedOut {
    pub message_id: String,
    #[schema(example = "order.paid")]
    pub event_type: String,
    pub critical: bool,
    /// `routed` (its deliveries say the rest), `waiting` (for a first endpoint), `routed_nowhere` (no
    /// endpoint took its type), or `failed` or `cancelled` while it waited for an endpoint.
    #[schema(example = "routed")]
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<HoldOut>,
    /// Why it ended without a delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    pub expires_at: String,
    /// At most 250, by endpoint.
    pub deliveries: Vec<DeliveryOut>,
    /// There are more deliveries than these.
    pub has_more: bool,
}

impl From<Explained> for ExplainedOut {
    fn from(explained: Explained) -> Self {
        let (hold, reason) = match explained.state {
            MessageState::Waiting(held) => (Some(held.into()), None),
            MessageState::Failed(reason) | MessageState::Cancelled(reason) => (None, Some(reason.name())),
            MessageState::RoutedNowhere | MessageState::Routed => (None, None),
        };
        Self {
            message_id: explained.message_id,
            event_type: explained.event_type,
            critical: explained.critical,
            state: explained.state.name(),
            hold,
            reason,
            expires_at: explained.expires_at.to_rfc3339(),
            deliveries: explained.deliveries.into_iter().map(DeliveryOut::from).collect(),
            has_more: explained.has_more,
        }
    }
}
