//! Slots for requests: over everything, and to each host and port (R22).
//!
//! # Why a reserve
//! Slots are short when something is slow, and then whoever is slow holds them. So a quarter of
//! every budget is kept for lanes that answer within a second. A lane that has not answered yet may
//! take one slot of half of that reserve to prove itself, but an application only a few: a thousand
//! new endpoints that hang cannot shut out a new one that works.
//!
//! # Waiting
//! A lane that is refused waits at the budget that refused it, in its class, at its place by used
//! slot-time ([`crate::share`]). A slot that comes back is offered to the first who may have it, and
//! nobody gets a free slot past someone who may have it and has used less.
//! Nothing polls: a lane that waits costs nothing.

mod line;

use std::collections::BTreeSet;

use gonets_core::{
    ids::{AppNo, EndpointNo},
    limits,
};

use self::line::Line;
use crate::{cap::Speed, config::HostNo, numbers::ByNo, share::Used};

/// A lane in line: its place first, so that sets are ordered by it.
type Waiter = ((Used, Used), EndpointNo, AppNo);

/// Of a reserve, what one application's unproven lanes may hold at once.
const UNPROVEN_ONE_IN: usize = 8;

/// A lane that asks for a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) endpoint: EndpointNo,
    pub(crate) app: AppNo,
    pub(crate) speed: Speed,
    /// It has nothing under way.
    pub(crate) idle: bool,
    pub(crate) place: (Used, Used),
}

/// Which part of a budget a slot is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    General,
    Reserve,
    /// Of the reserve, to prove itself.
    Proof,
}

/// A slot of both budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    global: Part,
    host: Part,
}

/// Where a lane waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    Global,
    Host(HostNo),
}

#[derive(Debug)]
pub(crate) struct Slots {
    global: Budget,
    hosts: ByNo<HostNo, Budget>,
    host_limit: usize,
    waiting: ByNo<EndpointNo, (Queue, Class, Waiter)>,
}

impl Slots {
    pub(crate) fn new(global: usize, host: usize) -> Self {
        Self {
            global: Budget::new(global),
            hosts: ByNo::default(),
            host_limit: host,
            waiting: ByNo::default(),
        }
    }

    /// Takes a slot of both budgets, or queues the asker where it was refused.
    pub(crate) fn take(&mut self, host: HostNo, asker: &Asker) -> Option<Grant> {
        let limit = self.host_limit;
        let at_host = self.hosts.entry(host).or_insert_with(|| Budget::new(limit));
        let Some(host_part) = at_host.would_give(asker) else {
            self.wait(Queue::Host(host), asker);
            return None;
        };
        let Some(global_part) = self.global.would_give(asker) else {
            self.wait(Queue::Global, asker);
            return None;
        };
        self.global.give(global_part, asker.app);
        if let Some(at_host) = self.hosts.get_mut(&host) {
            at_host.give(host_part, asker.app);
        }
        Some(Grant { global: global_part, host: host_part })
    }

    pub(crate) fn give_back(&mut self, host: HostNo, app: AppNo, grant: Grant) {
        self.global.take_back(grant.global, app);
        if let Some(at_host) = self.hosts.get_mut(&host) {
            at_host.take_back(grant.host, app);
            if at_host.is_unused() {
                self.hosts.remove(&host);
            }
        }
    }

    /// The next lane that waits at `queue` and could have a slot there now.
    pub(crate) fn next(&mut self, queue: Queue) -> Option<(EndpointNo, (Used, Used))> {
        let budget = match queue {
            Queue::Global => &mut self.global,
            Queue::Host(host) => self.hosts.get_mut(&host)?,
        };
        let (place, endpoint, _) = budget.next_waiter()?;
        self.waiting.remove(&endpoint);
        Some((endpoint, place))
    }

    pub(crate) fn is_waiting(&self, endpoint: EndpointNo) -> bool {
        self.waiting.contains_key(&endpoint)
    }

    pub(crate) fn waits_at(&self, endpoint: EndpointNo) -> Option<Queue> {
        self.waiting.get(&endpoint).map(|(queue, _, _)| *queue)
    }

