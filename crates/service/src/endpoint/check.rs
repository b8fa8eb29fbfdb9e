//! What an endpoint may be given, and the form it is kept in.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use gonets_core::{ids::EnvironmentNo, limits, names::NameKind};
use gonets_egress::check_custom_header;
use gonets_store::entity::{HeaderDoc, HeaderValueDoc, SecretDoc};
use gonets_wire::{Place, Purpose, Scheme, Secret};

use super::EndpointDraft;
use crate::{
    access::AppAccess,
    error::{Error, Problem},
    field::Fields,
    service::Service,
};

/// Headers whose values are never shown again, lower case.
const SENSITIVE: [&str; 10] = [
    "api-key",
    "apikey",
    "authorization",
    "cookie",
    "x-access-token",
    "x-api-key",
    "x-auth-token",
    "x-csrf-token",
    "x-secret",
    "x-token",
];

impl EndpointDraft {
    /// All but the URL, the secret and the headers, which are made into something.
    pub(super) fn check(&self, fields: &mut Fields) {
        fields.text("description", &self.description, limits::DESCRIPTION_CHARS);
        fields.uid(self.uid.as_deref());
        fields.throttle_rate(self.throttle_rate);
        fields.within("concurrency", self.concurrency, 1, limits::ENDPOINT_CONCURRENCY_MAX);
        let most = limits::FILTER_EVENT_TYPES;
        fields.filter_list("eventTypes", NameKind::EventType, self.event_types.as_deref(), most);
        let channels = self.channels.as_deref();
        fields.filter_list("channels", NameKind::Channel, channels, limits::CHANNELS);
        fields.metadata(&self.metadata);
        for scheme in self.signature_schemes.iter().flatten() {
            if Scheme::from_name(scheme).is_none() {
                let all = Scheme::ALL.map(Scheme::name).join(", ");
                fields.wrong(
                    "signatureSchemes",
                    format!("there is no signature scheme \"{scheme}\". There are {all}."),
                );
            }
        }
    }
}

/// Checks extra headers one by one.
pub(super) fn check_headers<'a>(
    fields: &mut Fields,
    headers: impl ExactSizeIterator<Item = (&'a String, &'a String)>,
) {
    if headers.len() > limits::ENDPOINT_HEADERS {
        let (count, most) = (headers.len(), limits::ENDPOINT_HEADERS);
        fields.wrong("headers", format!("headers has {count} entries, and at most {most} are taken."));
        return;
    }
    let mut seen: Vec<String> = Vec::with_capacity(headers.len());
    for (name, value) in headers {
        fields.check("headers", check_custom_header(name, value));
        if name.len() + value.len() > limits::ENDPOINT_HEADER_BYTES {
            let most = limits::ENDPOINT_HEADER_BYTES;
            fields.wrong("headers", format!("header \"{name}\" is over {most} bytes with its value."));
        }
        let lower = name.to_ascii_lowercase();
        if seen.contains(&lower) {
            fields.wrong("headers", format!("header \"{name}\" is there twice: case makes no difference."));
        }
        seen.push(lower);
    }
}

pub(super) fn is_sensitive(name: &str) -> bool {
    SENSITIVE.contains(&name.to_ascii_lowercase().as_str())
}

impl Service {
    /// The URL as the guard spells it, its addresses looked up where it has a name.
    ///
    /// # Errors
    /// A problem of `url`; an application's own people are told no more than that it is not
    /// allowed, since the network is not theirs to explore.
    pub(super) async fn check_url(&self, who: &AppAccess, url: &str) -> Result<String, Error> {
        if url.len() > limits::URL_BYTES {
            let most = limits::URL_BYTES;
            return Err(Problem::body("url", format!("url has over {most} bytes.")).into());
        }
        let egress = &self.directory().context().egress;
        let target = egress.guard().parse_url(url).map_err(|refused| {
            Problem::body("url", if who.is_admin { refused.operator() } else { refused.partner() })
        })?;
        egress.vet(&target).await.map_err(|denied| {
            Problem::body("url", if who.is_admin { denied.operator() } else { denied.partner().to_owned() })
        })?;
        Ok(target.text().to_owned())
    }

    /// A secret as it is kept: sealed for this endpoint only.
    pub(super) fn seal_secret(
        &self,
        environment: EnvironmentNo,
        no: u32,
        secret: &Secret,
    ) -> Result<SecretDoc, Error> {
        let place = Place { purpose: Purpose::EndpointSecret, environment: environment.0, owner: no };
        Ok(SecretDoc { sealed: self.seal(place, secret.shown())?, expires_at: None })
    }

    /// An extra header as it is kept.
    pub(super) fn header_doc(
        &self,
        environment: EnvironmentNo,
        no: u32,
        name: &str,
        value: &str,
        sensitive: bool,
    ) -> Result<HeaderDoc, Error> {
        let value = if sensitive {
            let place = Place { purpose: Purpose::EndpointHeaders, environment: environment.0, owner: no };
            HeaderValueDoc::Sealed(self.seal(place, value)?)
        } else {
            HeaderValueDoc::Plain(value.to_owned())
        };
        Ok(HeaderDoc { name: name.to_owned(), value })
    }

    fn seal(&self, place: Place, text: &str) -> Result<String, Error> {
        let sealed =
            self.directory().context().keyring.seal(place, text.as_bytes()).map_err(Error::internal)?;
        Ok(STANDARD.encode(sealed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn problems(headers: &[(&str, &str)]) -> String {
        let headers: BTreeMap<String, String> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut fields = Fields::default();
        check_headers(&mut fields, headers.iter());
        fields.done().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn bad_headers_are_refused_by_name() {
        assert!(problems(&[("X-A", "a\r\nX-Injected: 1")]).contains("X-A"));
        assert!(problems(&[("Webhook-Signature", "x")]).contains("cannot be overridden"));
        assert!(problems(&[("x-a", "1"), ("X-A", "2")]).contains("twice"));
        assert!(problems(&[("X-A", &"v".repeat(5000))]).contains("4096"));
        assert_eq!(problems(&[("X-A", "1"), ("Authorization", "Bearer x")]), "");
    }

    #[test]
    fn credentials_are_sensitive_in_any_case() {
        assert!(is_sensitive("AUTHORIZATION") && is_sensitive("X-Api-Key"));
        assert!(!is_sensitive("X-Shop"));
    }

    #[test]
    fn an_unknown_scheme_and_a_wrong_filter_are_told() {
        let draft = EndpointDraft {
            signature_schemes: Some(vec!["md5".into()]),
            event_types: Some(vec!["a b".into()]),
            concurrency: Some(0),
            ..EndpointDraft::default()
        };
        let mut fields = Fields::default();
        draft.check(&mut fields);
        let text = fields.done().unwrap_err().to_string();
        assert!(
            text.contains("md5") && text.contains("eventType") && text.contains("concurrency is 0"),
            "{text}"
        );
    }
}
