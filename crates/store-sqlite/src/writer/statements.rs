//! The statements that every delivery runs, looked up once a batch instead of once an operation.

use rusqlite::{CachedStatement, Connection};

pub(super) struct Statements<'c> {
    pub(super) message: CachedStatement<'c>,
    pub(super) payload: CachedStatement<'c>,
    pub(super) fresh: CachedStatement<'c>,
    pub(super) event_key: CachedStatement<'c>,
    pub(super) take_fresh: CachedStatement<'c>,
    pub(super) take_waiting: CachedStatement<'c>,
    pub(super) again: CachedStatement<'c>,
    pub(super) waiting: CachedStatement<'c>,
    pub(super) attempt: CachedStatement<'c>,
    pub(super) attempt_of: CachedStatement<'c>,
    pub(super) delivery: CachedStatement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            message: conn.prepare_cached(
                "INSERT INTO message (id, env, app, type, critical, routes, occurred, deliver_at, idem, meta)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?,
            payload: conn.prepare_cached("INSERT INTO payload (msg, body) VALUES (?1, ?2)")?,
            fresh: conn.prepare_cached("INSERT INTO fresh (endpoint, later, msg, kind) VALUES (?1, ?2, ?3, ?4)")?,
            event_key: conn.prepare_cached(
                "INSERT INTO event_key (app, event_id, msg) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?,
            take_fresh: conn.prepare_cached("DELETE FROM fresh WHERE endpoint = ?1 AND later = ?2 AND msg = ?3")?,
            take_waiting: conn.prepare_cached("DELETE FROM waiting WHERE endpoint = ?1 AND later = ?2 AND msg = ?3")?,
            again: conn.prepare_cached(
                "UPDATE waiting SET due = ?4, rule = ?5, outage = ?6, refusals = ?7, first_refusal = ?8,
                 attempts = ?9, interrupted = ?10, blocked = ?11 WHERE endpoint = ?1 AND later = ?2 AND msg = ?3",
            )?,
            waiting: conn.prepare_cached(
                "INSERT OR REPLACE INTO waiting (endpoint, later, msg, kind, due, rule, outage, refusals,
                 first_refusal, attempts, interrupted, blocked)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            attempt: conn.prepare_cached(
                "INSERT INTO attempt (id, msg, endpoint, outcome, status, n, by_hand, started, duration_us,
                 detail, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?,
            attempt_of: conn
                .prepare_cached("INSERT INTO attempt_of (msg, id, endpoint) VALUES (?1, ?2, ?3)")?,
            delivery: conn.prepare_cached(
                "INSERT OR REPLACE INTO delivery (msg, endpoint, state, reason, settled, last_status, outage,
                 refusals, first_refusal, attempts, interrupted, blocked)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
        })
    }
}
