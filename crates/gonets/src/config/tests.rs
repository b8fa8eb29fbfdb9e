use std::path::PathBuf;

use gonets_egress::Ports;

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().copied().collect()
}

/// With a file of this text; it lives until the read is over.
fn with_file(text: &str, pairs: &[(&str, &str)], flags: ConfigFlags) -> Result<Settings, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gonets.toml");
    std::fs::write(&path, text).unwrap();
    settings(&ConfigFlags { config: Some(path), ..flags }, &variables(pairs))
}

fn sentence(text: &str, pairs: &[(&str, &str)]) -> String {
    with_file(text, pairs, ConfigFlags::default()).unwrap_err().to_string()
}

#[test]
fn without_anything_the_defaults_hold() {
    let settings = settings(&ConfigFlags::default(), &Variables::default()).unwrap();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8071");
    assert_eq!(settings.data_dir, PathBuf::from("./gonets-data"));
    assert_eq!(settings.egress.allow_ports, Ports::Only(vec![443]));
    assert_eq!((settings.global_concurrency, settings.payload_bytes), (4096, 1 << 20));
    assert!(!settings.egress.allow_http && settings.egress.allow_networks.is_empty());
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let file =
        "[server]\nlisten = \"127.0.0.1:1\"\npublic_url = \"https://a.example/\"\n[store]\ndir = \"of-file\"";
    let listen = |pairs: &[_], flag: Option<&str>| {
        let flags = ConfigFlags { listen: flag.map(str::to_owned), ..ConfigFlags::default() };
        with_file(file, pairs, flags).unwrap()
    };
    assert_eq!(listen(&[], None).listen.port(), 1);
    assert_eq!(listen(&[("GONETS_SERVER__LISTEN", "127.0.0.1:2")], None).listen.port(), 2);
    let all = listen(&[("GONETS_SERVER__LISTEN", "127.0.0.1:2")], Some("127.0.0.1:3"));
    assert_eq!(all.listen.port(), 3);
    assert_eq!(all.public_url.as_deref(), Some("https://a.example"), "what only the file says stays");
    assert_eq!(all.data_dir, PathBuf::from("of-file"));
}

#[test]
fn variables_are_read_as_the_kind_of_their_key() {
    let read = |pairs| settings(&ConfigFlags::default(), &variables(pairs)).unwrap();
    let settings = read(&[
        ("GONETS_EGRESS__ALLOW_NETWORKS", "127.0.0.0/8, ::1"),
        ("GONETS_EGRESS__ALLOW_HTTP", "true"),
        ("GONETS_EGRESS__ALLOW_PORTS", "443,8443"),
        ("GONETS_EGRESS__RESOLVER", "10.0.0.2"),
        ("GONETS_DELIVERY__GLOBAL_CONCURRENCY", "12"),
        ("GONETS_PROFILES__QUICK__OUTAGE__DELAYS", "[\"1s\", \"2s\"]"),
        ("GONETS_PROFILES__QUICK__TIMEOUT", "2s"),
        ("GONETS_PROFILES__QUICK__REFUSAL", "false"),
    ]);
    assert_eq!(settings.egress.allow_networks.len(), 2);
    assert!(settings.egress.allow_http);
    assert_eq!(settings.egress.allow_ports, Ports::Only(vec![443, 8443]));
    assert_eq!(settings.egress.resolver.unwrap().to_string(), "10.0.0.2:53");
    assert_eq!(settings.global_concurrency, 12);
    let quick = &settings.profiles["quick"];
    assert_eq!(quick.outage.as_ref().unwrap().delays.as_ref().unwrap().len(), 2);
    assert!(quick.timeout.is_some() && quick.refusal.is_some());
    assert_eq!(read(&[("GONETS_EGRESS__ALLOW_PORTS", "any")]).egress.allow_ports, Ports::Any);
    assert_eq!(read(&[("GONETS_EGRESS__ALLOW_PORTS", "[80]")]).egress.allow_ports, Ports::Only(vec![80]));
}

#[test]
fn a_profile_is_merged_key_by_key() {
    let file = "[profiles.mine]\nextends = \"payments\"\n[profiles.mine.outage]\ndelays = [\"1s\"]\njitter = [0.0, 0.1]";
    let pairs = [("GONETS_PROFILES__MINE__OUTAGE__DELAYS", "[\"5s\"]")];
    let settings = with_file(file, &pairs, ConfigFlags::default()).unwrap();
    let mine = &settings.profiles["mine"];
    assert_eq!(mine.extends.as_deref(), Some("payments"));
    let outage = mine.outage.as_ref().unwrap();
    assert_eq!(outage.delays.as_ref().unwrap()[0].to_string(), "5s");
    assert_eq!(outage.jitter, Some([0.0, 0.1]));
}

