//! What can be wrong with what a person wrote: a profile, a duration, a name. Rules themselves
//! have no errors: every state and every event has an answer.

/// An input that cannot be used, in a sentence for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A text that is not a duration.
    #[error(
        "\"{text}\" is not a duration: {problem}. Write a whole number and a unit: 250ms, 15s, 15m, 4h or 30d."
    )]
    Duration { text: String, problem: &'static str },

    /// A key of a profile whose value cannot work.
    #[error("profile \"{profile}\", key \"{key}\": {problem}.")]
    Profile { profile: String, key: String, problem: String },

    /// More profiles than [`crate::limits::PROFILES`].
    #[error("there are {count} profiles, and at most {limit} are allowed. Let applications share profiles.")]
    TooManyProfiles { count: usize, limit: usize },

    /// A uid, event id, channel or event type outside the allowed form.
    #[error("{what} {problem}. Use 1 to {limit} letters (a-z, A-Z), digits, \"-\", \"_\" and \".\".")]
    Name { what: &'static str, problem: String, limit: usize },
}
