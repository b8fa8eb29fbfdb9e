//! Every key of the configuration, with the kind of its value.

use super::nearest::nearest;

/// What a value is; decides how the text of an environment variable is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    /// True or false.
    Switch,
    /// A whole number.
    Count,
    /// A list of texts; in a variable separated by commas, or written as in TOML.
    List,
    /// `"any"` or a list of numbers.
    Ports,
}

/// One key.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

/// All keys outside of profiles.
pub const KEYS: &[Key] = &[
    key("server.listen", Kind::Text),
    key("server.public_url", Kind::Text),
    key("store.dir", Kind::Text),
    key("store.url", Kind::Text),
    key("egress.allow_networks", Kind::List),
    key("egress.deny_networks", Kind::List),
    key("egress.allow_http", Kind::Switch),
    key("egress.allow_ports", Kind::Ports),
    key("egress.allow_local_names", Kind::Switch),
    key("egress.resolver", Kind::Text),
    key("egress.nat64", Kind::Switch),
    key("egress.extra_roots", Kind::List),
    key("egress.user_agent", Kind::Text),
    key("egress.proxy", Kind::Text),
    key("delivery.default_profile", Kind::Text),
    key("delivery.global_concurrency", Kind::Count),
    key("limits.payload_bytes", Kind::Count),
    key("retention.payload", Kind::Text),
    key("retention.journal", Kind::Text),
    key("smtp.host", Kind::Text),
    key("smtp.port", Kind::Count),
    key("smtp.security", Kind::Text),
    key("smtp.user", Kind::Text),
    key("smtp.password", Kind::Text),
    key("smtp.from", Kind::Text),
    key("smtp.operator", Kind::Text),
    key("smtp.language", Kind::Text),
    key("log.format", Kind::Text),
    key("log.level", Kind::Text),
];

/// The keys of a profile, below `profiles.<name>`.
const PROFILE_KEYS: &[&str] = &[
    "extends",
    "timeout",
    "max_age",
    "retry_after_cap",
    "gone",
    "while_disabled",
    "hold_unrouted",
    "envelope",
    "signatures",
    "outage",
    "outage.delays",
    "outage.jitter",
    "outage.refusals",
    "refusal",
    "refusal.delays",
    "refusal.span",
    "breaker",
    "breaker.enabled",
    "breaker.scope",
    "breaker.min_attempts",
    "breaker.window",
    "breaker.failure_ratio",
    "breaker.pause",
    "breaker.pause_max",
    "breaker.recheck",
    "breaker.probe_spends",
    "health",
    "health.disable_after",
    "health.min_failures",
    "health.notices",
    "critical",
];

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether keys begin with this name and a dot.
pub fn is_section(name: &str) -> bool {
    name == "profiles" || KEYS.iter().any(|key| key.name.split('.').next() == Some(name))
}

/// Whether a profile has this key, named below `profiles.<name>`.
pub fn is_of_profile(name: &str) -> bool {
    PROFILE_KEYS.contains(&name)
}

/// What may have been meant by an unknown key.
pub fn hint(name: &str) -> String {
    if let Some((profile, below)) = name.strip_prefix("profiles.").and_then(|rest| rest.split_once('.')) {
        return match nearest(below, PROFILE_KEYS.iter().copied()) {
            Some(near) => format!("Did you mean \"profiles.{profile}.{near}\"?"),
            None => format!(
                "A profile has {}.",
                listed(PROFILE_KEYS.iter().copied().filter(|key| !key.contains('.')))
            ),
        };
    }
    if let Some(near) = nearest(name, KEYS.iter().map(|key| key.name)) {
        return format!("Did you mean \"{near}\"?");
    }
    let section = name.split('.').next().unwrap_or(name);
    let inside = format!("{section}.");
    let siblings: Vec<_> = KEYS.iter().map(|key| key.name).filter(|key| key.starts_with(&inside)).collect();
    if siblings.is_empty() {
        let mut sections: Vec<_> = KEYS.iter().filter_map(|key| key.name.split('.').next()).collect();
        sections.dedup();
        return format!("There are the sections {} and profiles.", listed(sections.into_iter()));
    }
    format!("There are {}.", listed(siblings.into_iter()))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_told_its_neighbour_its_siblings_or_the_sections() {
        assert_eq!(hint("server.lsiten"), "Did you mean \"server.listen\"?");
        assert_eq!(hint("server.frobnication_of_things"), "There are server.listen, server.public_url.");
        assert!(hint("zzz.yyyyyyyyyyy").starts_with("There are the sections server, store, egress"));
        assert_eq!(hint("profiles.mine.tiemout"), "Did you mean \"profiles.mine.timeout\"?");
        assert_eq!(hint("profiles.mine.outage.delay"), "Did you mean \"profiles.mine.outage.delays\"?");
        assert!(hint("profiles.mine.frobnication").starts_with("A profile has extends, timeout"));
    }
}
