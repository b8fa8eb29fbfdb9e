//! Accepting a message, and the idempotency keys that guard it.

use std::{collections::HashSet, time::Duration};

use gonets_core::{
    ids::{EndpointNo, MessageId},
    names::kind_of,
    progress::Progress,
    rule::Reason,
    time::Timestamp,
};
use gonets_store::{
    record::SettledState,
    tx::{Accept, Idempotency, KeyOrigin, Made, Rejected, Verdict},
};
use rusqlite::OptionalExtension;

use super::{
    Batch,
    ended::Ended,
    recent::{AUTO_LIFETIME, Seen},
    route::Arrival,
};
use crate::row::{int, message_id, millis};

/// How long a caller's own key is remembered.
const CALLER_LIFETIME: Duration = Duration::from_hours(12);
const HOUR_MS: i64 = 3_600_000;

/// The bucket of an instant.
pub(crate) fn hour(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(HOUR_MS)
}

/// The newest bucket in which nothing lives any more.
pub(crate) fn last_dead_hour(now: Timestamp) -> i64 {
    hour(now) - 13
}

/// An endpoint is among the routes and skips once; where it skips, no table would refuse it.
fn refuse_twice(accept: &Accept) -> rusqlite::Result<()> {
    if accept.skips.is_empty() {
        return Ok(());
    }
    let distinct: HashSet<_> = accept.routes.iter().chain(&accept.skips).collect();
    if distinct.len() < accept.routes.len() + accept.skips.len() {
        return Err(rusqlite::Error::ToSqlConversionFailure("an endpoint is named twice".into()));
    }
    Ok(())
}

impl Batch<'_> {
    pub(super) fn accept(&mut self, accept: &Accept) -> rusqlite::Result<Verdict> {
        if let Some(verdict) = self.replay_of_accept(accept)? {
            return Ok(verdict);
        }
        if let Err(refused) = self.memory.apps.check(accept.app, accept.app_version) {
            return Ok(Err(refused));
        }
        // The last guard is itself the first write: one look at the index instead of two.
        if let Some(first) = self.claim_event_id(accept)? {
            return Ok(Err(Rejected::Duplicate(first)));
        }
        refuse_twice(accept)?;
        self.write_message(accept)?;
        self.write_routes(accept)?;
        if let Some(key) = &accept.idempotency {
            match key.origin {
                KeyOrigin::Auto => self.memory.recent.remember(self.now, key, accept.id),
                KeyOrigin::Caller => self.keep_key(key, Some(accept.id), None)?,
            }
        }
        Ok(Ok(Made::Message(accept.id)))
    }

    fn replay_of_accept(&mut self, accept: &Accept) -> rusqlite::Result<Option<Verdict>> {
        let Some(key) = &accept.idempotency else { return Ok(None) };
        match key.origin {
            KeyOrigin::Auto => Ok(match self.memory.recent.find(self.conn, self.now, key)? {
                None => None,
                Some(Seen::Same(id)) => Some(Ok(Made::ReplayedMessage(id))),
                Some(Seen::OtherBody) => Some(Err(Rejected::IdempotencyConflict)),
            }),
            KeyOrigin::Caller => self.replay(key),
        }
    }

    /// The first message with this event id, if there is one.
    fn claim_event_id(&mut self, accept: &Accept) -> rusqlite::Result<Option<MessageId>> {
        let Some(event_id) = &accept.event_id else { return Ok(None) };
        if self.sql.event_key.execute((accept.app.0, event_id, int(accept.id.0)))? == 1 {
            return Ok(None);
        }
        let mut statement =
            self.conn.prepare_cached("SELECT msg FROM event_key WHERE app = ?1 AND event_id = ?2")?;
        statement.query_row((accept.app.0, event_id), |row| Ok(Some(message_id(row.get(0)?))))
    }

    fn write_message(&mut self, accept: &Accept) -> rusqlite::Result<()> {
        let mut idem = [0; 32];
        let idem = match &accept.idempotency {
            Some(key) if key.origin == KeyOrigin::Auto => {
                idem[..16].copy_from_slice(&key.key);
                idem[16..].copy_from_slice(&key.body);
                Some(&idem[..])
            }
            _ => None,
        };
        let id = int(accept.id.0);
        self.sql.message.execute((
            id,
            accept.environment.0,
            accept.app.0,
            accept.event_type.as_str(),
            accept.critical,
            (accept.routes.len() + accept.skips.len()) as i64,
            millis(accept.occurred),
            millis(accept.deliver_at),
            idem,
            accept.meta.as_slice(),
        ))?;
        self.sql.payload.execute((id, &accept.payload[..]))?;
        Ok(())
    }

    fn write_routes(&mut self, accept: &Accept) -> rusqlite::Result<()> {
        let arrival = Arrival {
            message: accept.id,
            critical: accept.critical,
            kind: kind_of(&accept.event_type),
            deliver_at: accept.deliver_at,
        };
        for endpoint in &accept.routes {
            self.write_route(*endpoint, &arrival)?;
        }
        for endpoint in &accept.skips {
            self.skip(*endpoint, accept.id)?;
        }
        if accept.routes.is_empty() && accept.skips.is_empty() && accept.hold_unrouted {
            self.conn
                .prepare_cached("INSERT INTO unrouted (app, msg) VALUES (?1, ?2)")?
                .execute((accept.app.0, int(accept.id.0)))?;
        }
        Ok(())
    }

    /// The endpoint is disabled and gets nothing meanwhile (R19): that is how the delivery ended.
    fn skip(&mut self, endpoint: EndpointNo, message: MessageId) -> rusqlite::Result<()> {
        let ended = Ended {
            message,
            endpoint,
            state: SettledState::Skipped,
            reason: Some(Reason::EndpointDisabled),
            last_status: None,
            progress: Progress::default(),
        };
        self.write_ended(&ended)?;
        self.index_ended(endpoint, message)
    }

    /// What a key in the table answers: its message or its stored answer, as long as it lives.
    pub(super) fn replay(&mut self, key: &Idempotency) -> rusqlite::Result<Option<Verdict>> {
        let hour = hour(self.now);
        let mut statement = self.conn.prepare_cached(include_str!("../sql/find_key.sql"))?;
        let found = statement
            .query_row((hour, &key.key[..], self.now.as_millis()), |row| {
                let body: [u8; 16] = row.get(0)?;
                let made: Option<i64> = row.get(1)?;
                let answer: Option<Vec<u8>> = row.get(2)?;
                Ok((body, made, answer))
            })
            .optional()?;
        Ok(found.map(|(body, made, answer)| match (made, answer) {
            _ if body != key.body => Err(Rejected::IdempotencyConflict),
            (Some(id), _) => Ok(Made::ReplayedMessage(message_id(id))),
            (None, answer) => Ok(Made::ReplayedAnswer(answer.unwrap_or_default())),
        }))
    }

    /// Keeps a key with what it made.
    pub(super) fn keep_key(
        &mut self,
        key: &Idempotency,
        made: Option<MessageId>,
        answer: Option<&[u8]>,
    ) -> rusqlite::Result<()> {
        let lifetime = match key.origin {
            KeyOrigin::Auto => AUTO_LIFETIME,
            KeyOrigin::Caller => CALLER_LIFETIME,
        };
        let expires = self.now.saturating_add(lifetime).as_millis();
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO idempotency (hour, key, body, expires, msg, answer)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                hour(self.now),
                &key.key[..],
                &key.body[..],
                expires,
                made.map(|id| int(id.0)),
                answer,
            ))?;
        Ok(())
    }
}
