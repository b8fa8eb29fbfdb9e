//! The body of a request.
//!
//! The payload is the producer's text and travels byte for byte: it is never parsed here, so that
//! no number is rounded, no key reordered and no escape rewritten. The body is the same in every
//! attempt, resend and replay of a delivery; only timestamp and signature change (R24).

use bytes::Bytes;

use crate::scheme::Envelope;

/// What a message says about itself, for the envelope.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The message's public id, the same as in `webhook-id`.
    pub id: &'a str,
    pub event_type: &'a str,
    /// When it happened, RFC 3339 in UTC; never when it was sent.
    pub created_at: &'a str,
    pub api_version: Option<&'a str>,
    /// One JSON value, as the producer wrote it.
    pub payload: &'a Bytes,
}

/// The bytes to sign and to send.
///
/// `raw` shares the payload's memory. `event` is
/// `{"id":…,"type":…,"created_at":…,"api_version":…,"data":<payload>}`, in this order, without
/// white space of ours; `api_version` is `null` when the message has none, so that receivers find
/// the same keys in every event.
pub fn body(envelope: Envelope, event: &Event<'_>) -> Bytes {
    match envelope {
        Envelope::Raw => event.payload.clone(),
        Envelope::Event => wrapped(event),
    }
}

/// The keys, quotes, commas and braces of the envelope, with room for a few escapes.
const FRAME_BYTES: usize = 96;

fn wrapped(event: &Event<'_>) -> Bytes {
    let version_len = event.api_version.map_or(0, str::len);
    let text_len = event.id.len() + event.event_type.len() + event.created_at.len() + version_len;
    let mut out = Vec::with_capacity(FRAME_BYTES + text_len + event.payload.len());
    out.extend_from_slice(b"{\"id\":");
    push_json(&mut out, Some(event.id));
    out.extend_from_slice(b",\"type\":");
    push_json(&mut out, Some(event.event_type));
    out.extend_from_slice(b",\"created_at\":");
    push_json(&mut out, Some(event.created_at));
    out.extend_from_slice(b",\"api_version\":");
    push_json(&mut out, event.api_version);
    out.extend_from_slice(b",\"data\":");
    out.extend_from_slice(event.payload);
    out.push(b'}');
    out.into()
}

fn push_json(out: &mut Vec<u8>, text: Option<&str>) {
    serde_json::to_writer(out, &text).expect("text has a JSON form and a Vec takes all of it");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(payload: &Bytes) -> Event<'_> {
        Event {
            id: "msg_1",
            event_type: "order.paid",
            created_at: "2026-01-02T03:04:05Z",
            api_version: Some("2026-01-01"),
            payload,
        }
    }

    #[test]
    fn a_raw_body_is_the_payload_in_the_same_memory() {
        let payload = Bytes::from_static("{ \"t\" : \"🚀 é тест\" }\n".as_bytes());
        let body = body(Envelope::Raw, &event(&payload));
        assert_eq!(body, payload);
        assert_eq!(body.as_ptr(), payload.as_ptr());
    }

    #[test]
    fn an_event_body_has_its_keys_in_order_and_the_payload_byte_for_byte() {
        let payload = Bytes::from_static(b"{ \"n\" : 7615917337495251231, \"n\":1.0 }");
        assert_eq!(
            body(Envelope::Event, &event(&payload)),
            "{\"id\":\"msg_1\",\"type\":\"order.paid\",\"created_at\":\"2026-01-02T03:04:05Z\",\
             \"api_version\":\"2026-01-01\",\"data\":{ \"n\" : 7615917337495251231, \"n\":1.0 }}"
        );
    }

    #[test]
    fn the_api_version_is_null_when_there_is_none() {
        let payload = Bytes::from_static(b"1");
        let without = Event { api_version: None, ..event(&payload) };
        let body = body(Envelope::Event, &without);
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.ends_with(",\"api_version\":null,\"data\":1}"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_in_the_frame_is_still_json_that_says_the_same(
            id in ".*", event_type in ".*", version in proptest::option::of(".*"), data in ".*",
        ) {
            let payload = Bytes::from(serde_json::to_vec(&data).unwrap());
            let event = Event {
                id: &id,
                event_type: &event_type,
                created_at: "2026-01-02T03:04:05Z",
                api_version: version.as_deref(),
                payload: &payload,
            };
            let parsed: serde_json::Value =
                serde_json::from_slice(&body(Envelope::Event, &event)).unwrap();
            prop_assert_eq!(&parsed["id"], &id);
            prop_assert_eq!(&parsed["type"], &event_type);
            prop_assert_eq!(parsed["api_version"].as_str(), version.as_deref());
            prop_assert_eq!(&parsed["data"], &data);
        }
    }
}
