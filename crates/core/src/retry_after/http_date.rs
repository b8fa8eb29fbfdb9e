//! HTTP-date (RFC 9110 §5.6.7) in its three forms. Strict about the form, so that garbage stays
//! garbage; the name of the weekday must be one, but need not be the date's.

use crate::time::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Reads a date in any form; `now` settles the century of the two-digit year.
pub(super) fn parse(value: &[u8], now: Timestamp) -> Option<Timestamp> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.is_ascii())?;
    match text.split_once(", ") {
        Some((weekday, rest)) if WEEKDAYS.contains(&weekday) => rfc850(rest, now),
        Some((weekday, rest)) if is_short_weekday(weekday) => fixdate(rest),
        Some(_) => None,
        None => asctime(text),
    }
}

/// `06 Nov 1994 08:49:37 GMT`
fn fixdate(text: &str) -> Option<Timestamp> {
    let [day, month, year, time] = fields(text.strip_suffix(" GMT")?, ' ')?;
    instant(digits(year, 4)?, month, digits(day, 2)?, time)
}

/// `06-Nov-94 08:49:37 GMT`. A year that seems to be more than 50 years ahead is of the century
/// before.
fn rfc850(text: &str, now: Timestamp) -> Option<Timestamp> {
    let [date, time] = fields(text.strip_suffix(" GMT")?, ' ')?;
    let [day, month, year] = fields(date, '-')?;
    let this_year = i64::from(year_of(now)?);
    let near = this_year - this_year.rem_euclid(100) + digits(year, 2)?;
    let year = if near > this_year + 50 { near - 100 } else { near };
    instant(year, month, digits(day, 2)?, time)
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(text: &str) -> Option<Timestamp> {
    let (weekday, rest) = text.split_at_checked(4)?;
    if !is_short_weekday(weekday.strip_suffix(' ')?) {
        return None;
    }
    let (month, rest) = rest.split_at_checked(4)?;
    let (day, rest) = rest.split_at_checked(2)?;
    let [time, year] = fields(rest.strip_prefix(' ')?, ' ')?;
    let day = day.strip_prefix(' ').map_or_else(|| digits(day, 2), |day| digits(day, 1))?;
    instant(digits(year, 4)?, month.strip_suffix(' ')?, day, time)
}

fn is_short_weekday(text: &str) -> bool {
    text.len() == 3 && WEEKDAYS.iter().any(|weekday| weekday.starts_with(text))
}

fn fields<const N: usize>(text: &str, separator: char) -> Option<[&str; N]> {
    let mut parts = text.split(separator);
    let mut fields = [""; N];
    for field in &mut fields {
        *field = parts.next()?;
    }
    parts.next().is_none().then_some(fields)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let all_digits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok())?
}

fn year_of(now: Timestamp) -> Option<i16> {
    let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    Some(jiff::tz::TimeZone::UTC.to_datetime(now).year())
}

fn instant(year: i64, month: &str, day: i64, time: &str) -> Option<Timestamp> {
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let [hour, minute, second] = fields(time, ':')?;
    let date =
        jiff::civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    // A leap second is the last one that the calendar here knows.
    let second = digits(second, 2).filter(|second| *second <= 60)?.min(59);
    let time = jiff::civil::Time::new(
        digits(hour, 2)?.try_into().ok()?,
        digits(minute, 2)?.try_into().ok()?,
        second.try_into().ok()?,
        0,
    )
    .ok()?;
    // Not by way of an instant of the calendar's: those end a day before the year 9999 does, and
    // its last second is what some servers write for "never".
    let since_1970 = date.to_datetime(time).duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
    Some(Timestamp::from_millis(since_1970.as_secs().saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_796_000_000_000);

    fn read(text: &str) -> Option<i64> {
        parse(text.as_bytes(), NOW).map(Timestamp::as_seconds)
    }

    #[test]
    fn a_two_digit_year_is_of_the_nearer_century() {
        assert_eq!(read("Monday, 06-Nov-28 08:49:37 GMT"), read("Mon, 06 Nov 2028 08:49:37 GMT"));
        assert_eq!(read("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(read("Friday, 06-Nov-76 08:49:37 GMT"), read("Fri, 06 Nov 2076 08:49:37 GMT"));
        assert_eq!(read("Sunday, 06-Nov-77 08:49:37 GMT"), read("Sun, 06 Nov 1977 08:49:37 GMT"));
    }

    #[test]
    fn a_leap_second_is_taken() {
        assert_eq!(read("Sat, 31 Dec 2016 23:59:60 GMT"), Some(1_483_228_799));
    }

    #[test]
    fn a_form_that_is_not_quite_right_is_no_date() {
        for text in [
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994  08:49:37 GMT",
            "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994",
            "Sun Nov  6 08:49:37 94",
            "Sun Nov  6 08:49:37 1994 GMT",
            "1994-11-06T08:49:37Z",
            "Su",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
