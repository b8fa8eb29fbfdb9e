//! The questions that can be asked of a store. Calls block for a short read; callers on an async
//! runtime move them to a blocking thread. Each sees everything committed before it began.

use gonets_core::{
    gate::{Gate, Scope},
    ids::{AppNo, AttemptId, EndpointNo, EntityNo, MessageId},
    notice::Notice,
    outcome::Outcome,
    progress::Progress,
    rule::Rule,
    time::Timestamp,
};

use crate::{
    entity::EntityRow,
    record::{AttemptRecord, Books, DeliveryRecord, MessageMeta, MessageRecord, UnroutedEnd},
};

/// Everything a running installation asks.
pub trait Queries: Lanes + Journal + Entities + Send + Sync + 'static {}
impl<T: Lanes + Journal + Entities + Send + Sync + 'static> Queries for T {}

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The read took longer than allowed and was given up.
    #[error("the question took too long to answer; narrow it by time or type")]
    TooLong,
    #[error("the store cannot be read: {0}")]
    Unreadable(String),
}

pub type Answer<T> = Result<T, QueryError>;

/// What the dispatcher asks.
pub trait Lanes {
    /// Every endpoint that has something left: a skip scan, not a scan.
    fn backlog(&self) -> Answer<Vec<LaneBacklog>>;

