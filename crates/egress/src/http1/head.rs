//! The head of an answer: where it ends, what it says about the body, and its header lines.

use super::{MAX_HEAD, MAX_HEADERS};

/// How the body's end is known (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is no body.
    Empty,
    /// So many bytes.
    Length(u64),
    /// The chunked coding says.
    Chunked,
    /// The end of the connection.
    ToClose,
    /// The lines contradict one another: the status stands, the body cannot be read.
    Unreadable,
}

/// What a head says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) framing: Framing,
    /// Whether the peer will take another request on this connection.
    pub(super) keep_alive: bool,
}

const NOT_HTTP: &str = "the answer does not start as HTTP/1.1 does";

/// Looks for the end of the head from `scanned` on, and moves it on. Says early that a peer does
/// not speak HTTP, so that nobody waits for the deadline with it.
pub(super) fn find_end(bytes: &[u8], scanned: &mut usize) -> Result<Option<usize>, &'static str> {
    const OPENING: &[u8] = b"HTTP/1.";
    let known = bytes.len().min(OPENING.len());
    if bytes[..known] != OPENING[..known] {
        return Err(NOT_HTTP);
    }
    while let Some(at) = bytes[*scanned..].iter().position(|&b| b == b'\n') {
        let line_end = *scanned + at;
        let end = match &bytes[line_end + 1..] {
            [b'\n', ..] => Some(line_end + 2),
            [b'\r', b'\n', ..] => Some(line_end + 3),
            // Too little to tell: this line end is looked at again.
            [] | [b'\r'] => {
                *scanned = line_end;
                return within_limit(bytes).map(|()| None);
            }
            _ => None,
        };
        if let Some(end) = end {
            return within_limit(&bytes[..end]).map(|()| Some(end));
        }
        *scanned = line_end + 1;
    }
    *scanned = bytes.len();
    within_limit(bytes).map(|()| None)
}

fn within_limit(head: &[u8]) -> Result<(), &'static str> {
    if head.len() > MAX_HEAD { Err("the answer's head is longer than 32 KiB") } else { Ok(()) }
}

/// Reads a whole head.
pub(super) fn read(bytes: &[u8]) -> Result<Head, &'static str> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut lines);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("the answer's head is broken"),
        Err(httparse::Error::TooManyHeaders) => {
            return Err("the answer has more than 64 header lines");
        }
        Err(httparse::Error::Version | httparse::Error::Status | httparse::Error::Token) => {
            return Err("the answer's status line is broken");
        }
        Err(_) => return Err("a header line of the answer is broken"),
    }
    let status = response.code.unwrap_or(0);
    if !(100..600).contains(&status) {
        return Err("the answer's status is not between 100 and 599");
    }
    let (framing, may_keep) = framing(status, response.headers);
    Ok(Head {
        status,
        keep_alive: may_keep && keeps_alive(response.version == Some(1), response.headers),
        framing,
    })
}

/// The framing, and whether the connection can be trusted behind it.
fn framing(status: u16, headers: &[httparse::Header<'_>]) -> (Framing, bool) {
    if matches!(status, 101 | 204 | 304) {
        return (Framing::Empty, status != 101);
    }
    let mut coding = None;
    let mut length = None;
    let mut lengths_agree = true;
    for header in headers {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            coding = header.value.rsplit(|&b| b == b',').next().or(coding);
        } else if header.name.eq_ignore_ascii_case("content-length") {
            for value in header.value.split(|&b| b == b',') {
                let value = decimal(value.trim_ascii());
                lengths_agree &= value.is_some() && (length.is_none() || length == value);
                length = value;
            }
        }
    }
    match (coding, length) {
        // Both at once is how requests are smuggled: read, but never reuse the connection.
        (Some(last), _) if last.trim_ascii().eq_ignore_ascii_case(b"chunked") => {
            (Framing::Chunked, lengths_agree && length.is_none())
        }
        (Some(_), _) => (Framing::ToClose, false),
        (None, _) if !lengths_agree => (Framing::Unreadable, false),
        (None, Some(length)) => (Framing::Length(length), true),
        // A 205 has no content; many servers then leave the length out too.
        (None, None) if status == 205 => (Framing::Empty, true),
        (None, None) => (Framing::ToClose, false),
    }
}

