use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    error::ApiError,
    request::{given, object, read},
};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(dead_code, reason = "what is read is not looked at: only that it is read, or why not")]
struct In<'a> {
    name: Option<String>,
    throttle_rate: Option<u32>,
    small: Option<u16>,
    disabled: Option<bool>,
    tags: Option<Vec<String>>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "object")]
    inner: Option<Inner>,
    any: Option<serde_json::Value>,
    #[serde(borrow, deserialize_with = "given")]
    raw: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(dead_code, reason = "as above")]
struct Inner {
    text: Option<String>,
}

fn problem(body: &str) -> (String, String) {
    let Err(ApiError::Service(gonets_service::Error::Invalid(problems))) = read::<In<'_>>(body.as_bytes())
    else {
        panic!("{body} is no problem of a field")
    };
    (problems[0].at.join("/"), problems[0].message.clone())
}

#[test]
fn what_has_the_wrong_form_is_told_by_its_place_and_what_is_wanted() {
    for (body, place, message) in [
        ("[]", "body", "The body must be a JSON object."),
        ("[\"a\",5]", "body", "The body must be a JSON object."),
        ("null", "body", "The body must be a JSON object."),
        (" \"x\" ", "body", "The body must be a JSON object."),
        (r#"{"name":{}}"#, "body/name", "name must be a string, not an object."),
        (r#"{"name":1}"#, "body/name", "name must be a string, not a number."),
        (r#"{"name":"\ud800"}"#, "body/name", "name has an escape that is no Unicode character."),
        (r#"{"name":"a","name":"b"}"#, "body/name", "name is there twice."),
        (
            r#"{"throttleRate":"5"}"#,
            "body/throttleRate",
            "throttleRate must be a whole number from 0 to 4294967295, not a string.",
        ),
        (r#"{"small":65536}"#, "body/small", "small is 65536, and must be a whole number from 0 to 65535."),
        (r#"{"small":-1}"#, "body/small", "small is -1, and must be a whole number from 0 to 65535."),
        (r#"{"small":1.5}"#, "body/small", "small is 1.5, and must be a whole number from 0 to 65535."),
        (r#"{"small":1e999}"#, "body/small", "small is 1e999, and must be a whole number from 0 to 65535."),
        (r#"{"disabled":"no"}"#, "body/disabled", "disabled must be true or false, not a string."),
        (r#"{"tags":"x"}"#, "body/tags", "tags must be an array, not a string."),
        (r#"{"tags":["a",2]}"#, "body/tags/1", "tags[1] must be a string, not a number."),
        (r#"{"metadata":[]}"#, "body/metadata", "metadata must be an object, not an array."),
        (r#"{"metadata":{"k":null}}"#, "body/metadata/k", "metadata.k must be a string, not null."),
        (r#"{"inner":["a"]}"#, "body/inner", "inner must be an object, not an array."),
        (r#"{"inner":5}"#, "body/inner", "inner must be an object, not a number."),
        (r#"{"inner":{"text":[]}}"#, "body/inner/text", "inner.text must be a string, not an array."),
        (r#"{"raw":[1e999,"\ud800"],"name":1}"#, "body/name", "name must be a string, not a number."),
        (r#"{"other":{"a":[1e999]},"name":1}"#, "body/name", "name must be a string, not a number."),
        (r#"{"any":{"a":1e999}}"#, "body/any/a", "any.a is a number that is too large."),
    ] {
        assert_eq!(problem(body), (place.to_owned(), message.to_owned()), "{body}");
    }
    let deep = format!(r#"{{"any":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    assert!(problem(&deep).1.ends_with("is nested more than 100 levels deep."));
}

#[test]
fn where_a_body_ceases_to_be_json_is_told() {
    for (body, words) in [
        (&b""[..], "the body is empty, and a JSON object is wanted."),
        (b" \n", "the body is empty, and a JSON object is wanted."),
        (b"{", "the body is not JSON: it ends too early."),
        (b"{\"a\":NaN}", "the body is not JSON: it cannot be read at line 1, column 6."),
        (b"{\"name\":\"x\"}x", "the body is not JSON: it cannot be read at line 1, column 13."),
    ] {
        let Err(ApiError::NotJson(said)) = read::<In<'_>>(body) else { panic!("{body:?}") };
        assert_eq!(said, words);
    }
}

#[test]
fn null_and_what_is_not_known_are_no_trouble() {
    let body = r#"{"name":null,"tags":null,"inner":null,"any":null,"raw":null,"x":[1],"x":2}"#;
    let taken = read::<In<'_>>(body.as_bytes()).expect("nothing is wrong");
    assert_eq!(taken.raw.map(RawValue::get), Some("null"));
    assert!(read::<In<'_>>(br#" {"inner":{"text":"a"},"metadata":{"a":"1","a":"2"}}"#).is_ok());
}

/// Words of serde and Rust that no stranger understands.
const THEIRS: [&str; 9] =
    ["invalid", "expected", "u16", "u32", "struct", "map", "sequence", "missing field", "serde"];

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-z]{0,3}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let name = prop_oneof![
            Just("name"),
            Just("throttleRate"),
            Just("small"),
            Just("disabled"),
            Just("tags"),
            Just("metadata"),
            Just("inner"),
            Just("any"),
            Just("raw"),
            Just("text"),
            Just("q"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(name.prop_map(str::to_owned), inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_refused_is_refused_in_our_own_words(value in json()) {
        let text = value.to_string();
        if let Err(error) = read::<In<'_>>(text.as_bytes()) {
            let ApiError::Service(gonets_service::Error::Invalid(problems)) = error else {
                panic!("{text} is JSON")
            };
            let said = &problems[0].message;
            prop_assert!(THEIRS.iter().all(|word| !said.contains(word)), "{text}: {said}");
            prop_assert!(!said.contains("a value that cannot be used"), "{text}: {said}");
        }
    }

    #[test]
    fn no_body_panics(text in "\\PC*") {
        let _ = read::<In<'_>>(text.as_bytes());
    }
}
