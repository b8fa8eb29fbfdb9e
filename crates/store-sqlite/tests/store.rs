//! What is SQLite's own: the lock, crashes, the log, the indexes behind a long tail, backups.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
        mpsc,
    },
    time::Duration,
};

use gonets_core::{
    gate::Scope,
    ids::{AppNo, AttemptId, EndpointNo, MessageId},
    time::{Clock, Timestamp},
};
use gonets_store::{
    conformance::{
        Opened, Trial,
        operations::{freeze as frozen, keep},
    },
    engine::{Engine, Load, Tended},
    query::{AttemptFilter, Entities, Journal, Lanes, MessageFilter, Order, Page, QueryError},
    tx::Tx,
};
use gonets_store_sqlite::{Checkpoints, OpenError, Options, Sqlite, SqliteEngine, SqliteReaders};

/// Goes a step further each time it is asked.
#[derive(Default)]
struct Stepping {
    now: AtomicI64,
    step: i64,
}

impl Clock for Stepping {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.fetch_add(self.step, Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        self.now()
    }
}

/// With checkpoints by the writer, so that every step is the test's own; `checkpoint.rs` is about
/// those aside.
fn options() -> Options {
    Options { checkpoints: Checkpoints::ByWriter, ..Options::new(Arc::new(Stepping::default())) }
}

fn open(dir: &Path) -> (SqliteEngine, Arc<SqliteReaders>) {
    Sqlite::open(dir, options()).expect("the store opens")
}

fn opened(dir: &Path) -> Opened {
    let (engine, readers) = open(dir);
    (Box::new(engine), readers)
}

fn freeze() -> Tx {
    keep(vec![frozen(Scope::Everything)])
}

fn copy(from: &Path, to: &Path) {
    for name in ["gonets.db", "gonets.db-wal"] {
        std::fs::copy(from.join(name), to.join(name)).expect("the file is copied");
    }
}

#[test]
fn a_second_process_is_told_who_holds_the_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let first = open(dir.path());
    let Err(refused) = Sqlite::open(dir.path(), options()) else { panic!("two hold one directory") };
    assert!(matches!(refused, OpenError::Locked { pid: Some(pid), .. } if pid == std::process::id()));
    let sentence = refused.to_string();
    assert!(sentence.contains(&dir.path().display().to_string()), "{sentence}");
    drop(first);
    open(dir.path());
}

#[test]
fn what_was_committed_is_there_after_a_crash() {
    let (dir, after) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
    let (mut engine, readers) = open(dir.path());
    engine.commit(Timestamp::from_millis(1), &[freeze()]).expect("it commits");
    // The files as they stand, with nothing closed: what a machine finds after losing power.
    copy(dir.path(), after.path());
    drop((engine, readers));
    for dir in [dir.path(), after.path()] {
        let (_engine, readers) = open(dir);
        assert_eq!(readers.gates().expect("an answer").len(), 1);
    }
}

#[test]
fn a_store_of_a_later_version_is_refused_with_its_name() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path()));
    let conn = rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    conn.execute_batch(
        "PRAGMA user_version = 9; UPDATE fact SET value = CAST('7.5.0' AS BLOB) WHERE name = 'written_by';",
    )
    .expect("it is changed");
    drop(conn);
    let Err(refused) = Sqlite::open(dir.path(), options()) else { panic!("a later schema is opened") };
    let sentence = refused.to_string();
    assert!(sentence.contains("written by Gonets 7.5.0 (schema 9)"), "{sentence}");
}

#[test]
fn every_installation_has_its_own_id_key() {
    let (one, two) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
    let (_first, ours) = open(one.path());
    let (_second, theirs) = open(two.path());
    assert_ne!(ours.id_key().expect("a key"), theirs.id_key().expect("a key"));
}

/// Commits `rounds` batches of 500 accepted and 500 delivered messages at 50 endpoints.
fn flood(trial: &mut Trial<'_>, app: AppNo, rounds: usize) {
    use gonets_store::conformance::operations::{DELIVERED, accept, outcome};
    for _ in 0..rounds {
        let mut accepts: Vec<Tx> = (0..500).map(|at| accept(app, &[at % 50 + 1]).tx()).collect();
        trial.name(&mut accepts);
        let mut batch = accepts.clone();
        for operation in accepts {
            let Tx::Accept(accept) = operation else { continue };
            batch.push(
                outcome(accept.id, accept.routes[0].0, gonets_store::tx::Source::Fresh, DELIVERED).tx(),
            );
        }
        assert!(trial.commit(batch).iter().all(Result::is_ok));
        trial.pass(Duration::from_millis(10));
        let now = trial.now;
        trial.engine().tend(now, Load::Busy).expect("it tends");
    }
}