#[test]
fn unknown_keys_are_errors_that_name_the_key_its_place_and_its_neighbour() {
    let error = sentence("[server]\nlsiten = \"127.0.0.1:1\"", &[]);
    assert!(error.starts_with("there is no key \"server.lsiten\" (in "), "{error}");
    assert!(error.ends_with("Did you mean \"server.listen\"?"), "{error}");
    let error = sentence("", &[("GONETS_EGRES__ALLOW_HTTP", "true")]);
    assert!(error.contains("\"egres.allow_http\" (from GONETS_EGRES__ALLOW_HTTP)"), "{error}");
    assert!(error.ends_with("Did you mean \"egress.allow_http\"?"), "{error}");
    let error = sentence("[profiles.mine.outage]\ndelay = []", &[]);
    assert!(error.contains("\"profiles.mine.outage.delay\""), "{error}");
    assert!(sentence("[frobnication]", &[]).contains("There are the sections server"));
    assert!(sentence("server = 1", &[]).contains("it is a section; write [server]"));
    assert!(sentence("[profiles]\nmine = 1", &[]).contains("\"profiles.mine\""));
}

#[test]
fn a_variable_with_one_underscore_is_told_from_those_of_others() {
    let error = sentence("", &[("GONETS_SERVER_LISTEN", "127.0.0.1:1")]);
    assert!(error.ends_with("Write GONETS_SERVER__LISTEN."), "{error}");
    let of_an_orchestrator = [("GONETS_PORT_8071_TCP_ADDR", "10.0.0.1"), ("GONETS_SERVICE_HOST", "10.0.0.1")];
    assert!(settings(&ConfigFlags::default(), &variables(&of_an_orchestrator)).is_ok());
}

#[test]
fn a_wrong_value_is_told_with_its_key_and_origin() {
    for (text, said) in [
        ("[server]\nlisten = \"here\"", "\"here\" is not an IP address and a port"),
        ("[server]\nlisten = 8071", "8071 is not an IP address and a port"),
        ("[server]\npublic_url = \"example.com\"", "is not a URL such as"),
        ("[store]\ndir = \"\"", "it is empty"),
        ("[egress]\nallow_http = \"yes\"", "\"yes\" is neither true nor false"),
        ("[egress]\nallow_networks = [\"10.0.0.0/33\"]", "\"10.0.0.0/33\" is not a network"),
        ("[egress]\nallow_networks = \"10.0.0.0/8\"", "is not a list of texts"),
        ("[egress]\nallow_ports = [0]", "nor a list of ports from 1 to 65535"),
        ("[egress]\nresolver = \"dns\"", "is not the address of a DNS server"),
        ("[delivery]\nglobal_concurrency = 0", "0 is not a whole number from 1 to 65536"),
        ("[limits]\npayload_bytes = \"1M\"", "is not a whole number"),
        ("[retention]\npayload = \"30\"", "the unit is missing"),
        ("[log]\nformat = \"xml\"", "is neither \"text\" nor \"json\""),
        ("[profiles.mine]\ntimeout = \"10\"", "the unit is missing"),
        ("[profiles.mine]\ngone = \"maybe\"", "maybe"),
    ] {
        let error = sentence(text, &[]);
        assert!(error.contains(said), "{text}: {error}");
        assert!(error.contains("gonets.toml)"), "{text}: {error}");
    }
    assert!(sentence("[server", &[]).contains("is not TOML"));
    let missing = ConfigFlags { config: Some(PathBuf::from("/no/such/file")), ..ConfigFlags::default() };
    assert!(settings(&missing, &Variables::default()).unwrap_err().to_string().contains("cannot be read"));
}

fn load_error(text: &str) -> String {
    let served =
        with_file(text, &[], ConfigFlags::default()).and_then(|settings| Config::of(settings, false));
    served.unwrap_err().to_string()
}

#[test]
fn keys_with_nothing_behind_them_yet_are_refused_not_ignored() {
    for (text, key) in [
        ("[store]\nurl = \"postgres://localhost/gonets\"", "store.url"),
        ("[retention]\npayload = \"30d\"", "retention.payload"),
        ("[retention]\njournal = \"90d\"", "retention.journal"),
    ] {
        let error = load_error(text);
        assert!(error.starts_with(&format!("{key} is not supported yet: this version")), "{error}");
    }
}

