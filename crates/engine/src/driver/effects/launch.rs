//! Setting couriers off, some at a time.
//!
//! A message to a thousand endpoints is a thousand attempts in one turn, and each connects, signs
//! and writes before it waits for the first time. Set off at once they would all stand in the
//! runtime's queue before whatever comes next: the next turn, the next request, another
//! application's one attempt. So a turn sets off only a slice itself; a task sets off the rest
//! slice by slice and lets everyone else have a turn in between. What a later turn wants is not
//! behind it. Applications take turns within a slice, and each one's attempts stay in their order.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use crate::courier::{self, Errand, Road};

/// Couriers that are set off before others get a turn: about a millisecond's work.
const SLICE: usize = 32;

/// Makes the attempts, each in a task of its own.
pub(super) fn launch(road: &Arc<Road>, mut errands: Vec<Errand>) {
    if errands.len() > SLICE {
        by_turns(&mut errands, |errand| errand.endpoint.app);
    }
    let road = Arc::clone(road);
    in_slices(errands, move |errand| drop(tokio::spawn(courier::run(Arc::clone(&road), errand))));
}

/// The first slice at once, the rest from a task of its own.
fn in_slices<T: Send + 'static>(items: Vec<T>, mut set_off: impl FnMut(T) + Send + 'static) {
    let mut rest = items.into_iter();
    rest.by_ref().take(SLICE).for_each(&mut set_off);
    if rest.len() == 0 {
        return;
    }
    tokio::spawn(async move {
        while rest.len() > 0 {
            tokio::task::yield_now().await;
            rest.by_ref().take(SLICE).for_each(&mut set_off);
        }
    });
}

/// The first of each owner, then the second of each, and so on; one owner's stay in their order.
fn by_turns<T, O: Eq + Hash>(items: &mut Vec<T>, owner: impl Fn(&T) -> O) {
    let mut seen: HashMap<O, usize> = HashMap::new();
    let mut ranked: Vec<(usize, T)> = std::mem::take(items)
        .into_iter()
        .map(|item| {
            let of_owner = seen.entry(owner(&item)).or_default();
            *of_owner += 1;
            (*of_owner, item)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    items.extend(ranked.into_iter().map(|(_, item)| item));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn who_comes_after_a_burst_has_a_turn_after_a_slice_of_it() {
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&begun);
        let (last, ended) = tokio::sync::oneshot::channel::<()>();
        let mut last = Some(last);
        in_slices((0..1_000).collect(), move |n: u32| {
            let (begun, last) = (Arc::clone(&counted), if n == 999 { last.take() } else { None });
            tokio::spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                drop(last);
            });
        });
        let before = Arc::clone(&begun);
        let healthy = tokio::spawn(async move { before.load(Ordering::Relaxed) });
        let before_it = healthy.await.expect("it ends");
        assert!(before_it <= 2 * SLICE, "{before_it} were set off before it");
        assert!(ended.await.is_err(), "the sender is dropped with the last");
        assert_eq!(begun.load(Ordering::Relaxed), 1_000, "each was set off");
    }

    #[test]
    fn a_burst_of_one_application_is_not_ahead_of_anothers_one_attempt() {
        let mut items: Vec<(u32, u32)> = (0..1_000).map(|n| (1, n)).chain([(2, 0), (3, 0), (3, 1)]).collect();
        by_turns(&mut items, |(app, _)| *app);
        assert_eq!(items[..6], [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (1, 2)]);
        assert_eq!(items.len(), 1_003);
    }

    #[test]
    fn each_applications_attempts_stay_in_their_order() {
        let mut items: Vec<(u32, u32)> = (0..300).map(|n| (n % 7 * (n % 3), n)).collect();
        by_turns(&mut items, |(app, _)| *app);
        for app in 0..14 {
            let of_app: Vec<u32> = items.iter().filter(|item| item.0 == app).map(|item| item.1).collect();
            assert!(of_app.is_sorted(), "{app}: {of_app:?}");
        }
    }
}
