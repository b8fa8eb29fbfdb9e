//! `gonets verify`: checks a signature from a file of headers and body, for the partner whose own
//! check fails and who wants to know whose fault it is.
//!
//! The file is a request as saved: header lines, an empty line, and the body to the last byte. A
//! request line in front is skipped. With `--body` the headers stand alone.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use gonets_core::{
    clock::SystemClock,
    time::{Clock, Timestamp},
};
use gonets_wire::{Verified, VerifyError, VerifyingKey, Window, verify};

use super::print_json;
use crate::{
    error::Error,
    terminal::{Terminal, Tone},
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The saved request, or - for standard input
    file: PathBuf,
    /// The body in a file of its own
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The endpoint's secret (whsec_…, whsk_… or whpk_…); may be repeated
    #[arg(long, value_name = "SECRET", required = true)]
    secret: Vec<String>,
    /// When the request came, in RFC 3339 or Unix seconds, if it is not of now
    #[arg(long, value_name = "TIME", value_parser = instant)]
    at: Option<Timestamp>,
    /// One JSON value instead of a line
    #[arg(long)]
    json: bool,
}

fn instant(text: &str) -> Result<Timestamp, &'static str> {
    let seconds =
        text.parse::<i64>().ok().map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
    seconds.or_else(|| Timestamp::parse_rfc3339(text)).ok_or("give 2026-11-30T12:00:00Z or Unix seconds")
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        let keys = self.secret.iter().map(|text| VerifyingKey::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let saved = read(&self.file)?;
        let (headers, rest) = split(&saved)?;
        let body = match &self.body {
            Some(path) => read(path)?,
            None => rest.ok_or(Error::Request("the file has no empty line between headers and body. Add it, or give the body with --body."))?.to_vec(),
        };
        let at = self.at.unwrap_or_else(|| SystemClock::start().wall());
        let verdict = verify(&headers, &body, &keys, Window::around(at.as_seconds()));
        if self.json {
            print_json(&as_json(&verdict))?;
        }
        let verified = verdict?;
        if !self.json {
            let terminal = Terminal::of_process();
            let good = terminal.paint(Tone::Good, "verified");
            terminal.line(format_args!(
                "{good}: scheme {}, signed at {}, body of {} bytes",
                verified.scheme.name(),
                Timestamp::from_millis(verified.timestamp.saturating_mul(1000)),
                body.len()
            ));
        }
        Ok(())
    }
}

fn as_json(verdict: &Result<Verified, VerifyError>) -> serde_json::Value {
    match verdict {
        Ok(verified) => serde_json::json!({
            "verified": true, "scheme": verified.scheme.name(), "timestamp": verified.timestamp
        }),
        Err(problem) => serde_json::json!({ "verified": false, "problem": problem.to_string() }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let told = |cause| Error::Read { path: path.to_owned(), cause };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(told)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(told)
}

type Headers = Vec<(String, Vec<u8>)>;

/// The header lines, and what comes after the empty line if there is one.
fn split(saved: &[u8]) -> Result<(Headers, Option<&[u8]>), Error> {
    let mut headers = Headers::new();
    let mut rest = saved;
    let mut first = true;
    while !rest.is_empty() {
        let (line, after) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        rest = after;
        if line.is_empty() {
            return Ok((headers, Some(rest)));
        }
        match line.iter().position(|byte| *byte == b':') {
            Some(colon) if !line[..colon].contains(&b' ') => {
                let name = String::from_utf8_lossy(&line[..colon]).into_owned();
                headers.push((name, line[colon + 1..].trim_ascii().to_vec()));
            }
            // POST /hook HTTP/1.1
            _ if first => {}
            _ => {
                return Err(Error::Request(
                    "a line before the body is not a header. Write name: value on each, then an empty line, then the body.",
                ));
            }
        }
        first = false;
    }
    Ok((headers, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_request_is_taken_apart_byte_for_byte() {
        let saved = b"POST /hook?a=b:c HTTP/1.1\r\nWebhook-Id: msg_1\r\nX: a: b\r\n\r\n{\"a\":1}\n\r\n";
        let (headers, body) = split(saved).unwrap();
        assert_eq!(headers, [("Webhook-Id".into(), b"msg_1".to_vec()), ("X".into(), b"a: b".to_vec())]);
        assert_eq!(body, Some(&b"{\"a\":1}\n\r\n"[..]));
        assert_eq!(split(b"a: b\n\nbody").unwrap().1, Some(&b"body"[..]));
        assert_eq!(split(b"a: b\n").unwrap().1, None);
        assert!(split(b"a: b\nnonsense\n\n").is_err());
    }

    #[test]
    fn instants_are_seconds_or_rfc_3339() {
        assert_eq!(instant("10").unwrap(), Timestamp::from_millis(10_000));
        assert_eq!(instant("1970-01-01T00:00:10Z").unwrap(), Timestamp::from_millis(10_000));
        assert!(instant("yesterday").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_file_panics_and_a_body_comes_back_as_it_was(body: Vec<u8>, noise: Vec<u8>) {
            let _ = split(&noise);
            let saved = [b"a: b\r\n\r\n".as_slice(), &body].concat();
            proptest::prop_assert_eq!(split(&saved).unwrap().1, Some(body.as_slice()));
        }
    }
}