    /// Takes a lane out of line.
    pub(crate) fn forget(&mut self, endpoint: EndpointNo) {
        let Some((queue, class, waiter)) = self.waiting.remove(&endpoint) else { return };
        let budget = match queue {
            Queue::Global => Some(&mut self.global),
            Queue::Host(host) => self.hosts.get_mut(&host),
        };
        if let Some(budget) = budget {
            budget.waiters.remove(class, &waiter);
        }
    }

    fn wait(&mut self, queue: Queue, asker: &Asker) {
        let class = Class::of(asker);
        let budget = match queue {
            Queue::Global => Some(&mut self.global),
            Queue::Host(host) => self.hosts.get_mut(&host),
        };
        if let Some(budget) = budget {
            let waiter = (asker.place, asker.endpoint, asker.app);
            budget.waiters.insert(class, waiter);
            self.waiting.insert(asker.endpoint, (queue, class, waiter));
        }
    }
}

/// Who may have which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Quick,
    Unproven,
    Slow,
}

impl Class {
    fn of(asker: &Asker) -> Self {
        match asker.speed {
            Speed::Quick => Self::Quick,
            Speed::Unproven if asker.idle => Self::Unproven,
            Speed::Unproven | Speed::Slow => Self::Slow,
        }
    }
}

#[derive(Debug)]
struct Budget {
    general: usize,
    reserve: usize,
    used_general: usize,
    used_reserve: usize,
    proofs: ByNo<AppNo, usize>,
    used_proofs: usize,
    waiters: Waiters,
}

/// Those in line at a budget, by class.
#[derive(Debug, Default)]
struct Waiters {
    quick: BTreeSet<Waiter>,
    unproven: Line,
    slow: BTreeSet<Waiter>,
}

impl Waiters {
    fn insert(&mut self, class: Class, waiter: Waiter) {
        match class {
            Class::Quick => _ = self.quick.insert(waiter),
            Class::Unproven => self.unproven.insert(waiter),
            Class::Slow => _ = self.slow.insert(waiter),
        }
    }

    fn remove(&mut self, class: Class, waiter: &Waiter) {
        match class {
            Class::Quick => _ = self.quick.remove(waiter),
            Class::Unproven => self.unproven.remove(waiter),
            Class::Slow => _ = self.slow.remove(waiter),
        }
    }

    fn is_empty(&self) -> bool {
        self.quick.is_empty() && self.unproven.is_empty() && self.slow.is_empty()
    }
}

impl Budget {
    fn new(limit: usize) -> Self {
        let reserve = limit / limits::QUICK_SLOTS_ONE_IN;
        Self {
            general: limit - reserve,
            reserve,
            used_general: 0,
            used_reserve: 0,
            proofs: ByNo::default(),
            used_proofs: 0,
            waiters: Waiters::default(),
        }
    }

    fn would_give(&self, asker: &Asker) -> Option<Part> {
        let part = self.free_part(asker)?;
        let overtakes = self.first_waiter().is_some_and(|(_, (place, _, _))| place < asker.place);
        (!overtakes).then_some(part)
    }

    fn free_part(&self, asker: &Asker) -> Option<Part> {
        if self.used_general < self.general {
            return Some(Part::General);
        }
        if self.used_reserve >= self.reserve {
            return None;
        }
        match Class::of(asker) {
            Class::Quick => Some(Part::Reserve),
            Class::Unproven => self.may_prove(asker.app).then_some(Part::Proof),
            Class::Slow => None,
        }
    }

    fn may_prove(&self, app: AppNo) -> bool {
        let of_app = self.proofs.get(&app).copied().unwrap_or(0);
        self.has_proofs() && of_app < (self.reserve / UNPROVEN_ONE_IN).max(1)
    }

    fn has_proofs(&self) -> bool {
        self.used_proofs < self.reserve / 2
    }

    fn give(&mut self, part: Part, app: AppNo) {
        match part {
            Part::General => self.used_general += 1,
            Part::Reserve => self.used_reserve += 1,
            Part::Proof => {
                self.used_reserve += 1;
                self.used_proofs += 1;
                *self.proofs.entry(app).or_default() += 1;
            }
        }
    }

    fn take_back(&mut self, part: Part, app: AppNo) {
        match part {
            Part::General => self.used_general -= 1,
            Part::Reserve => self.used_reserve -= 1,
            Part::Proof => {
                self.used_reserve -= 1;
                self.used_proofs -= 1;
                if let Some(of_app) = self.proofs.get_mut(&app) {
                    *of_app -= 1;
                    if *of_app == 0 {
                        self.proofs.remove(&app);
                    }
                }
            }
        }
    }