#[test]
fn profiles_and_roots_that_cannot_be_used_are_told() {
    let error = load_error("[delivery]\ndefault_profile = \"mine\"");
    assert_eq!(
        error,
        "delivery.default_profile: there is no profile \"mine\". There are payments, standard, svix."
    );
    assert!(
        load_error("[profiles.mine]\nextends = \"yours\"")
            .contains("there is no profile \"yours\" to extend")
    );
    assert!(
        load_error("[egress]\nextra_roots = [\"/no/such.pem\"]")
            .contains("/no/such.pem holds no certificate")
    );
    assert!(load_error("[egress]\nproxy = \"socks5://proxy\"").starts_with("egress: "));
}

#[test]
fn dev_opens_this_machine_and_nothing_else() {
    let flags = ConfigFlags { dev: true, ..ConfigFlags::default() };
    let config = load(&flags, &Variables::default()).unwrap();
    assert!(config.dev && config.egress.allow_http && config.egress.allow_local_names);
    assert_eq!(config.egress.allow_ports, Ports::Any);
    let networks: Vec<_> = config.egress.allow_networks.iter().map(ToString::to_string).collect();
    assert_eq!(networks, ["127.0.0.0/8", "::1/128"]);
}

#[test]
fn a_directory_can_be_named_as_a_url_and_the_flag_wins() {
    let dir = |pairs: &[_], flag: Option<&str>| {
        let flags = ConfigFlags { data: flag.map(PathBuf::from), ..ConfigFlags::default() };
        let settings = settings(&flags, &variables(pairs)).unwrap();
        assert_eq!(settings.database, None);
        settings.data_dir
    };
    assert_eq!(
        dir(&[("GONETS_STORE__URL", "sqlite:/var/lib/gonets")], None),
        PathBuf::from("/var/lib/gonets")
    );
    assert_eq!(dir(&[("GONETS_STORE__URL", "sqlite://data")], None), PathBuf::from("data"));
    assert_eq!(dir(&[("GONETS_STORE__URL", "postgres://db/g")], Some("here")), PathBuf::from("here"));
}

#[test]
fn what_is_printed_is_read_back_the_same() {
    let file = r#"
        [server]
        listen = "0.0.0.0:80"
        public_url = "https://hooks.example.com"
        [egress]
        allow_networks = ["10.0.0.0/8"]
        allow_ports = "any"
        resolver = "10.0.0.2:53"
        [delivery]
        default_profile = "mine"
        [profiles.mine]
        extends = "payments"
        refusal = false
        timeout = "250ms"
        signatures = ["standard", "x-webhook"]
        [profiles.mine.outage]
        delays = ["1s", "15m"]
        jitter = [0.0, 0.5]
        [profiles.mine.health]
        disable_after = "never"
        [[profiles.mine.critical]]
        type = "payment.status_changed"
        pointer = "/status"
        in = ["paid"]
    "#;
    let first = with_file(file, &[], ConfigFlags::default()).unwrap();
    let printed = to_toml(&first).unwrap();
    let second = with_file(&printed, &[], ConfigFlags::default()).unwrap();
    assert_eq!(first, second, "{printed}");
    assert_eq!(printed, to_toml(&second).unwrap());
}

#[test]
fn mail_needs_a_host_and_a_sender_and_knows_its_words() {
    for (text, sentence) in [
        ("[smtp]\nhost = \"mail\"", "without smtp.from no mail can be sent"),
        ("[smtp]\nfrom = \"a@example.com\"", "without smtp.host no mail can be sent"),
        ("[smtp]\nhost = \"mail\"\nfrom = \"nobody\"", "\"nobody\" is not an address"),
        (
            "[smtp]\nhost = \"mail\"\nfrom = \"a@example.com\"\nsecurity = \"ssl\"",
            "not one of none, starttls, tls",
        ),
        ("[smtp]\nhost = \"mail\"\nfrom = \"a@example.com\"\nlanguage = \"de\"", "not one of en, ru"),
    ] {
        let error = load_error(text);
        assert!(error.contains(sentence), "{error}");
    }
    let file = "[smtp]\nhost = \"mail\"\nfrom = \"Gonets <a@example.com>\"\nlanguage = \"ru\"\nport = 2525";
    let printed = to_toml(&with_file(file, &[], ConfigFlags::default()).unwrap()).unwrap();
    for line in ["language = \"ru\"", "port = 2525", "security = \"starttls\""] {
        assert!(printed.contains(line), "{printed}");
    }
}

#[test]
fn secrets_are_masked_in_what_is_printed() {
    let file = "[store]\nurl = \"postgres://me:s3cret@db/g\"\n[smtp]\npassword = \"s3cret\"\nuser = \"me\"\nhost = \"mail\"\nfrom = \"a@example.com\"";
    let printed = to_toml(&with_file(file, &[], ConfigFlags::default()).unwrap()).unwrap();
    assert!(!printed.contains("s3cret"), "{printed}");
    assert!(printed.contains("password = \"***\"") && printed.contains("user = \"me\""), "{printed}");
}
