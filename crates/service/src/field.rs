//! Checks of single fields. All that is wrong with a request is found at once, so that nobody
//! mends one field to learn of the next.

use std::collections::BTreeMap;

use gonets_core::{
    ids::IdKind,
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
            self.own_name("uid", NameKind::Uid, uid);
        }
    }

    /// A name that stands for an id wherever one is asked for, and so must not look like one.
    pub(crate) fn own_name(&mut self, field: &'static str, kind: NameKind, name: &str) {
        self.name(field, kind, name);
        if let Some(prefix) = form_of_id(name) {
            self.wrong(
                field,
                format!("{field} has the form of an id of ours ({prefix}…), and would be taken for one. Use another."),
            );
        }
    }

    /// A list of filters: what is to take all is left out, not empty, since one that became empty
    /// by mistake would take all, or nothing, and nobody would know which.
    pub(crate) fn filter_list(
        &mut self,
        field: &'static str,
        kind: NameKind,
        list: Option<&[String]>,
        most: usize,
    ) {
        match list {
            Some([]) => {
                self.wrong(field, format!("{field} must not be empty; leave it out or null for all."))
            }
            Some(list) => self.name_list(field, kind, list, most),
            None => {}
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
        let weight = |(key, value): &(&String, &String)| key.len() + value.len() + 6;
        let bytes: usize = metadata.iter().map(|entry| weight(&entry)).sum();
        if bytes > limits::METADATA_BYTES
            && let Some(largest) = metadata.iter().max_by_key(weight)
        {
            let (most, key, part) = (limits::METADATA_BYTES, shown(largest.0), weight(&largest));
            self.wrong(
                "metadata",
                format!(
                    "metadata has {bytes} bytes, and at most {most} are taken; \"{key}\" alone has {part}."
                ),
            );
        }
    }
}

/// A name of the caller's in a sentence: long ones are of no use to anyone.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

const ID_KINDS: [IdKind; 7] = [
    IdKind::Message,
    IdKind::Attempt,
    IdKind::Application,
    IdKind::Endpoint,
    IdKind::Environment,
    IdKind::Key,
    IdKind::Task,
];
/// Characters of an id behind its prefix.
const ID_CHARS: usize = 26;

/// The prefix of a name that looks like an id, whoever made it.
pub(crate) fn form_of_id(name: &str) -> Option<&'static str> {
    ID_KINDS.map(IdKind::prefix).into_iter().find(|prefix| {
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            && name.len() == prefix.len() + ID_CHARS
            && name[prefix.len()..].bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
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
        fields.filter_list("eventTypes", NameKind::EventType, Some(&[]), 5);
        let Err(Error::Invalid(problems)) = fields.done() else { panic!("nothing was found") };
        let at: Vec<_> = problems.iter().map(|problem| problem.at[1].as_ref()).collect();
        assert_eq!(at, ["uid", "channels", "throttleRate", "eventTypes"]);
        assert_eq!(problems[2].message, "throttleRate is 0. Use 1 to 65535.");
        assert_eq!(problems[3].message, "eventTypes must not be empty; leave it out or null for all.");
    }

    #[test]
    fn a_name_that_looks_like_an_id_is_refused_and_one_that_only_begins_so_is_not() {
        let ids = gonets_core::ids::IdCodec::new([1; 16]);
        for kind in ID_KINDS {
            assert_eq!(form_of_id(&ids.encode(kind, 7)), Some(kind.prefix()));
        }
        // Not made here, or written large: it would still be looked for as an id.
        for alike in ["app_00000000000000000000000000", "MSG_0123456789ABCDEFGHJKMNPQRS"] {
            assert!(form_of_id(alike).is_some(), "{alike}");
        }
        for other in
            ["app_1", "ep_", "shop", "app_0000000000000000000000000-", "xapp_00000000000000000000000000"]
        {
            assert_eq!(form_of_id(other), None, "{other}");
        }
    }

    #[test]
    fn too_much_metadata_is_told_with_its_largest_key() {
        let mut fields = Fields::default();
        let small = ("small".to_owned(), "x".to_owned());
        fields.metadata(&BTreeMap::from([small, ("notes".to_owned(), "x".repeat(20_000))]));
        let text = fields.done().unwrap_err().to_string();
        assert!(text.contains("\"notes\" alone has 20011") && text.contains("at most 16384"), "{text}");
    }
}
