//! What is asked of a URL's text before and beside the parser.
//!
//! The WHATWG parser forgives much: it drops tabs and line ends, turns `\` into `/`, and reads
//! `https:host` as `https://host`. Another reader of the same text may then see another host, so
//! whatever needs forgiveness is refused instead.

use url::{ParseError, Url};

use super::refusal::Refused;

/// The longest URL taken, in bytes.
const MAX_BYTES: usize = 4096;

/// Checks the text and gives the host as it was written: without userinfo, port and brackets.
pub(super) fn check(text: &str) -> Result<&str, Refused> {
    if text.is_empty() {
        return Err(Refused::syntax("it is empty"));
    }
    if text.len() > MAX_BYTES {
        return Err(Refused::syntax("it is longer than 4096 bytes"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Refused::syntax("it has white space or control characters in it"));
    }
    if text.contains('\\') {
        return Err(Refused::syntax("it has a backslash in it"));
    }
    let authority = authority(text).ok_or_else(not_scheme_host)?;
    if authority.is_empty() {
        return Err(not_scheme_host());
    }
    Ok(host_of(authority))
}

/// Whether the URL carries a name or password, even an empty one (`https://@host`).
pub(super) fn has_userinfo(text: &str, url: &Url) -> bool {
    !url.username().is_empty()
        || url.password().is_some()
        || authority(text).is_some_and(|authority| authority.contains('@'))
}

/// The refusal for a text the parser does not take.
pub(super) fn unreadable(text: &str, cause: ParseError) -> Refused {
    let host = authority(text).map_or("", host_of);
    match cause {
        ParseError::InvalidIpv4Address => {
            Refused::host(host, "an IPv4 address must be written as four plain decimals")
        }
        ParseError::IdnaError => Refused::host(host, "it is not a valid international name"),
        ParseError::EmptyHost => Refused::syntax("it has no host"),
        ParseError::InvalidPort => Refused::syntax("its port is not a number up to 65535"),
        ParseError::InvalidIpv6Address => Refused::syntax("what stands in brackets is not an IPv6 address"),
        _ => Refused::syntax("it is not a URL"),
    }
}

fn not_scheme_host() -> Refused {
    Refused::syntax("it does not start with https:// and a host")
}

/// What stands between `scheme://` and the path.
fn authority(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let mut letters = scheme.bytes();
    let starts_well = letters.next().is_some_and(|b| b.is_ascii_alphabetic());
    let goes_on_well = letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    if !starts_well || !goes_on_well {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn host_of(authority: &str) -> &str {
    let host_port = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
    if let Some(bracketed) = host_port.strip_prefix('[') {
        return bracketed.split(']').next().unwrap_or(bracketed);
    }
    host_port.split_once(':').map_or(host_port, |(h, _)| h)
}