    fn next_waiter(&mut self) -> Option<Waiter> {
        let (class, waiter) = self.first_waiter()?;
        self.waiters.remove(class, &waiter);
        Some(waiter)
    }

    /// The first in line who could have a slot now.
    fn first_waiter(&self) -> Option<(Class, Waiter)> {
        let Waiters { quick, unproven, slow } = &self.waiters;
        let of = |class, first: Option<Waiter>| first.map(|first| (class, first));
        let quick = of(Class::Quick, quick.first().copied());
        let (unproven, slow) = if self.used_general < self.general {
            (unproven.first(), slow.first().copied())
        } else if self.used_reserve < self.reserve {
            let may = |app| self.may_prove(app);
            (self.has_proofs().then(|| unproven.first_of(may)).flatten(), None)
        } else {
            return None;
        };
        [quick, of(Class::Unproven, unproven), of(Class::Slow, slow)]
            .into_iter()
            .flatten()
            .min_by_key(|(_, first)| *first)
    }

    fn is_unused(&self) -> bool {
        self.used_general == 0 && self.used_reserve == 0 && self.waiters.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostNo = HostNo(1);

    fn asker(endpoint: u32, app: u32, speed: Speed) -> Asker {
        Asker {
            endpoint: EndpointNo(endpoint),
            app: AppNo(app),
            speed,
            idle: true,
            place: (u64::from(app), 0),
        }
    }

    #[test]
    fn r22_slow_lanes_never_get_the_last_quarter() {
        let mut slots = Slots::new(1000, 64);
        let slow = (0..100).filter(|n| slots.take(HOST, &asker(*n, *n, Speed::Slow)).is_some()).count();
        assert_eq!(slow, 48);
        let quick = (200..300).filter(|n| slots.take(HOST, &asker(*n, *n, Speed::Quick)).is_some()).count();
        assert_eq!(quick, 16);
    }

    #[test]
    fn a_thousand_unproven_lanes_of_one_application_leave_room_for_another() {
        let mut slots = Slots::new(400, 64);
        for n in 0..1000 {
            slots.take(HostNo(n), &asker(n, 1, Speed::Unproven));
        }
        assert!(slots.take(HostNo(5000), &asker(5000, 2, Speed::Unproven)).is_some());
    }

    #[test]
    fn r22_a_lane_behind_a_thousand_of_an_application_that_may_not_prove_more_is_found() {
        let mut slots = Slots::new(4_000, 64);
        let taken = (0..1_000).filter(|n| slots.take(HOST, &asker(*n, 1, Speed::Unproven)).is_some()).count();
        assert_eq!(taken, 48 + 2, "the general slots, and two to prove themselves");
        // It comes behind all of them, and so it takes what is left for those who prove themselves.
        let late = asker(5_000, 2, Speed::Unproven);
        let grant = slots.take(HOST, &late).expect("proofs are left for another application");
        assert_eq!(slots.next(Queue::Host(HOST)), None, "the first application has its share");
        slots.give_back(HOST, late.app, grant);
        slots.wait(Queue::Host(HOST), &late);
        assert_eq!(slots.next(Queue::Host(HOST)), Some((late.endpoint, late.place)));
    }

    #[test]
    fn a_slot_that_comes_back_goes_to_who_has_used_least() {
        let mut slots = Slots::new(4, 64);
        let grants: Vec<_> = (0..3).filter_map(|n| slots.take(HOST, &asker(n, n, Speed::Slow))).collect();
        assert_eq!(grants.len(), 3);
        assert!(slots.take(HOST, &asker(11, 7, Speed::Slow)).is_none());
        assert!(slots.take(HOST, &asker(10, 5, Speed::Slow)).is_none());
        assert_eq!(slots.next(Queue::Global), None);
        slots.give_back(HOST, AppNo(0), grants[0]);
        assert_eq!(slots.next(Queue::Global).map(|(endpoint, _)| endpoint), Some(EndpointNo(10)));
        assert!(!slots.is_waiting(EndpointNo(10)));
        assert!(slots.is_waiting(EndpointNo(11)));
    }
}
