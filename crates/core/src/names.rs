//! The form of the names that producers give: uids, event ids, channels, tags and event types.
//! They end up in URLs, headers, logs and file names, so they are plain everywhere.

use crate::{error::Error, limits};

/// What a name is for; the beginning of the sentence when it is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    Uid,
    EventId,
    Channel,
    Tag,
    EventType,
}

impl NameKind {
    /// The key under which the API takes it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Uid => "uid",
            Self::EventId => "eventId",
            Self::Channel => "channel",
            Self::Tag => "tag",
            Self::EventType => "eventType",
        }
    }
}

/// Checks `^[a-zA-Z0-9\-_.]+$` and the length.
pub fn check(kind: NameKind, name: &str) -> Result<(), Error> {
    let problem = if name.is_empty() {
        String::from("is empty")
    } else if name.len() > limits::NAME_CHARS {
        format!("is {} bytes long", name.len())
    } else if let Some(bad) =
        name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
    {
        format!("contains {bad:?}")
    } else {
        return Ok(());
    };
    Err(Error::Name { what: kind.key(), problem, limit: limits::NAME_CHARS })
}

/// A number for an event type: equal for equal names, and only rarely for others. It lets a breaker
/// choose a probe of another type without reading the messages (R13). Stored: never change it.
pub fn kind_of(event_type: &str) -> u32 {
    event_type.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_are_taken() {
        for name in ["a", "order.paid", "A-1_b.2", "...", &"x".repeat(256)] {
            assert_eq!(check(NameKind::EventType, name), Ok(()), "{name}");
        }
    }

    #[test]
    fn other_names_are_refused_with_a_sentence() {
        for (name, sentence) in [
            ("", "uid is empty."),
            ("a b", "uid contains ' '."),
            ("a/b", "uid contains '/'."),
            ("a\n", "uid contains '\\n'."),
            ("é", "uid contains 'é'."),
            (&"x".repeat(257), "uid is 257 bytes long."),
        ] {
            let error = check(NameKind::Uid, name).unwrap_err().to_string();
            assert!(error.starts_with(sentence), "{error}");
            assert!(error.contains("1 to 256"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn only_the_alphabet_passes(name in "\\PC{0,300}") {
            let plain = (1..=256).contains(&name.len())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
            prop_assert_eq!(check(NameKind::Channel, &name).is_ok(), plain);
        }
    }
}
