//! Which headers a customer may add to their requests.
//!
//! Refused are those that frame the message, those that Gonets sets itself, those under which
//! receivers look for its signatures, and those that open a cloud's metadata service.

/// Names of one header each, lower case.
const RESERVED: [&str; 24] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "metadata",
    "metadata-flavor",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "x-aliyun-ecs-metadata-token",
    "x-aliyun-ecs-metadata-token-ttl-seconds",
    "x-aws-ec2-metadata-token",
    "x-aws-ec2-metadata-token-ttl-seconds",
    "x-event-id",
    "x-google-metadata-request",
    "x-identity-header",
    "x-metadata-token",
    "x-metadata-token-ttl-seconds",
    "x-signature",
    "x-tc-token",
];

/// Beginnings of reserved names, lower case.
const RESERVED_FAMILIES: [&str; 4] = ["proxy-", "webhook-", "x-webhook-", "svix-"];

/// The longest name and value, in bytes.
const MAX_NAME: usize = 256;
const MAX_VALUE: usize = 8192;

/// Why a custom header is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderRefused {
    /// The name is one that Gonets sets or never sends.
    #[error("header \"{0}\" is set by Gonets and cannot be overridden.")]
    Reserved(String),
    /// The name is not an HTTP token of at most 256 bytes (RFC 9110 §5.6.2).
    #[error(
        "header \"{0}\" has a name that HTTP does not allow. Use letters, digits and hyphens, at most 256 bytes."
    )]
    Name(String),
    /// The value has control characters in it, or white space around it.
    #[error(
        "header \"{0}\" has an empty value or one that HTTP does not allow. Leave out line ends, control characters, letters outside ASCII and white space around it."
    )]
    Value(String),
    /// The value is too long.
    #[error("header \"{0}\" has a value of over 8192 bytes. Shorten it.")]
    TooLong(String),
}

/// Checks a header a customer wants on their requests.
///
/// # Errors
///
/// A [`HeaderRefused`] that names the header; the value is never repeated, it may be a secret.
pub fn check_custom_header(name: &str, value: &str) -> Result<(), HeaderRefused> {
    let is_token = !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_token_byte);
    if !is_token {
        // Debug's escapes keep line ends and the like out of logs and answers.
        let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        return Err(HeaderRefused::Name(shown));
    }
    let lower = name.to_ascii_lowercase();
    let reserved = RESERVED.contains(&lower.as_str())
        || RESERVED_FAMILIES.iter().any(|family| lower.starts_with(family));
    if reserved {
        return Err(HeaderRefused::Reserved(name.to_owned()));
    }
    if value.len() > MAX_VALUE {
        return Err(HeaderRefused::TooLong(name.to_owned()));
    }
    let around = |c: char| c == ' ' || c == '\t';
    // RFC 9110 §5.5: receivers disagree on anything outside ASCII.
    if value.is_empty()
        || !value.is_ascii()
        || value.chars().any(|c| c.is_control() && c != '\t')
        || value.starts_with(around)
        || value.ends_with(around)
    {
        return Err(HeaderRefused::Value(name.to_owned()));
    }
    Ok(())
}

fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_refused_in_any_case_and_named() {
        for name in [
            "Host",
            "CONTENT-LENGTH",
            "content-type",
            "Proxy-Authorization",
            "Webhook-Signature",
            "X-Webhook-Id",
            "svix-timestamp",
            "X-Signature",
            "X-Event-Id",
            "Metadata-Flavor",
            "X-aws-ec2-metadata-token",
        ] {
            let refused = check_custom_header(name, "v").unwrap_err();
            assert_eq!(refused, HeaderRefused::Reserved(name.to_owned()));
            assert!(refused.to_string().contains(name));
        }
    }

    #[test]
    fn ordinary_headers_pass() {
        for (name, value) in [
            ("Authorization", "Bearer abc"),
            ("X-Api-Key", "k"),
            ("X-Signature-Key-Id", "7"),
            ("User-Agent", "Ours/1"),
            ("X-Shop", "a\tb c"),
        ] {
            assert_eq!(check_custom_header(name, value), Ok(()), "{name}");
        }
    }

    #[test]
    fn nothing_that_could_end_the_line_passes() {
        assert!(matches!(
            check_custom_header("X-A\r\nHost", "v"),
            Err(HeaderRefused::Name(shown)) if !shown.contains('\n')
        ));
        for value in ["", "é", "عبدالله", "a\r\nX: y", "a\0b", " a", "a\t", "a\nb", "\u{85}"] {
            assert_eq!(
                check_custom_header("X-A", value),
                Err(HeaderRefused::Value("X-A".to_owned())),
                "{value:?}"
            );
        }
    }
}
