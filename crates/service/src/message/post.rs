//! Posting a message: the operation that everything else is for, and the hot path.
//!
//! The payload is the producer's text from the request's body to the endpoint: it is never
//! re-serialised, and parsed here only if the profile has a critical rule for its type (R6).
//! Routing is done outside the store on the application as it stands in memory; the commit guards
//! that version, and on [`Rejected::Stale`] the message is routed again.

use std::time::Duration;

use bytes::Bytes;
use gonets_core::{critical, duration, ids::MessageId, limits, names::NameKind, time::Timestamp};
use gonets_engine::directory::App;
use gonets_store::{
    record::MessageMeta,
    tx::{Accept, Made, Rejected, Tx},
};

use super::route;
use crate::{access::Producer, error::Error, field::Fields, idempotency::RequestKey, service::Service};

const SECONDS_PER_DAY: u64 = 24 * 3600;

/// A message to be accepted.
#[derive(Debug, Clone, Default)]
pub struct NewMessage {
    pub event_type: String,
    /// One JSON value, verbatim; the caller has seen that it is one.
    pub payload: Bytes,
    pub event_id: Option<String>,
    pub channels: Vec<String>,
    pub tags: Vec<String>,
    /// Not tried before this instant.
    pub deliver_at: Option<Timestamp>,
    /// When the event happened; `None`: when it is accepted.
    pub occurred_at: Option<Timestamp>,
    pub api_version: Option<String>,
    /// Hours that the payload is kept; `None`: as the installation keeps it.
    pub retention_hours: Option<u32>,
    /// `None`: the profile's rules decide (R6).
    pub critical: Option<bool>,
}

/// A message that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    pub id: String,
    pub accepted_at: Timestamp,
}

impl NewMessage {
    fn check(&self, payload_limit: usize, max_age: Duration, now: Timestamp) -> Result<(), Error> {
        if self.payload.len() > payload_limit {
            return Err(Error::TooLarge { bytes: self.payload.len(), limit: payload_limit });
        }
        let mut fields = Fields::default();
        fields.name("eventType", NameKind::EventType, &self.event_type);
        if let Some(event_id) = &self.event_id {
            fields.own_name("eventId", NameKind::EventId, event_id);
        }
        fields.name_list("channels", NameKind::Channel, &self.channels, limits::CHANNELS);
        fields.name_list("tags", NameKind::Tag, &self.tags, limits::TAGS);
        fields.not_yet("payloadRetentionHours", self.retention_hours.is_some());
        // Its age counts from then (R7): what lies further off would never be late.
        if let Some(at) = self.deliver_at.filter(|at| at.since(now) > max_age) {
            let most = spoken(max_age);
            fields.wrong(
                "deliverAt",
                format!("deliverAt is {at}, and at most {most} ahead are taken (max_age of the profile)."),
            );
        }
        if let Some(version) = &self.api_version {
            fields.full_text("apiVersion", version, limits::NAME_CHARS);
        }
        fields.done()
    }

    fn meta(&self) -> Result<Vec<u8>, Error> {
        let is_bare = self.event_id.is_none()
            && self.channels.is_empty()
            && self.tags.is_empty()
            && self.api_version.is_none()
            && self.retention_hours.is_none();
        if is_bare {
            return Ok(b"{}".to_vec());
        }
        let meta = MessageMeta {
            event_id: self.event_id.clone(),
            channels: self.channels.clone(),
            tags: self.tags.clone(),
            api_version: self.api_version.clone(),
            retention_hours: self.retention_hours,
        };
        serde_json::to_vec(&meta).map_err(Error::internal)
    }

    /// The operation, routed by the application as it stands.
    fn accept(&self, app: &App, meta: Vec<u8>, key: Option<RequestKey>) -> Accept {
        let is_critical = self
            .critical
            .unwrap_or_else(|| critical::is_critical(&app.profile.critical, &self.event_type, &self.payload));
        let routes = route::routes(app, &self.event_type, &self.channels);
        Accept {
            id: MessageId(0),
            environment: app.row.environment,
            app: app.no,
            app_version: app.row.version,
            event_type: self.event_type.clone(),
            critical: is_critical,
            occurred: self.occurred_at,
            deliver_at: self.deliver_at,
            meta,
            event_id: self.event_id.clone(),
            idempotency: key.map(|key| key.0),
            payload: self.payload.clone(),
            routes: routes.takes,
            skips: routes.skips,
            hold_unrouted: route::holds_unrouted(app),
        }
    }
}

