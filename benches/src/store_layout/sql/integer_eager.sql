-- Integer keys that grow with time, and three indexes by owner, kept with every row.
-- A delivery is one row from its acceptance on; its index by endpoint is the queue and the list.
CREATE TABLE message (
  id INTEGER PRIMARY KEY, app INTEGER NOT NULL, type INTEGER NOT NULL, occurred INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX message_by_app ON message (app, id);

CREATE TABLE delivery (
  msg INTEGER NOT NULL, endpoint INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
  last_status INTEGER, settled INTEGER, PRIMARY KEY (msg, endpoint)) WITHOUT ROWID;
CREATE INDEX delivery_by_endpoint ON delivery (endpoint, state, msg);

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY, msg INTEGER NOT NULL, endpoint INTEGER NOT NULL, n INTEGER NOT NULL,
  outcome INTEGER NOT NULL, status INTEGER, duration_us INTEGER, answer BLOB);
CREATE INDEX attempt_by_endpoint ON attempt (endpoint, id);
