//! What came of one request, as facts: the rules that judge it live elsewhere.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;

use crate::guard::Denied;
use crate::http1::header_values;

/// What the request came to.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A final status before the deadline; or a lone 1xx before the peer closed.
    Status(u16),
    /// No status, by the peer's or the network's doing.
    Failed(Cause),
    /// The guard refused the address: nothing was dialled.
    Blocked(Denied),
    /// No status, by our own doing.
    OurFault(OurFault),
}

/// Why there is no status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    kind: CauseKind,
    sentence: Cow<'static, str>,
}

impl Cause {
    /// A cause of that class, told in a whole sentence.
    pub fn new(kind: CauseKind, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, sentence: sentence.into() }
    }

    /// The class of the failure.
    pub fn kind(&self) -> CauseKind {
        self.kind
    }

    /// The stable text of the class.
    pub fn code(&self) -> &'static str {
        self.kind.as_str()
    }

    /// A sentence for people: what happened, with names and addresses.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Classes of failure; the texts of [`CauseKind::as_str`] are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CauseKind {
    /// The name does not exist, or has no address.
    DnsNotFound,
    /// The name servers gave no usable answer.
    DnsFailed,
    /// The port is closed.
    ConnectRefused,
    /// No way there: no route, network down, host unreachable.
    ConnectFailed,
    /// The certificate has expired.
    TlsExpired,
    /// The certificate is not valid yet.
    TlsNotYetValid,
    /// Nobody we trust signed the certificate.
    TlsUnknownIssuer,
    /// The certificate is for another name.
    TlsNameMismatch,
    /// The peer speaks only TLS versions older than 1.2.
    TlsObsolete,
    /// Anything else in TLS.
    TlsFailed,
    /// The connection was reset.
    Reset,
    /// The connection was closed before a status.
    Closed,
    /// The answer is not HTTP/1.
    Malformed,
    /// The deadline passed.
    Timeout,
}

impl CauseKind {
    /// The class as it stands in the journal and in API answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DnsNotFound => "dns_not_found",
            Self::DnsFailed => "dns_failed",
            Self::ConnectRefused => "connection_refused",
            Self::ConnectFailed => "connection_failed",
            Self::TlsExpired => "tls_expired",
            Self::TlsNotYetValid => "tls_not_yet_valid",
            Self::TlsUnknownIssuer => "tls_unknown_issuer",
            Self::TlsNameMismatch => "tls_name_mismatch",
            Self::TlsObsolete => "tls_obsolete",
            Self::TlsFailed => "tls_failed",
            Self::Reset => "connection_reset",
            Self::Closed => "connection_closed",
            Self::Malformed => "malformed_answer",
            Self::Timeout => "timeout",
        }
    }
}

/// What is wrong with us rather than with the peer. `Display` is a sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OurFault {
    /// The process or the machine has no file handles left.
    #[error(
        "this machine has no file handles left. Raise the limit (ulimit -n) or lower delivery.global_concurrency."
    )]
    NoFileHandles,
    /// No local port, or no socket memory, is left for another connection.
    #[error("this machine has no local ports or socket memory left for another connection.")]
    NoSockets,
    /// Our own DNS server cannot be reached.
    #[error("the DNS server cannot be asked: {0}. Check egress.resolver.")]
    ResolverDown(String),
    /// The proxy everything goes through does not let us.
    #[error("the proxy does not let us out: {0}. Check egress.proxy.")]
    ProxyDown(String),
}

impl OurFault {
    /// The stable text of the class.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFileHandles => "no_file_handles",
            Self::NoSockets => "no_sockets",
            Self::ResolverDown(_) => "resolver_down",
            Self::ProxyDown(_) => "proxy_down",
        }
    }

    /// The fault behind an error of the operating system, if it is ours.
    pub(crate) fn of(cause: &std::io::Error) -> Option<Self> {
        match cause.raw_os_error()? {
            libc::EMFILE | libc::ENFILE => Some(Self::NoFileHandles),
            libc::ENOBUFS | libc::ENOMEM => Some(Self::NoSockets),
            _ => None,
        }
    }
}

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Asking for addresses, and vetting them.
    Dns,
    /// Opening the TCP connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
    /// Waiting for the first byte of an answer.
    Wait,
    /// Reading the answer.
    Body,
    /// All of it was read.
    Done,
}

impl Stage {
    /// The stage as it stands in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Body => "body",
            Self::Done => "done",
        }
    }
}

/// How long each stage took, in microseconds; with two sends, both together. A stage that was not
/// reached, or was skipped on a reused connection, has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Resolving and vetting.
    pub dns_us: u32,
    /// The TCP connection.
    pub connect_us: u32,
    /// The TLS handshake.
    pub tls_us: u32,
    /// Sending the request.
    pub send_us: u32,
    /// From the last byte sent to the first byte received.
    pub wait_us: u32,
    /// From the first byte received to the end.
    pub body_us: u32,
}

/// The version of TLS spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2.
    V1_2,
    /// TLS 1.3.
    V1_3,
}

impl TlsVersion {
    /// `1.2` or `1.3`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
        }
    }
}

/// All that is known about one request.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What it came to.
    pub seen: Seen,
    /// How many times the request was written to a connection: 0, 1, or 2 when a reused one
    /// turned out dead.
    pub sends: u8,
    /// The address of the last connection.
    pub remote: Option<SocketAddr>,
    /// The TLS version of the last connection.
    pub tls_version: Option<TlsVersion>,
    /// How far it got.
    pub stage: Stage,
    /// How long each stage took.
    pub phases: Phases,
    /// How long all of it took, in microseconds.
    pub duration_us: u64,
    /// The answer's head as it came, status line included, at most 32 KiB.
    pub headers: Vec<u8>,
    /// The answer's body, at most 16 KiB, whatever its bytes are.
    pub body: Bytes,
    /// Whether the body had, or should have had, more.
    pub truncated: bool,
    /// Whether the peer may have seen a byte of the request.
    pub byte_may_have_left: bool,
}

impl Exchange {
    /// The values of all header lines of that name, in any case, without white space around.
    pub fn header_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        header_values(&self.headers, name)
    }

    /// The values of all `Retry-After` lines, unread (R8).
    pub fn retry_after_values(&self) -> impl Iterator<Item = &[u8]> {
        self.header_values("retry-after")
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn running_out_of_handles_is_our_fault_and_a_refusal_is_not() {
        for code in [libc::EMFILE, libc::ENFILE] {
            let cause = io::Error::from_raw_os_error(code);
            assert_eq!(OurFault::of(&cause), Some(OurFault::NoFileHandles));
        }
        let refused = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        assert_eq!(OurFault::of(&refused), None);
        assert_eq!(OurFault::of(&io::ErrorKind::UnexpectedEof.into()), None);
    }
}
