-- Random 16-byte keys and the eight secondary indexes that such a service usually has:
-- lists by owner, a list by type, retention, the queue, and the ways from one table to the next.
CREATE TABLE message (
  id BLOB PRIMARY KEY, app BLOB NOT NULL, type TEXT NOT NULL, created INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX message_by_app ON message (app, created);
CREATE INDEX message_by_type ON message (app, type, created);
CREATE INDEX message_by_time ON message (created);

CREATE TABLE delivery (
  id BLOB PRIMARY KEY, msg BLOB NOT NULL, endpoint BLOB NOT NULL, state INTEGER NOT NULL, due INTEGER,
  attempts INTEGER NOT NULL, last_status INTEGER, created INTEGER NOT NULL, settled INTEGER);
CREATE INDEX delivery_by_message ON delivery (msg);
CREATE INDEX delivery_by_endpoint ON delivery (endpoint, created);
CREATE INDEX delivery_queue ON delivery (state, due);

CREATE TABLE attempt (
  id BLOB PRIMARY KEY, delivery BLOB NOT NULL, endpoint BLOB NOT NULL, n INTEGER NOT NULL,
  outcome INTEGER NOT NULL, status INTEGER, duration_us INTEGER, answer BLOB, created INTEGER NOT NULL);
CREATE INDEX attempt_by_delivery ON attempt (delivery, n);
CREATE INDEX attempt_by_endpoint ON attempt (endpoint, created);
