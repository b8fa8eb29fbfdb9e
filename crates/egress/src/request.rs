//! What is to be sent, and how it looks on the wire.
//!
//! The head is written into the connection's own buffer, with the body behind it when that is
//! small, so that a usual request is one write and no allocation.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use crate::target::Target;

/// One request: always `POST`, always with an exact `Content-Length`.
#[derive(Clone)]
pub struct Request<'a> {
    /// Connections are reused among requests of one key only: the endpoint.
    pub pool_key: u64,
    /// Where to.
    pub target: &'a Target,
    /// The body, byte for byte.
    pub body: Bytes,
    /// One deadline over DNS, connect, TLS, request, headers and body.
    pub timeout: Duration,
    /// The `Content-Type` line's value.
    pub content_type: &'a str,
    /// Custom header lines, each `name: value\r\n`, checked with
    /// [`check_custom_header`](crate::check_custom_header). A `User-Agent` among them replaces
    /// our own.
    pub custom_headers: &'a [u8],
}

/// Bodies up to this many bytes are copied behind the head and leave in the same write.
const JOIN_MAX: usize = 64 * 1024;

impl<'a> Request<'a> {
    /// A JSON request without custom headers.
    pub fn json(pool_key: u64, target: &'a Target, body: Bytes, timeout: Duration) -> Self {
        Self { pool_key, target, body, timeout, content_type: "application/json", custom_headers: &[] }
    }

    /// Writes the head, and as much of the body as goes with it, into `wire`; gives the number of
    /// body bytes written.
    pub(crate) fn write(
        &self,
        user_agent: &str,
        sign: &mut (dyn FnMut(&mut Vec<u8>) + Send),
        wire: &mut Vec<u8>,
    ) -> usize {
        wire.clear();
        wire.extend_from_slice(self.target.opening());
        if !names_user_agent(self.custom_headers) {
            wire.extend_from_slice(b"User-Agent: ");
            wire.extend_from_slice(user_agent.as_bytes());
            wire.extend_from_slice(b"\r\n");
        }
        wire.extend_from_slice(b"Content-Type: ");
        wire.extend_from_slice(self.content_type.as_bytes());
        wire.extend_from_slice(b"\r\nContent-Length: ");
        write_decimal(self.body.len(), wire);
        wire.extend_from_slice(b"\r\n");
        wire.extend_from_slice(self.custom_headers);
        sign(wire);
        wire.extend_from_slice(b"\r\n");
        let joined = if self.body.len() <= JOIN_MAX { self.body.len() } else { 0 };
        wire.extend_from_slice(&self.body[..joined]);
        joined
    }
}

/// Without body and custom headers: they are a customer's data and secrets.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("pool_key", &self.pool_key)
            .field("target", &self.target)
            .field("body_bytes", &self.body.len())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

fn write_decimal(mut number: usize, wire: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    wire.extend_from_slice(&digits[at..]);
}

fn names_user_agent(lines: &[u8]) -> bool {
    const NAME: &[u8] = b"user-agent:";
    lines
        .split(|&b| b == b'\n')
        .any(|line| line.len() >= NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EgressConfig, Guard};

    fn written(request: &Request<'_>) -> String {
        let mut wire = Vec::new();
        request.write("Gonets/1", &mut |w| w.extend_from_slice(b"S: 1\r\n"), &mut wire);
        String::from_utf8(wire).unwrap()
    }

    #[test]
    fn the_head_has_one_line_of_each_kind_and_the_body_follows() {
        let guard = Guard::new(&EgressConfig::default());
        let target = guard.parse_url("https://partner.example/p?a=%2F").unwrap();
        let request = Request::json(1, &target, Bytes::from_static(b"{}"), Duration::ZERO);
        assert_eq!(
            written(&request),
            "POST /p?a=%2F HTTP/1.1\r\nHost: partner.example\r\nUser-Agent: Gonets/1\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\nS: 1\r\n\r\n{}"
        );
    }

    #[test]
    fn a_custom_user_agent_replaces_ours() {
        let guard = Guard::new(&EgressConfig::default());
        let target = guard.parse_url("https://partner.example/").unwrap();
        let mut request = Request::json(1, &target, Bytes::new(), Duration::ZERO);
        request.custom_headers = b"X-A: 1\r\nUSER-agent: Shop\r\n";
        let text = written(&request);
        assert_eq!(text.to_ascii_lowercase().matches("user-agent").count(), 1);
        assert!(text.contains("Content-Length: 0\r\n"));
    }

    #[test]
    fn decimals_are_written_whole() {
        for number in [0, 9, 10, 65_536, usize::MAX] {
            let mut wire = Vec::new();
            write_decimal(number, &mut wire);
            assert_eq!(wire, number.to_string().into_bytes());
        }
    }
}
