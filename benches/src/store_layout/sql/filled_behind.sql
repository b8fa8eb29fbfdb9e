-- Hot tables are keyed by time, or are the lanes themselves (fresh).
CREATE TABLE message (
  id INTEGER PRIMARY KEY, app INTEGER NOT NULL, type INTEGER NOT NULL, occurred INTEGER NOT NULL);
CREATE TABLE payload (msg INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE fresh (endpoint INTEGER NOT NULL, msg INTEGER NOT NULL, PRIMARY KEY (endpoint, msg)) WITHOUT ROWID;
CREATE TABLE delivery (
  msg INTEGER NOT NULL, endpoint INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
  last_status INTEGER, settled INTEGER, PRIMARY KEY (msg, endpoint)) WITHOUT ROWID;
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY, msg INTEGER NOT NULL, endpoint INTEGER NOT NULL, n INTEGER NOT NULL,
  outcome INTEGER NOT NULL, status INTEGER, duration_us INTEGER, answer BLOB);
CREATE TABLE attempt_of (
  msg INTEGER NOT NULL, endpoint INTEGER NOT NULL, n INTEGER NOT NULL, id INTEGER NOT NULL,
  PRIMARY KEY (msg, endpoint, n, id)) WITHOUT ROWID;

-- The indexes by owner are tables, because they are filled later than what they point to.
CREATE TABLE message_by_app (
  owner INTEGER NOT NULL, id INTEGER NOT NULL, detail INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;
CREATE TABLE delivery_by_endpoint (
  owner INTEGER NOT NULL, id INTEGER NOT NULL, detail INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;
CREATE TABLE attempt_by_endpoint (
  owner INTEGER NOT NULL, id INTEGER NOT NULL, detail INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;
-- How far each of them is complete: after a crash the tail is read again from here.
CREATE TABLE indexed (name TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID;
