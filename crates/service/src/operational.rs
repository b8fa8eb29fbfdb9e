//! Operational endpoints: where an environment's own people are told what happens in it (R17, R21).
//!
//! They are endpoints like any other, of an application that nobody sees: it is in no list, no name leads
//! to it, and it is made with the first of them. So whatever delivers, retries and shows endpoints does
//! so for these, too.

mod access;
mod change;
mod list;

use gonets_core::notice::NoticeKind;

use crate::{error::Error, field::Fields};

/// A filter of these lets only what can happen through: a mistyped name would silently tell nothing.
fn check_types(types: Option<&[String]>) -> Result<(), Error> {
    let mut fields = Fields::default();
    for name in types.unwrap_or_default() {
        if NoticeKind::from_name(name).is_none() {
            let all: Vec<_> = NoticeKind::ALL.iter().map(|kind| kind.name()).collect();
            let name = crate::field::shown(name);
            fields.wrong(
                "eventTypes",
                format!("there is no operational event \"{name}\". There are {}.", all.join(", ")),
            );
        }
    }
    fields.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_happen_is_listened_for() {
        let types = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(check_types(None).is_ok());
        assert!(check_types(Some(&types(&["breaker.opened", "message.attempt.exhausted"]))).is_ok());
        let error = check_types(Some(&types(&["breaker.open"]))).unwrap_err().to_string();
        assert!(error.contains("\"breaker.open\"") && error.contains("endpoint.failing"), "{error}");
    }
}