/// A duration as a sentence has it: in days where it is whole ones.
fn spoken(duration: Duration) -> String {
    match (duration.as_secs() / SECONDS_PER_DAY, duration.as_secs() % SECONDS_PER_DAY) {
        (days, 0) if days > 1 => format!("{days} days"),
        _ => duration::format(duration),
    }
}

impl Service {
    /// Accepts a message: when this returns, it is on disk. The same request repeated under its
    /// idempotency key gets the same answer: id and time are those of the first, and all else of
    /// the answer is in the request itself.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the event id, or the idempotency key with another body, was used
    /// before; [`Error::TooLarge`]; [`Error::Busy`] when too much is waiting for the disk.
    pub async fn post_message(
        &self,
        who: &Producer,
        message: &NewMessage,
        key: Option<RequestKey>,
    ) -> Result<Posted, Error> {
        message.check(self.settings().payload_bytes, who.app.profile.max_age, self.now())?;
        let meta = message.meta()?;
        let mut accept = message.accept(&who.app, meta, key);
        let mut tries = None;
        loop {
            match self.engine().commit(Tx::Accept(Box::new(accept))).await? {
                Ok(Made::Message(id) | Made::ReplayedMessage(id)) => return Ok(self.posted(id)),
                Ok(other) => {
                    return Err(Error::internal(format!("the store answered a message with {other:?}")));
                }
                Err(Rejected::Stale) => {
                    tries.get_or_insert_with(|| self.tries_about(who.app.no)).next().await?;
                    let app = self.directory().app(who.app.no).filter(|app| !app.row.deleted);
                    accept = message.accept(&*app.ok_or(Error::Deleted)?, message.meta()?, key);
                }
                Err(rejected) => return Err(rejected.into()),
            }
        }
    }

    fn posted(&self, id: MessageId) -> Posted {
        Posted { id: self.engine().ids().message(id), accepted_at: id.accepted_at() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTH: Duration = Duration::from_secs(30 * SECONDS_PER_DAY);
    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn message() -> NewMessage {
        NewMessage {
            event_type: "order.paid".into(),
            payload: Bytes::from_static(b"{\"a\":1}"),
            ..NewMessage::default()
        }
    }

    #[test]
    fn a_payload_over_the_limit_is_told_with_the_limit() {
        assert!(message().check(7, MONTH, NOW).is_ok());
        let error = message().check(6, MONTH, NOW).unwrap_err();
        assert_eq!(error.code(), "payload_too_large");
        assert!(error.to_string().contains("at most 6"), "{error}");
    }

    #[test]
    fn bad_names_and_too_many_channels_or_tags_are_refused() {
        let six = vec!["x".to_owned(); 6];
        for bad in [
            NewMessage { event_type: "order paid".into(), ..message() },
            NewMessage { event_type: String::new(), ..message() },
            NewMessage { event_id: Some("a\0".into()), ..message() },
            NewMessage { event_id: Some("msg_00000000000000000000000000".into()), ..message() },
            NewMessage { channels: six.clone(), ..message() },
            NewMessage { tags: six.clone(), ..message() },
            NewMessage { retention_hours: Some(24), ..message() },
        ] {
            assert_eq!(bad.check(100, MONTH, NOW).unwrap_err().code(), "validation_error", "{bad:?}");
        }
    }

    #[test]
    fn a_message_may_be_for_later_but_not_for_after_its_age() {
        let at = |at| NewMessage { deliver_at: Some(at), ..message() }.check(100, MONTH, NOW);
        assert!(at(NOW + MONTH).is_ok() && at(Timestamp::from_millis(0)).is_ok());
        let error = at(NOW + MONTH + Duration::from_millis(1)).unwrap_err().to_string();
        assert!(error.starts_with("deliverAt is 1970-01-31T") && error.contains("30 days"), "{error}");
    }

    #[test]
    fn what_a_message_carries_is_read_back() {
        assert_eq!(message().meta().unwrap(), b"{}");
        let full = NewMessage { event_id: Some("e-1".into()), tags: vec!["t".into()], ..message() };
        let meta: MessageMeta = serde_json::from_slice(&full.meta().unwrap()).unwrap();
        assert_eq!(meta.event_id.as_deref(), Some("e-1"));
        assert_eq!(meta.tags, ["t"]);
    }
}
