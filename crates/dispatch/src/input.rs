//! What can happen to a shard.

use std::time::Duration;

use gonets_core::{
    decide::Finished,
    fleet::Reached,
    gate::{Gate, Scope},
    ids::{EndpointNo, MessageId},
    progress::Progress,
    time::Timestamp,
};

use crate::{config::LaneConfig, effect::SendId};

/// One thing that happened, in the order in which it did.
#[derive(Debug)]
pub enum Input {
    /// An endpoint was made or changed. A new lane starts empty; see [`Input::Backlog`].
    Lane(LaneConfig),
    /// An endpoint was deleted: nothing more is sent to it.
    LaneGone(EndpointNo),
    /// A lane has rows in the store that came there otherwise than by [`Input::Arrived`]: at start,
    /// retries by hand, messages that were routed late.
    Backlog { endpoint: EndpointNo, fresh: bool, by_hand: bool, next_due: Option<Timestamp> },
    /// At start: a gate as it was kept: breaker, throttle and health are taken up (R16). Comes before
    /// the lanes behind it; disabling and freezing come with the lanes.
    Gate { scope: Scope, gate: Gate },
    /// By hand: the breaker's pause starts over and a probe is due at once (R17). The scope is that of
    /// the breaker, or an application's for all of its endpoints' breakers.
    Reset { scope: Scope },
    /// By hand: the endpoint's throttle pause ends now (R8).
    Lifted { endpoint: EndpointNo },
    /// The rows of a lane were cancelled or expired in the store: those in memory that are not under
    /// way are forgotten, and the lane is read again.
    Ended { endpoint: EndpointNo },
    /// A delivery was committed.
    Arrived(Arrival),
    /// A window that was asked for.
    Loaded { endpoint: EndpointNo, window: Window },
    /// A window could not be read; it is asked for again later.
    NotLoaded { endpoint: EndpointNo },
    /// An attempt ended.
    Replied(Reply),
    /// The record of an outcome is durable (or was refused for good: the row was gone).
    Durable { endpoint: EndpointNo, message: MessageId, by_hand: bool, next_due: Option<Timestamp> },
    /// Shutting down: nothing new is sent; what is in flight may end.
    Drain,
}

#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub endpoint: EndpointNo,
    pub message: MessageId,
    pub critical: bool,
    /// [`gonets_core::names::kind_of`] its type.
    pub kind: u32,
    /// Not before this instant (`deliverAt`).
    pub due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
pub struct Reply {
    pub send: SendId,
    pub finished: Finished,
    /// How long the slot was held.
    pub took: Duration,
    /// The peer did not answer within the time-out.
    pub timed_out: bool,
    /// How far it came on the network (R27).
    pub reached: Reached,
    /// The instant from which the message's age counts (R7).
    pub ages_from: Timestamp,
    /// It was not sent at all because the message is too old (R7).
    pub expired: bool,
}

/// The head of a lane as the store had it when it was read.
#[derive(Debug, Default)]
pub struct Window {
    pub fresh: Vec<FreshItem>,
    /// Fewer fresh rows than asked for were there.
    pub fresh_end: bool,
    pub due: Vec<DueItem>,
    pub next_due: Option<Timestamp>,
    pub by_hand: Vec<HandItem>,
    /// Fewer retries by hand than asked for were there.
    pub hand_end: bool,
    /// Of a lane in strict order: its head, and whether that is all (then `next_due` counts).
    pub in_order: Vec<OrderedItem>,
    pub order_end: bool,
}

/// One of the head of a lane in strict order (R24).
#[derive(Debug, Clone, Copy)]
pub enum OrderedItem {
    Fresh(FreshItem),
    Waiting(DueItem),
}

#[derive(Debug, Clone, Copy)]
pub struct FreshItem {
    pub message: MessageId,
    pub critical: bool,
    pub kind: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct DueItem {
    pub message: MessageId,
    pub critical: bool,
    pub kind: u32,
    pub due: Timestamp,
    pub progress: Progress,
}

#[derive(Debug, Clone, Copy)]
pub struct HandItem {
    pub message: MessageId,
    pub critical: bool,
    pub kind: u32,
    pub attempts: u32,
    /// Interruptions in a row of this retry; 0 when it comes from the store.
    pub interrupted: u8,
}
