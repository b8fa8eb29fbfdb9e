//! The machine under seeded disorder, on both stores; and worlds that are built wrong on purpose.

use std::{sync::Arc, time::Duration};

use gonets_core::profile::builtin;
use gonets_dispatch::config::Bounds;
use gonets_store::{engine::Engine, query::Queries};
use gonets_store_sqlite::{Checkpoints, Options, Sqlite};
use gonets_testkit::{
    clock::ManualClock,
    simulation::{Disk, ModelDisk, Plan, Sabotage, Summary, run},
};

fn plan(seed: u64, sabotage: Sabotage) -> Plan {
    Plan {
        seed,
        endpoints: 1 + (seed % 7) as u32,
        posts: 60 + (seed % 90) as u32,
        span: Duration::from_secs(600),
        crashes: (seed % 4) as u32,
        bounds: Bounds { global_slots: 12, host_slots: 8, window: 8 },
        profile: Arc::new(if seed.is_multiple_of(2) { builtin::payments() } else { builtin::standard() }),
        sabotage,
    }
}

/// SQLite in a folder of its own; a crash leaves a torn frame at the end of the log.
struct SqliteDisk {
    folder: tempfile::TempDir,
    clock: ManualClock,
}

impl SqliteDisk {
    fn new() -> Self {
        let clock = ManualClock::at(gonets_core::time::Timestamp::from_millis(1_800_000_000_000));
        Self { folder: tempfile::tempdir().expect("a temporary folder"), clock }
    }
}

impl Disk for SqliteDisk {
    fn open(&mut self) -> (Box<dyn Engine>, Arc<dyn Queries>) {
        let options =
            Options { checkpoints: Checkpoints::ByWriter, ..Options::new(Arc::new(self.clock.clone())) };
        let (engine, readers) = Sqlite::open(self.folder.path(), options).expect("the store opens");
        (Box::new(engine), readers)
    }

    fn crash(&mut self, engine: Box<dyn Engine>) {
        // Not closed: neither checkpointed nor told. What SQLite had synced is on disk; a frame
        // that was being written is torn.
        let log = self.folder.path().join("gonets.db-wal");
        let copy = std::fs::read(&log).expect("the log is there");
        let database = std::fs::read(self.folder.path().join("gonets.db")).expect("the database is there");
        drop(engine);
        std::fs::write(self.folder.path().join("gonets.db"), database).expect("the database is put back");
        let mut torn = copy;
        torn.extend_from_slice(&[0x5a; 1000]);
        std::fs::write(&log, torn).expect("the log is put back");
    }
}

fn on_model(plan: Plan) -> Result<Summary, gonets_testkit::simulation::Broken> {
    run(plan, &mut ModelDisk::default())
}

#[test]
fn every_law_holds_on_the_model_store() {
    for seed in 0..400 {
        let summary =
            on_model(plan(seed, Sabotage::None)).unwrap_or_else(|broken| panic!("seed {seed}: {broken:?}"));
        assert!(summary.ended > 0, "seed {seed}: {summary:?}");
    }
}

/// R29: a day in which servers go down and come back, refuse, throttle and are gone, people freeze,
/// disable and reset, and the process dies now and then.
#[test]
fn r29_the_books_balance_after_a_random_day_in_a_thousand_seeds() {
    for seed in 10_000..11_000 {
        let day = Plan { span: Duration::from_hours(24), ..plan(seed, Sabotage::None) };
        on_model(day).unwrap_or_else(|broken| panic!("seed {seed}: {broken:?}"));
    }
}

#[test]
fn every_law_holds_on_sqlite() {
    for seed in 1000..1030 {
        let plan = plan(seed, Sabotage::None);
        run(plan, &mut SqliteDisk::new()).unwrap_or_else(|broken| panic!("seed {seed}: {broken:?}"));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 7, 42] {
        assert_eq!(on_model(plan(seed, Sabotage::None)), on_model(plan(seed, Sabotage::None)));
    }
}

/// The laws that 40 seeds of a sabotaged world break.
fn laws_broken_by(sabotage: Sabotage) -> Vec<u8> {
    (0..40)
        .map(|seed| Plan { crashes: 3, ..plan(seed, sabotage) })
        .filter_map(|plan| on_model(plan).err())
        .map(|broken| broken.law)
        .collect()
}

#[test]
fn a_build_that_acknowledges_before_the_commit_is_caught() {
    assert!(laws_broken_by(Sabotage::AckBeforeCommit).contains(&1));
}

#[test]
fn a_build_that_records_the_outcome_after_the_retry_was_sent_is_caught() {
    assert!(laws_broken_by(Sabotage::RetryBeforeRecord).contains(&2));
}

#[test]
fn a_build_that_forgets_due_times_at_restart_is_caught() {
    let laws = laws_broken_by(Sabotage::ForgetDueTimes);
    assert!(laws.contains(&1), "{laws:?}");
}
