use super::*;
use crate::profile::{EnvelopeKind, Gone, SignatureScheme};

/// Reads the `profiles` table of a configuration.
fn resolve(toml: &str) -> Result<Profiles, Error> {
    #[derive(serde::Deserialize)]
    struct Config {
        profiles: BTreeMap<String, ProfileSpec>,
    }
    let config: Config = toml::from_str(toml).unwrap_or_else(|error| panic!("{error}"));
    Profiles::resolve(config.profiles)
}

fn read(toml: &str) -> Result<ProfileSpec, String> {
    toml::from_str(toml).map_err(|error: toml::de::Error| error.message().to_owned())
}

fn one(toml: &str) -> Profile {
    let profiles = resolve(toml).unwrap();
    Profile::clone(profiles.get("mine").unwrap())
}

const WHOLE: &str = r#"
[profiles.mine]
timeout = "10s"
max_age = "30d"
retry_after_cap = "1h"
gone = "refuse"
while_disabled = "hold"
envelope = "raw"
signatures = ["standard", "x-webhook"]
hold_unrouted = true
[profiles.mine.outage]
delays = ["1s", "2s", "4s", "8s", "16s", "32s", "64s", "128s", "256s"]
jitter = [0.0, 0.0]
refusals = false
[profiles.mine.refusal]
delays = ["15m", "1h", "4h", "12h", "24h"]
span = "48h"
[profiles.mine.breaker]
scope = "application"
min_attempts = 5
window = "5m"
failure_ratio = 0.8
pause = "5m"
pause_max = "30m"
recheck = "30s"
probe_spends = true
[profiles.mine.health]
disable_after = "never"
min_failures = 10
notices = ["1d", "3d", "7d", "14d"]
[[profiles.mine.critical]]
type = "payment.status_changed"
pointer = "/status"
in = ["paid", "settled", "refunded"]
[[profiles.mine.critical]]
type = "withdrawal.status_changed"
pointer = "/status"
in = ["completed"]
[[profiles.mine.critical]]
type = "exchange.status_changed"
pointer = "/status"
in = ["completed"]
[[profiles.mine.critical]]
type = "refund.completed"
[[profiles.mine.critical]]
type = "refund.reversed"
"#;

#[test]
fn every_key_written_out_gives_payments() {
    let expected = Profile { name: "mine".into(), ..builtin::payments() };
    assert_eq!(one(WHOLE), expected);
    assert_eq!(one("[profiles.mine]\nextends = \"payments\""), expected);
}

#[test]
fn without_extends_a_profile_starts_from_standard() {
    assert_eq!(one("[profiles.mine]"), Profile { name: "mine".into(), ..builtin::standard() });
}

