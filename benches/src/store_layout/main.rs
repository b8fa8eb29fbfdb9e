//! `store-layout`: what a delivery costs in SQLite, by the layout of the tables.
//!
//! The store's layout rests on one claim: not rows cost, but *pages touched per commit*. This
//! program lets anyone check it. It writes the same deliveries into three layouts, at 20, 100 and
//! 1,000 operations a commit, and prints the rates at the start, with empty tables, and at the end,
//! and how much was written for each delivery.
//!
//! It is not a measurement of Gonets: there is no network, no engine and no reader here, and the
//! layouts are cut down to what a delivery that succeeds at once writes (accept, then outcome).
//!
//! Only ratios between layouts mean something on another machine. So the layouts take turns, each
//! writing a fortieth of its deliveries at a time: whatever else the machine does hits all three.
//! A disk that slows down after a burst of writes, as rented ones do, hits the thrifty layout with
//! the others' debts, though; the bytes written are exact everywhere.

mod database;
mod filled_behind;
mod integer_eager;
mod layout;
mod measure;
mod report;
mod tail;
mod uuid_eight;
mod written;

use std::io::{Write, stderr, stdout};
use std::path::PathBuf;

use clap::Parser;

use crate::measure::{Plan, measure};

/// Measures three layouts of the store's tables in SQLite.
#[derive(Debug, Parser)]
#[command(name = "store-layout")]
struct Arguments {
    /// Deliveries to write into each layout, at each size of a commit.
    #[arg(long, default_value_t = 300_000)]
    deliveries: usize,
    /// Operations a commit holds (an accept is one, an outcome is one); may be repeated.
    #[arg(long, default_values_t = [20, 100, 1000])]
    operations: Vec<usize>,
    /// Endpoints that the deliveries are spread over; each is an application's only one.
    #[arg(long, default_value_t = 1000)]
    endpoints: u32,
    /// Index rows that a commit writes at most in the layout that fills its indexes behind.
    #[arg(long, default_value_t = 300)]
    slice: usize,
    /// Where the databases are made and removed again; by default the system's temporary folder.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let plan = Plan {
        deliveries: arguments.deliveries,
        endpoints: arguments.endpoints,
        slice_rows: arguments.slice,
        dir: arguments.dir.unwrap_or_else(std::env::temp_dir),
    };
    plan.check()?;

    let mut rows = Vec::new();
    for operations in arguments.operations {
        writeln!(stderr(), "{operations} operations a commit …")?;
        rows.extend(measure(&plan, operations)?);
    }

    let text = if arguments.json { report::json(&plan, &rows) } else { report::table(&plan, &rows) };
    writeln!(stdout(), "{text}")?;
    Ok(())
}
