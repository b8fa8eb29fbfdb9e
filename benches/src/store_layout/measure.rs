//! The measurement: layouts in turn, the same deliveries for each, time by turn.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::database;
use crate::layout::{ALL, Layout};
use crate::written;

/// Turns that each layout's deliveries are divided into.
const TURNS: usize = 40;
/// Turns at either end that the start's and the end's rate are taken from: a tenth of all.
const EDGE_TURNS: usize = TURNS / 10;

/// What to measure.
#[derive(Debug)]
pub struct Plan {
    /// Deliveries per layout and size of commit.
    pub deliveries: usize,
    /// Endpoints they are spread over, evenly and at random.
    pub endpoints: u32,
    /// Index rows a commit writes at most, where indexes are filled behind.
    pub slice_rows: usize,
    /// The folder for the databases.
    pub dir: PathBuf,
}

impl Plan {
    /// Refuses plans that could not be measured.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.deliveries >= 40_000,
            "--deliveries must be at least 40,000, or the rates are mostly chance."
        );
        ensure!(self.endpoints >= 1, "--endpoints must be at least 1.");
        ensure!(self.slice_rows >= 1, "--slice must be at least 1, or the indexes would never be filled.");
        Ok(())
    }
}

/// One layout's figures at one size of commit.
#[derive(Debug)]
pub struct Measured {
    pub layout: &'static str,
    pub operations: usize,
    /// Over the first tenth, from empty tables.
    pub start: Edge,
    /// Over the last tenth.
    pub end: Edge,
}

/// The figures of a tenth of the deliveries.
#[derive(Debug)]
pub struct Edge {
    /// Deliveries per second.
    pub rate: f64,
    /// Bytes handed to the system for each delivery, in WAL and database; unknown outside Linux.
    pub bytes: Option<f64>,
}

impl Edge {
    fn of(turns: &[Turn], deliveries: usize) -> Self {
        let took: Duration = turns.iter().map(|turn| turn.took).sum();
        let written: Option<u64> = turns.iter().map(|turn| turn.written).sum();
        let deliveries = deliveries as f64;
        Self { rate: deliveries / took.as_secs_f64(), bytes: written.map(|bytes| bytes as f64 / deliveries) }
    }
}

/// What a turn took.
struct Turn {
    took: Duration,
    written: Option<u64>,
}

/// A layout in the making.
struct Runner {
    layout: Box<dyn Layout>,
    random: fastrand::Rng,
    turns: Vec<Turn>,
}

/// Writes the plan's deliveries into every layout, `operations` (half accepts, half outcomes) a commit.
pub fn measure(plan: &Plan, operations: usize) -> anyhow::Result<Vec<Measured>> {
    let per_commit = operations / 2;
    ensure!(per_commit >= 1, "--operations must be at least 2: an accept and an outcome.");
    let commits = plan.deliveries / TURNS / per_commit;
    ensure!(
        commits >= 1,
        "--operations {operations} is too many for --deliveries {}: a fortieth is under a commit.",
        plan.deliveries
    );

    let dir =
        tempfile::tempdir_in(&plan.dir).with_context(|| format!("cannot make a folder in {:?}", plan.dir))?;
    let mut runners = Vec::new();
    for (no, make) in ALL.into_iter().enumerate() {
        let connection = database::create(&dir.path().join(format!("{no}.db")))?;
        let layout = make(connection, plan.slice_rows)?;
        runners.push(Runner { layout, random: fastrand::Rng::with_seed(1), turns: Vec::new() });
    }
    for _ in 0..TURNS {
        for runner in &mut runners {
            let turn = turn(runner, plan, commits, per_commit)?;
            runner.turns.push(turn);
        }
    }

    let per_edge = EDGE_TURNS * commits * per_commit;
    let row = |runner: &Runner| Measured {
        layout: runner.layout.name(),
        operations,
        start: Edge::of(&runner.turns[..EDGE_TURNS], per_edge),
        end: Edge::of(&runner.turns[TURNS - EDGE_TURNS..], per_edge),
    };
    Ok(runners.iter().map(row).collect())
}

#[expect(clippy::disallowed_methods, reason = "the passing of real time is what is measured")]
fn turn(runner: &mut Runner, plan: &Plan, commits: usize, per_commit: usize) -> rusqlite::Result<Turn> {
    let written_before = written::bytes_so_far();
    let begin = Instant::now();
    let mut endpoints = Vec::with_capacity(per_commit);
    for _ in 0..commits {
        endpoints.clear();
        endpoints.extend((0..per_commit).map(|_| runner.random.u32(0..plan.endpoints)));
        runner.layout.commit(&endpoints)?;
    }
    let took = begin.elapsed();
    let written = written::bytes_so_far().zip(written_before).map(|(after, before)| after - before);
    Ok(Turn { took, written })
}
