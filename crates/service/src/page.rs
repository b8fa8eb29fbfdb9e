//! Pages of lists: `iterator` is the last id of the page before, `-<id>` pages back from it.

use std::cmp::Ordering;

use gonets_core::{
    ids::{IdCodec, IdKind},
    limits,
};
pub use gonets_store::query::Order;
use gonets_store::query::{Page, Paged};

use crate::error::{Error, Problem};

/// What a page carries at most, payloads and documents as they are kept; one entry is always there.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Which page of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    limit: u32,
    order: Order,
    iterator: Option<String>,
    backwards: bool,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    pub data: Vec<T>,
    /// The id of the last entry, or of the last that was looked at for a filter.
    pub iterator: Option<String>,
    /// `-` and the id of the first entry, where there is a page before.
    pub prev_iterator: Option<String>,
    /// Nothing more in the direction of paging.
    pub done: bool,
}

impl<T> Listed<T> {
    /// The list goes on beyond `id`, though no entry of the page has it.
    pub(crate) fn going_on_at(self, id: String, backwards: bool) -> Self {
        if backwards {
            Self { prev_iterator: Some(format!("-{id}")), done: false, ..self }
        } else {
            Self { iterator: Some(id), done: false, ..self }
        }
    }
}

impl PageRequest {
    /// # Errors
    /// When the limit is not 1 to 250.
    pub fn new(limit: Option<u32>, order: Order, iterator: Option<String>) -> Result<Self, Error> {
        let most = limits::PAGE_ENTRIES_MAX as u32;
        let limit = limit.unwrap_or(limits::PAGE_ENTRIES as u32);
        if !(1..=most).contains(&limit) {
            return Err(Problem::query("limit", format!("limit is {limit}. Use 1 to {most}.")).into());
        }
        let (backwards, iterator) = match iterator {
            Some(text) => match text.strip_prefix('-') {
                Some(id) => (true, Some(id.to_owned())),
                None => (false, Some(text)),
            },
            None => (false, None),
        };
        Ok(Self { limit, order, iterator, backwards })
    }

    /// The page for a list of things with ids of this kind.
    pub(crate) fn of_ids(&self, ids: &IdCodec, kind: IdKind) -> Result<Page, Error> {
        let after = match &self.iterator {
            None => None,
            Some(text) => Some(ids.decode(kind, text).ok_or_else(|| {
                Problem::query(
                    "iterator",
                    format!(
                        "iterator is no id of this list ({}…). Give one that a page came with.",
                        kind.prefix()
                    ),
                )
            })?),
        };
        Ok(self.page(after))
    }

    fn page(&self, after: Option<u64>) -> Page {
        let Self { limit, order, backwards, .. } = *self;
        Page { limit, order, after, backwards, bytes: PAGE_BYTES }
    }

    /// The page's rows as they are listed; `id` is the text that the iterators are made of.
    pub(crate) fn listed<T, U>(
        &self,
        paged: Paged<T>,
        id: impl Fn(&T) -> String,
        into: impl FnMut(T) -> U,
    ) -> Listed<U> {
        let iterator = paged.rows.last().map(&id);
        let prev_iterator =
            paged.rows.first().filter(|_| self.iterator.is_some()).map(|first| format!("-{}", id(first)));
        Listed {
            data: paged.rows.into_iter().map(into).collect(),
            iterator,
            prev_iterator,
            done: !paged.more,
        }
    }

    /// A page of a list by name that is all in memory, ascending.
    pub(crate) fn cut_names<T>(
        &self,
        ascending: Vec<T>,
        name: impl Fn(&T) -> &str,
        bytes: impl Fn(&T) -> usize,
    ) -> Paged<T> {
        let beside = self.iterator.as_deref();
        cut(&self.page(None), ascending, |item| beside.map(|at| name(item).cmp(at)), bytes)
    }
}

/// A page of a list by number that is all in memory, ascending; `bytes` is what an entry weighs.
pub(crate) fn cut_numbers<T>(
    page: &Page,
    ascending: Vec<T>,
    number: impl Fn(&T) -> u32,
    bytes: impl Fn(&T) -> usize,
) -> Paged<T> {
    cut(page, ascending, |item| page.after.map(|at| u64::from(number(item)).cmp(&at)), bytes)
}

