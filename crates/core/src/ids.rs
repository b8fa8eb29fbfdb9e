//! Identifiers: small integers inside, unguessable text outside.
//!
//! Inside, a message or attempt is a 63-bit integer: 42 bits of milliseconds and 21 bits of node
//! and counter, so that its order is the order of commit and a time range is an id range. Owners
//! (environment, application, endpoint, …) are small numbers. Outside, both are shown as
//! `msg_` + 26 characters of Crockford base32: 128 bits in UUIDv7's layout that hold the integer
//! and a 51-bit keyed MAC. A text that was not made by this installation fails its MAC and is
//! refused without a look at any index.

use std::{fmt, hash::Hasher};

use siphasher::sip::SipHasher24;

use crate::time::Timestamp;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// A message: time-ordered, made by the committer.
    MessageId(u64)
);
number!(
    /// One attempt of a delivery: time-ordered.
    AttemptId(u64)
);
number!(
    /// The number of an entity of any kind (environment, application, endpoint, key, event type).
    EntityNo(u32)
);
number!(EnvironmentNo(u32));
number!(AppNo(u32));
number!(EndpointNo(u32));

/// Bits below the milliseconds in a time-ordered id.
pub const COUNTER_BITS: u32 = 21;
const TIME_BITS: u32 = 42;
const MAC_BITS: u32 = 51;

impl MessageId {
    /// The instant in the id: the millisecond in which the message was accepted.
    pub const fn accepted_at(self) -> Timestamp {
        time_of(self.0)
    }

    /// The smallest id that a message accepted at `at` could have: the start of a time range.
    pub const fn first_at(at: Timestamp) -> Self {
        Self(first_at(at))
    }
}

impl AttemptId {
    pub const fn made_at(self) -> Timestamp {
        time_of(self.0)
    }

    pub const fn first_at(at: Timestamp) -> Self {
        Self(first_at(at))
    }
}

const fn time_of(id: u64) -> Timestamp {
    Timestamp::from_millis((id >> COUNTER_BITS) as i64)
}

const fn first_at(at: Timestamp) -> u64 {
    let millis = at.as_millis();
    let max = (1i64 << TIME_BITS) - 1;
    let millis = if millis < 0 {
        0
    } else if millis > max {
        max
    } else {
        millis
    };
    (millis as u64) << COUNTER_BITS
}

/// Makes time-ordered ids: strictly increasing, even when the clock stands still or goes back.
#[derive(Debug, Clone)]
pub struct IdSequence {
    last: u64,
}

impl IdSequence {
    /// Continues after `last`, the largest id already used (0 for none).
    pub const fn after(last: u64) -> Self {
        Self { last }
    }

    pub fn next(&mut self, now: Timestamp) -> u64 {
        self.last = (self.last + 1).max(first_at(now));
        self.last
    }
}

/// What an id names; the prefix of its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IdKind {
    Message,
    Attempt,
    Application,
    Endpoint,
    Environment,
    Key,
    Task,
}

impl IdKind {
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Message => "msg_",
            Self::Attempt => "atmpt_",
            Self::Application => "app_",
            Self::Endpoint => "ep_",
            Self::Environment => "env_",
            Self::Key => "key_",
            Self::Task => "qtask_",
        }
    }
}

/// The key of an installation's public ids; made once, kept in the store.
#[derive(Clone)]
pub struct IdCodec {
    key: [u8; 16],
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_LEN: usize = 26;

impl IdCodec {
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    fn mac(&self, kind: IdKind, number: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write(kind.prefix().as_bytes());
        hasher.write_u64(number.to_le());
        hasher.finish() >> (64 - MAC_BITS)
    }

