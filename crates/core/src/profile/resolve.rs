//! From written profiles to usable ones: `extends` is followed, what is not said is taken over,
//! and every value is checked, so that the rules never meet a ladder without steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    BreakerRules, BreakerScope, CriticalRule, Profile, ProfileSpec, RefusalLadder, builtin,
    check::check,
    spec::{BreakerSpec, DisableAfter, HealthSpec, OutageSpec, RefusalSpec},
};
use crate::{Error, duration::DurationText, limits};

/// All profiles of an installation by name: the built-in ones and its own.
#[derive(Clone, Debug)]
pub struct Profiles {
    by_name: BTreeMap<String, Arc<Profile>>,
}

impl Profiles {
    /// Follows `extends` and checks every value. A profile that is named as a built-in one
    /// changes it, for those that extend it too.
    ///
    /// # Errors
    /// The first profile, by name, that cannot be used, and the key in it.
    pub fn resolve(specs: BTreeMap<String, ProfileSpec>) -> Result<Self, Error> {
        let count = specs.keys().map(String::as_str).chain(builtin::NAMES).collect::<BTreeSet<_>>().len();
        if count > limits::PROFILES {
            return Err(Error::TooManyProfiles { count, limit: limits::PROFILES });
        }
        let mut done = BTreeMap::new();
        for name in specs.keys().map(String::as_str).chain(builtin::NAMES) {
            resolve_chain(name, &specs, &mut done)?;
        }
        Ok(Self { by_name: done.into_iter().map(|(name, profile)| (name, Arc::new(profile))).collect() })
    }

    /// The built-in profiles as they are.
    pub fn builtin() -> Self {
        let by_name = builtin::NAMES
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), Arc::new(builtin::get(name)?))))
            .collect();
        Self { by_name }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Profile>> {
        self.by_name.get(name)
    }

    /// Every profile in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.by_name.values()
    }
}

/// Resolves `name` and, before it, whatever it extends. Not recursive: a chain may be as long as
/// there are profiles.
fn resolve_chain(
    name: &str,
    specs: &BTreeMap<String, ProfileSpec>,
    done: &mut BTreeMap<String, Profile>,
) -> Result<(), Error> {
    let mut chain: Vec<&str> = vec![name];
    let mut base = loop {
        let last = chain[chain.len() - 1];
        if let Some(profile) = done.get(last) {
            chain.pop();
            break profile.clone();
        }
        let Some(spec) = specs.get(last) else {
            chain.pop();
            let from = chain.last().copied().unwrap_or(last);
            let profile = builtin::get(last)
                .ok_or_else(|| wrong(from, "extends", format!("there is no profile \"{last}\" to extend")))?;
            done.insert(last.to_owned(), profile.clone());
            break profile;
        };
        match (spec.extends.as_deref(), builtin::get(last)) {
            (None, Some(profile)) => break profile,
            (Some(parent), Some(profile)) if parent == last => break profile,
            (parent, _) => chain.push(parent.unwrap_or("standard")),
        }
        let next = chain[chain.len() - 1];
        if chain[..chain.len() - 1].contains(&next) {
            return Err(wrong(name, "extends", format!("it goes round in a circle: {}", chain.join(" → "))));
        }
    };
    for name in chain.into_iter().rev() {
        base.name = name.to_owned();
        if let Some(spec) = specs.get(name) {
            apply(&mut base, spec);
            check(&base, spec)?;
        }
        done.insert(name.to_owned(), base.clone());
    }
    Ok(())
}

pub(super) fn wrong(profile: &str, key: &str, problem: impl Into<String>) -> Error {
    Error::Profile { profile: profile.to_owned(), key: key.to_owned(), problem: problem.into() }
}

fn apply(profile: &mut Profile, spec: &ProfileSpec) {
    set_duration(&mut profile.timeout, spec.timeout);
    set_duration(&mut profile.max_age, spec.max_age);
    set_duration(&mut profile.retry_after_cap, spec.retry_after_cap);
    set(&mut profile.gone, &spec.gone);
    set(&mut profile.while_disabled, &spec.while_disabled);
    set(&mut profile.hold_unrouted, &spec.hold_unrouted);
    set(&mut profile.envelope, &spec.envelope);
    set(&mut profile.signatures, &spec.signatures);
    if let Some(outage) = &spec.outage {
        apply_outage(profile, outage);
    }
    if let Some(refusal) = &spec.refusal {
        apply_refusal(profile, refusal);
    }
    if let Some(breaker) = &spec.breaker {
        apply_breaker(profile, breaker);
    }
    if let Some(health) = &spec.health {
        apply_health(profile, health);
    }
    if let Some(rules) = &spec.critical {
        profile.critical = rules
            .iter()
            .map(|rule| CriticalRule {
                event_type: rule.event_type.clone(),
                pointer: rule.pointer.clone(),
                values: rule.values.clone(),
            })
            .collect();
    }
}

fn apply_outage(profile: &mut Profile, spec: &OutageSpec) {
    set_list(&mut profile.outage.delays, spec.delays.as_deref());
    set(&mut profile.outage.jitter, &spec.jitter.map(Into::into));
    set(&mut profile.outage.refusals, &spec.refusals);
}

fn apply_refusal(profile: &mut Profile, spec: &RefusalSpec) {
    let RefusalSpec::Table(table) = spec else {
        profile.refusal = None;
        return;
    };
    // A ladder that is not there has no steps yet; the check says so if it is given none.
    let ladder = profile.refusal.get_or_insert(RefusalLadder { delays: Vec::new(), span: Duration::ZERO });
    set_list(&mut ladder.delays, table.delays.as_deref());
    set_duration(&mut ladder.span, table.span);
}

fn apply_breaker(profile: &mut Profile, spec: &BreakerSpec) {
    if spec.enabled == Some(false) {
        profile.breaker = None;
        return;
    }
    let rules: &mut BreakerRules =
        profile.breaker.get_or_insert(builtin::breaker(BreakerScope::Endpoint, false));
    set(&mut rules.scope, &spec.scope);
    set(&mut rules.min_attempts, &spec.min_attempts);
    set_duration(&mut rules.window, spec.window);
    set(&mut rules.failure_ratio, &spec.failure_ratio);
    set_duration(&mut rules.pause, spec.pause);
    set_duration(&mut rules.pause_max, spec.pause_max);
    set_duration(&mut rules.recheck, spec.recheck);
    set(&mut rules.probe_spends, &spec.probe_spends);
}

fn apply_health(profile: &mut Profile, spec: &HealthSpec) {
    match spec.disable_after {
        Some(DisableAfter::Never) => profile.health.disable_after = None,
        Some(DisableAfter::After(after)) => profile.health.disable_after = Some(after.0),
        None => {}
    }
    set(&mut profile.health.min_failures, &spec.min_failures);
    set_list(&mut profile.health.notices, spec.notices.as_deref());
}

fn set<T: Clone>(slot: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        slot.clone_from(value);
    }
}

fn set_duration(slot: &mut Duration, value: Option<DurationText>) {
    if let Some(value) = value {
        *slot = value.0;
    }
}

fn set_list(slot: &mut Vec<Duration>, values: Option<&[DurationText]>) {
    if let Some(values) = values {
        *slot = values.iter().map(|value| value.0).collect();
    }
}

#[cfg(test)]
mod tests;
