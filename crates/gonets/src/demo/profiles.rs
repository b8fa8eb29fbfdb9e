//! The demo's profiles: those of the house with ladders of seconds instead of hours, so that a
//! whole story fits into one look.

use std::{collections::BTreeMap, time::Duration};

use gonets_core::{
    duration::DurationText,
    profile::{
        BreakerScope, ProfileSpec,
        spec::{BreakerSpec, OutageSpec, RefusalSpec, RefusalTable},
    },
};

/// For partners that get orders.
pub const ORDERS: &str = "demo-orders";
/// For the partner that gets payments: refusals of critical messages have a ladder.
pub const PAYMENTS: &str = "demo-payments";

/// Both, by name.
pub fn all() -> BTreeMap<String, ProfileSpec> {
    let orders = ProfileSpec {
        extends: Some("standard".to_owned()),
        outage: Some(outage()),
        breaker: Some(breaker(BreakerScope::Endpoint)),
        ..ProfileSpec::default()
    };
    let payments = ProfileSpec {
        extends: Some("payments".to_owned()),
        outage: Some(outage()),
        breaker: Some(breaker(BreakerScope::Application)),
        refusal: Some(RefusalSpec::Table(RefusalTable {
            delays: Some([2, 3, 4, 5, 6].map(seconds).to_vec()),
            span: Some(seconds(60)),
        })),
        ..ProfileSpec::default()
    };
    BTreeMap::from([(ORDERS.to_owned(), orders), (PAYMENTS.to_owned(), payments)])
}

const fn seconds(seconds: u64) -> DurationText {
    DurationText(Duration::from_secs(seconds))
}

fn outage() -> OutageSpec {
    OutageSpec {
        delays: Some([1, 1, 2, 2, 2, 3, 4, 5, 6].map(seconds).to_vec()),
        jitter: Some([0.0, 0.0]),
        refusals: None,
    }
}

fn breaker(scope: BreakerScope) -> BreakerSpec {
    BreakerSpec {
        scope: Some(scope),
        window: Some(seconds(20)),
        pause: Some(seconds(4)),
        pause_max: Some(seconds(8)),
        recheck: Some(seconds(1)),
        ..BreakerSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::profile::Profiles;

    use super::*;

    #[test]
    fn both_profiles_resolve_and_only_payments_are_retried_when_refused() {
        let profiles = Profiles::resolve(all()).unwrap();
        assert!(profiles.get(ORDERS).unwrap().refusal.is_none());
        let payments = profiles.get(PAYMENTS).unwrap();
        assert_eq!(payments.refusal.as_ref().unwrap().delays.len(), 5);
        assert!(payments.critical.iter().any(|rule| rule.event_type == "payment.status_changed"));
    }
}
