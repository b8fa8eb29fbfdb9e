//! What is gathered for each application, and when it goes.
//!
//! The first notice after a quiet time waits a little, since seldom does one come alone; after a mail the
//! next one of the same application waits longer. A mail that could not be sent is tried again for a day.
//! Whoever fills the box knows its notices by number and is told which are still in it.

use std::{collections::BTreeMap, time::Duration};

use gonets_core::time::Timestamp;

use crate::digest::{Digest, Item};

/// From the first notice of a quiet application to its mail.
pub const FIRST: Duration = Duration::from_secs(30);
/// Between two mails of one application.
pub const EVERY: Duration = Duration::from_secs(15 * 60);
/// Until a mail that failed is tried again; doubles up to [`EVERY`].
const AGAIN: Duration = Duration::from_secs(30);
/// A mail that cannot be sent for so long is given up.
pub const GIVEN_UP: Duration = Duration::from_secs(24 * 3600);
/// Notices of one mail that are kept word for word; the rest is counted.
const ITEMS: usize = 500;

/// All that waits to be mailed. `K` tells applications apart.
#[derive(Debug)]
pub struct Outbox<K> {
    boxes: BTreeMap<K, Pile>,
}

/// What is gathered for one application.
#[derive(Debug, Default)]
struct Pile {
    to: Vec<String>,
    application: String,
    items: Vec<Item>,
    more: u64,
    /// The number of the first notice in it.
    first: Option<u64>,
    /// When the next mail goes, if there is something to tell.
    due: Timestamp,
    last_sent: Option<Timestamp>,
    under_way: Option<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    digest: Digest,
    first: u64,
    since: Timestamp,
    tries: u32,
    again: Option<Timestamp>,
}

impl<K> Default for Outbox<K> {
    fn default() -> Self {
        Self { boxes: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Outbox<K> {
    /// Gathers a notice; `to` and `application` are those of now.
    pub fn put(
        &mut self,
        app: K,
        to: Vec<String>,
        application: String,
        number: u64,
        item: Item,
        now: Timestamp,
    ) {
        let pile = self.boxes.entry(app).or_default();
        if pile.first.is_none() {
            pile.first = Some(number);
            let soon = now.saturating_add(FIRST);
            pile.due = pile.last_sent.map_or(soon, |sent| soon.max(sent.saturating_add(EVERY)));
        }
        pile.to = to;
        pile.application = application;
        if pile.items.len() < ITEMS { pile.items.push(item) } else { pile.more += 1 }
    }

    /// The mails that are to go now; each comes back by [`Self::sent`] or [`Self::failed`].
    pub fn due(&mut self, now: Timestamp) -> Vec<(K, Digest)> {
        let mut due = Vec::new();
        for (app, pile) in &mut self.boxes {
            if let Some(under_way) = &mut pile.under_way {
                if under_way.again.is_some_and(|at| at <= now) {
                    under_way.again = None;
                    due.push((app.clone(), under_way.digest.clone()));
                }
            } else if let Some(first) = pile.first.filter(|_| pile.due <= now) {
                let digest = Digest {
                    id: format!("notices-{first}"),
                    to: pile.to.clone(),
                    application: pile.application.clone(),
                    items: std::mem::take(&mut pile.items),
                    more: std::mem::take(&mut pile.more),
                };
                pile.first = None;
                due.push((app.clone(), digest.clone()));
                pile.under_way = Some(UnderWay { digest, first, since: now, tries: 0, again: None });
            }
        }
        due
    }

    pub fn sent(&mut self, app: &K, now: Timestamp) {
        if let Some(pile) = self.boxes.get_mut(app) {
            pile.under_way = None;
            pile.last_sent = Some(now);
            pile.due = pile.due.max(now.saturating_add(EVERY));
        }
    }

    /// It is tried again later, unless that is in vain; false if it was given up.
    pub fn failed(&mut self, app: &K, is_temporary: bool, now: Timestamp) -> bool {
        let Some(pile) = self.boxes.get_mut(app) else { return false };
        let Some(under_way) = &mut pile.under_way else { return false };
        if !is_temporary || now.since(under_way.since) >= GIVEN_UP {
            pile.under_way = None;
            return false;
        }
        let wait = AGAIN.saturating_mul(1 << under_way.tries.min(16)).min(EVERY);
        under_way.tries += 1;
        under_way.again = Some(now.saturating_add(wait));
        true
    }

    /// When something is to go next.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.boxes
            .values()
            .filter_map(|pile| match &pile.under_way {
                Some(under_way) => under_way.again,
                None => pile.first.map(|_| pile.due),
            })
            .min()
    }

    /// The smallest number of a notice that is still in the box.
    pub fn first_waiting(&self) -> Option<u64> {
        self.boxes
            .values()
            .flat_map(|pile| pile.first.into_iter().chain(pile.under_way.as_ref().map(|one| one.first)))
            .min()
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::notice::{Facts, NoticeKind};

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(0) + Duration::from_secs(seconds)
    }

    fn put(outbox: &mut Outbox<u32>, app: u32, number: u64, seconds: u64) {
        let item = Item {
            kind: NoticeKind::EndpointFailing,
            at: at(seconds),
            endpoint: None,
            facts: Facts::default(),
        };
        outbox.put(app, vec!["a@example.com".into()], "Shop".into(), number, item, at(seconds));
    }

    #[test]
    fn a_burst_is_one_mail_and_the_next_comes_a_quarter_of_an_hour_later() {
        let mut outbox = Outbox::default();
        for n in 0..100 {
            put(&mut outbox, 1, n + 1, n / 10);
        }
        assert_eq!(outbox.next_at(), Some(at(30)));
        assert!(outbox.due(at(29)).is_empty());
        let due = outbox.due(at(30));
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].1.items.len(), 100);
        put(&mut outbox, 1, 101, 31);
        assert_eq!(outbox.first_waiting(), Some(1), "it is on its way, not gone");
        outbox.sent(&1, at(32));
        assert_eq!(outbox.first_waiting(), Some(101));
        assert!(outbox.due(at(900)).is_empty());
        assert_eq!(outbox.due(at(32 + 900)).len(), 1);
    }

