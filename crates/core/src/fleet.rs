//! R27: when so many hosts fail at once that we must suspect ourselves.
//!
//! ## Why
//! Our own name server, uplink or firewall can fail. Then every endpoint looks dead at once, and the
//! rules that are right for one dead endpoint would spend every delivery's steps, open every breaker
//! and write to every partner.
//!
//! ## Trip conditions
//! Of at least [`HOSTS`] distinct hosts tried within [`WINDOW`], half fell: their last attempt failed
//! at DNS or connect, and they had answered before. Hosts that never answered say nothing of us.
//!
//! ## Suspects
//! The first failures come before there is enough to judge by. So while enough hosts are tried, a
//! failure to reach a host that answered before is a *suspect*: its judgement is put off until
//! another host answers an attempt that began after it (then our network works), until sending pauses
//! (then it costs nothing), or for [`SUSPECT_FOR`] at most.
//!
//! ## Recovery
//! While sending pauses one canary goes out every [`CANARY_EVERY`], over different hosts; the first
//! that gets an answer, any answer, ends the pause.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use crate::time::Timestamp;

/// Distinct hosts that must have been tried to judge by.
pub const HOSTS: usize = 20;
/// How far back attempts count.
pub const WINDOW: Duration = Duration::from_secs(60);
/// How long an answer is remembered as "it answered before".
pub const REMEMBERED: Duration = Duration::from_secs(3600);
/// The longest that a suspect's judgement is put off.
pub const SUSPECT_FOR: Duration = Duration::from_secs(15);
/// Between canaries.
pub const CANARY_EVERY: Duration = Duration::from_secs(5);

/// How far an attempt came on the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reached {
    /// A byte of an answer came, or the connection stood: the network works.
    Yes,
    /// It failed at DNS or connect.
    No,
    /// It says nothing of the network: blocked, interrupted, not sent.
    Unknown,
}

/// All hosts together. `H` is a host and port.
#[derive(Debug, Clone)]
pub struct Fleet<H> {
    hosts: HashMap<H, Host>,
    /// The hosts with an attempt in the window, by its end, for forgetting.
    recent: BTreeSet<(Timestamp, H)>,
    /// Hosts with an attempt in the window, and those of them that fell.
    tried: usize,
    fallen: usize,
    paused: Option<Paused>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Host {
    /// The last attempt in the window: when, to the second, and whether the host fell.
    last: Option<(Timestamp, bool)>,
    answered: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Paused {
    since: Timestamp,
    canary_at: Timestamp,
}

/// What a result did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FleetChange {
    Unchanged,
    /// Sending pauses as a whole.
    Paused,
    /// Sending goes on.
    Resumed,
}

impl<H> Default for Fleet<H> {
    fn default() -> Self {
        Self { hosts: HashMap::new(), recent: BTreeSet::new(), tried: 0, fallen: 0, paused: None }
    }
}

/// Hosts that are tried all the time are put in order again once in this time only.
const COARSE: Duration = Duration::from_secs(1);

impl<H: Copy + Ord + std::hash::Hash> Fleet<H> {
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    pub fn paused_since(&self) -> Option<Timestamp> {
        self.paused.map(|paused| paused.since)
    }

    /// When the next canary may go out, while sending pauses.
    pub fn canary_at(&self) -> Option<Timestamp> {
        self.paused.map(|paused| paused.canary_at)
    }

    /// A canary went out.
    pub fn canary_sent(&mut self, now: Timestamp) {
        if let Some(paused) = &mut self.paused {
            paused.canary_at = now.saturating_add(CANARY_EVERY);
        }
    }

    /// An attempt at `host` ended.
    pub fn on_result(&mut self, host: H, reached: Reached, at: Timestamp) -> FleetChange {
        let reached = match reached {
            Reached::Yes => true,
            Reached::No => false,
            Reached::Unknown => return FleetChange::Unchanged,
        };
        self.forget(at);
        self.put(host, reached, at);
        if reached {
            return if self.paused.take().is_some() {
                self.start_over();
                FleetChange::Resumed
            } else {
                FleetChange::Unchanged
            };
        }
        if self.paused.is_none() && self.tried >= HOSTS && self.fallen * 2 >= self.tried {
            self.paused = Some(Paused { since: at, canary_at: at.saturating_add(CANARY_EVERY) });
            return FleetChange::Paused;
        }
        FleetChange::Unchanged
    }

    /// Whether a failure to reach `host`, which ended at `at`, may be our own fault: its judgement is
    /// put off. Ask before [`Self::on_result`].
    pub fn is_suspect(&mut self, host: H, at: Timestamp) -> bool {
        self.forget(at);
        let is_new = self.hosts.get(&host).is_none_or(|host| host.last.is_none());
        self.tried + usize::from(is_new) >= HOSTS && self.answered_before(host, at)
    }