    /// The public text of an id: prefix and 26 characters.
    pub fn encode(&self, kind: IdKind, number: u64) -> String {
        let mut out = String::with_capacity(kind.prefix().len() + TEXT_LEN);
        out.push_str(kind.prefix());
        let mut rest = self.layout(kind, number);
        let mut text = [0u8; TEXT_LEN];
        for slot in text.iter_mut().rev() {
            *slot = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        out.extend(text.iter().map(|b| char::from(*b)));
        out
    }

    /// `time(48) version(4) counter_high(12) variant(2) counter_low(9) zero(2) mac(51)`
    fn layout(&self, kind: IdKind, number: u64) -> u128 {
        let millis = u128::from(number >> COUNTER_BITS);
        let counter = u128::from(number & ((1 << COUNTER_BITS) - 1));
        (millis << 80)
            | (7u128 << 76)
            | ((counter >> 9) << 64)
            | (2u128 << 62)
            | ((counter & 0x1ff) << 53)
            | u128::from(self.mac(kind, number))
    }

    /// Reads a text made by [`encode`](Self::encode) with the same key; `None` for anything else.
    pub fn decode(&self, kind: IdKind, text: &str) -> Option<u64> {
        let digits = text.strip_prefix(kind.prefix())?.as_bytes();
        if digits.len() != TEXT_LEN {
            return None;
        }
        let mut value: u128 = 0;
        for (i, digit) in digits.iter().enumerate() {
            let five = ALPHABET.iter().position(|a| a == digit)? as u128;
            if i == 0 && five > 7 {
                return None;
            }
            value = (value << 5) | five;
        }
        let millis = (value >> 80) as u64;
        let counter = ((((value >> 64) & 0xfff) << 9) | ((value >> 53) & 0x1ff)) as u64;
        if millis >> TIME_BITS != 0 {
            return None;
        }
        let number = (millis << COUNTER_BITS) | counter;
        (self.layout(kind, number) == value).then_some(number)
    }

    pub fn message(&self, id: MessageId) -> String {
        self.encode(IdKind::Message, id.0)
    }

    pub fn attempt(&self, id: AttemptId) -> String {
        self.encode(IdKind::Attempt, id.0)
    }

    pub fn application(&self, app: AppNo) -> String {
        self.encode(IdKind::Application, u64::from(app.0))
    }

    pub fn endpoint(&self, endpoint: EndpointNo) -> String {
        self.encode(IdKind::Endpoint, u64::from(endpoint.0))
    }
}

impl fmt::Debug for IdCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdCodec(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn codec() -> IdCodec {
        IdCodec::new([7; 16])
    }

    proptest! {
        #[test]
        fn every_number_comes_back(number in 0u64..1 << 63) {
            let text = codec().encode(IdKind::Message, number);
            prop_assert_eq!(text.len(), 30);
            prop_assert_eq!(codec().decode(IdKind::Message, &text), Some(number));
            prop_assert_eq!(codec().decode(IdKind::Attempt, &text), None);
            prop_assert_eq!(IdCodec::new([8; 16]).decode(IdKind::Message, &text), None);
        }

        #[test]
        fn no_text_but_ours_is_taken(text in "msg_[0-9a-z]{26}") {
            prop_assert_eq!(codec().decode(IdKind::Message, &text), None);
        }

        #[test]
        fn text_never_panics(text in "\\PC*") {
            let _ = codec().decode(IdKind::Message, &text);
        }
    }

    #[test]
    fn texts_sort_as_their_numbers() {
        let mut ids = IdSequence::after(0);
        let now = Timestamp::from_millis(1_800_000_000_000);
        let texts: Vec<_> = (0..2000).map(|_| codec().message(MessageId(ids.next(now)))).collect();
        assert!(texts.is_sorted());
        assert_eq!(MessageId(ids.next(now)).accepted_at(), now);
    }

    #[test]
    fn a_clock_set_back_does_not_repeat_an_id() {
        let mut ids = IdSequence::after(0);
        let first = ids.next(Timestamp::from_millis(2_000));
        let second = ids.next(Timestamp::from_millis(1_000));
        assert!(second > first);
    }
}