#[test]
fn a_key_that_is_written_replaces_only_itself() {
    let mine = one(r#"
        [profiles.mine]
        extends = "payments"
        refusal = false
        gone = "disable"
        signatures = ["svix"]
        envelope = "event"
        critical = []
        [profiles.mine.outage]
        delays = ["250ms"]
        [profiles.mine.breaker]
        pause = "1m"
        [profiles.mine.health]
        disable_after = "2d"
    "#);
    let payments = builtin::payments();
    assert_eq!(mine.refusal, None);
    assert_eq!(mine.gone, Gone::Disable);
    assert_eq!(mine.signatures, [SignatureScheme::Svix]);
    assert_eq!(mine.envelope, EnvelopeKind::Event);
    assert_eq!(mine.critical, []);
    assert_eq!(mine.outage.delays, [Duration::from_millis(250)]);
    assert_eq!(mine.outage.jitter, payments.outage.jitter);
    let breaker = mine.breaker.unwrap();
    assert_eq!(breaker, BreakerRules { pause: Duration::from_secs(60), ..payments.breaker.unwrap() });
    assert_eq!(mine.health.disable_after, Some(Duration::from_secs(2 * 86_400)));
    assert_eq!(mine.health.min_failures, 10);
    assert_eq!(mine.timeout, payments.timeout);
}

#[test]
fn a_breaker_can_be_taken_away_and_given() {
    assert_eq!(one("[profiles.mine]\nbreaker.enabled = false").breaker, None);
    let given = one("[profiles.mine]\nextends = \"svix\"\nbreaker.min_attempts = 7").breaker.unwrap();
    assert_eq!((given.min_attempts, given.scope, given.failure_ratio), (7, BreakerScope::Endpoint, 0.8));
}

#[test]
fn profiles_extend_each_other_in_any_order() {
    let profiles = resolve(
        r#"
        [profiles.a]
        extends = "z"
        timeout = "1s"
        [profiles.m]
        extends = "svix"
        max_age = "1d"
        [profiles.z]
        extends = "m"
        timeout = "2s"
        gone = "disable"
        "#,
    )
    .unwrap();
    let a = profiles.get("a").unwrap();
    assert_eq!(
        (a.name.as_str(), a.timeout, a.max_age),
        ("a", Duration::from_secs(1), Duration::from_secs(86_400))
    );
    assert_eq!((a.gone, a.breaker.is_none()), (Gone::Disable, true));
    assert_eq!(profiles.get("z").unwrap().timeout, Duration::from_secs(2));
    assert_eq!(profiles.iter().count(), 6);
}

#[test]
fn a_changed_built_in_changes_those_that_extend_it() {
    let profiles = resolve(
        r#"
        [profiles.payments]
        timeout = "3s"
        [profiles.mine]
        extends = "payments"
        [profiles.svix]
        extends = "standard"
        "#,
    )
    .unwrap();
    assert_eq!(profiles.get("mine").unwrap().timeout, Duration::from_secs(3));
    assert!(profiles.get("mine").unwrap().refusal.is_some());
    assert_eq!(**profiles.get("svix").unwrap(), Profile { name: "svix".into(), ..builtin::standard() });
}

#[test]
fn the_built_in_profiles_are_always_there_and_pass_their_own_checks() {
    let profiles = resolve("[profiles]").unwrap();
    for name in builtin::NAMES {
        assert_eq!(**profiles.get(name).unwrap(), builtin::get(name).unwrap());
        assert_eq!(check(&builtin::get(name).unwrap(), &ProfileSpec::default()), Ok(()));
        assert_eq!(profiles.get(name), Profiles::builtin().get(name));
    }
    assert!(profiles.get("nosuch").is_none());
}

#[test]
fn circles_and_unknown_names_are_told() {
    let error = |toml| resolve(toml).unwrap_err().to_string();
    assert_eq!(
        error("[profiles.a]\nextends = \"b\"\n[profiles.b]\nextends = \"a\""),
        "profile \"a\", key \"extends\": it goes round in a circle: a → b → a."
    );
    assert_eq!(
        error("[profiles.a]\nextends = \"a\""),
        "profile \"a\", key \"extends\": it goes round in a circle: a → a."
    );
    assert_eq!(
        error("[profiles.standard]\nextends = \"b\"\n[profiles.b]"),
        "profile \"b\", key \"extends\": it goes round in a circle: b → standard → b."
    );
    assert_eq!(
        error("[profiles.a]\nextends = \"paymnets\""),
        "profile \"a\", key \"extends\": there is no profile \"paymnets\" to extend."
    );
}

#[test]
fn a_value_that_cannot_work_is_told_with_profile_and_key() {
    for (lines, key, problem) in [
        ("timeout = \"0s\"", "timeout", "outside 100ms to 2m"),
        ("timeout = \"1h\"", "timeout", "outside 100ms to 2m"),
        ("max_age = \"0s\"", "max_age", "outside"),
        ("signatures = []", "signatures", "at least one scheme"),
        ("signatures = [\"svix\", \"svix\"]", "signatures", "\"svix\" is listed twice"),
        ("outage.delays = []", "outage.delays", "at least one delay"),
        ("outage.delays = [\"0s\"]", "outage.delays", "outside"),
        ("outage.jitter = [0.2, 0.1]", "outage.jitter", "[0.2, 0.1] is no range"),
        ("outage.jitter = [-1.0, 0.0]", "outage.jitter", "no range"),
        ("outage.jitter = [0.0, 1.5]", "outage.jitter", "no range"),
        ("outage.jitter = [nan, 0.0]", "outage.jitter", "no range"),
        ("refusal.span = \"1h\"", "refusal.delays", "at least one delay"),
        (
            "refusal.delays = [\"2h\"]\nrefusal.span = \"1h\"",
            "refusal.span",
            "shorter than the first delay, 2h",
        ),
        ("breaker.failure_ratio = 0.0", "breaker.failure_ratio", "above 0"),
        ("breaker.failure_ratio = 80.0", "breaker.failure_ratio", "at most 1"),
        ("breaker.min_attempts = 0", "breaker.min_attempts", "at least 1"),
        ("breaker.pause_max = \"1m\"", "breaker.pause_max", "shorter than breaker.pause, 5m"),
        ("breaker.enabled = false\nbreaker.pause = \"1m\"", "breaker.enabled", "do nothing"),
        ("health.notices = [\"3d\", \"1d\"]", "health.notices", "must grow"),
        ("health.disable_after = \"0s\"", "health.disable_after", "outside"),
        ("critical = [{ type = \"\" }]", "critical[0].type", "not the name"),
        (
            "critical = [{ type = \"a\" }, { type = \"b\", pointer = \"status\", in = [\"x\"] }]",
            "critical[1].pointer",
            "begins with \"/\"",
        ),
        ("critical = [{ type = \"a\", pointer = \"/s\" }]", "critical[0].in", "never match"),
        ("critical = [{ type = \"a\", in = [\"x\"] }]", "critical[0].in", "needs a pointer"),
    ] {
        let error = resolve(&format!("[profiles.mine]\n{lines}")).unwrap_err().to_string();
        let start = format!("profile \"mine\", key \"{key}\": ");
        assert!(error.starts_with(&start) && error.contains(problem), "{lines}: {error}");
    }
}

#[test]
fn what_does_not_fit_the_shape_is_told_by_the_reader() {
    for (toml, problem) in [
        ("timout = \"1s\"", "unknown field `timout`"),
        ("outage.delay = []", "unknown field `delay`"),
        ("refusal.delay = []", "unknown field `delay`"),
        ("refusal = true", "refusal = true says no delays"),
        ("refusal = 3", "false, or a table with delays and span"),
        ("timeout = \"10\"", "the unit is missing"),
        ("timeout = 10", "a duration such as"),
        ("gone = \"ignore\"", "unknown variant `ignore`"),
        (
            "signatures = [\"hmac\"]",
            "there is no signature scheme \"hmac\"; there are standard, x-webhook, t-v1, svix",
        ),
        ("health.disable_after = \"soon\"", "not a duration"),
    ] {
        let error = read(toml).unwrap_err();
        assert!(error.contains(problem), "{toml}: {error}");
    }
}

#[test]
fn too_many_profiles_are_refused() {
    let specs = (0..limits::PROFILES).map(|i| (format!("p{i}"), ProfileSpec::default())).collect();
    let error = Profiles::resolve(specs).unwrap_err();
    assert_eq!(error, Error::TooManyProfiles { count: limits::PROFILES + 3, limit: limits::PROFILES });
}

#[test]
fn a_written_profile_is_read_back_the_same() {
    for toml in [
        "refusal = false",
        "health.disable_after = \"never\"\noutage.jitter = [-0.2, 0.2]",
        "timeout = \"1500ms\"",
    ] {
        let spec = read(toml).unwrap();
        assert_eq!(read(&toml::to_string(&spec).unwrap()).unwrap(), spec, "{toml}");
    }
}
