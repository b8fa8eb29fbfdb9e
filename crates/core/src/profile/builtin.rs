//! The built-in profiles as data. `standard` is the default, `payments` is for events whose loss
//! costs money, `svix` is what receivers know from Svix.

use std::time::Duration;

use super::{
    BreakerRules, BreakerScope, CriticalRule, EnvelopeKind, Gone, HealthRules, OutageLadder, Profile,
    RefusalLadder, SignatureScheme, WhileDisabled,
};

/// The names of the built-in profiles.
pub const NAMES: [&str; 3] = ["standard", "payments", "svix"];

/// The built-in profile of that name.
pub fn get(name: &str) -> Option<Profile> {
    match name {
        "standard" => Some(standard()),
        "payments" => Some(payments()),
        "svix" => Some(svix()),
        _ => None,
    }
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

const fn minutes(minutes: u64) -> Duration {
    secs(minutes * 60)
}

const fn hours(hours: u64) -> Duration {
    minutes(hours * 60)
}

const fn days(days: u64) -> Duration {
    hours(days * 24)
}

fn notices() -> Vec<Duration> {
    [1, 3, 7, 14].map(days).to_vec()
}

/// A breaker of five minutes and 80 %, for `scope`.
pub(super) const fn breaker(scope: BreakerScope, probe_spends: bool) -> BreakerRules {
    BreakerRules {
        scope,
        min_attempts: 5,
        window: minutes(5),
        failure_ratio: 0.8,
        pause: minutes(5),
        pause_max: minutes(30),
        recheck: secs(30),
        probe_spends,
    }
}

/// The default.
pub fn standard() -> Profile {
    Profile {
        name: "standard".into(),
        timeout: secs(10),
        max_age: days(30),
        retry_after_cap: hours(24),
        gone: Gone::Disable,
        while_disabled: WhileDisabled::Skip,
        hold_unrouted: false,
        envelope: EnvelopeKind::Event,
        signatures: vec![SignatureScheme::Standard, SignatureScheme::TV1],
        outage: OutageLadder {
            delays: vec![minutes(1), minutes(5), minutes(30), hours(2), hours(6), hours(12)],
            jitter: (0.0, 0.1),
            refusals: false,
        },
        refusal: None,
        breaker: Some(breaker(BreakerScope::Endpoint, false)),
        health: HealthRules { disable_after: Some(days(5)), min_failures: 10, notices: notices() },
        critical: Vec::new(),
    }
}

/// For events whose loss costs money.
pub fn payments() -> Profile {
    Profile {
        name: "payments".into(),
        timeout: secs(10),
        max_age: days(30),
        retry_after_cap: hours(1),
        gone: Gone::Refuse,
        while_disabled: WhileDisabled::Hold,
        hold_unrouted: true,
        envelope: EnvelopeKind::Raw,
        signatures: vec![SignatureScheme::Standard, SignatureScheme::XWebhook],
        outage: OutageLadder {
            delays: [1, 2, 4, 8, 16, 32, 64, 128, 256].map(secs).to_vec(),
            jitter: (0.0, 0.0),
            refusals: false,
        },
        refusal: Some(RefusalLadder {
            delays: vec![minutes(15), hours(1), hours(4), hours(12), hours(24)],
            span: hours(48),
        }),
        breaker: Some(breaker(BreakerScope::Application, true)),
        health: HealthRules { disable_after: None, min_failures: 10, notices: notices() },
        critical: vec![
            status("payment.status_changed", &["paid", "settled", "refunded"]),
            status("withdrawal.status_changed", &["completed"]),
            status("exchange.status_changed", &["completed"]),
            always("refund.completed"),
            always("refund.reversed"),
        ],
    }
}

/// What receivers know from Svix.
pub fn svix() -> Profile {
    Profile {
        name: "svix".into(),
        timeout: secs(30),
        max_age: days(30),
        retry_after_cap: hours(24),
        gone: Gone::Refuse,
        while_disabled: WhileDisabled::Skip,
        hold_unrouted: false,
        envelope: EnvelopeKind::Raw,
        signatures: vec![SignatureScheme::Standard, SignatureScheme::Svix],
        outage: OutageLadder {
            delays: vec![secs(5), minutes(5), minutes(30), hours(2), hours(5), hours(10), hours(10)],
            jitter: (-0.2, 0.2),
            refusals: true,
        },
        refusal: None,
        breaker: None,
        health: HealthRules { disable_after: Some(days(5)), min_failures: 1, notices: notices() },
        critical: Vec::new(),
    }
}

fn status(event_type: &str, values: &[&str]) -> CriticalRule {
    CriticalRule {
        event_type: event_type.into(),
        pointer: Some("/status".into()),
        values: values.iter().map(ToString::to_string).collect(),
    }
}

fn always(event_type: &str) -> CriticalRule {
    CriticalRule { event_type: event_type.into(), pointer: None, values: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(delays: &[Duration]) -> Duration {
        delays.iter().sum()
    }

    #[test]
    fn r03_the_outage_ladders_have_their_lengths() {
        assert_eq!((payments().outage_attempts(), sum(&payments().outage.delays)), (10, secs(511)));
        assert_eq!(
            (standard().outage_attempts(), sum(&standard().outage.delays)),
            (7, minutes(20 * 60 + 36))
        );
        assert_eq!(svix().outage_attempts(), 8);
    }

    #[test]
    fn r04_only_payments_has_a_refusal_ladder() {
        let ladder = payments().refusal.unwrap();
        assert_eq!((sum(&ladder.delays), ladder.span), (minutes(41 * 60 + 15), hours(48)));
        assert_eq!((standard().refusal, svix().refusal), (None, None));
    }
}
