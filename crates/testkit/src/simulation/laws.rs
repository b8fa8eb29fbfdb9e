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
//! 8. *An open breaker lets through one probe at a time* (R12): while it is open, what is sent by itself
//!    is a probe, and another only when the lease of the one before is over; across restarts too.
//! 9. *The books balance* (R29): in the end the store counts what was accepted as delivered, failed or
//!    cancelled, and nothing as waiting.

use std::collections::{BTreeSet, HashMap, HashSet};

use gonets_core::{
    gate::{Gate, GateChange, GateWrite, Scope},
    ids::{EndpointNo, MessageId},
    outcome::Outcome as Came,
    time::Timestamp,
};
use gonets_store::{
    record::Books,
    tx::{Outcome, Then},
};

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
    /// Open breakers: when each may send its next probe.
    open: HashMap<Scope, Timestamp>,
    /// Until when the last probe of a breaker is leased.
    leases: HashMap<Scope, Timestamp>,
    /// The probe that is under way, by its breaker.
    probes: HashMap<Scope, Key>,
}

impl Laws {
    /// What the machine says of its gates, in the order in which it does.
    pub(super) fn gates(&mut self, gates: &[GateWrite]) {
        for write in gates {
            match write.change {
                GateChange::Breaker(Some(state)) => drop(self.open.insert(write.scope, state.probe_at)),
                GateChange::Breaker(None) => {
                    self.open.remove(&write.scope);
                    self.probes.remove(&write.scope);
                }
                _ => {}
            }
        }
    }

    /// After a crash: the gates as the store has them.
    pub(super) fn restored(&mut self, gates: &[(Scope, Gate)]) {
        self.open.clear();
        self.probes.clear();
        for (scope, gate) in gates {
            if let Some(breaker) = gate.breaker {
                self.open.insert(*scope, breaker.probe_at);
            }
        }
    }

    /// An attempt goes out by itself; `scope` is that of the breaker in front of it.
    pub(super) fn passes(
        &mut self,
        scope: Scope,
        key: Key,
        probe: bool,
        now: Timestamp,
    ) -> Result<(), Broken> {
        let Some(lease_until) = self.open.get(&scope) else { return Ok(()) };
        if !probe {
            return Err(broken(8, format!("{key:?} was tried although the breaker of {scope:?} is open")));
        }
        // The lease of this probe is kept just before it goes out, so its end lies ahead.
        if let Some(other) = self.probes.insert(scope, key)
            && self.under_way.contains(&other)
            && self.leases.get(&scope).is_some_and(|until| now < *until)
        {
            return Err(broken(8, format!("{key:?} is a second probe beside {other:?} at {scope:?}")));
        }
        self.leases.insert(scope, *lease_until);
        Ok(())
    }

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
        self.probes.retain(|_, probe| *probe != key);
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

    /// What the store counts in the end.
    pub(super) fn balance(&self, books: &Books) -> Result<(), Broken> {
        let waiting: u64 = books.endpoints.iter().map(|at| at.waiting).sum();
        let ended: u64 =
            books.endpoints.iter().map(|at| at.delivered + at.failed + at.cancelled + at.skipped).sum();
        let accepted: usize = self.stored.values().map(Vec::len).sum();
        if !books.is_balanced()
            || waiting > 0
            || ended != accepted as u64
            || books.messages != self.stored.len() as u64
        {
            return Err(broken(
                9,
                format!("{accepted} deliveries were accepted, but the books say {books:?}"),
            ));
        }
        Ok(())
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