fn rows(dir: &Path, sql: &str) -> i64 {
    let conn = rusqlite::Connection::open(dir.join("gonets.db")).expect("the file opens");
    conn.query_row(sql, [], |row| row.get(0)).expect("it counts")
}

#[test]
fn a_long_tail_is_worked_off_under_load_and_no_list_loses_a_row() {
    let dir = tempfile::tempdir().expect("a directory");
    let start = || opened(dir.path());
    let mut trial = Trial::start(&start);
    let app = trial.app();
    flood(&mut trial, app, 15);
    assert_eq!(rows(dir.path(), "SELECT count(*) FROM message_by_app"), 0, "a short tail is left alone");
    flood(&mut trial, app, 45);
    let tail = "SELECT (SELECT count(*) FROM message WHERE id > (SELECT message FROM indexed))
                     + (SELECT count(*) FROM attempt WHERE id > (SELECT attempt FROM indexed))";
    assert!(rows(dir.path(), tail) <= 40_000, "the tail does not grow with the journal");
    assert!(rows(dir.path(), "SELECT message FROM indexed") > 0);
    let wal = std::fs::metadata(dir.path().join("gonets.db-wal")).expect("the log").len();
    assert!(wal < 32 << 20, "the log starts over: {wal} bytes");

    let all =
        Page { limit: 100_000, order: Order::Ascending, after: None, backwards: false, bytes: usize::MAX };
    let look = |trial: &Trial<'_>| {
        let ask = trial.ask();
        let messages = ask.messages_of(app, &all, &MessageFilter::default()).expect("an answer").rows.len();
        let attempts = ask.attempts_of_endpoint(EndpointNo(7), &all, &AttemptFilter::default());
        let deliveries = ask.deliveries_at(EndpointNo(7), &all).expect("an answer").rows.len();
        (messages, attempts.expect("an answer").rows.len(), deliveries)
    };
    assert_eq!(look(&trial), (30_000, 600, 600));
    trial.restart();
    assert_eq!(look(&trial), (30_000, 600, 600), "a block that a restart cut off is begun again");
    trial.tend();
    assert_eq!(rows(dir.path(), tail), 0);
    assert_eq!(look(&trial), (30_000, 600, 600));
}

#[test]
fn a_read_over_its_limit_is_given_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let start = || opened(dir.path());
    let mut trial = Trial::start(&start);
    let app = trial.app();
    flood(&mut trial, app, 10);
    drop(trial);
    let clock = Arc::new(Stepping { step: 2_000, ..Stepping::default() });
    let (_engine, readers) = Sqlite::open(dir.path(), Options::new(clock)).expect("the store opens");
    let all =
        Page { limit: 100_000, order: Order::Ascending, after: None, backwards: false, bytes: usize::MAX };
    let answer = readers.attempts_of_endpoint(EndpointNo(99), &all, &AttemptFilter::default());
    assert!(matches!(answer, Err(QueryError::TooLong)), "{answer:?}");
    assert_eq!(
        readers.attempt(AttemptId(5)).expect("a short read is answered by the same reader").map(|_| ()),
        None
    );
}

#[test]
fn a_backup_is_a_whole_store() {
    let (dir, target) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
    let start = || opened(dir.path());
    let mut trial = Trial::start(&start);
    let app = trial.app();
    flood(&mut trial, app, 4);
    let (done, told) = mpsc::channel();
    let copy = target.path().join("gonets.db");
    for _ in 0..2 {
        let done = done.clone();
        trial.engine().start_backup(&copy, Box::new(move |result| done.send(result).expect("someone waits")));
        flood(&mut trial, app, 2);
        let result = told.recv_timeout(Duration::from_secs(30)).expect("the backup comes to an end");
        match result {
            Ok(()) => assert!(copy.exists()),
            Err(sentence) => assert!(sentence.contains("there is a file of that name"), "{sentence}"),
        }
    }
    let (mut engine, readers) = open(target.path());
    let (last, _) = engine.last_ids().expect("the ids");
    assert_ne!(last, MessageId(0));
    assert_eq!(readers.messages(&[last]).expect("an answer").len(), 1);
    assert!(rows(target.path(), "SELECT count(*) FROM message") >= 2_000);
}

#[test]
fn upkeep_of_an_empty_store_is_done() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path());
    for load in [Load::Busy, Load::Idle] {
        assert_eq!(engine.tend(Timestamp::from_millis(0), load).expect("it tends"), Tended::Done);
    }
    Box::new(engine).close().expect("it closes");
}

