//! Messages in memory between acceptance and their first attempts.
//!
//! A bounded cache, never the truth: what was dropped is read from the store again. It is first in,
//! first out, since a message that was not tried soon after it came will not be tried soon.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use gonets_core::{ids::MessageId, time::Timestamp};
use gonets_store::{
    record::{MessageMeta, MessageRecord},
    tx::Accept,
};

/// What a request is made of, apart from the endpoint.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: MessageId,
    pub(crate) event_type: String,
    pub(crate) occurred: Option<Timestamp>,
    pub(crate) deliver_at: Option<Timestamp>,
    meta: Vec<u8>,
    /// `None`: expunged.
    pub(crate) payload: Option<Bytes>,
}

impl Message {
    pub(crate) fn accepted(accept: &mut Accept) -> Self {
        Self {
            id: accept.id,
            event_type: std::mem::take(&mut accept.event_type),
            occurred: accept.occurred,
            deliver_at: accept.deliver_at,
            meta: std::mem::take(&mut accept.meta),
            payload: Some(accept.payload.clone()),
        }
    }

    pub(crate) fn stored(record: MessageRecord) -> Self {
        Self {
            id: record.id,
            event_type: record.event_type,
            occurred: record.occurred,
            deliver_at: record.deliver_at,
            meta: record.meta,
            payload: record.payload,
        }
    }

    /// One that is kept nowhere: a test event.
    pub(crate) fn passing(id: MessageId, event_type: String, payload: Bytes) -> Self {
        Self { id, event_type, occurred: None, deliver_at: None, meta: Vec::new(), payload: Some(payload) }
    }

    /// The instant from which its age counts (R7).
    pub(crate) fn ages_from(&self) -> Timestamp {
        self.deliver_at.map_or(self.id.accepted_at(), |at| at.max(self.id.accepted_at()))
    }

    pub(crate) fn api_version(&self) -> Option<String> {
        if self.meta.len() <= 2 {
            return None;
        }
        serde_json::from_slice::<MessageMeta>(&self.meta).ok()?.api_version
    }

    fn size(&self) -> usize {
        const OVERHEAD: usize = 256;
        OVERHEAD + self.payload.as_ref().map_or(0, Bytes::len) + self.meta.len()
    }
}

#[derive(Debug)]
pub(crate) struct Bodies {
    messages: HashMap<MessageId, Entry>,
    order: VecDeque<MessageId>,
    bytes: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    message: Arc<Message>,
    /// Deliveries that may still ask for it.
    wanted: u32,
}

impl Bodies {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { messages: HashMap::new(), order: VecDeque::new(), bytes: 0, most_bytes }
    }

    pub(crate) fn put(&mut self, message: Message, wanted: u32) {
        if wanted == 0 {
            return;
        }
        let id = message.id;
        if let Some(entry) = self.messages.get_mut(&id) {
            entry.wanted = entry.wanted.max(wanted);
            return;
        }
        self.bytes += message.size();
        self.messages.insert(id, Entry { message: Arc::new(message), wanted });
        self.order.push_back(id);
        while self.bytes > self.most_bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            self.remove(oldest);
        }
        if self.order.len() > 64 && self.order.len() > self.messages.len() * 2 {
            let messages = &self.messages;
            self.order.retain(|id| messages.contains_key(id));
        }
    }

    pub(crate) fn get(&self, id: MessageId) -> Option<Arc<Message>> {
        self.messages.get(&id).map(|entry| Arc::clone(&entry.message))
    }

    /// One delivery of it has ended, or waits for long.
    pub(crate) fn done(&mut self, id: MessageId) {
        if let Some(entry) = self.messages.get_mut(&id) {
            entry.wanted -= 1;
            if entry.wanted == 0 {
                self.remove(id);
            }
        }
    }

    fn remove(&mut self, id: MessageId) {
        if let Some(entry) = self.messages.remove(&id) {
            self.bytes -= entry.message.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: u64, bytes: usize) -> Message {
        Message {
            id: MessageId(id),
            event_type: "a.b".into(),
            occurred: None,
            deliver_at: None,
            meta: Vec::new(),
            payload: Some(Bytes::from(vec![b'1'; bytes])),
        }
    }

    #[test]
    fn memory_stays_within_its_bound_and_the_oldest_goes_first() {
        let mut bodies = Bodies::new(10_000);
        for id in 0..100 {
            bodies.put(message(id, 1_000), 1);
        }
        assert!(bodies.bytes <= 10_000);
        assert!(bodies.get(MessageId(99)).is_some());
        assert!(bodies.get(MessageId(0)).is_none());
    }

    #[test]
    fn it_goes_when_the_last_delivery_is_done() {
        let mut bodies = Bodies::new(10_000);
        bodies.put(message(1, 10), 2);
        bodies.done(MessageId(1));
        assert!(bodies.get(MessageId(1)).is_some());
        bodies.done(MessageId(1));
        assert!(bodies.get(MessageId(1)).is_none());
        assert_eq!(bodies.bytes, 0);
    }

    #[test]
    fn the_order_does_not_outgrow_what_it_orders() {
        let mut bodies = Bodies::new(1 << 30);
        for id in 0..10_000 {
            bodies.put(message(id, 10), 1);
            bodies.done(MessageId(id));
        }
        assert!(bodies.order.len() <= 128, "{}", bodies.order.len());
    }
}
