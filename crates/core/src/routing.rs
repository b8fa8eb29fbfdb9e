//! Which endpoints of an application take a message (R18): filters by event type and channel, and
//! the operational events, which are a world of their own.

use crate::notice::NoticeKind;

/// What an endpoint takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Exact names; empty: every type.
    pub event_types: Vec<String>,
    /// Empty: messages of any channel and of none; else only messages that have one of these.
    pub channels: Vec<String>,
}

impl Filter {
    /// Whether a message of this type and with these channels goes to the endpoint.
    pub fn takes(&self, event_type: &str, channels: &[String]) -> bool {
        let type_fits = self.event_types.is_empty() || self.event_types.iter().any(|name| name == event_type);
        let channel_fits =
            self.channels.is_empty() || self.channels.iter().any(|name| channels.contains(name));
        type_fits && channel_fits
    }
}

/// Whether Gonets itself makes events of this type: what it tells the environment goes to the
/// environment's operational endpoints only, never to an application's, and an application's
/// messages never go there, whatever their types are called.
pub fn is_operational(event_type: &str) -> bool {
    NoticeKind::from_name(event_type).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn takes(types: &[&str], channels: &[&str], event_type: &str, of: &[&str]) -> bool {
        Filter { event_types: names(types), channels: names(channels) }.takes(event_type, &names(of))
    }

    #[test]
    fn r18_an_endpoint_without_filters_takes_everything() {
        assert!(takes(&[], &[], "order.paid", &[]));
        assert!(takes(&[], &[], "order.paid", &["eu"]));
    }

    #[test]
    fn r18_types_are_exact_names() {
        assert!(takes(&["order.paid", "order.sent"], &[], "order.sent", &[]));
        for other in ["order", "order.paid.late", "Order.paid", "order.*", ""] {
            assert!(!takes(&["order.paid"], &[], other, &[]), "{other}");
        }
        assert!(!takes(&["order.*"], &[], "order.paid", &[]));
    }

    #[test]
    fn r18_an_endpoint_with_channels_takes_only_messages_that_have_one_of_them() {
        assert!(takes(&[], &["eu", "us"], "a.b", &["asia", "us"]));
        assert!(!takes(&[], &["eu", "us"], "a.b", &["asia"]));
        assert!(!takes(&[], &["eu", "us"], "a.b", &[]));
    }

    #[test]
    fn r18_both_filters_must_fit() {
        assert!(takes(&["a.b"], &["eu"], "a.b", &["eu"]));
        assert!(!takes(&["a.b"], &["eu"], "a.c", &["eu"]));
        assert!(!takes(&["a.b"], &["eu"], "a.b", &["us"]));
    }

    #[test]
    fn operational_types_are_known_by_their_whole_names() {
        assert!(is_operational("breaker.opened"));
        assert!(!is_operational("breaker") && !is_operational("order.paid"));
    }
}
