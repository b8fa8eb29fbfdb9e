//! Queries: `name=value` pairs, read by name. Unknown names are ignored, as SDKs send some.

use std::borrow::Cow;

use axum::extract::FromRequestParts;
use gonets_core::time::Timestamp;
use gonets_service::Problem;
use http::request::Parts;

use crate::error::{ApiError, Result};

/// The pairs of a query, in order.
pub(crate) struct Params<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// What is read from a query.
pub(crate) trait FromParams: Sized {
    fn from_params(params: &Params<'_>) -> Result<Self>;
}

/// A query, read.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: FromParams, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        T::from_params(&Params::of(parts.uri.query().unwrap_or_default())).map(Self)
    }
}

impl<'a> Params<'a> {
    pub(crate) fn of(query: &'a str) -> Self {
        Self(url::form_urlencoded::parse(query.as_bytes()).collect())
    }

    /// The last value of a name; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| &**value).filter(|v| !v.is_empty())
    }

    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &'static str) -> Result<Option<N>> {
        self.parsed(name, "a whole number in range", |text| text.parse().ok())
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<Option<bool>> {
        self.parsed(name, "true or false", |text| match text {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            _ => None,
        })
    }

    pub(crate) fn instant(&self, name: &'static str) -> Result<Option<Timestamp>> {
        // A bare + in a query is a space; in an offset it can only have been a plus.
        self.parsed(name, "an instant like 2026-11-30T12:00:00Z, of the years 1 to 9999", |text| {
            instant(&text.replace(' ', "+"))
        })
    }

    pub(crate) fn parsed<T>(
        &self,
        name: &'static str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match read(text) {
            Some(value) => Ok(Some(value)),
            None => {
                let shown: String = text.chars().take(40).collect();
                Err(Problem::query(name, format!("{name} is \"{shown}\". Write {what}.")).into())
            }
        }
    }

    /// A list, however it is written: repeated, as `name[]`, or separated by commas.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        self.0
            .iter()
            .filter(|(key, _)| key.strip_suffix("[]").unwrap_or(key) == name)
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// What is said of a field that is none.
pub(crate) const NOT_AN_INSTANT: &str =
    "is not an instant of the years 1 to 9999. Write one like 2026-11-30T12:00:00Z.";

/// The years that RFC 3339 can write, in milliseconds since 1970.
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// RFC 3339.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    Timestamp::parse_rfc3339(text).filter(|at| YEARS.contains(&at.as_millis()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_is_read_in_every_way_that_sdks_write_it() {
        for query in [
            "event_types=a.b&event_types=c",
            "event_types[]=a.b&event_types[]=c",
            "event_types=a.b,c",
            "event_types=a.b%2C+c&limit=3",
        ] {
            assert_eq!(Params::of(query).list("event_types"), ["a.b", "c"], "{query}");
        }
        assert!(Params::of("event_types=").list("event_types").is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_name() {
        let params = Params::of("limit=-1&with_content=maybe&before=yesterday");
        for error in [
            params.number::<u32>("limit").unwrap_err(),
            params.flag("with_content").unwrap_err(),
            params.instant("before").unwrap_err(),
        ] {
            let ApiError::Service(gonets_service::Error::Invalid(problems)) = error else {
                panic!("{error:?}")
            };
            assert_eq!(problems[0].at[0], "query");
        }
    }

    #[test]
    fn offsets_survive_the_query() {
        let at = Params::of("before=2026-11-30T12:00:00+02:00").instant("before").ok().flatten();
        assert_eq!(at, instant("2026-11-30T10:00:00Z"));
    }

    #[test]
    fn an_instant_is_of_a_year_that_can_be_written() {
        for good in ["0001-01-01T00:00:00Z", "9999-12-30T21:59:59.999Z", "2026-11-30T12:00:00.5+02:00"] {
            assert!(instant(good).is_some(), "{good}");
        }
        for bad in [
            "0000-12-31T23:59:59Z",
            "-000001-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "",
        ] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_query_panics(query in "\\PC*") {
            let params = Params::of(&query);
            let _ = (params.list("a"), params.flag("a").is_ok(), params.instant("a").is_ok());
        }
    }
}
