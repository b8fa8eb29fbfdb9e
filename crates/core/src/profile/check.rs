//! What the values of a profile must be, each with the sentence for whoever wrote otherwise.

use std::time::Duration;

use super::{BreakerRules, CriticalRule, HealthRules, Profile, ProfileSpec, resolve::wrong};
use crate::{Error, critical::pointer_problem, duration::format, limits, names};

/// Checks a profile after `spec` was applied to it. Names the first key that cannot work.
pub(super) fn check(profile: &Profile, spec: &ProfileSpec) -> Result<(), Error> {
    let fault = name(profile)
        .or_else(|| times(profile))
        .or_else(|| signatures(profile))
        .or_else(|| outage(profile))
        .or_else(|| refusal(profile))
        .or_else(|| profile.breaker.as_ref().and_then(breaker))
        .or_else(|| health(&profile.health))
        .or_else(|| critical(&profile.critical))
        .or_else(|| breaker_said_twice(spec));
    fault.map_or(Ok(()), |(key, problem)| Err(wrong(&profile.name, &key, problem)))
}

/// A key and what is wrong with its value.
type Fault = Option<(String, String)>;

fn fault(key: &str, problem: impl Into<String>) -> Fault {
    Some((key.to_owned(), problem.into()))
}

fn name(profile: &Profile) -> Fault {
    names::check(names::NameKind::Uid, &profile.name).err().and_then(|_| {
        fault("name", "its name must be 1 to 256 letters (a-z, A-Z), digits, \"-\", \"_\" and \".\"")
    })
}

fn times(profile: &Profile) -> Fault {
    within("timeout", profile.timeout, limits::TIMEOUT_MIN, limits::TIMEOUT_MAX)
        .or_else(|| long_enough("max_age", profile.max_age))
        .or_else(|| {
            within("retry_after_cap", profile.retry_after_cap, Duration::ZERO, limits::PROFILE_DURATION_MAX)
        })
}

fn within(key: &str, value: Duration, min: Duration, max: Duration) -> Fault {
    if (min..=max).contains(&value) {
        return None;
    }
    fault(key, format!("{} is outside {} to {}", format(value), format(min), format(max)))
}

fn long_enough(key: &str, value: Duration) -> Fault {
    within(key, value, Duration::from_millis(1), limits::PROFILE_DURATION_MAX)
}

fn signatures(profile: &Profile) -> Fault {
    let schemes = &profile.signatures;
    if schemes.is_empty() {
        return fault("signatures", "at least one scheme is needed, or receivers cannot tell who sent it");
    }
    let twice = schemes.iter().enumerate().find(|(i, scheme)| schemes[..*i].contains(scheme));
    twice.and_then(|(_, scheme)| fault("signatures", format!("\"{scheme}\" is listed twice")))
}

fn ladder(key: &str, delays: &[Duration]) -> Fault {
    if delays.is_empty() {
        return fault(key, "a ladder needs at least one delay");
    }
    if delays.len() > limits::LADDER_STEPS {
        return fault(key, format!("{} delays are more than {}", delays.len(), limits::LADDER_STEPS));
    }
    delays.iter().find_map(|delay| long_enough(key, *delay))
}

fn outage(profile: &Profile) -> Fault {
    let (low, high) = profile.outage.jitter;
    if !(low > -1.0 && low <= high && high <= 1.0) {
        return fault(
            "outage.jitter",
            format!(
                "[{low}, {high}] is no range: it is [low, high] with -1 < low <= high <= 1, like [0.0, 0.1]"
            ),
        );
    }
    ladder("outage.delays", &profile.outage.delays)
}

fn refusal(profile: &Profile) -> Fault {
    let refusal = profile.refusal.as_ref()?;
    ladder("refusal.delays", &refusal.delays).or_else(|| {
        if refusal.span < refusal.delays[0] {
            return fault(
                "refusal.span",
                format!(
                    "{} is shorter than the first delay, {}, so that no step would ever be taken",
                    format(refusal.span),
                    format(refusal.delays[0])
                ),
            );
        }
        long_enough("refusal.span", refusal.span)
    })
}

fn breaker(rules: &BreakerRules) -> Fault {
    if rules.min_attempts == 0 {
        return fault("breaker.min_attempts", "it must be at least 1");
    }
    if !(rules.failure_ratio > 0.0 && rules.failure_ratio <= 1.0) {
        return fault(
            "breaker.failure_ratio",
            format!("{} is not above 0 and at most 1", rules.failure_ratio),
        );
    }
    if rules.pause_max < rules.pause {
        return fault(
            "breaker.pause_max",
            format!("{} is shorter than breaker.pause, {}", format(rules.pause_max), format(rules.pause)),
        );
    }
    long_enough("breaker.window", rules.window)
        .or_else(|| long_enough("breaker.pause", rules.pause))
        .or_else(|| long_enough("breaker.pause_max", rules.pause_max))
        .or_else(|| long_enough("breaker.recheck", rules.recheck))
}

/// `enabled = false` beside other keys means that one of them is not meant.
fn breaker_said_twice(spec: &ProfileSpec) -> Fault {
    let breaker = spec.breaker.as_ref().filter(|breaker| breaker.enabled == Some(false))?;
    let alone = super::spec::BreakerSpec { enabled: Some(false), ..Default::default() };
    (*breaker != alone)
        .then(|| fault("breaker.enabled", "it is false, so the other keys of breaker do nothing"))?
}

fn health(rules: &HealthRules) -> Fault {
    if rules.notices.len() > limits::NOTICES {
        return fault("health.notices", format!("{} are more than {}", rules.notices.len(), limits::NOTICES));
    }
    if !rules.notices.is_sorted_by(|earlier, later| earlier < later) {
        return fault("health.notices", "they must grow from one to the next");
    }
    let after = rules.disable_after.and_then(|after| long_enough("health.disable_after", after));
    after.or_else(|| rules.notices.iter().find_map(|notice| long_enough("health.notices", *notice)))
}

fn critical(rules: &[CriticalRule]) -> Fault {
    if rules.len() > limits::CRITICAL_RULES {
        return fault("critical", format!("{} rules are more than {}", rules.len(), limits::CRITICAL_RULES));
    }
    rules.iter().enumerate().find_map(|(index, rule)| critical_rule(&format!("critical[{index}]"), rule))
}

fn critical_rule(key: &str, rule: &CriticalRule) -> Fault {
    if names::check(names::NameKind::EventType, &rule.event_type).is_err() {
        return fault(
            &format!("{key}.type"),
            format!("{:?} is not the name of an event type", rule.event_type),
        );
    }
    if rule.values.len() > limits::CRITICAL_VALUES {
        return fault(
            &format!("{key}.in"),
            format!("{} values are more than {}", rule.values.len(), limits::CRITICAL_VALUES),
        );
    }
    match &rule.pointer {
        Some(pointer) => match pointer_problem(pointer) {
            Some(problem) => fault(&format!("{key}.pointer"), format!("{pointer:?}: {problem}")),
            None if rule.values.is_empty() => {
                fault(&format!("{key}.in"), "it is empty, so the rule would never match; list the values")
            }
            None => None,
        },
        None if !rule.values.is_empty() => {
            fault(&format!("{key}.in"), "it needs a pointer that says where in the payload the value is")
        }
        None => None,
    }
}
