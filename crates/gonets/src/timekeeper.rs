//! How much time really passed while no server ran on a data directory (R25).
//!
//! Pauses run on while the process is down, so at start they are taken up by the clock. But a wall clock
//! can be set meanwhile, and then what it shows is not what passed. The operating system counts the time
//! since it was booted, and nobody sets that. So a small file beside the store has, every few seconds,
//! the boot, its count and our time. After a restart within the same boot the time that passed is
//! exact; after a reboot the wall clock is all there is.
//!
//! The file is written without a sync: it is worth nothing after a reboot, and until then the page cache
//! has it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gonets_core::{
    clock::SystemClock,
    time::{Clock, Timestamp},
};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const FILE: &str = "clock.json";
/// The number of this boot, on Linux.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// How often the file is written. What it says stays true; newer is only better against slow drift.
const EVERY: Duration = Duration::from_secs(60);
/// A clock that differs by less was not set; it runs as clocks do.
const DRIFT: Duration = Duration::from_secs(60);

/// The last moment of a run that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Moment {
    boot: String,
    since_boot_ms: u64,
    now: Timestamp,
}

/// Keeps and reads the file of one data directory.
#[derive(Debug, Clone)]
pub struct Timekeeper {
    file: PathBuf,
    /// `None` where the system tells no boot: then there is nothing to keep.
    boot: Option<String>,
}

/// How the clock starts.
#[derive(Debug)]
pub struct Resumed {
    pub clock: SystemClock,
    /// The wall clock was set forward by so much while no server ran.
    pub set_forward: Option<Duration>,
}

impl Timekeeper {
    pub fn of(dir: &Path) -> Self {
        let boot = std::fs::read_to_string(BOOT_ID).ok().map(|id| id.trim().to_owned());
        Self { file: dir.join(FILE), boot }
    }

    /// The clock to run on. `recorded` is the last instant that the store has.
    pub fn resume(&self, recorded: Timestamp) -> Resumed {
        let expected = self.expected();
        let clock = SystemClock::not_before(expected.map_or(recorded, |at| at.max(recorded)));
        let ahead = expected.map(|expected| clock.now().since(expected)).filter(|ahead| *ahead > DRIFT);
        let back = clock.now().since(clock.wall());
        if let Some(ahead) = ahead {
            tracing::warn!(
                "the wall clock was set forward by {ahead:?} since the last run; pauses keep their length"
            );
        } else if back > DRIFT {
            tracing::warn!("the wall clock stands {back:?} before the last run; Gonets counts on from there");
        }
        Resumed { clock, set_forward: ahead }
    }

    /// What the clock should show now, if this is still the boot of the last run.
    fn expected(&self) -> Option<Timestamp> {
        let kept: Moment = serde_json::from_slice(&std::fs::read(&self.file).ok()?).ok()?;
        if Some(&kept.boot) != self.boot.as_ref() {
            return None;
        }
        let passed = since_boot_ms().checked_sub(kept.since_boot_ms)?;
        Some(kept.now.saturating_add(Duration::from_millis(passed)))
    }

    /// Keeps the file until it is dropped.
    pub async fn keep(self, clock: Arc<dyn Clock>) {
        let Some(boot) = &self.boot else { return };
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut told = false;
        loop {
            ticks.tick().await;
            let moment = Moment { boot: boot.clone(), since_boot_ms: since_boot_ms(), now: clock.now() };
            if let Err(cause) = self.write(&moment)
                && !std::mem::replace(&mut told, true)
            {
                let file = self.file.display();
                tracing::warn!(%cause, "{file} cannot be written; a clock that is set will not be noticed");
            }
        }
    }

    fn write(&self, moment: &Moment) -> std::io::Result<()> {
        let beside = self.file.with_extension("json.new");
        std::fs::write(&beside, serde_json::to_vec(moment)?)?;
        std::fs::rename(&beside, &self.file)
    }
}

fn since_boot_ms() -> u64 {
    let since = clock_gettime(ClockId::Boottime);
    u64::try_from(since.tv_sec * 1000 + since.tv_nsec / 1_000_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(dir: &Path, back: Duration, boot: Option<&str>) -> Timekeeper {
        let keeper = Timekeeper::of(dir);
        let wall = SystemClock::start().now().as_millis();
        let moment = Moment {
            boot: boot.map_or_else(|| keeper.boot.clone().unwrap_or_default(), str::to_owned),
            since_boot_ms: since_boot_ms(),
            now: Timestamp::from_millis(wall - back.as_millis() as i64),
        };
        keeper.write(&moment).expect("the file can be written");
        keeper
    }

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn r25_a_clock_that_was_set_forward_is_noticed_by_how_much() {
        let dir = tempfile::tempdir().expect("a directory");
        let resumed = kept(dir.path(), DAY, None).resume(Timestamp::from_millis(0));
        let ahead = resumed.set_forward.expect("it is noticed");
        assert!(ahead >= DAY && ahead < DAY + DRIFT, "{ahead:?}");
    }

    #[test]
    fn r25_a_clock_that_was_set_back_does_not_bring_time_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let wall = SystemClock::start().now();
        let recorded = wall + DAY;
        let resumed = Timekeeper::of(dir.path()).resume(recorded);
        assert!(resumed.clock.now() >= recorded && resumed.set_forward.is_none());
    }

    #[test]
    fn r25_time_that_passed_is_not_a_clock_that_was_set_and_another_boot_says_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(
            kept(dir.path(), Duration::ZERO, None).resume(Timestamp::from_millis(0)).set_forward,
            None
        );
        assert_eq!(kept(dir.path(), DAY, Some("other")).resume(Timestamp::from_millis(0)).set_forward, None);
        std::fs::write(dir.path().join(FILE), b"{").expect("a file");
        assert_eq!(Timekeeper::of(dir.path()).resume(Timestamp::from_millis(0)).set_forward, None);
    }
}
