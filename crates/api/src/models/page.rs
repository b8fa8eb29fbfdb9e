//! Pages of lists.

use gonets_service::page::{Listed, Order, PageRequest};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    error::Result,
    request::{FromParams, Params},
};

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListOut<T> {
    pub data: Vec<T>,
    /// The id of the last entry: the next page begins behind it.
    pub iterator: Option<String>,
    /// Pages back from the first entry.
    pub prev_iterator: Option<String>,
    /// Nothing more in the direction of paging.
    pub done: bool,
}

impl<T> ListOut<T> {
    pub(crate) fn of<U>(listed: Listed<U>, out: impl FnMut(U) -> T) -> Self {
        Self {
            data: listed.data.into_iter().map(out).collect(),
            iterator: listed.iterator,
            prev_iterator: listed.prev_iterator,
            done: listed.done,
        }
    }
}

/// Which page of a list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Entries of a page: 1 to 250, 50 if not said.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
    /// The `iterator` of the page before, or its `prevIterator` to page back.
    iterator: Option<String>,
    /// `ascending` or `descending`.
    order: Option<String>,
}

impl FromParams for PageQuery {
    fn from_params(params: &Params<'_>) -> Result<Self> {
        Ok(Self {
            limit: params.number("limit")?,
            iterator: params.owned("iterator"),
            order: params.parsed("order", "ascending or descending", |text| {
                matches!(text, "ascending" | "descending").then(|| text.to_owned())
            })?,
        })
    }
}

impl PageQuery {
    /// The page, in the list's own order if none was asked for.
    pub(crate) fn request(self, order: Order) -> Result<PageRequest> {
        let order = match self.order.as_deref() {
            Some("ascending") => Order::Ascending,
            Some(_) => Order::Descending,
            None => order,
        };
        Ok(PageRequest::new(self.limit, order, self.iterator)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<PageRequest> {
        PageQuery::from_params(&Params::of(query))?.request(Order::Descending)
    }

    #[test]
    fn pages_are_asked_for_as_the_sdks_do() {
        let wanted = PageRequest::new(Some(3), Order::Ascending, Some("-app_1".into())).unwrap();
        assert_eq!(read("limit=3&order=ascending&iterator=-app_1").unwrap(), wanted);
        assert_eq!(read("").unwrap(), PageRequest::new(None, Order::Descending, None).unwrap());
    }

    #[test]
    fn limits_and_orders_that_are_none_are_refused() {
        for bad in ["limit=0", "limit=251", "limit=-1", "limit=x", "order=up"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
