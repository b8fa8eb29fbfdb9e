//! Durations as people write them: a whole number and a unit, `"250ms"`, `"15m"`, `"30d"`.
//!
//! The unit is required, because a bare `30` is read as seconds by one person and as minutes by
//! the next. One unit only: the shortest text that is exact, so that a configuration printed and
//! read again is the same.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Error;

/// Units and their milliseconds, largest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads `"250ms"`, `"10s"`, `"15m"`, `"4h"`, `"30d"`.
pub fn parse(text: &str) -> Result<Duration, Error> {
    let problem = |problem| Error::Duration { text: text.chars().take(40).collect(), problem };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Err(problem("it does not begin with a digit"));
    }
    let (number, unit) = text.split_at(digits);
    if unit.is_empty() {
        return Err(problem("the unit is missing"));
    }
    let millis_per_unit = UNITS
        .iter()
        .find_map(|(name, millis)| (*name == unit).then_some(*millis))
        .ok_or_else(|| problem("the unit is unknown"))?;
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(millis_per_unit))
        .map(Duration::from_millis)
        .ok_or_else(|| problem("it is too long"))
}

/// The shortest exact text, in the largest unit that divides it: `"15m"`, not `"900s"`. Parts of
/// a millisecond are cut.
pub fn format(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis == 0 {
        return String::from("0s");
    }
    UNITS.iter().find(|(_, per_unit)| millis.is_multiple_of(u128::from(*per_unit))).map_or_else(
        || format!("{millis}ms"),
        |(name, per_unit)| format!("{}{name}", millis / u128::from(*per_unit)),
    )
}

/// A [`Duration`] that serde reads and writes as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DurationText(pub Duration);

impl FromStr for DurationText {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map(Self)
    }
}

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(self.0))
    }
}

impl fmt::Debug for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Duration> for DurationText {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<DurationText> for Duration {
    fn from(text: DurationText) -> Self {
        text.0
    }
}

impl Serialize for DurationText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl de::Visitor<'_> for TextVisitor {
    type Value = DurationText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"250ms\", \"15m\" or \"30d\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DurationText, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        for (text, millis) in [
            ("250ms", 250),
            ("10s", 10_000),
            ("15m", 900_000),
            ("1h", 3_600_000),
            ("30d", 2_592_000_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn a_text_without_a_known_unit_is_refused_with_a_sentence() {
        for (text, problem) in [
            ("30", "the unit is missing"),
            ("30 s", "the unit is unknown"),
            ("1.5h", "the unit is unknown"),
            ("1h30m", "the unit is unknown"),
            ("30S", "the unit is unknown"),
            ("-5s", "it does not begin with a digit"),
            ("+5s", "it does not begin with a digit"),
            ("", "it does not begin with a digit"),
            ("99999999999999999999d", "it is too long"),
            ("18446744073709551615s", "it is too long"),
        ] {
            let sentence = parse(text).unwrap_err().to_string();
            assert!(sentence.contains(problem), "{text}: {sentence}");
        }
    }

    #[test]
    fn the_largest_exact_unit_is_written() {
        for (millis, text) in [
            (0, "0s"),
            (1, "1ms"),
            (1_500, "1500ms"),
            (90_000, "90s"),
            (86_400_000, "1d"),
            (172_800_000, "2d"),
        ] {
            assert_eq!(format(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn serde_carries_the_sentence() {
        let error = serde_json::from_str::<DurationText>("\"30\"").unwrap_err().to_string();
        assert!(error.contains("the unit is missing"), "{error}");
        let error = serde_json::from_str::<DurationText>("30").unwrap_err().to_string();
        assert!(error.contains("a duration such as"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(millis in 0u64..1 << 50) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse(&text);
        }
    }
}