/// `beside` says on which side of the iterator an item lies, if there is one.
fn cut<T>(
    page: &Page,
    mut items: Vec<T>,
    beside: impl Fn(&T) -> Option<Ordering>,
    bytes: impl Fn(&T) -> usize,
) -> Paged<T> {
    let side = if page.reads_down() { Ordering::Less } else { Ordering::Greater };
    items.retain(|item| beside(item).is_none_or(|at| at == side));
    if page.reads_down() {
        items.reverse();
    }
    let mut filling = page.filling();
    for item in items {
        let weight = bytes(&item);
        filling.push(item, weight);
        if filling.is_over() {
            break;
        }
    }
    filling.paged()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(limit: u32, order: Order, after: Option<u64>, backwards: bool) -> Page {
        Page { limit, order, after, backwards, bytes: 100 }
    }

    fn rows(all: std::ops::Range<u32>, page: Page) -> (Vec<u32>, bool) {
        let paged = cut_numbers(&page, all.collect(), |n| *n, |_| 0);
        (paged.rows, paged.more)
    }

    #[test]
    fn pages_go_on_behind_the_iterator_and_back_before_it() {
        assert_eq!(rows(1..8, page(3, Order::Ascending, None, false)), (vec![1, 2, 3], true));
        assert_eq!(rows(1..8, page(3, Order::Ascending, Some(3), false)), (vec![4, 5, 6], true));
        assert_eq!(rows(1..8, page(3, Order::Ascending, Some(6), false)), (vec![7], false));
        assert_eq!(rows(1..8, page(3, Order::Ascending, Some(7), true)), (vec![4, 5, 6], true));
        assert_eq!(rows(1..8, page(3, Order::Descending, None, false)), (vec![7, 6, 5], true));
        assert_eq!(rows(1..8, page(3, Order::Descending, Some(2), true)), (vec![5, 4, 3], true));
    }

    #[test]
    fn limits_outside_1_to_250_are_refused() {
        for bad in [0, 251, u32::MAX] {
            let error = PageRequest::new(Some(bad), Order::Ascending, None).unwrap_err();
            assert!(matches!(&error, Error::Invalid(p) if p[0].at == ["query", "limit"]), "{error}");
        }
        assert_eq!(PageRequest::new(None, Order::Ascending, None).unwrap().limit, 50);
    }

    #[test]
    fn an_iterator_that_is_no_id_of_the_list_is_refused() {
        let ids = IdCodec::new([1; 16]);
        let wrong = ids.encode(IdKind::Attempt, 5);
        let request = PageRequest::new(None, Order::Ascending, Some(wrong)).unwrap();
        assert!(request.of_ids(&ids, IdKind::Message).is_err());
        let right = ids.encode(IdKind::Message, 5);
        let request = PageRequest::new(None, Order::Ascending, Some(format!("-{right}"))).unwrap();
        let page = request.of_ids(&ids, IdKind::Message).unwrap();
        assert_eq!((page.after, page.backwards), (Some(5), true));
    }

    #[test]
    fn a_page_may_go_on_beyond_an_id_that_it_does_not_show() {
        let request = PageRequest::new(None, Order::Ascending, None).unwrap();
        let empty = || request.listed(Paged { rows: vec![], more: false }, |n: &u32| n.to_string(), |n| n);
        let on = empty().going_on_at("m".into(), false);
        assert_eq!((on.iterator.as_deref(), on.prev_iterator, on.done), (Some("m"), None, false));
        let back = empty().going_on_at("m".into(), true);
        assert_eq!((back.iterator, back.prev_iterator.as_deref(), back.done), (None, Some("-m"), false));
    }

    #[test]
    fn names_are_paged_as_numbers_are() {
        let request = PageRequest::new(Some(2), Order::Ascending, Some("b".into())).unwrap();
        let paged = request.cut_names(vec!["a", "b", "c", "d", "e"], |name| name, |_| 0);
        let listed = request.listed(paged, |name| (*name).to_owned(), |name| name);
        assert_eq!(listed.data, ["c", "d"]);
        assert_eq!((listed.iterator.as_deref(), listed.prev_iterator.as_deref()), (Some("d"), Some("-c")));
        assert!(!listed.done);
    }

    /// All pages one after the other, as far as they go.
    fn walk(weights: &[usize], mut page: Page) -> Vec<Vec<u32>> {
        let mut pages = Vec::new();
        loop {
            let all = (0..weights.len() as u32).collect();
            let paged = cut_numbers(&page, all, |n| *n, |n| weights[*n as usize]);
            let next = if page.backwards { paged.rows.first() } else { paged.rows.last() };
            page.after = next.map(|n| u64::from(*n)).or(page.after);
            pages.push(paged.rows);
            if !paged.more {
                return pages;
            }
        }
    }

    proptest! {
        #[test]
        fn pages_that_end_early_show_everything_once_both_ways(
            weights in proptest::collection::vec(0usize..150, 0..40),
            limit in 1u32..9,
            down: bool,
        ) {
            let order = if down { Order::Descending } else { Order::Ascending };
            let mut expected: Vec<u32> = (0..weights.len() as u32).collect();
            if down { expected.reverse() }
            let forth = walk(&weights, page(limit, order, None, false));
            let mut back = walk(&weights, page(limit, order, None, true));
            for shown in forth.iter().chain(&back) {
                let weight: usize = shown.iter().map(|n| weights[*n as usize]).sum();
                prop_assert!(shown.len() <= limit as usize && (weight <= 100 || shown.len() == 1));
            }
            back.reverse();
            prop_assert_eq!(forth.concat(), expected.clone());
            prop_assert_eq!(back.concat(), expected);
        }
    }

    proptest! {
        #[test]
        fn walking_all_pages_shows_everything_once(count in 0u32..60, limit in 1u32..9, down: bool) {
            let order = if down { Order::Descending } else { Order::Ascending };
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let (rows, more) = rows(0..count, page(limit, order, after, false));
                after = rows.last().map(|n| u64::from(*n)).or(after);
                seen.extend(rows);
                if !more { break }
            }
            let mut expected: Vec<u32> = (0..count).collect();
            if down { expected.reverse() }
            prop_assert_eq!(seen, expected);
        }
    }
}
