//! What must hold in every run, whatever the seed.
//!
//! 1. *Nothing acknowledged is lost*: in the end every message whose caller got its 202 has come to
//!    an end at every endpoint it was routed to, and every accepted retry by hand was made.
//! 2. *An outcome is recorded before the next attempt*: no attempt of a delivery starts while the
//!    record of the one before is not committed, in the life of one process.
//! 3. *Nothing is early*: no attempt but one by hand starts before the due time that was committed
//!    for it, across restarts too.
//! 4. *One at a time*: no delivery has two attempts under way.
//! 5. *Duplicates have a cause*: a delivery is delivered again only if the process died between its
//!    success and the commit of it, or if someone asked for it by hand.
//! 6. *Bounds hold*: never more requests at once than there are slots.
//! 7. *Every outcome finds its delivery*: the store never refuses a record.

use std::collections::{BTreeSet, HashMap, HashSet};

use gonets_core::{
    ids::{EndpointNo, MessageId},
    outcome::Outcome as Came,
    time::Timestamp,
};
use gonets_store::tx::{Outcome, Then};

/// A delivery.
pub(super) type Key = (EndpointNo, MessageId);

/// One POST of a caller.
pub(super) type Post = u32;

/// A law that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which of the laws, by its number above.
    pub law: u8,
    pub what: String,
}

/// What has been seen so far.
#[derive(Debug, Default)]
pub(super) struct Laws {
    /// Posts whose caller was told that they are safe.
    acknowledged: BTreeSet<Post>,
    /// The deliveries that each post came to, once committed.
    stored: HashMap<Post, Vec<Key>>,
    ended: HashSet<Key>,
    under_way: HashSet<Key>,
    unrecorded: HashSet<Key>,
    due: HashMap<Key, Timestamp>,
    successes: HashMap<Key, u32>,
    /// Successes whose record a crash may have taken along.
    excused: HashMap<Key, u32>,
    pub(super) duplicates: usize,
}

impl Laws {
    pub(super) fn acknowledged(&mut self, post: Post) {
        self.acknowledged.insert(post);
    }

    pub(super) fn stored(&mut self, post: Post, keys: Vec<Key>) {
        self.stored.insert(post, keys);
    }

    pub(super) fn sent(&mut self, key: Key, now: Timestamp, by_hand: bool) -> Result<(), Broken> {
        if self.unrecorded.contains(&key) {
            return Err(broken(2, format!("{key:?} was tried again before its last outcome was committed")));
        }
        if let Some(due) = self.due.get(&key).filter(|due| now < **due && !by_hand) {
            return Err(broken(3, format!("{key:?} was tried at {now}, but it was due at {due}")));
        }
        if !self.under_way.insert(key) {
            return Err(broken(4, format!("{key:?} has two attempts under way")));
        }
        Ok(())
    }

    pub(super) fn answered(&mut self, key: Key, outcome: Came, by_hand: bool) -> Result<(), Broken> {
        self.under_way.remove(&key);
        // A retry by hand that was cut short is simply made again: there is nothing to record.
        if !(by_hand && outcome == Came::Interrupted) {
            self.unrecorded.insert(key);
        }
        if outcome != Came::Delivered {
            return Ok(());
        }
        let successes = self.successes.entry(key).or_default();
        *successes += 1;
        if *successes > 1 {
            self.duplicates += 1;
            if *successes - 1 > self.excused.get(&key).copied().unwrap_or(0) {
                return Err(broken(5, format!("{key:?} was delivered {successes} times without a cause")));
            }
        }
        Ok(())
    }

    pub(super) fn committed(&mut self, key: Key, outcome: &Outcome) {
        self.unrecorded.remove(&key);
        match outcome.then {
            Then::Waiting { due, .. } => {
                self.due.insert(key, due);
            }
            Then::Settled { .. } => {
                self.due.remove(&key);
                self.ended.insert(key);
            }
            Then::Untouched => {}
        }
    }

    pub(super) fn pressed_again(&mut self, key: Key) {
        *self.excused.entry(key).or_default() += 1;
    }

    /// Some delivery that is in the store, chosen by `luck`.
    pub(super) fn any_stored(&self, luck: usize) -> Option<Key> {
        let post = Post::try_from(luck % (self.stored.len().max(1) * 2)).ok()?;
        let keys = self.stored.get(&post).filter(|keys| !keys.is_empty())?;
        Some(keys[luck % keys.len()])
    }

    pub(super) fn forgotten(&self, key: Key) -> Broken {
        broken(1, format!("a retry by hand of {key:?} was accepted and never made"))
    }

    pub(super) fn crashed(&mut self) {
        for key in self.unrecorded.drain() {
            *self.excused.entry(key).or_default() += 1;
        }
        for key in self.under_way.drain() {
            // The peer may have taken it and answered into the void.
            *self.excused.entry(key).or_default() += 1;
        }
    }

    pub(super) fn refused(&self, key: Key, why: &str) -> Broken {
        broken(7, format!("the record of an attempt of {key:?} was refused: {why}"))
    }

    pub(super) fn at_rest(&self) -> Result<(), Broken> {
        for post in &self.acknowledged {
            let Some(keys) = self.stored.get(post) else {
                return Err(broken(1, format!("post {post} was acknowledged and is not in the store")));
            };
            if let Some(key) = keys.iter().find(|key| !self.ended.contains(key)) {
                return Err(broken(1, format!("{key:?} was acknowledged and never came to an end")));
            }
        }
        Ok(())
    }

    pub(super) fn ended(&self) -> usize {
        self.ended.len()
    }

    pub(super) fn bounds(&self, in_flight: usize, most: usize) -> Result<(), Broken> {
        if in_flight > most {
            return Err(broken(6, format!("{in_flight} requests at once, of {most} allowed")));
        }
        Ok(())
    }
}

fn broken(law: u8, what: String) -> Broken {
    Broken { law, what }
}
