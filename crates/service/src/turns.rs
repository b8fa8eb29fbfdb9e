//! How a change gets through though others change the same thing all the time.
//!
//! The store guards versions: whoever wrote from an old one reads again and repeats. That alone
//! has no end when many are at it: each round has one winner, and a message that must be routed by
//! the newest version of an application loses against every edit of its endpoints. So tries are
//! made side by side at first, and when that was not enough, alone: the next try waits for those
//! under way, and the others wait for it. Only what others do on another node can then be faster,
//! so tries have an end in time, too.

use std::time::Duration;

use gonets_core::ids::AppNo;
use tokio::{
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Instant, timeout_at},
};

use crate::{error::Error, service::Service};

/// Tries that are made side by side with those of others.
const TOGETHER: u32 = 3;
/// How long a change is tried.
const PATIENCE: Duration = Duration::from_secs(10);
/// Locks that all things share; two that share one only wait for each other a little.
const LOCKS: usize = 64;

/// Who changes what at the moment.
pub(crate) struct Turns([RwLock<()>; LOCKS]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::new(())))
    }
}

/// The tries of one change. The turn of a try lasts until the next one, or until this is dropped.
pub(crate) struct Tries<'a> {
    lock: &'a RwLock<()>,
    deadline: Instant,
    made: u32,
    turn: Option<Turn<'a>>,
}

/// Held, never looked at.
enum Turn<'a> {
    Together { _held: RwLockReadGuard<'a, ()> },
    Alone { _held: RwLockWriteGuard<'a, ()> },
}

impl<'a> Tries<'a> {
    fn new(lock: &'a RwLock<()>) -> Self {
        Self { lock, deadline: Instant::now() + PATIENCE, made: 0, turn: None }
    }

    /// Waits for the turn of the next try. What is written must be read after this.
    ///
    /// # Errors
    /// [`Error::Contended`] when there was no end of others being faster.
    pub(crate) async fn next(&mut self) -> Result<(), Error> {
        self.turn = None;
        if self.made > 0 && Instant::now() >= self.deadline {
            return Err(Error::Contended);
        }
        let is_together = self.made < TOGETHER;
        let waiting = async {
            if is_together {
                Turn::Together { _held: self.lock.read().await }
            } else {
                Turn::Alone { _held: self.lock.write().await }
            }
        };
        let turn = timeout_at(self.deadline, waiting).await.map_err(|_| Error::Contended)?;
        self.turn = Some(turn);
        self.made += 1;
        Ok(())
    }
}

impl Service {
    /// Tries of a change to an application or what belongs to it.
    pub(crate) fn tries_about(&self, app: AppNo) -> Tries<'_> {
        Tries::new(&self.turns().0[app.0 as usize % LOCKS])
    }

    /// Tries of a change to something that may not be there yet, by its name.
    pub(crate) fn tries_named(&self, name: &str) -> Tries<'_> {
        let sum = name.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        Tries::new(&self.turns().0[sum % LOCKS])
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn poll<T>(future: impl Future<Output = T>) -> Poll<T> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn first_tries_are_made_side_by_side_and_later_ones_alone() {
        let lock = RwLock::new(());
        let (mut patient, mut other) = (Tries::new(&lock), Tries::new(&lock));
        for _ in 0..TOGETHER {
            assert!(poll(patient.next()).is_ready() && poll(other.next()).is_ready());
        }
        assert!(poll(patient.next()).is_pending(), "the other's try is under way");
        drop(other);
        assert!(poll(patient.next()).is_ready());
        assert!(poll(Tries::new(&lock).next()).is_pending(), "nobody comes between");
        drop(patient);
        assert!(poll(Tries::new(&lock).next()).is_ready());
    }

    #[tokio::test]
    async fn tries_have_an_end_in_time() {
        let lock = RwLock::new(());
        let mut late = Tries { deadline: Instant::now(), ..Tries::new(&lock) };
        assert!(late.next().await.is_ok(), "the first is always made");
        let error = late.next().await.unwrap_err();
        assert_eq!(error.code(), "busy");
    }
}