    fn answered_before(&self, host: H, at: Timestamp) -> bool {
        self.hosts
            .get(&host)
            .and_then(|host| host.answered)
            .is_some_and(|answered| at.since(answered) < REMEMBERED)
    }

    fn put(&mut self, host: H, reached: bool, at: Timestamp) {
        let fell = !reached && self.answered_before(host, at);
        let entry = self.hosts.entry(host).or_default();
        if reached {
            entry.answered = Some(at);
        }
        match entry.last {
            Some((last, before)) if before == fell && at.since(last) < COARSE => return,
            Some((last, before)) => {
                self.recent.remove(&(last, host));
                self.fallen -= usize::from(before);
            }
            None => self.tried += 1,
        }
        self.fallen += usize::from(fell);
        entry.last = Some((at, fell));
        self.recent.insert((at, host));
    }

    /// Lets go of attempts that are out of the window.
    fn forget(&mut self, now: Timestamp) {
        while let Some((at, host)) = self.recent.first().copied() {
            if now.since(at) < WINDOW {
                break;
            }
            self.recent.pop_first();
            self.tried -= 1;
            let Some(entry) = self.hosts.get_mut(&host) else { continue };
            self.fallen -= usize::from(entry.last.take().is_some_and(|(_, fell)| fell));
            if entry.answered.is_none_or(|answered| now.since(answered) >= REMEMBERED) {
                self.hosts.remove(&host);
            }
        }
    }

    /// After a pause the hosts are judged anew; what answered before is still known.
    fn start_over(&mut self) {
        self.recent.clear();
        self.hosts.retain(|_, host| host.answered.is_some());
        self.hosts.values_mut().for_each(|host| host.last = None);
        self.tried = 0;
        self.fallen = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + seconds * 1000)
    }

    fn answering(hosts: u32) -> Fleet<u32> {
        let mut fleet = Fleet::default();
        for host in 0..hosts {
            fleet.on_result(host, Reached::Yes, at(0));
        }
        fleet
    }

    fn fall(fleet: &mut Fleet<u32>, hosts: std::ops::Range<u32>, when: Timestamp) -> Vec<FleetChange> {
        hosts.map(|host| fleet.on_result(host, Reached::No, when)).collect()
    }

    #[test]
    fn r27_half_of_twenty_hosts_that_answered_before_pause_it() {
        let mut fleet = answering(20);
        let changes = fall(&mut fleet, 0..10, at(5));
        assert!(changes[..9].iter().all(|change| *change == FleetChange::Unchanged));
        assert_eq!(changes[9], FleetChange::Paused);
        assert_eq!(fleet.canary_at(), Some(at(10)));
    }

    #[test]
    fn r27_nineteen_hosts_are_too_few() {
        let mut fleet = answering(19);
        assert!(fall(&mut fleet, 0..19, at(5)).iter().all(|change| *change == FleetChange::Unchanged));
    }

    #[test]
    fn r27_one_host_among_many_is_its_own_trouble() {
        let mut fleet = answering(30);
        for second in 1..600 {
            let others: Vec<_> =
                (1..30).map(|host| fleet.on_result(host, Reached::Yes, at(second))).collect();
            assert!(others.iter().all(|change| *change == FleetChange::Unchanged));
            assert_eq!(fleet.on_result(0, Reached::No, at(second)), FleetChange::Unchanged);
        }
    }

    #[test]
    fn r27_hosts_that_never_answered_say_nothing_of_us() {
        let mut fleet = answering(5);
        assert!(fall(&mut fleet, 100..200, at(5)).iter().all(|change| *change == FleetChange::Unchanged));
        assert!(!fleet.is_suspect(100, at(6)));
        assert!(fleet.is_suspect(3, at(6)));
    }

    #[test]
    fn r27_what_is_older_than_a_minute_does_not_count() {
        let mut fleet = answering(40);
        fall(&mut fleet, 0..9, at(1));
        assert_eq!(fleet.on_result(9, Reached::No, at(61)), FleetChange::Unchanged);
        assert!(!fleet.is_suspect(10, at(130)), "nobody else was tried lately");
    }

    #[test]
    fn r27_the_first_answer_ends_the_pause_and_the_hosts_are_judged_anew() {
        let mut fleet = answering(20);
        fall(&mut fleet, 0..20, at(5));
        assert!(fleet.is_paused());
        fleet.canary_sent(at(10));
        assert_eq!(fleet.canary_at(), Some(at(15)));
        assert_eq!(fleet.on_result(7, Reached::No, at(11)), FleetChange::Unchanged);
        assert_eq!(fleet.on_result(8, Reached::Unknown, at(12)), FleetChange::Unchanged);
        assert_eq!(fleet.on_result(8, Reached::Yes, at(16)), FleetChange::Resumed);
        assert!(fall(&mut fleet, 0..9, at(17)).iter().all(|change| *change == FleetChange::Unchanged));
    }
}
