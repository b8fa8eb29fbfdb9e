//! Messages: events as the producer posted them, and what stands of them at each endpoint.

mod endpoints;
mod get;
mod held;
mod list;
mod post;
mod route;
mod status;

use bytes::Bytes;
use gonets_core::{
    ids::{IdCodec, IdKind, MessageId},
    names::{self, NameKind},
    time::Timestamp,
};
pub use gonets_store::query::MessageFilter;
use gonets_store::record::{MessageMeta, MessageRecord};

pub use self::{
    endpoints::{AtEndpoint, EndpointMessageFilter, MessageAt},
    post::{NewMessage, Posted},
    status::Status,
};
use crate::{access::Reader, error::Error, service::Service};

/// A message as it is shown.
#[derive(Debug, Clone)]
pub struct Message {
    pub id: String,
    pub accepted_at: Timestamp,
    pub event_type: String,
    pub critical: bool,
    pub occurred_at: Option<Timestamp>,
    pub deliver_at: Option<Timestamp>,
    pub meta: MessageMeta,
    /// The producer's JSON text; `None`: not asked for, expunged or past its retention.
    pub payload: Option<Bytes>,
}

impl Message {
    fn of(ids: &IdCodec, record: MessageRecord) -> Self {
        Self {
            id: ids.message(record.id),
            accepted_at: record.id.accepted_at(),
            event_type: record.event_type,
            critical: record.critical,
            occurred_at: record.occurred,
            deliver_at: record.deliver_at,
            // It was written by this crate; should it be damaged, the message is still shown.
            meta: serde_json::from_slice(&record.meta).unwrap_or_default(),
            payload: record.payload,
        }
    }
}

impl Service {
    /// A message of the application by id or event id, with its payload.
    pub(crate) async fn message(&self, who: &Reader, name: &str) -> Result<MessageRecord, Error> {
        let app = who.app.no;
        let by_id = self.engine().ids().decode(IdKind::Message, name).map(MessageId);
        if by_id.is_none() && names::check(NameKind::EventId, name).is_err() {
            return Err(Error::not_found("message", name));
        }
        let event_id = name.to_owned();
        let found = self
            .engine()
            .ask(move |store| {
                let id = match by_id {
                    Some(id) => Some(id),
                    None => store.message_by_event_id(app, &event_id)?,
                };
                id.map_or(Ok(Vec::new()), |id| store.messages_shown(&[id], true))
            })
            .await?;
        found
            .into_iter()
            .next()
            .filter(|record| record.app == app)
            .ok_or_else(|| Error::not_found("message", name))
    }
}
