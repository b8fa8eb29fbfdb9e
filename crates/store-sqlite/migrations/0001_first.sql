-- Hot tables are keyed by time (ids are time-ordered) or are the lanes themselves; what is keyed
-- by an owner (message_by_app, delivery_by_endpoint, attempt_by_endpoint) is filled behind.
-- Instants are milliseconds since 1970; codes are those of the code's enums.

CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    env INTEGER NOT NULL,
    app INTEGER NOT NULL,
    type TEXT NOT NULL,
    critical INTEGER NOT NULL,
    routes INTEGER NOT NULL,
    occurred INTEGER,
    deliver_at INTEGER,
    -- Of an SDK's own key: 16 bytes of its hash, 16 of the body's.
    idem BLOB,
    meta BLOB NOT NULL
) STRICT;

CREATE TABLE payload (
    msg INTEGER PRIMARY KEY,
    -- NULL: as long as the installation keeps payloads.
    expires INTEGER,
    body BLOB NOT NULL
) STRICT;

-- Deliveries that were never tried. `later` is 0 for critical messages, which go first, and 1 for
-- others; `kind` is a number for the message's type.
CREATE TABLE fresh (
    endpoint INTEGER NOT NULL,
    later INTEGER NOT NULL,
    msg INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    PRIMARY KEY (endpoint, later, msg)
) STRICT, WITHOUT ROWID;

-- Deliveries that are tried (again) at an instant.
CREATE TABLE waiting (
    endpoint INTEGER NOT NULL,
    later INTEGER NOT NULL,
    msg INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    due INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    outage INTEGER NOT NULL,
    refusals INTEGER NOT NULL,
    first_refusal INTEGER,
    attempts INTEGER NOT NULL,
    interrupted INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    PRIMARY KEY (endpoint, later, msg)
) STRICT, WITHOUT ROWID;
CREATE INDEX waiting_due ON waiting (endpoint, later, due, msg);

-- Messages of applications that have no endpoint yet (R18).
CREATE TABLE unrouted (
    app INTEGER NOT NULL,
    msg INTEGER NOT NULL,
    PRIMARY KEY (app, msg)
) STRICT, WITHOUT ROWID;

-- Messages that waited for an endpoint and ended so.
CREATE TABLE unrouted_end (
    msg INTEGER PRIMARY KEY,
    app INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- Retries by hand that wait for their one attempt (R9).
CREATE TABLE hand (
    endpoint INTEGER NOT NULL,
    msg INTEGER NOT NULL,
    PRIMARY KEY (endpoint, msg)
) STRICT, WITHOUT ROWID;

-- Deliveries that have ended.
CREATE TABLE delivery (
    msg INTEGER NOT NULL,
    endpoint INTEGER NOT NULL,
    state INTEGER NOT NULL,
    reason INTEGER,
    settled INTEGER NOT NULL,
    last_status INTEGER,
    outage INTEGER NOT NULL,
    refusals INTEGER NOT NULL,
    first_refusal INTEGER,
    attempts INTEGER NOT NULL,
    interrupted INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    PRIMARY KEY (msg, endpoint)
) STRICT, WITHOUT ROWID;

-- The wide columns come last: a scan of the tail reads only the front of each row.
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    msg INTEGER NOT NULL,
    endpoint INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    status INTEGER,
    n INTEGER NOT NULL,
    by_hand INTEGER NOT NULL,
    started INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    detail BLOB NOT NULL,
    answer BLOB NOT NULL
) STRICT;

CREATE TABLE attempt_of (
    msg INTEGER NOT NULL,
    id INTEGER NOT NULL,
    endpoint INTEGER NOT NULL,
    PRIMARY KEY (msg, id)
) STRICT, WITHOUT ROWID;

-- Filled behind, up to `indexed`.
CREATE TABLE message_by_app (
    app INTEGER NOT NULL,
    id INTEGER NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (app, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_by_endpoint (
    endpoint INTEGER NOT NULL,
    id INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    status INTEGER,
    PRIMARY KEY (endpoint, id)
) STRICT, WITHOUT ROWID;

-- Every delivery that had an attempt (filled behind) or ended without one (filled at once). It may
-- name deliveries that have not ended: `delivery` decides.
CREATE TABLE delivery_by_endpoint (
    endpoint INTEGER NOT NULL,
    msg INTEGER NOT NULL,
    PRIMARY KEY (endpoint, msg)
) STRICT, WITHOUT ROWID;

-- How far the tables above are filled: the last message and the last attempt that are in them.
CREATE TABLE indexed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    message INTEGER NOT NULL,
    attempt INTEGER NOT NULL
) STRICT;
INSERT INTO indexed VALUES (1, 0, 0);

-- What is held in front of a scope (its kind in the upper 32 bits, its number in the lower): a row
-- for each facet that holds or remembers something, as JSON.
CREATE TABLE gate (
    scope INTEGER NOT NULL,
    facet INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (scope, facet)
) STRICT, WITHOUT ROWID;

-- What is to be told of, as JSON, until it is carried on. A number is never given twice.
CREATE TABLE notice (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc TEXT NOT NULL
) STRICT;

-- What befell endpoints, breakers and all of sending, kept for timelines; application 0 is everyone's.
CREATE TABLE transition (
    app INTEGER NOT NULL,
    at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (app, at, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_key (
    app INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    msg INTEGER NOT NULL,
    PRIMARY KEY (app, event_id)
) STRICT, WITHOUT ROWID;

-- Keys that callers chose, in buckets of the hour in which they came, so that only this hour's
-- leaves are hot and a whole hour is forgotten at once.
CREATE TABLE idempotency (
    hour INTEGER NOT NULL,
    key BLOB NOT NULL,
    body BLOB NOT NULL,
    expires INTEGER NOT NULL,
    msg INTEGER,
    answer BLOB,
    PRIMARY KEY (hour, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE entity (
    no INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    env INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    uid TEXT,
    version INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    doc BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX entity_uid ON entity (kind, env, owner, uid) WHERE uid IS NOT NULL AND deleted = 0;

CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO fact VALUES ('id_key', randomblob(16));
