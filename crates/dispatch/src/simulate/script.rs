//! What an endpoint answers, attempt after attempt, and how people write it.

use std::{fmt, str::FromStr, time::Duration};

use gonets_core::{
    outcome::{Outcome, Seen, classify},
    retry_after,
    time::Timestamp,
};

/// One answer: `200`, `429:30` (with Retry-After), `timeout`, `network`, `blocked`, `interrupted`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meets {
    Status { status: u16, retry_after: Option<String> },
    Timeout,
    Network,
    Blocked,
    Interrupted,
}

/// A script is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no answer of an endpoint. Write a status from 100 to 599 (404), with a Retry-After if you like (429:30), or one of timeout, network, blocked, interrupted."
)]
pub struct UnknownAnswer(String);

impl FromStr for Meets {
    type Err = UnknownAnswer;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownAnswer(text.chars().take(40).collect());
        match text {
            "timeout" => return Ok(Self::Timeout),
            "network" => return Ok(Self::Network),
            "blocked" => return Ok(Self::Blocked),
            "interrupted" => return Ok(Self::Interrupted),
            _ => {}
        }
        let (status, retry_after) =
            text.split_once(':').map_or((text, None), |(status, field)| (status, Some(field.to_owned())));
        let status = status.parse().ok().filter(|status| (100..600).contains(status)).ok_or_else(unknown)?;
        Ok(Self::Status { status, retry_after })
    }
}

impl fmt::Display for Meets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, retry_after: None } => write!(f, "{status}"),
            Self::Status { status, retry_after: Some(field) } => write!(f, "{status}:{field}"),
            Self::Timeout => f.write_str("timeout"),
            Self::Network => f.write_str("network"),
            Self::Blocked => f.write_str("blocked"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Meets {
    /// What it comes to, and the Retry-After that counts (R1, R8).
    pub(super) fn outcome(&self, cap: Duration, now: Timestamp) -> (Outcome, Option<Duration>) {
        match self {
            Self::Status { status, retry_after } => {
                let fields = retry_after
                    .as_deref()
                    .map(str::as_bytes)
                    .into_iter()
                    .filter(|_| retry_after::applies_to(*status));
                (classify(Seen::Status(*status)), retry_after::parse(fields, now, cap).pause)
            }
            Self::Timeout | Self::Network => (classify(Seen::NoAnswer), None),
            Self::Blocked => (classify(Seen::Blocked), None),
            Self::Interrupted => (classify(Seen::OurFault), None),
        }
    }
}

/// Answers in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    answers: Vec<Meets>,
    last: Meets,
}

impl Script {
    /// After `answers` comes `repeat` for ever, or the last of them.
    ///
    /// `None` if there is no answer at all.
    pub fn new(answers: Vec<Meets>, repeat: Option<Meets>) -> Option<Self> {
        let last = repeat.or_else(|| answers.last().cloned())?;
        Some(Self { answers, last })
    }

    /// The answer to an attempt, from 0.
    pub(super) fn answer(&self, attempt: usize) -> Meets {
        self.answers.get(attempt).unwrap_or(&self.last).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_are_written() {
        for text in ["200", "429:30", "503:Wed, 21 Oct 2026 07:28:00 GMT", "timeout", "network", "blocked"] {
            assert_eq!(text.parse::<Meets>().map(|meets| meets.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "99", "600", "ok", "-1", "200 ", "timeouts"] {
            let sentence = text.parse::<Meets>().expect_err(text).to_string();
            assert!(sentence.starts_with(&format!("\"{text}\" is no answer")), "{sentence}");
        }
    }

    #[test]
    fn the_last_answer_goes_on_unless_another_is_named() {
        let script = |repeat| Script::new(vec![Meets::Timeout, Meets::Network], repeat).expect("answers");
        assert_eq!(script(None).answer(9), Meets::Network);
        assert_eq!(script(Some(Meets::Blocked)).answer(9), Meets::Blocked);
        assert_eq!(script(Some(Meets::Blocked)).answer(1), Meets::Network);
        assert_eq!(Script::new(Vec::new(), None), None);
    }
}
