//! Why a delivery waits without being tried. Every wait has a name and an end.

use crate::rule::coded;

coded! {
    /// What holds a delivery back. Held time spends no attempts (R14). The codes are stored.
    Hold {
        /// R18.
        NoEndpoint = 1, "no_endpoint", "the application has no endpoint yet; it goes out when the first is created";
        /// R19.
        EndpointDisabled = 2, "endpoint_disabled", "the endpoint is disabled; it goes out when someone enables it";
        /// R11.
        BreakerOpen = 3, "breaker_open", "the server is down; one delivery at a time is tried until it answers";
        /// R8.
        Throttled = 4, "throttled", "the endpoint answered 429 and is given a pause";
        /// R1.
        AddressNotAllowed = 5, "address_not_allowed", "the endpoint's address may not be reached; it is looked at again from time to time";
        /// R24.
        BehindAnother = 6, "behind_another", "the endpoint asks for strict order and an earlier delivery is not finished";
        /// R28.
        Frozen = 7, "frozen", "sending was frozen by hand";
        /// R27.
        SendingPaused = 8, "sending_paused", "our own network seems to be down; sending goes on at the first answer";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hold_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Hold::ALL.iter().map(|h| h.name()).collect();
        assert_eq!(names.len(), 8);
        assert!(names.contains("endpoint_disabled") && names.contains("breaker_open"));
        assert!(Hold::ALL.iter().all(|h| Hold::from_code(h.code()) == Some(*h)));
    }
}