    #[test]
    fn after_a_quiet_time_the_first_notice_waits_half_a_minute_again() {
        let mut outbox = Outbox::default();
        put(&mut outbox, 1, 1, 0);
        outbox.due(at(30));
        outbox.sent(&1, at(30));
        assert_eq!(outbox.next_at(), None);
        put(&mut outbox, 1, 2, 10_000);
        assert_eq!(outbox.next_at(), Some(at(10_030)));
    }

    #[test]
    fn a_mail_that_cannot_be_sent_is_tried_again_for_a_day() {
        let mut outbox = Outbox::default();
        put(&mut outbox, 1, 7, 0);
        let mut now = at(30);
        let first = outbox.due(now).remove(0).1;
        let mut tries = 1;
        while outbox.failed(&1, true, now) {
            now = outbox.next_at().expect("it is tried again");
            assert_eq!(outbox.due(now).remove(0).1.id, first.id, "the same mail");
            tries += 1;
        }
        assert!((90..120).contains(&tries), "{tries}");
        assert_eq!(outbox.first_waiting(), None);
    }

    #[test]
    fn a_mail_that_nobody_takes_is_given_up_at_once() {
        let mut outbox = Outbox::default();
        put(&mut outbox, 1, 7, 0);
        outbox.due(at(30));
        assert!(!outbox.failed(&1, false, at(31)));
        assert_eq!(outbox.first_waiting(), None);
    }

    #[test]
    fn a_flood_takes_bounded_memory_and_loses_no_count() {
        let mut outbox = Outbox::default();
        for n in 0..10_000 {
            put(&mut outbox, 1, n + 1, 0);
        }
        let digest = outbox.due(at(30)).remove(0).1;
        assert_eq!(digest.items.len() as u64 + digest.more, 10_000);
        assert!(digest.items.len() <= ITEMS);
    }
}
