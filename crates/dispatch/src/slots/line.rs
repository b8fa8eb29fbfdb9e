//! The line of lanes that want to prove themselves: the first whose application may is found
//! without a walk past all the lanes of one that may not.
//!
//! Each application's lanes are in order by themselves, and the first of each stands in a line of
//! heads. A thousand lanes of one application are one head. Of a budget's applications only a
//! handful can be at their limit of proofs while proofs are left, so only so many heads are passed.

use std::collections::BTreeSet;

use gonets_core::ids::AppNo;

use super::Waiter;
use crate::numbers::ByNo;

#[derive(Debug, Default)]
pub(super) struct Line {
    of_app: ByNo<AppNo, BTreeSet<Waiter>>,
    /// The first of each application.
    heads: BTreeSet<Waiter>,
}

impl Line {
    pub(super) fn insert(&mut self, waiter: Waiter) {
        let of_app = self.of_app.entry(waiter.2).or_default();
        let head = of_app.first().copied();
        of_app.insert(waiter);
        if head.is_none_or(|head| waiter < head) {
            if let Some(head) = head {
                self.heads.remove(&head);
            }
            self.heads.insert(waiter);
        }
    }

    pub(super) fn remove(&mut self, waiter: &Waiter) {
        let Some(of_app) = self.of_app.get_mut(&waiter.2) else { return };
        of_app.remove(waiter);
        if !self.heads.remove(waiter) {
            return;
        }
        match of_app.first() {
            Some(next) => {
                self.heads.insert(*next);
            }
            None => {
                self.of_app.remove(&waiter.2);
            }
        }
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<Waiter> {
        self.heads.first().copied()
    }

    /// The first whose application `may`.
    pub(super) fn first_of(&self, may: impl Fn(AppNo) -> bool) -> Option<Waiter> {
        self.heads.iter().find(|(_, _, app)| may(*app)).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::ids::EndpointNo;
    use proptest::prelude::*;

    use super::*;

    /// A lane's place, itself and its application; few of each, so that they meet.
    fn waiter() -> impl Strategy<Value = Waiter> {
        (0..4u64, 0..3u64, 0..6u32)
            .prop_map(|(of_app, of_lane, lane)| ((of_app, of_lane), EndpointNo(lane), AppNo(lane % 3)))
    }

    proptest! {
        #[test]
        fn it_answers_like_one_ordered_set_that_is_walked(
            steps in prop::collection::vec((any::<bool>(), waiter()), 1..120),
            barred in 0..4u32,
        ) {
            let (mut line, mut walked) = (Line::default(), BTreeSet::new());
            for (comes, waiter) in steps {
                if comes {
                    line.insert(waiter);
                    walked.insert(waiter);
                } else {
                    line.remove(&waiter);
                    walked.remove(&waiter);
                }
                let may = |app: AppNo| app.0 != barred;
                prop_assert_eq!(line.first(), walked.first().copied());
                prop_assert_eq!(line.first_of(may), walked.iter().find(|w| may(w.2)).copied());
                prop_assert_eq!(line.is_empty(), walked.is_empty());
            }
        }
    }
}
