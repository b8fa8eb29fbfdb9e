//! What is wrong with a body, said to whoever wrote it.
//!
//! Bodies are read by serde straight from their bytes, which is fast and says little: its errors
//! speak of Rust's types, and of a byte rather than a field. So a body that could not be read is
//! read once more, slowly, by a reader that knows where it is and what is wanted there, and what it
//! finds first is told with its place.
//!
//! It goes through the text value by value, so that parts that are kept as text (payloads) need not
//! be parsed, and can be anything that is JSON.

mod place;
mod reader;
#[cfg(test)]
mod tests;

use gonets_service::Problem;
use serde::Deserialize;
use serde_json::{error::Category, value::RawValue};

use self::{
    place::Wrong,
    reader::{Kind, Reader},
};
use crate::error::ApiError;

/// Why `bytes` could not be read as the JSON object that is wanted.
pub(super) fn explain<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> ApiError {
    if bytes.trim_ascii().is_empty() {
        return ApiError::NotJson("the body is empty, and a JSON object is wanted.".into());
    }
    let whole: &RawValue = match serde_json::from_slice(bytes) {
        Ok(whole) => whole,
        Err(error) => return ApiError::NotJson(not_json("the body", &error)),
    };
    let reader = Reader::of(whole);
    if reader.kind() != Kind::Object {
        let message = "The body must be a JSON object.".to_owned();
        return Problem { at: vec!["body".into()], message, kind: "type_error" }.into();
    }
    match T::deserialize(reader) {
        Err(Wrong(problem)) => (*problem).into(),
        // Nothing that the first reading refuses is taken by this one.
        Ok(_) => ApiError::NotJson("the body cannot be read.".into()),
    }
}

/// Where a text ceases to be JSON.
pub(crate) fn not_json(what: &str, error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => format!("{what} is not JSON: it ends too early."),
        _ => {
            let (line, column) = (error.line(), error.column());
            format!("{what} is not JSON: it cannot be read at line {line}, column {column}.")
        }
    }
}
