//! Why something was not done. Each error is a sentence for the caller; what only the operator
//! may know goes to the log.

use std::{borrow::Cow, time::Duration};

use gonets_engine::handle::Unavailable;
use gonets_store::{query::QueryError, tx::Rejected};

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: `body`, `query` or `path`, then the names that lead there.
    pub at: Vec<Cow<'static, str>>,
    /// A sentence for whoever wrote it.
    pub message: String,
    /// `missing`, `type_error` or `value_error`.
    pub kind: &'static str,
}

impl Problem {
    /// A value of the body's field that cannot be used.
    pub fn body(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { at: vec!["body".into(), field.into()], message: message.into(), kind: "value_error" }
    }

    /// A field that must be in the body and is not.
    pub fn missing(field: &'static str) -> Self {
        Self {
            at: vec!["body".into(), field.into()],
            message: format!("{field} is required."),
            kind: "missing",
        }
    }

    /// A query parameter that cannot be used.
    pub fn query(name: &'static str, message: impl Into<String>) -> Self {
        Self { at: vec!["query".into(), name.into()], message: message.into(), kind: "value_error" }
    }
}

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No key, or one that is unknown, revoked or expired.
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// The key is good, but not for this.
    #[error("this needs a key of the environment; the one given is a token of a single application.")]
    Forbidden,
    /// The key belongs to an environment that may not administer the installation.
    #[error("this is for keys of the installation's first environment only.")]
    NotOfTheFirst,
    /// Nothing of that name that the caller may know of.
    #[error("there is no {what} \"{name}\".")]
    NotFound { what: &'static str, name: String },
    /// The request itself is wrong.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join(" "))]
    Invalid(Vec<Problem>),
    /// It cannot be done as things stand.
    #[error("{detail}")]
    Conflict { code: &'static str, detail: String },
    #[error("the payload has {bytes} bytes, and at most {limit} are taken (limits.payload_bytes).")]
    TooLarge { bytes: usize, limit: usize },
    /// Ask again when so long has passed.
    #[error("{what}. Try again in {} s.", whole_seconds(*wait))]
    TooOften { what: &'static str, wait: Duration },
    /// Ask again after a second.
    #[error("too many operations are waiting for the disk; try again in a second.")]
    Busy,
    /// Ask again, with the same idempotency key.
    #[error(
        "the store is closing; whether this was done is not known, so ask again with the same idempotency key."
    )]
    Closing,
    /// Others changed the same thing all the time; ask again after a second.
    #[error("others were changing the same thing all the time; try again in a second.")]
    Contended,
    /// Ask again after a second, or for less.
    #[error(
        "too many large answers are being sent at once; try again in a second, or ask for smaller pages."
    )]
    Crowded,
    /// Ask again when one has ended.
    #[error("too many test events are on their way; try again when one has ended.")]
    TooManyTests,
    /// Asked again, it would take as long.
    #[error("the question took too long to answer; narrow it by time or type.")]
    TooLong,
    /// The cause is for the log only.
    #[error("something failed on our side; it is in the server's log.")]
    Internal { cause: String },
    /// Deleted between being found and being written.
    #[error("what this is about was deleted meanwhile.")]
    Deleted,
}

impl Error {
    pub(crate) fn not_found(what: &'static str, name: &str) -> Self {
        // Names in errors come from the caller: long ones are of no use to anyone.
        Self::NotFound { what, name: name.chars().take(80).collect() }
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::Conflict { code: "conflict", detail: detail.into() }
    }

    pub(crate) fn internal(cause: impl ToString) -> Self {
        Self::Internal { cause: cause.to_string() }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated(_) => "authentication_failed",
            Self::Forbidden | Self::NotOfTheFirst => "insufficient_permissions",
            Self::NotFound { .. } | Self::Deleted => "not_found",
            Self::Invalid(_) => "validation_error",
            Self::Conflict { code, .. } => code,
            Self::TooLarge { .. } => "payload_too_large",
            Self::TooOften { .. } => "too_often",
            Self::Busy | Self::Contended | Self::Crowded | Self::TooManyTests => "busy",
            Self::Closing => "closing",
            Self::TooLong => "too_slow",
            Self::Internal { .. } => "internal_error",
        }
    }
}

/// So that whoever waits that long is not early.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000) as u64
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Invalid(vec![problem])
    }
}

impl From<Unavailable> for Error {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::Busy => Self::Busy,
            Unavailable::Closing => Self::Closing,
        }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::TooLong => Self::TooLong,
            QueryError::Unreadable(cause) => Self::Internal { cause },
        }
    }
}

/// Refusals of the store that no operation gives a meaning of its own.
impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::IdempotencyConflict => Self::Conflict {
                code: "idempotency_conflict",
                detail:
                    "this idempotency key was used before with another body. Use a new key for a new request."
                        .into(),
            },
            Rejected::Stale | Rejected::Conflict => Self::Contended,
            Rejected::Duplicate(_) => {
                Self::conflict("eventId is taken by an earlier message of this application.")
            }
            Rejected::UidTaken(_) => Self::conflict("uid is taken by another one."),
            Rejected::Fenced => Self::Closing,
            Rejected::Gone => Self::Deleted,
            Rejected::Poisoned(cause) => Self::Internal { cause },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_cause_is_never_told_to_the_caller() {
        let error = Error::internal("/var/lib/gonets: disk I/O error");
        assert!(!error.to_string().contains("disk"));
        assert_eq!(error.code(), "internal_error");
    }

    #[test]
    fn a_race_of_our_own_is_no_conflict_of_the_caller() {
        for lost in [Rejected::Stale, Rejected::Conflict] {
            let error = Error::from(lost);
            assert_eq!(error.code(), "busy");
            assert!(error.to_string().contains("try again"), "{error}");
        }
    }

    #[test]
    fn problems_are_joined_into_one_text() {
        let error = Error::Invalid(vec![Problem::missing("url"), Problem::body("uid", "uid is empty.")]);
        assert_eq!(error.to_string(), "url is required. uid is empty.");
    }

    #[test]
    fn a_long_name_is_cut_in_the_sentence() {
        let error = Error::not_found("application", &"x".repeat(500));
        assert!(error.to_string().len() < 120);
    }
}
