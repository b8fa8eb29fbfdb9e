//! The log and its checkpoints beside the writer: it starts over under load and while idle, a
//! crash in the middle of one loses nothing, and closing waits for it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gonets_core::{
    gate::Scope,
    ids::EndpointNo,
    time::{Clock, Timestamp},
};
use gonets_store::{
    conformance::operations::{freeze as frozen, keep},
    engine::{Engine, Load, Tended},
    query::Lanes,
    tx::Tx,
};
use gonets_store_sqlite::{Checkpoints, Options, Sqlite, SqliteEngine, SqliteReaders};

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }

    fn wall(&self) -> Timestamp {
        NOW
    }
}

const NOW: Timestamp = Timestamp::from_millis(1);

fn open(dir: &Path, checkpoints: Checkpoints) -> (SqliteEngine, Arc<SqliteReaders>) {
    let options = Options { checkpoints, ..Options::new(Arc::new(Still)) };
    Sqlite::open(dir, options).expect("the store opens")
}

fn freeze(no: u32) -> Tx {
    keep(vec![frozen(Scope::Endpoint(EndpointNo(no)))])
}

/// A commit of a page, and the upkeep after it.
fn commit(engine: &mut SqliteEngine, no: u32) {
    commit_all(engine, &[freeze(no)]);
}

fn commit_all(engine: &mut SqliteEngine, batch: &[Tx]) {
    engine.commit(NOW, batch).expect("it commits");
    engine.tend(NOW, Load::Busy).expect("it tends");
}

fn log(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("gonets.db-wal")).expect("the log").len()
}

/// How many of its rows are in the file without the log.
fn moved(dir: &Path) -> i64 {
    let alone = tempfile::tempdir().expect("a directory");
    std::fs::copy(dir.join("gonets.db"), alone.path().join("gonets.db")).expect("it is copied");
    let conn = rusqlite::Connection::open(alone.path().join("gonets.db")).expect("the file opens");
    conn.query_row("SELECT count(*) FROM gate", [], |row| row.get(0)).expect("it counts")
}

fn rest(engine: &mut SqliteEngine) {
    while engine.tend(NOW, Load::Idle).expect("it tends") == Tended::More {
        std::thread::yield_now();
    }
}

/// A commit of some eighty pages, and the upkeep after it.
fn commit_widely(engine: &mut SqliteEngine, no: u32) {
    let scattered = (0..100).map(|at| freeze((at * 197 + no * 7) % 20_000));
    commit_all(engine, &scattered.collect::<Vec<_>>());
}

#[test]
fn the_log_does_not_grow_without_bound_while_commits_never_pause() {
    for checkpoints in [Checkpoints::Aside, Checkpoints::ByWriter] {
        let dir = tempfile::tempdir().expect("a directory");
        let (mut engine, _readers) = open(dir.path(), checkpoints);
        for no in 0..600 {
            commit_widely(&mut engine, no);
        }
        // It never gets shorter, so this was its greatest length.
        let longest = log(dir.path());
        assert!(longest > 4 << 20, "{checkpoints:?}: {longest} bytes");
        assert!(longest < 66 << 20, "{checkpoints:?}: {longest} bytes, of over 100 MB written");
    }
}

#[test]
fn all_of_the_log_is_moved_once_there_is_a_pause() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path(), Checkpoints::Aside);
    for no in 0..1_500 {
        commit(&mut engine, no);
    }
    rest(&mut engine);
    assert!(moved(dir.path()) >= 900, "a checkpoint was due at a thousand pages");
    let before = log(dir.path());
    // What came after the last checkpoint is left until the next is due; then it starts over.
    for no in 1_500..2_900 {
        commit(&mut engine, no);
        rest(&mut engine);
    }
    assert!(log(dir.path()) < before + (3 << 20), "it started over");
}

