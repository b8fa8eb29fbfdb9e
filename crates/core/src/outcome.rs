//! What an attempt came to (R1, R2), judged by what the endpoint answered before the deadline and
//! by nothing else: the body, its encoding and its absence never change the verdict.

/// What the sender saw of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// A complete status line and headers; the number as it was sent, sane or not.
    Status(u16),
    /// DNS, connect, TLS, reset, malformed answer or time-out.
    NoAnswer,
    /// The guard refused every address: nothing was sent.
    Blocked,
    /// No file handles, our resolver down, shutdown or crash: says nothing about the endpoint.
    OurFault,
}

/// The outcome of an attempt. The codes are stored: never renumber them.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    Delivered = 1,
    Refused = 2,
    Gone = 3,
    Throttled = 4,
    Unavailable = 5,
    Misdirected = 6,
    Blocked = 7,
    Interrupted = 8,
}

/// How the breaker counts an attempt (R1, fourth column).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    Success,
    /// The server answered, but took nothing.
    Reachable,
    Failed,
    NotCounted,
}

/// How the health of the endpoint counts an attempt (R1, last column).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HealthWeight {
    Success,
    Failure,
    NotCounted,
}

/// R1: the verdict on what was seen. Statuses that HTTP does not know (below 100, 600 and above)
/// are malformed answers.
pub const fn classify(seen: Seen) -> Outcome {
    match seen {
        Seen::Status(status) => match status {
            200..=299 => Outcome::Delivered,
            410 => Outcome::Gone,
            429 => Outcome::Throttled,
            400..=499 => Outcome::Refused,
            100..=199 | 300..=399 => Outcome::Misdirected,
            _ => Outcome::Unavailable,
        },
        Seen::NoAnswer => Outcome::Unavailable,
        Seen::Blocked => Outcome::Blocked,
        Seen::OurFault => Outcome::Interrupted,
    }
}

impl Outcome {
    /// Every outcome, in the order of the codes.
    pub const ALL: [Self; 8] = [
        Self::Delivered,
        Self::Refused,
        Self::Gone,
        Self::Throttled,
        Self::Unavailable,
        Self::Misdirected,
        Self::Blocked,
        Self::Interrupted,
    ];

    /// The stored number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The outcome of a stored number; `None` for one that no version has written.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.code() == code)
    }

    /// The word for it in the API, the journal and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Gone => "gone",
            Self::Throttled => "throttled",
            Self::Unavailable => "unavailable",
            Self::Misdirected => "misdirected",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// What the breaker counts it as.
    pub const fn weight(self) -> Weight {
        match self {
            Self::Delivered => Weight::Success,
            Self::Refused | Self::Gone | Self::Throttled | Self::Misdirected => Weight::Reachable,
            Self::Unavailable => Weight::Failed,
            Self::Blocked | Self::Interrupted => Weight::NotCounted,
        }
    }

    /// What the endpoint's health counts it as.
    pub const fn health(self) -> HealthWeight {
        match self {
            Self::Delivered => HealthWeight::Success,
            Self::Interrupted => HealthWeight::NotCounted,
            Self::Refused
            | Self::Gone
            | Self::Throttled
            | Self::Unavailable
            | Self::Misdirected
            | Self::Blocked => HealthWeight::Failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r01_every_status_has_its_outcome() {
        for (statuses, outcome) in [
            (&[200, 201, 202, 204, 206, 299][..], Outcome::Delivered),
            (&[410], Outcome::Gone),
            (&[429], Outcome::Throttled),
            (&[400, 401, 403, 404, 408, 409, 422, 425, 451, 499], Outcome::Refused),
            (&[500, 501, 502, 503, 504, 599], Outcome::Unavailable),
            (&[100, 101, 103, 199, 300, 301, 302, 304, 307, 308, 399], Outcome::Misdirected),
            (&[0, 1, 99, 600, 999, u16::MAX], Outcome::Unavailable),
        ] {
            for status in statuses {
                assert_eq!(classify(Seen::Status(*status)), outcome, "{status}");
            }
        }
        assert_eq!(classify(Seen::NoAnswer), Outcome::Unavailable);
        assert_eq!(classify(Seen::Blocked), Outcome::Blocked);
        assert_eq!(classify(Seen::OurFault), Outcome::Interrupted);
    }

    #[test]
    fn r02_only_2xx_is_success() {
        for status in 0..=u16::MAX {
            let delivered = classify(Seen::Status(status)) == Outcome::Delivered;
            assert_eq!(delivered, (200..300).contains(&status), "{status}");
        }
    }

    #[test]
    fn r01_the_breaker_counts_unavailability_only() {
        let failed: Vec<_> = Outcome::ALL.into_iter().filter(|o| o.weight() == Weight::Failed).collect();
        assert_eq!(failed, [Outcome::Unavailable]);
        let ignored: Vec<_> = Outcome::ALL.into_iter().filter(|o| o.weight() == Weight::NotCounted).collect();
        assert_eq!(ignored, [Outcome::Blocked, Outcome::Interrupted]);
    }

    #[test]
    fn r01_our_own_fault_does_not_touch_health() {
        for outcome in Outcome::ALL {
            let expected = match outcome {
                Outcome::Delivered => HealthWeight::Success,
                Outcome::Interrupted => HealthWeight::NotCounted,
                _ => HealthWeight::Failure,
            };
            assert_eq!(outcome.health(), expected);
        }
    }

    #[test]
    fn stored_codes_and_names_do_not_change() {
        let table: Vec<_> = Outcome::ALL.into_iter().map(|o| (o.code(), o.name())).collect();
        assert_eq!(
            table,
            [
                (1, "delivered"),
                (2, "refused"),
                (3, "gone"),
                (4, "throttled"),
                (5, "unavailable"),
                (6, "misdirected"),
                (7, "blocked"),
                (8, "interrupted"),
            ]
        );
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
            assert_eq!(Outcome::from_name(outcome.name()), Some(outcome));
        }
        assert_eq!(Outcome::from_code(0), None);
        assert_eq!(Outcome::from_code(9), None);
    }
}
