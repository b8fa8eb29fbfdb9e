//! Connections that wait for their endpoint's next request.
//!
//! A connection serves one key only, so no endpoint ever sees another's. The last one put back is
//! the first one taken: it is the likeliest to be alive, and the others can grow old and go. A
//! connection is looked at before it is handed out, which finds most that the peer has closed;
//! the sender's second send is for the rest.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::conn::Conn;
use crate::target::Target;

/// Locks; a power of two.
const SHARDS: usize = 16;
/// Idle connections of one key.
const MAX_PER_KEY: usize = 64;

type Shard = Mutex<HashMap<u64, Vec<Conn>>>;

/// The idle connections of all keys.
pub(crate) struct Pool {
    shards: [Shard; SHARDS],
    idle: AtomicUsize,
    idle_max: Duration,
    age_max: Duration,
    max_idle: usize,
}

impl Pool {
    pub(crate) fn new(idle_max: Duration, age_max: Duration, max_idle: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Shard::default()),
            idle: AtomicUsize::new(0),
            idle_max,
            age_max,
            max_idle,
        }
    }

    /// A live connection of `key` that leads to where `target` does.
    pub(crate) fn take(&self, key: u64, target: &Target, now: Instant) -> Option<Conn> {
        loop {
            let mut conn = self.shard(key).lock().get_mut(&key)?.pop()?;
            self.idle.fetch_sub(1, Ordering::Relaxed);
            if self.is_fresh(&conn, now) && conn.target.same_origin(target) && conn.is_quiet() {
                return Some(conn);
            }
        }
    }

    /// Keeps a connection for the next request, unless there are enough of them.
    pub(crate) fn put(&self, key: u64, mut conn: Conn, now: Instant) {
        if now.saturating_duration_since(conn.born) >= self.age_max {
            return;
        }
        if self.idle.fetch_add(1, Ordering::Relaxed) >= self.max_idle {
            self.idle.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        conn.idle_since = now;
        conn.settle();
        let mut shard = self.shard(key).lock();
        let waiting = shard.entry(key).or_default();
        if waiting.len() < MAX_PER_KEY {
            waiting.push(conn);
            return;
        }
        drop(shard);
        self.idle.fetch_sub(1, Ordering::Relaxed);
    }

    /// Drops the connections of `key`.
    pub(crate) fn forget(&self, key: u64) {
        let dropped = self.shard(key).lock().remove(&key);
        let count = dropped.map_or(0, |conns| conns.len());
        self.idle.fetch_sub(count, Ordering::Relaxed);
    }

    /// Drops what has lain too long or grown too old, and keys that have nothing left.
    pub(crate) fn sweep(&self, now: Instant) {
        for shard in &self.shards {
            // Closed outside the lock: closing is a system call each.
            let mut stale = Vec::new();
            shard.lock().retain(|_, waiting| {
                let before = stale.len();
                stale.extend(waiting.extract_if(.., |conn| !self.is_fresh(conn, now)));
                self.idle.fetch_sub(stale.len() - before, Ordering::Relaxed);
                !waiting.is_empty()
            });
        }
    }

    /// How many connections lie idle.
    pub(crate) fn idle(&self) -> usize {
        self.idle.load(Ordering::Relaxed)
    }

    fn is_fresh(&self, conn: &Conn, now: Instant) -> bool {
        now.saturating_duration_since(conn.idle_since) < self.idle_max
            && now.saturating_duration_since(conn.born) < self.age_max
    }

    fn shard(&self, key: u64) -> &Shard {
        // Keys may be sequential or random ids: mix, then take the high bits.
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        &self.shards[mixed as usize % SHARDS]
    }
}
