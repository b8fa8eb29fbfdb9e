//! Checks of single fields. All that is wrong with a request is found at once, so that nobody
//! mends one field to learn of the next.

use std::collections::BTreeMap;

use gonets_core::{
    limits,
    names::{self, NameKind},
};

use crate::error::{Error, Problem};

/// Gathers what is wrong with a body.
#[derive(Default)]
pub(crate) struct Fields {
    problems: Vec<Problem>,
}

impl Fields {
    /// `Ok` if nothing was wrong.
    pub(crate) fn done(self) -> Result<(), Error> {
        if self.problems.is_empty() { Ok(()) } else { Err(Error::Invalid(self.problems)) }
    }

    pub(crate) fn wrong(&mut self, field: &'static str, message: impl Into<String>) {
        self.problems.push(Problem::body(field, message));
    }

    /// Takes the error of a check as a problem of the field.
    pub(crate) fn check<T, E: ToString>(&mut self, field: &'static str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.wrong(field, error.to_string())).ok()
    }

    pub(crate) fn name(&mut self, field: &'static str, kind: NameKind, name: &str) {
        self.check(field, names::check(kind, name));
    }

    pub(crate) fn uid(&mut self, uid: Option<&str>) {
        if let Some(uid) = uid {
            self.name("uid", NameKind::Uid, uid);
        }
    }

    /// At most `most` names, each once.
    pub(crate) fn name_list(&mut self, field: &'static str, kind: NameKind, list: &[String], most: usize) {
        if list.len() > most {
            self.wrong(field, format!("{field} has {} entries, and at most {most} are taken.", list.len()));
            return;
        }
        list.iter().for_each(|name| self.name(field, kind, name));
    }

    pub(crate) fn text(&mut self, field: &'static str, text: &str, most: usize) {
        let chars = text.chars().count();
        if chars > most {
            self.wrong(field, format!("{field} has {chars} characters, and at most {most} are taken."));
        }
    }

    /// A text that must say something.
    pub(crate) fn full_text(&mut self, field: &'static str, text: &str, most: usize) {
        if text.is_empty() {
            self.wrong(field, format!("{field} is empty."));
        }
        self.text(field, text, most);
    }

    pub(crate) fn within(&mut self, field: &'static str, value: Option<u32>, least: u32, most: u32) {
        if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
            self.wrong(field, format!("{field} is {value}. Use {least} to {most}."));
        }
    }

    pub(crate) fn throttle_rate(&mut self, rate: Option<u32>) {
        self.within("throttleRate", rate, 1, limits::THROTTLE_RATE_MAX);
    }

    /// What has a place in the API but no effect yet is refused, not swallowed.
    pub(crate) fn not_yet(&mut self, field: &'static str, is_asked_for: bool) {
        if is_asked_for {
            self.wrong(field, format!("{field} is not supported yet. Leave it out."));
        }
    }

    pub(crate) fn metadata(&mut self, metadata: &BTreeMap<String, String>) {
        let bytes: usize = metadata.iter().map(|(key, value)| key.len() + value.len() + 6).sum();
        if bytes > limits::METADATA_BYTES {
            let most = limits::METADATA_BYTES;
            self.wrong("metadata", format!("metadata has {bytes} bytes, and at most {most} are taken."));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_told_at_once() {
        let mut fields = Fields::default();
        fields.uid(Some("a b"));
        fields.name_list("channels", NameKind::Channel, &vec!["x".to_owned(); 6], 5);
        fields.throttle_rate(Some(0));
        fields.text("description", "fine", 10);
        let Err(Error::Invalid(problems)) = fields.done() else { panic!("nothing was found") };
        let at: Vec<_> = problems.iter().map(|problem| problem.at[1].as_ref()).collect();
        assert_eq!(at, ["uid", "channels", "throttleRate"]);
        assert_eq!(problems[2].message, "throttleRate is 0. Use 1 to 65535.");
    }
}