#[test]
fn the_log_starts_over_once_a_long_reader_is_gone() {
    let dir = tempfile::tempdir().expect("a directory");
    let start = || opened(dir.path());
    let mut trial = Trial::start(&start);
    let app = trial.app();
    let reader = rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM message;").expect("it reads");
    flood(&mut trial, app, 60);
    let log = || std::fs::metadata(dir.path().join("gonets.db-wal")).expect("the log").len();
    let pinned = log();
    assert!(pinned > 8 << 20, "the reader kept it from starting over: {pinned} bytes");
    reader.execute_batch("COMMIT").expect("it ends");
    trial.tend();
    flood(&mut trial, app, 10);
    assert_eq!(log(), pinned, "it is used again from its beginning");
}

#[test]
fn what_is_made_is_its_owners_alone_and_what_is_there_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let parent = tempfile::tempdir().expect("a directory");
    let dir = parent.path().join("new");
    let (mut engine, _readers) = open(&dir);
    engine.commit(Timestamp::from_millis(1), &[freeze()]).expect("it commits");
    assert_eq!(mode(&dir), 0o700);
    for name in ["gonets.db", "gonets.db-wal", "gonets.db-shm", "gonets.lock"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
    let copy = parent.path().join("copy.db");
    Sqlite::copy(&dir, &copy).expect("it is copied");
    assert_eq!(mode(&copy), 0o600);

    let open_to_the_group = parent.path().join("old");
    std::fs::create_dir(&open_to_the_group).expect("it is made");
    std::fs::set_permissions(&open_to_the_group, PermissionsExt::from_mode(0o750)).expect("it is ours");
    drop(open(&open_to_the_group));
    assert_eq!(mode(&open_to_the_group), 0o750);
}

static HOLDS: AtomicBool = AtomicBool::new(false);
static MAY_END: AtomicBool = AtomicBool::new(false);

/// Called by SQLite when its checkpoint waits for a reader, holding the lock for checkpoints.
fn hold(_: i32) -> bool {
    HOLDS.store(true, Ordering::SeqCst);
    while !MAY_END.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    false
}

#[test]
fn a_checkpoint_by_someone_else_is_no_failure() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path());
    let now = Timestamp::from_millis(1);
    for no in 0..1_200 {
        let write = keep(vec![frozen(Scope::Endpoint(EndpointNo(no)))]);
        engine.commit(now, &[write]).expect("it commits");
    }
    let other = || rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    let (reader, mut checkpointer) = (other(), other());
    reader.execute_batch("BEGIN; SELECT count(*) FROM gate;").expect("it reads");
    checkpointer.busy_handler(Some(hold)).expect("it is set");
    let checkpointing = std::thread::spawn(move || {
        checkpointer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
    });
    while !HOLDS.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let tended = engine.tend(now, Load::Busy);
    MAY_END.store(true, Ordering::SeqCst);
    assert!(checkpointing.join().expect("no panic").expect("an answer"), "it was kept from ending");
    tended.expect("the store goes on");
    assert_eq!(engine.tend(now, Load::Idle).expect("it tends"), Tended::Done, "and is done later");
    engine.commit(now, &[freeze()]).expect("it commits");
    Box::new(engine).close().expect("a reader does not keep it from closing");
    drop(reader);
    let (_engine, readers) = open(dir.path());
    assert_eq!(readers.gates().expect("an answer").len(), 1_201);
}

#[test]
fn r29_a_delivery_that_ended_and_waits_again_is_counted_as_waiting() {
    use gonets_store::conformance::operations::{DELIVERED, outcome};
    let dir = tempfile::tempdir().expect("a directory");
    let start = || opened(dir.path());
    let mut trial = Trial::start(&start);
    let app = trial.app();
    let id = trial.accepted(app, &[7]);
    assert!(trial.one(outcome(id, 7, gonets_store::tx::Source::Fresh, DELIVERED).tx()).is_ok());
    let counts = |trial: &Trial<'_>| {
        let ask = trial.ask();
        let books = ask.books(app, &[EndpointNo(7)], id.accepted_at(), Timestamp::MAX).expect("an answer");
        (books.endpoints[0].delivered, books.endpoints[0].waiting)
    };
    assert_eq!(counts(&trial), (1, 0));
    let conn = rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    conn.execute("INSERT INTO fresh (endpoint, later, msg, kind) VALUES (7, 1, ?1, 0)", [id.0 as i64])
        .expect("it is written");
    assert_eq!(counts(&trial), (0, 1));
}