    /// The head of a lane's never-tried deliveries, critical first, then oldest.
    fn fresh(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<FreshRow>>;

    /// What is due in a lane at `now`: critical first, then by due time, then by age; and when the next
    /// comes after them.
    fn due(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<DueRows>;

    /// Retries by hand that wait in a lane.
    fn by_hand(&self, endpoint: EndpointNo, limit: u32) -> Answer<Vec<HandRow>>;

    /// Messages with their payloads; those that are not there are left out.
    fn messages(&self, ids: &[MessageId]) -> Answer<Vec<MessageRecord>>;

    /// The first of a lane's unfinished deliveries in the order of their messages, for strict order
    /// (R24). Those that are for later (`deliverAt`) and not due at `now` are not in line yet; the
    /// due time of the first of them is `next_due`.
    fn in_order(&self, endpoint: EndpointNo, now: Timestamp, limit: u32) -> Answer<OrderedRows>;

    /// The oldest of what waits in a lane, tried or not, and the oldest that is critical: what ends
    /// first by age (R7). By message id; a later `deliverAt` of theirs is not looked at.
    fn oldest(&self, endpoint: EndpointNo) -> Answer<Oldest>;

    /// Messages of an application that wait for an endpoint (R18), oldest first.
    fn unrouted(&self, app: AppNo, limit: u32) -> Answer<Vec<MessageId>>;

    /// Every application that has messages waiting for an endpoint, with the oldest of them.
    fn unrouted_apps(&self) -> Answer<Vec<(AppNo, MessageId)>>;

    /// Notices after a number (0: all) that are still to be carried on, oldest first, with their
    /// numbers.
    fn notices(&self, after: u64, limit: u32) -> Answer<Vec<(u64, Notice)>>;

    fn gates(&self) -> Answer<Vec<(Scope, Gate)>>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneBacklog {
    pub endpoint: EndpointNo,
    pub fresh: bool,
    pub by_hand: bool,
    /// When the first of its waiting deliveries is due.
    pub next_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshRow {
    pub message: MessageId,
    pub critical: bool,
    /// [`gonets_core::names::kind_of`] its type.
    pub kind: u32,
}

/// The head of a lane in strict order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderedRows {
    pub rows: Vec<OrderedRow>,
    /// When the first delivery that is for later comes into line.
    pub next_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderedRow {
    Fresh(FreshRow),
    Waiting(WaitingRow),
}

/// The oldest messages that wait in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Oldest {
    pub any: Option<MessageId>,
    pub critical: Option<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueRows {
    pub rows: Vec<WaitingRow>,
    /// The due time of the first row that is not among `rows`.
    pub next_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRow {
    pub message: MessageId,
    pub critical: bool,
    /// [`gonets_core::names::kind_of`] its type.
    pub kind: u32,
    pub due: Timestamp,
    pub rule: Rule,
    pub progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandRow {
    pub message: MessageId,
    pub critical: bool,
    /// [`gonets_core::names::kind_of`] its type.
    pub kind: u32,
    /// How many attempts the delivery has had.
    pub attempts: u32,
}

/// What people ask about what happened.
pub trait Journal {
    fn message_by_event_id(&self, app: AppNo, event_id: &str) -> Answer<Option<MessageId>>;

    /// As [`Lanes::messages`], for people: what delivery asks is not to wait for it. Payloads are
    /// read only if asked for.
    fn messages_shown(&self, ids: &[MessageId], with_payload: bool) -> Answer<Vec<MessageRecord>>;

    /// Messages of an application in pages; without payloads unless asked.
    fn messages_of(&self, app: AppNo, page: &Page, filter: &MessageFilter) -> Answer<Paged<MessageRecord>>;

    fn attempt(&self, id: AttemptId) -> Answer<Option<AttemptRecord>>;

    fn attempts_of_message(
        &self,
        message: MessageId,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>>;

    fn attempts_of_endpoint(
        &self,
        endpoint: EndpointNo,
        page: &Page,
        filter: &AttemptFilter,
    ) -> Answer<Paged<AttemptRecord>>;

    /// The deliveries of a message at these endpoints (an application's, deleted ones too).
    fn deliveries_of(&self, message: MessageId, endpoints: &[EndpointNo]) -> Answer<Vec<DeliveryRecord>>;

    /// The deliveries of an endpoint in pages, by message.
    fn deliveries_at(&self, endpoint: EndpointNo, page: &Page) -> Answer<Paged<DeliveryRecord>>;

    /// Whether a message waits for an endpoint (R18).
    fn is_unrouted(&self, app: AppNo, message: MessageId) -> Answer<bool>;

    /// What befell an application's endpoints and breakers, or all of sending, in `from <= at <= to`
    /// ([`gonets_core::notice::NoticeKind::is_transition`]): by time, the newest `limit`.
    fn transitions(&self, app: AppNo, from: Timestamp, to: Timestamp, limit: u32) -> Answer<Vec<Notice>>;

    /// How a message that waited for an endpoint ended, if it did.
    fn unrouted_end(&self, message: MessageId) -> Answer<Option<UnroutedEnd>>;

    /// The books of an application and its endpoints (deleted ones too) over the messages accepted in
    /// `from <= accepted < to` (R29). Counts what is there; never a sum kept on the side.
    fn books(&self, app: AppNo, endpoints: &[EndpointNo], from: Timestamp, to: Timestamp) -> Answer<Books>;
}

/// A page of a list in the order of ids: at most `limit` rows strictly beyond `after`, on the side
/// where the list goes on.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    pub limit: u32,
    pub order: Order,
    /// The last id of the page before (exclusive); with `backwards`, the first id of the page after.
    pub after: Option<u64>,
    /// The page that ends just before `after`, in the same order.
    pub backwards: bool,
    /// The page ends early rather than carry more content than this; its first row is taken
    /// whatever it weighs. Rows without content, such as deliveries, weigh nothing.
    pub bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

#[derive(Debug, Clone)]
pub struct Paged<T> {
    pub rows: Vec<T>,
    /// Whether the list goes on beyond the page, in the direction of paging.
    pub more: bool,
}

#[derive(Debug, Clone, Default)]
pub struct MessageFilter {
    /// Empty: all.
    pub event_types: Vec<String>,
    pub channel: Option<String>,
    pub tag: Option<String>,
    /// Accepted before / after these instants, exclusive.
    pub before: Option<Timestamp>,
    pub after: Option<Timestamp>,
    pub with_payload: bool,
}

#[derive(Debug, Clone, Default)]
pub struct AttemptFilter {
    pub endpoint: Option<EndpointNo>,
    pub outcome: Option<OutcomeFilter>,
    /// 2 for 2xx, …; 0: no answer.
    pub status_class: Option<u8>,
    pub event_types: Vec<String>,
    pub channel: Option<String>,
    pub tag: Option<String>,
    pub before: Option<Timestamp>,
    pub after: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeFilter {
    Success,
    Failure,
}

/// A page while it is read: rows in the order of reading, up to the limits of the page.
#[derive(Debug)]
pub struct Filling<T> {
    page: Page,
    rows: Vec<T>,
    bytes: usize,
    more: bool,
}

impl<T> Filling<T> {
    /// Takes the next row of the list, with the bytes of its content. A row that has no room shows
    /// only that the list goes on.
    pub fn push(&mut self, row: T, bytes: usize) {
        let weight = self.bytes.saturating_add(bytes);
        let has_room = self.rows.is_empty() || weight <= self.page.bytes;
        if self.more || self.rows.len() >= self.page.limit as usize || !has_room {
            self.more = true;
        } else {
            self.bytes = weight;
            self.rows.push(row);
        }
    }

    /// Nothing more needs to be read.
    pub fn is_over(&self) -> bool {
        self.more
    }

    pub fn paged(self) -> Paged<T> {
        let mut rows = self.rows;
        if self.page.backwards {
            rows.reverse();
        }
        Paged { rows, more: self.more }
    }
}

impl OutcomeFilter {
    pub fn takes(self, outcome: Outcome) -> bool {
        (outcome == Outcome::Delivered) == (self == Self::Success)
    }
}

impl Page {
    /// Whether the rows are to be read from the largest id down.
    pub fn reads_down(&self) -> bool {
        (self.order == Order::Descending) != self.backwards
    }

    /// The ids between which the page lies, exclusive; ids are greater than 0 and have 63 bits.
    pub fn bounds(&self, before: Option<Timestamp>, after: Option<Timestamp>) -> (u64, u64) {
        let next_millisecond = |at: Timestamp| Timestamp::from_millis(at.as_millis().saturating_add(1));
        let mut low = after.map_or(0, |at| MessageId::first_at(next_millisecond(at)).0.saturating_sub(1));
        let mut high = before.map_or(i64::MAX as u64, |at| MessageId::first_at(at).0);
        match self.after {
            Some(id) if self.reads_down() => high = high.min(id),
            Some(id) => low = low.max(id),
            None => {}
        }
        (low, high)
    }

    /// The page before anything was read.
    pub fn filling<T>(&self) -> Filling<T> {
        Filling { page: *self, rows: Vec::new(), bytes: 0, more: false }
    }

    /// The page from rows in the order of reading, one more than the limit if the list goes on.
    pub fn cut<T>(&self, mut rows: Vec<T>) -> Paged<T> {
        let more = rows.len() > self.limit as usize;
        rows.truncate(self.limit as usize);
        if self.backwards {
            rows.reverse();
        }
        Paged { rows, more }
    }
}

fn takes_type(types: &[String], event_type: &str) -> bool {
    types.is_empty() || types.iter().any(|one| one == event_type)
}

fn takes_meta(channel: Option<&String>, tag: Option<&String>, meta: &[u8]) -> bool {
    if channel.is_none() && tag.is_none() {
        return true;
    }
    let Ok(meta) = serde_json::from_slice::<MessageMeta>(meta) else { return false };
    channel.is_none_or(|channel| meta.channels.contains(channel))
        && tag.is_none_or(|tag| meta.tags.contains(tag))
}

impl MessageFilter {
    pub fn takes_type(&self, event_type: &str) -> bool {
        takes_type(&self.event_types, event_type)
    }

    /// Channel and tag; `meta` is [`MessageMeta`] as JSON.
    pub fn takes_meta(&self, meta: &[u8]) -> bool {
        takes_meta(self.channel.as_ref(), self.tag.as_ref(), meta)
    }
}

impl AttemptFilter {
    /// What the attempt itself decides.
    pub fn takes(&self, endpoint: EndpointNo, outcome: Outcome, status: Option<u16>) -> bool {
        self.endpoint.is_none_or(|one| one == endpoint)
            && self.outcome.is_none_or(|one| one.takes(outcome))
            && self.status_class.is_none_or(|class| u16::from(class) == status.unwrap_or(0) / 100)
    }

    /// Whether the attempt's message has a say.
    pub fn asks_message(&self) -> bool {
        !self.event_types.is_empty() || self.channel.is_some() || self.tag.is_some()
    }

    /// What the attempt's message decides.
    pub fn takes_message(&self, event_type: &str, meta: &[u8]) -> bool {
        takes_type(&self.event_types, event_type)
            && takes_meta(self.channel.as_ref(), self.tag.as_ref(), meta)
    }
}

/// Configuration.
pub trait Entities {
    /// All documents, deleted ones too, by number.
    fn entities(&self) -> Answer<Vec<EntityRow>>;

    /// A number for a new entity; never given twice.
    fn next_no(&self) -> Answer<EntityNo>;

    /// The installation's secret for public ids, made with the store.
    fn id_key(&self) -> Answer<[u8; 16]>;

    /// A small fact of the installation (`kept` under a name), such as the sealed check of the
    /// master key.
    fn fact(&self, name: &str) -> Answer<Option<Vec<u8>>>;

    /// Keeps a fact; durable on return.
    fn keep_fact(&self, name: &str, value: &[u8]) -> Answer<()>;
}