fn keeps_alive(is_1_1: bool, headers: &[httparse::Header<'_>]) -> bool {
    let mut keeps = is_1_1;
    for header in headers {
        if header.name.eq_ignore_ascii_case("connection") {
            for token in header.value.split(|&b| b == b',') {
                let token = token.trim_ascii();
                if token.eq_ignore_ascii_case(b"close") {
                    return false;
                }
                keeps |= token.eq_ignore_ascii_case(b"keep-alive");
            }
        }
    }
    keeps
}

fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    text.iter().try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The status of a head that is whole, and where it ends; for answers that have no body.
pub(crate) fn status_of_head(bytes: &[u8]) -> Result<Option<(u16, usize)>, &'static str> {
    match find_end(bytes, &mut 0)? {
        Some(end) => read(&bytes[..end]).map(|head| Some((head.status, end))),
        None => Ok(None),
    }
}

/// The values of all lines named `name` (in any case) in a whole head.
pub(crate) fn header_values<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    head.split(|&b| b == b'\n').skip(1).filter_map(move |line| {
        let colon = line.iter().position(|&b| b == b':')?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Result<Head, &'static str> {
        read(format!("HTTP/1.1 {lines}\r\n\r\n").as_bytes())
    }

    #[test]
    fn the_framing_follows_the_lines() {
        for (lines, framing, keep_alive) in [
            ("200 OK\r\nContent-Length: 5", Framing::Length(5), true),
            ("200 OK\r\nContent-Length: 5, 5", Framing::Length(5), true),
            ("200 OK\r\ncontent-length: 5\r\nCONTENT-LENGTH: 6", Framing::Unreadable, false),
            ("200 OK\r\nContent-Length: +5", Framing::Unreadable, false),
            ("200 OK\r\nContent-Length: 99999999999999999999", Framing::Unreadable, false),
            ("200 OK\r\nTransfer-Encoding: Chunked", Framing::Chunked, true),
            ("200 OK\r\nTransfer-Encoding: gzip, chunked", Framing::Chunked, true),
            ("200 OK\r\nTransfer-Encoding: chunked, gzip", Framing::ToClose, false),
            ("200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", Framing::Chunked, false),
            ("200 OK", Framing::ToClose, false),
            ("204 No\r\nContent-Length: 5", Framing::Empty, true),
            ("205 Reset", Framing::Empty, true),
            ("304 Same", Framing::Empty, true),
            ("101 Switch", Framing::Empty, false),
            ("200 OK\r\nContent-Length: 5\r\nConnection: x, Close", Framing::Length(5), false),
        ] {
            let read = head(lines).unwrap();
            assert_eq!((read.framing, read.keep_alive), (framing, keep_alive), "{lines}");
        }
    }

    #[test]
    fn http_1_0_keeps_the_connection_only_when_it_says_so() {
        let plain = read(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        assert!(!plain.keep_alive);
        let kept = read(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n");
        assert!(kept.unwrap().keep_alive);
    }

    #[test]
    fn what_is_not_http_is_known_at_once() {
        for bytes in [&b"SSH-2.0-x"[..], b"\r\nHTTP/1.1 200", b"HTTP/2 200", b"h"] {
            assert_eq!(find_end(bytes, &mut 0), Err(NOT_HTTP));
        }
        assert_eq!(find_end(b"HTTP/1.1 2", &mut 0), Ok(None));
    }

    #[test]
    fn broken_heads_are_told() {
        for lines in ["999 X", "099 X", "2 X", "200 OK\r\nno colon", "200 OK\r\na b: c"] {
            assert!(head(lines).is_err(), "{lines}");
        }
        assert!(head(&format!("200 OK{}", "\r\nA: b".repeat(65))).is_err());
        assert!(head(&format!("200 OK{}", "\r\nA: b".repeat(64))).is_ok());
    }

    #[test]
    fn header_values_are_found_in_any_case_and_trimmed() {
        let head = b"HTTP/1.1 429 x\r\nRetry-After: 5\r\nX: 1\nRETRY-AFTER:7 \r\n\r\n";
        let values: Vec<_> = header_values(head, "retry-after").collect();
        assert_eq!(values, [&b"5"[..], b"7"]);
    }
}