#[test]
fn a_crash_at_any_moment_of_a_checkpoint_loses_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path(), Checkpoints::Aside);
    for no in 0..3_000 {
        commit(&mut engine, no);
        if no % 100 != 99 {
            continue;
        }
        // What a machine finds that lost power now. The thread may be moving pages meanwhile, so
        // the file is taken first: what is moved later is still in the log, as only this thread
        // lets it start over. A torn frame follows.
        let after = tempfile::tempdir().expect("another");
        std::fs::copy(dir.path().join("gonets.db"), after.path().join("gonets.db")).expect("it is copied");
        let mut torn = std::fs::read(dir.path().join("gonets.db-wal")).expect("it is read");
        torn.extend_from_slice(&[0x5a; 1000]);
        std::fs::write(after.path().join("gonets.db-wal"), torn).expect("it is written");
        let (_engine, readers) = open(after.path(), Checkpoints::Aside);
        assert_eq!(readers.gates().expect("an answer").len(), no as usize + 1);
    }
}

#[test]
fn closing_waits_for_the_checkpoint_under_way_and_leaves_no_log() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, readers) = open(dir.path(), Checkpoints::Aside);
    let mut no = 0;
    while engine.tend(NOW, Load::Busy).expect("it tends") == Tended::Done && log(dir.path()) < 5 << 20 {
        commit(&mut engine, no);
        no += 1;
    }
    Box::new(engine).close().expect("it closes");
    assert_eq!(moved(dir.path()), i64::from(no));
    drop(readers);
    assert!(!dir.path().join("gonets.db-wal").exists(), "nobody has it open any more");
}

#[test]
fn a_reader_of_an_old_state_holds_the_log_and_its_end_lets_it_start_over() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path(), Checkpoints::Aside);
    commit(&mut engine, 0);
    let reader = rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    reader.busy_timeout(Duration::ZERO).expect("it is set");
    reader.execute_batch("BEGIN; SELECT count(*) FROM gate;").expect("it reads");
    for no in 1..2_000 {
        commit(&mut engine, no);
    }
    let pinned = log(dir.path());
    assert!(pinned > 7 << 20, "the reader kept it from starting over: {pinned} bytes");
    let seen: i64 = reader.query_row("SELECT count(*) FROM gate", [], |row| row.get(0)).expect("it counts");
    assert_eq!(seen, 1, "it sees what it saw");
    reader.execute_batch("COMMIT").expect("it ends");
    rest(&mut engine);
    for no in 2_000..2_300 {
        commit(&mut engine, no);
    }
    assert_eq!(log(dir.path()), pinned, "it is used again from its beginning");
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
fn another_programs_checkpoint_is_waited_for_and_then_ours_is_made() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut engine, _readers) = open(dir.path(), Checkpoints::Aside);
    let other = || rusqlite::Connection::open(dir.path().join("gonets.db")).expect("the file opens");
    let (reader, mut checkpointer) = (other(), other());
    for no in 0..1_300 {
        if no == 700 {
            reader.execute_batch("BEGIN; SELECT count(*) FROM gate;").expect("it reads");
        }
        // Without the upkeep: a checkpoint is due, and none is begun.
        engine.commit(NOW, &[freeze(no)]).expect("it commits");
    }
    checkpointer.busy_handler(Some(hold)).expect("it is set");
    let file = || std::fs::metadata(dir.path().join("gonets.db")).expect("the file").len();
    let before = file();
    let checkpointing = std::thread::spawn(move || {
        checkpointer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
    });
    while !HOLDS.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    for _ in 0..10_000 {
        engine.tend(NOW, Load::Busy).expect("the store goes on");
        std::thread::yield_now();
    }
    assert_eq!(file(), before, "ours moves nothing while the other has the lock");
    reader.execute_batch("COMMIT").expect("it ends");
    MAY_END.store(true, Ordering::SeqCst);
    checkpointing.join().expect("no panic").expect("an answer");
    rest(&mut engine);
    assert_eq!(moved(dir.path()), 1_300);
}
