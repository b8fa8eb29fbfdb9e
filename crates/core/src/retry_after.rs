//! R8: how long an endpoint asks to be left alone: `Retry-After` (RFC 9110 §10.2.3) and the
//! pause after a 429.

use std::time::Duration;

use crate::time::Timestamp;

mod http_date;

/// What the `Retry-After` fields of one answer said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RetryAfter {
    /// The longest valid pause, capped; `None` if there was no valid one.
    pub pause: Option<Duration>,
    /// Fields that said nothing usable.
    pub ignored: u32,
}

/// Whether a `Retry-After` of an answer with this status counts.
pub const fn applies_to(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// Reads every `Retry-After` field of an answer: delay-seconds (digits only) or an HTTP-date in
/// any of its three forms. Past dates, signs, fractions and garbage are ignored and counted; of
/// several the largest valid holds; nothing is longer than `cap`.
pub fn parse<'a>(values: impl Iterator<Item = &'a [u8]>, now: Timestamp, cap: Duration) -> RetryAfter {
    let mut result = RetryAfter::default();
    for value in values {
        match pause(value.trim_ascii(), now) {
            Some(pause) => result.pause = result.pause.max(Some(pause.min(cap))),
            None => result.ignored = result.ignored.saturating_add(1),
        }
    }
    result
}

fn pause(value: &[u8], now: Timestamp) -> Option<Duration> {
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        let seconds = value
            .iter()
            .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        return Some(Duration::from_secs(seconds));
    }
    let at = http_date::parse(value, now)?;
    (at > now).then(|| at.since(now))
}

/// The longest pause that 429s without a `Retry-After` give an endpoint.
pub const THROTTLE_PAUSE_MAX: Duration = Duration::from_secs(64);

/// How long a 429 pauses its endpoint: `2^(n-1)` s up to 64 s, at least the `Retry-After`.
/// `in_a_row` is n, the 429s in a row with this one (at least 1).
pub fn throttle_pause(in_a_row: u32, retry_after: Option<Duration>) -> Duration {
    let own = Duration::from_secs(1 << in_a_row.saturating_sub(1).min(6));
    own.min(THROTTLE_PAUSE_MAX).max(retry_after.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 1994-11-06T08:49:00Z, 37 s before the date of RFC 9110's examples.
    const NOW: Timestamp = Timestamp::from_millis(784_111_740_000);
    const HOUR: Duration = Duration::from_secs(3600);

    fn one(value: &str) -> RetryAfter {
        parse([value.as_bytes()].into_iter(), NOW, HOUR)
    }

    fn taken(secs: u64) -> RetryAfter {
        RetryAfter { pause: Some(Duration::from_secs(secs)), ignored: 0 }
    }

    #[test]
    fn r08_delay_seconds_are_digits_only() {
        assert_eq!(one("20"), taken(20));
        assert_eq!(one(" 020\t"), taken(20));
        assert_eq!(one("0"), taken(0));
        for garbage in ["", " ", "+5", "-5", "1.5", "5s", "5, 10", "0x10", "1e3", "\u{664}", "soon"] {
            assert_eq!(one(garbage), RetryAfter { pause: None, ignored: 1 }, "{garbage}");
        }
    }

    #[test]
    fn r08_all_three_forms_of_a_date_are_read() {
        for date in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(one(date), taken(37), "{date}");
        }
    }

    #[test]
    fn r08_past_dates_are_ignored_and_counted() {
        for date in [
            "Sun, 06 Nov 1994 08:48:59 GMT",
            "Sun, 06 Nov 1994 08:49:00 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT",
        ] {
            assert_eq!(one(date), RetryAfter { pause: None, ignored: 1 }, "{date}");
        }
    }

    #[test]
    fn r08_huge_numbers_and_far_dates_are_capped() {
        for value in ["3601", "90000", "99999999999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            assert_eq!(one(value), taken(3600), "{value}");
        }
    }

    #[test]
    fn r08_of_several_the_largest_valid_holds() {
        let values = ["5", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "20", "x"];
        let read = parse(values.iter().map(|v| v.as_bytes()), NOW, HOUR);
        assert_eq!(read, RetryAfter { pause: Some(Duration::from_secs(37)), ignored: 2 });
        assert_eq!(parse([].into_iter(), NOW, HOUR), RetryAfter::default());
    }

    #[test]
    fn r08_only_429_and_503_are_listened_to() {
        let listened: Vec<_> = (0..1000).filter(|status| applies_to(*status)).collect();
        assert_eq!(listened, [429, 503]);
    }

    #[test]
    fn r08_a_429_pauses_its_endpoint_longer_each_time() {
        let pauses: Vec<_> = (0..=9).map(|n| throttle_pause(n, None).as_secs()).collect();
        assert_eq!(pauses, [1, 1, 2, 4, 8, 16, 32, 64, 64, 64]);
        assert_eq!(throttle_pause(u32::MAX, None).as_secs(), 64);
        assert_eq!(throttle_pause(3, Some(HOUR)), HOUR);
        assert_eq!(throttle_pause(3, Some(Duration::from_secs(1))).as_secs(), 4);
    }

    proptest! {
        #[test]
        fn no_value_panics_or_passes_the_cap(value: Vec<u8>, now in 0i64..1 << 42) {
            let read = parse([&value[..]].into_iter(), Timestamp::from_millis(now), HOUR);
            prop_assert!(read.pause.is_none_or(|pause| pause <= HOUR));
            prop_assert_eq!(read.pause.is_none(), read.ignored == 1);
        }
    }
}
