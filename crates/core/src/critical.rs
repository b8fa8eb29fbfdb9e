//! R6: is a message critical? Decided once, at acceptance, from the profile's rules over type and
//! payload, and kept with the message.

use serde_json::Value;

use crate::profile::CriticalRule;

/// Whether a rule matches. The payload is parsed only if a rule for this very type has a pointer,
/// and then once; a payload that is not JSON matches no pointer.
pub fn is_critical(rules: &[CriticalRule], event_type: &str, payload: &[u8]) -> bool {
    let mut parsed: Option<Option<Value>> = None;
    rules.iter().filter(|rule| rule.event_type == event_type).any(|rule| {
        let Some(pointer) = &rule.pointer else { return true };
        parsed
            .get_or_insert_with(|| serde_json::from_slice(payload).ok())
            .as_ref()
            .and_then(|payload| payload.pointer(pointer))
            .and_then(Value::as_str)
            .is_some_and(|found| rule.values.iter().any(|value| value == found))
    })
}

/// Why `pointer` is no JSON pointer (RFC 6901); `None` if it is one.
pub(crate) fn pointer_problem(pointer: &str) -> Option<&'static str> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Some("a JSON pointer begins with \"/\", like /status");
    }
    let escapes_are_whole = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (!escapes_are_whole).then_some("in a JSON pointer \"~\" is written ~0 and \"/\" inside a name ~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::builtin;

    fn critical(event_type: &str, payload: &str) -> bool {
        is_critical(&builtin::payments().critical, event_type, payload.as_bytes())
    }

    #[test]
    fn r06_the_critical_messages_of_payments() {
        for (event_type, status) in [
            ("payment.status_changed", "paid"),
            ("payment.status_changed", "settled"),
            ("payment.status_changed", "refunded"),
            ("withdrawal.status_changed", "completed"),
            ("exchange.status_changed", "completed"),
        ] {
            assert!(
                critical(event_type, &format!("{{\"id\":1,\"status\":\"{status}\"}}")),
                "{event_type} {status}"
            );
        }
        assert!(critical("refund.completed", "{}"));
        assert!(critical("refund.reversed", "not even JSON"));
    }

    #[test]
    fn r06_all_else_is_not_critical() {
        for status in ["amount_mismatch", "expired", "cancelled", "failed", "completed", "PAID", ""] {
            assert!(!critical("payment.status_changed", &format!("{{\"status\":\"{status}\"}}")), "{status}");
        }
        for event_type in [
            "refund.rejected",
            "refund.failed",
            "subscription.status_changed",
            "kyc.status_changed",
            "gateway.status_changed",
            "payment.delivery_proof_reminder",
            "payment.status_changed2",
            "unknown",
        ] {
            assert!(!critical(event_type, "{\"status\":\"paid\"}"), "{event_type}");
        }
    }

    #[test]
    fn r06_a_missing_or_non_string_value_does_not_match() {
        for payload in [
            "{}",
            "[]",
            "null",
            "\"paid\"",
            "{\"status\":null}",
            "{\"status\":1}",
            "{\"status\":[\"paid\"]}",
            "{\"data\":{\"status\":\"paid\"}}",
            "{\"status\":\"paid\"",
            "",
        ] {
            assert!(!critical("payment.status_changed", payload), "{payload}");
        }
    }

    #[test]
    fn r06_pointers_reach_into_objects_and_arrays() {
        let rule = |pointer: &str| {
            [CriticalRule {
                event_type: "a.b".into(),
                pointer: Some(pointer.into()),
                values: vec!["x".into()],
            }]
        };
        for (pointer, payload, expected) in [
            ("/a/b", r#"{"a":{"b":"x"}}"#, true),
            ("/a/1", r#"{"a":["y","x"]}"#, true),
            ("/a/01", r#"{"a":["y","x"]}"#, false),
            ("/a/2", r#"{"a":["y","x"]}"#, false),
            ("/a~1b", r#"{"a/b":"x"}"#, true),
            ("/m~0n", r#"{"m~n":"x"}"#, true),
            ("/", r#"{"":"x"}"#, true),
            ("", r#""x""#, true),
            ("/a", r#"{"a":"\u0078"}"#, true),
            ("/a/b", r#"{"a":"x"}"#, false),
        ] {
            assert_eq!(
                is_critical(&rule(pointer), "a.b", payload.as_bytes()),
                expected,
                "{pointer} in {payload}"
            );
        }
    }

    #[test]
    fn bad_pointers_are_told_apart_from_good_ones() {
        for good in ["", "/", "/a", "/a/0", "/~0~1"] {
            assert_eq!(pointer_problem(good), None, "{good}");
        }
        for bad in ["status", "$.status", "/a~", "/~2"] {
            assert!(pointer_problem(bad).is_some(), "{bad}");
        }
    }
}
