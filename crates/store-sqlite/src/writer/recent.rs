//! The idempotency keys that SDKs invent for each POST, for 10 minutes.
//!
//! A row in a random-keyed index for every POST cost two thirds of the throughput. So the key is
//! kept in the message's row, and this map leads to the row: 8 bytes of the key to the message's
//! id. The row has the last word, so an entry that a rollback left behind does no harm. Three maps
//! of five minutes each: forgetting is dropping the oldest.

use std::{collections::HashMap, time::Duration};

use gonets_core::{ids::MessageId, time::Timestamp};
use gonets_store::tx::Idempotency;
use rusqlite::{Connection, OptionalExtension};

use crate::row::{int, message_id};

/// How long a key that an SDK invented is remembered.
pub(super) const AUTO_LIFETIME: Duration = Duration::from_mins(10);
const GENERATION: Duration = Duration::from_mins(5);

#[derive(Debug, Default)]
pub(super) struct Recent {
    /// Newest first; a key is in the newest generation that saw it.
    generations: [HashMap<u64, MessageId>; 3],
    newest_since: Timestamp,
}

/// What an earlier message says about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Same(MessageId),
    OtherBody,
}

impl Recent {
    /// From the messages of the 10 minutes before the last one.
    pub(super) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let last: Option<i64> = conn.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?;
        let mut recent = Self::default();
        let Some(last) = last.map(message_id) else { return Ok(recent) };
        let from = Timestamp::from_millis(last.accepted_at().as_millis() - AUTO_LIFETIME.as_millis() as i64);
        let mut statement =
            conn.prepare("SELECT id, idem FROM message WHERE id >= ?1 AND idem IS NOT NULL ORDER BY id")?;
        let mut rows = statement.query([int(MessageId::first_at(from).0)])?;
        while let Some(row) = rows.next()? {
            let id = message_id(row.get(0)?);
            if let Some(prefix) = row.get_ref(1)?.as_blob().ok().and_then(prefix) {
                recent.insert(id.accepted_at(), prefix, id);
            }
        }
        Ok(recent)
    }

    pub(super) fn remember(&mut self, now: Timestamp, key: &Idempotency, id: MessageId) {
        if let Some(prefix) = prefix(&key.key) {
            self.insert(now, prefix, id);
        }
    }

    fn insert(&mut self, now: Timestamp, prefix: u64, id: MessageId) {
        if now.since(self.newest_since) >= GENERATION {
            self.generations.rotate_right(1);
            self.generations[0] = HashMap::new();
            self.newest_since = now;
        }
        self.generations[0].insert(prefix, id);
    }

    /// The living message that the same key made, if there is one.
    pub(super) fn find(
        &self,
        conn: &Connection,
        now: Timestamp,
        key: &Idempotency,
    ) -> rusqlite::Result<Option<Seen>> {
        let Some(id) = prefix(&key.key).and_then(|p| self.generations.iter().find_map(|g| g.get(&p))) else {
            return Ok(None);
        };
        if now.since(id.accepted_at()) >= AUTO_LIFETIME {
            return Ok(None);
        }
        let mut statement = conn.prepare_cached("SELECT idem FROM message WHERE id = ?1")?;
        let idem: Option<[u8; 32]> = statement.query_row([int(id.0)], |row| row.get(0)).optional()?;
        Ok(idem
            .filter(|idem| idem[..16] == key.key)
            .map(|idem| if idem[16..] == key.body { Seen::Same(*id) } else { Seen::OtherBody }))
    }
}

fn prefix(key: &[u8]) -> Option<u64> {
    key.first_chunk().map(|first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use gonets_store::tx::KeyOrigin;

    use super::*;

    #[test]
    fn memory_does_not_keep_what_is_over() {
        let mut recent = Recent::default();
        let start = Timestamp::from_millis(1_800_000_000_000);
        for minute in 0..120u8 {
            let now = start + Duration::from_mins(u64::from(minute));
            let key = Idempotency { key: [minute; 16], body: [0; 16], origin: KeyOrigin::Auto };
            recent.remember(now, &key, MessageId::first_at(now));
            let kept: usize = recent.generations.iter().map(HashMap::len).sum();
            assert!(kept <= 15, "{kept} keys of one a minute");
            let oldest = u64::from_le_bytes([minute.saturating_sub(9); 8]);
            assert!(recent.generations.iter().any(|generation| generation.contains_key(&oldest)));
        }
    }
}
