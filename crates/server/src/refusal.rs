//! Answers to what is not HTTP, or has a head that is too large.
//!
//! hyper refuses such requests itself, before any service sees them, with a status and no body.
//! Nothing of hyper's can be told to say more, so its answer is known by its form when it is
//! written, and one with a sentence is written in its place.

use crate::limits::Limits;

/// What hyper answers with: status line, code and sentence.
const BARE: [(&[u8], &str, &str); 3] = [
    (
        b"HTTP/1.1 400 Bad Request\r\n",
        "malformed_request",
        "the request is not HTTP/1.1 as it should be: its first line or a header cannot be read.",
    ),
    (b"HTTP/1.1 414 URI Too Long\r\n", "uri_too_long", "the request's path and query are too long."),
    (b"HTTP/1.1 431 Request Header Fields Too Large\r\n", "head_too_large", ""),
];

/// The whole answer to be written in place of `head`, if that is a bare refusal.
pub(crate) fn in_place_of(head: &[u8], limits: &Limits) -> Option<Vec<u8>> {
    // All but a few answers end here.
    if !head.starts_with(b"HTTP/1.1 4") || !head.ends_with(b"\r\n\r\n") {
        return None;
    }
    let (line, code, sentence) = BARE.into_iter().find(|(line, ..)| head.starts_with(line))?;
    let is_bare = head.split(|byte| *byte == b'\n').any(|line| line == b"content-length: 0\r");
    if !is_bare {
        return None;
    }
    let detail = if sentence.is_empty() {
        let most = limits.head_bytes.max(crate::limits::HEAD_BYTES_MIN);
        format!("the request's line and headers are over {most} bytes, or over 100 headers.")
    } else {
        sentence.to_owned()
    };
    let body = format!(r#"{{"code":"{code}","detail":"{detail}"}}"#);
    let mut answer = line.to_vec();
    answer.extend_from_slice(b"content-type: application/json\r\nconnection: close\r\ncontent-length: ");
    answer.extend_from_slice(format!("{}\r\n\r\n{body}", body.len()).as_bytes());
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(head: &str) -> Option<String> {
        in_place_of(head.as_bytes(), &Limits::default()).map(|answer| String::from_utf8(answer).unwrap())
    }

    #[test]
    fn a_bare_refusal_is_given_a_sentence() {
        let bare =
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        let answer = said(bare).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{answer}");
        assert!(body.starts_with(r#"{"code":"head_too_large","detail":"the request's line"#), "{body}");
    }

    #[test]
    fn all_other_answers_stay_as_they_are() {
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 20\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\nx-content-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            "",
        ] {
            assert_eq!(said(other), None, "{other}");
        }
    }
}
