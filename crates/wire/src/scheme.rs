//! The names of envelopes and signature schemes, and the headers that belong to each scheme.
//!
//! The names are what configuration, API and store use; a receiver never sees them. The spelling
//! of the headers is what a receiver sees, letter for letter: some look headers up with regard to
//! case, so it is the same in every request and in the documentation.

use serde::{Deserialize, Serialize};

/// What the body of a request is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Envelope {
    /// The payload itself.
    Raw,
    /// The payload as `data` beside the event's id, type, time and API version.
    Event,
}

impl Envelope {
    pub const ALL: [Self; 2] = [Self::Raw, Self::Event];

    /// The envelope of that name, as configuration and API spell it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Event => "event",
        }
    }
}

/// How a request is signed. An endpoint has any set of them, all sent at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Scheme {
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    #[serde(rename = "standard")]
    Standard,
    /// `X-Webhook-Signature: <hex>`, beside it the old key's while a rotation lasts.
    #[serde(rename = "x-webhook")]
    XWebhook,
    /// `X-Signature: t=<seconds>,v1=<hex>[,v1=<old>][,v2=<hex Ed25519>]`.
    #[serde(rename = "t-v1")]
    TV1,
    /// As `standard`, under the header names of Svix.
    #[serde(rename = "svix")]
    Svix,
}

impl Scheme {
    pub const ALL: [Self; 4] = [Self::Standard, Self::XWebhook, Self::TV1, Self::Svix];

    /// The scheme of that name, as configuration and API spell it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::XWebhook => "x-webhook",
            Self::TV1 => "t-v1",
            Self::Svix => "svix",
        }
    }

    /// All header names of the scheme, as sent.
    pub const fn headers(self) -> &'static [&'static str] {
        match self {
            Self::Standard => &["webhook-id", "webhook-timestamp", "webhook-signature"],
            Self::XWebhook => {
                &["X-Webhook-Id", "X-Webhook-Timestamp", "X-Webhook-Signature", "X-Webhook-Signature-Old"]
            }
            Self::TV1 => &["X-Event-Id", "X-Signature"],
            Self::Svix => &["svix-id", "svix-timestamp", "svix-signature"],
        }
    }

    /// Whether a header of this name (any case) is made by some scheme, so that an endpoint's own
    /// headers must not have it, whatever schemes the endpoint uses today.
    pub fn reserves(header: &str) -> bool {
        Self::ALL.iter().flat_map(|scheme| scheme.headers()).any(|name| name.eq_ignore_ascii_case(header))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_there_and_back_in_text_and_in_json() {
        for (scheme, name) in Scheme::ALL.into_iter().zip(["standard", "x-webhook", "t-v1", "svix"]) {
            assert_eq!(scheme.name(), name);
            assert_eq!(Scheme::from_name(name), Some(scheme));
            assert_eq!(serde_json::to_string(&scheme).unwrap(), format!("{name:?}"));
        }
        for (envelope, name) in Envelope::ALL.into_iter().zip(["raw", "event"]) {
            assert_eq!(Envelope::from_name(name), Some(envelope));
            assert_eq!(serde_json::to_string(&envelope).unwrap(), format!("{name:?}"));
        }
        assert_eq!(Scheme::from_name("Standard"), None);
        assert_eq!(Envelope::from_name(""), None);
    }

    #[test]
    fn signature_headers_are_reserved_in_any_case_and_others_are_not() {
        for name in ["Webhook-Signature", "X-EVENT-ID", "svix-timestamp"] {
            assert!(Scheme::reserves(name), "{name}");
        }
        for name in ["webhook", "x-webhook-signature-older", "content-type", ""] {
            assert!(!Scheme::reserves(name), "{name}");
        }
    }
}
