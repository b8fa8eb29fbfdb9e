//! Where in a body something is wrong, and what.

use std::{borrow::Cow, fmt};

use gonets_service::Problem;
use serde::de;

/// The way to a value from the body.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Body,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    pub(super) fn steps(&self, steps: &mut Vec<Cow<'static, str>>) {
        match self {
            Self::Body => steps.push("body".into()),
            Self::Field(of, name) => {
                of.steps(steps);
                steps.push(short(name).into());
            }
            Self::Item(of, number) => {
                of.steps(steps);
                steps.push(number.to_string().into());
            }
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("the body"),
            Self::Field(Self::Body, name) => f.write_str(&short(name)),
            Self::Field(of, name) => write!(f, "{of}.{}", short(name)),
            Self::Item(of, number) => write!(f, "{of}[{number}]"),
        }
    }
}

/// Names come from the caller: long ones are of no use to anyone.
pub(super) fn short(name: &str) -> String {
    name.chars().take(80).collect()
}

/// What was found wrong. Boxed: it is passed through everything that serde does.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) Box<Problem>);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Wrong {}

/// Reached only where serde objects to what this reader took; whose words those are is not known,
/// so they are not passed on.
impl de::Error for Wrong {
    fn custom<T: fmt::Display>(_words: T) -> Self {
        let message = "The body has a value that cannot be used.".to_owned();
        Self(Box::new(Problem { at: vec!["body".into()], message, kind: "type_error" }))
    }
}
