//! The names of rules and reasons: which rule set a delivery's next attempt, and why a delivery
//! ended as it did (R26). The codes are stored: never renumber them.

macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal, $text:literal, $sentence:literal;)+ }) => {
        $(#[$doc])*
        #[repr(u8)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $code,)+
        }

        impl $name {
            /// Every one, in the order of the codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The stored number; never 0.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The one of a stored number; `None` for a number that no version has written.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The word for it in the API, the journal and metrics.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }

            /// What it means, for `explain`, the console and the portal.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use coded;

coded! {
    /// What set the time of the next attempt.
    Rule {
        /// R3.
        OutageLadder = 1, "outage_ladder", "the next step of the outage ladder";
        /// R4.
        RefusalLadder = 2, "refusal_ladder", "the next step of the refusal ladder";
        /// R8.
        RetryAfter = 3, "retry_after", "the endpoint asked for it with Retry-After";
        /// R1: the address is looked at again.
        AddressRecheck = 4, "address_recheck", "the address was not allowed and is looked at again";
        /// R1: at once, no step spent.
        Interrupted = 5, "interrupted", "the attempt was interrupted on our side and is made again";
        /// The message asked not to be sent earlier.
        DeliverAt = 6, "deliver_at", "the message is not to be delivered earlier";
        /// R14: the breaker decides when; the probe spent no step.
        Breaker = 7, "breaker", "a probe failed without spending a step; the breaker says when the next is";
        /// R27: at once when sending goes on, no step spent.
        SendingPaused = 8, "sending_paused", "our own network seemed to be down, so the attempt does not count and is made again";
    }
}

coded! {
    /// Why a delivery ended without being delivered.
    Reason {
        /// R1: a final refusal.
        Refused = 1, "refused", "the endpoint refused it, and the profile does not try refused messages again";
        /// R3.
        OutageExhausted = 2, "outage_exhausted", "the outage ladder is spent";
        /// R4.
        RefusalsExhausted = 3, "refusals_exhausted", "the refusal ladder is spent";
        /// R7.
        Expired = 4, "expired", "it is older than the profile's max_age allows";
        /// By a person or a program.
        Cancelled = 5, "cancelled", "it was cancelled";
        /// R20.
        EndpointDeleted = 6, "endpoint_deleted", "the endpoint was deleted";
        /// R20.
        ApplicationDeleted = 7, "application_deleted", "the application was deleted";
        /// R19: `while_disabled = "skip"`.
        EndpointDisabled = 8, "endpoint_disabled", "the endpoint was disabled and the profile skips what comes meanwhile";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_stored_codes_and_names_of_rules_do_not_change() {
        let table: Vec<_> = Rule::ALL.iter().map(|r| (r.code(), r.name())).collect();
        assert_eq!(
            table,
            [
                (1, "outage_ladder"),
                (2, "refusal_ladder"),
                (3, "retry_after"),
                (4, "address_recheck"),
                (5, "interrupted"),
                (6, "deliver_at"),
                (7, "breaker"),
                (8, "sending_paused"),
            ]
        );
        assert!(
            Rule::ALL
                .iter()
                .all(|r| Rule::from_code(r.code()) == Some(*r) && Rule::from_name(r.name()) == Some(*r))
        );
        assert_eq!(Rule::from_code(0), None);
    }

    #[test]
    fn r26_stored_codes_and_names_of_reasons_do_not_change() {
        let table: Vec<_> = Reason::ALL.iter().map(|r| (r.code(), r.name())).collect();
        assert_eq!(
            table,
            [
                (1, "refused"),
                (2, "outage_exhausted"),
                (3, "refusals_exhausted"),
                (4, "expired"),
                (5, "cancelled"),
                (6, "endpoint_deleted"),
                (7, "application_deleted"),
                (8, "endpoint_disabled"),
            ]
        );
        assert!(Reason::ALL.iter().all(|r| Reason::from_code(r.code()) == Some(*r)));
        assert_eq!(Reason::from_code(200), None);
    }
}
