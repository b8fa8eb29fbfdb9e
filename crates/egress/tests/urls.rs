//! What the guard makes of URLs beyond the table: tricks, settings and the cut-out parts.

use gonets_egress::{EgressConfig, Guard, Ports};
use proptest::prelude::*;

fn guard(edit: impl FnOnce(&mut EgressConfig)) -> Guard {
    let mut config = EgressConfig::default();
    edit(&mut config);
    Guard::new(&config)
}

fn code(guard: &Guard, url: &str) -> &'static str {
    match guard.parse_url(url) {
        Ok(_) => "ok",
        Err(refused) => refused.code(),
    }
}

#[test]
fn hosts_that_become_an_address_in_disguise_are_refused() {
    let guard = guard(|_| ());
    for url in [
        "https://%31%32%37.0.0.1/",
        "https://１２７.0.0.1/",
        "https://127.0.0.1.5/",
        "https://0x08080808/",
        "https://8.8.8.010/",
        "https://8.8.2056/",
        "https://134744072/",
    ] {
        assert_eq!(code(&guard, url), "host", "{url}");
    }
    assert_eq!(code(&guard, "https://[::ffff:7f00:1]/"), "address");
    assert_eq!(code(&guard, "https://[0:0:0:0:0:ffff:a00:1]/"), "address");
    assert_eq!(code(&guard, "https://[::ffff:8.8.8.8]/"), "ok");
}

#[test]
fn what_two_readers_might_read_differently_is_refused() {
    let guard = guard(|_| ());
    for url in [
        "https:/partner.example/",
        "https:\\\\partner.example/",
        "https://partner.example/a b",
        "https://partner.example/\u{a0}",
        "https://part\tner.example/",
        "https://?x",
        "https://#x",
        "https://:443/",
        "//partner.example/",
        "https://partner.example:99999/",
        "https://[::1/",
    ] {
        assert_eq!(code(&guard, url), "syntax", "{url}");
    }
    assert_eq!(code(&guard, "https://@partner.example/"), "userinfo");
    assert_eq!(code(&guard, "https://partner.example/#"), "fragment");
    assert_eq!(code(&guard, &format!("https://p.example/{}", "a".repeat(5000))), "syntax");
}

#[test]
fn a_trailing_dot_is_dropped_before_anything_is_asked() {
    let guard = guard(|_| ());
    let target = guard.parse_url("https://Partner.Example./h").unwrap();
    assert_eq!(target.text(), "https://partner.example/h");
    assert_eq!(target.host_header(), b"partner.example");
    for url in ["https://db.internal./", "https://metadata.google.internal./", "https://a../"] {
        assert_eq!(code(&guard, url), "host", "{url}");
    }
}

#[test]
fn a_developers_localhost_works_with_dev_settings_only() {
    let dev = guard(|c| {
        c.allow_http = true;
        c.allow_ports = Ports::Any;
        c.allow_local_names = true;
        c.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let target = dev.parse_url("http://localhost:3000/hook").unwrap();
    assert_eq!((target.host(), target.port(), target.is_tls()), ("localhost", 3000, false));
    assert_eq!(target.host_header(), b"localhost:3000");
    assert_eq!(code(&dev, "http://app:8080/"), "ok");
    assert_eq!(code(&dev, "http://127.0.0.1:1/"), "ok");
    assert_eq!(code(&dev, "http://x.localhost/"), "host");
    assert_eq!(code(&dev, "http://db.internal/"), "host");
    assert_eq!(code(&dev, "http://10.0.0.1/"), "address");
    assert_eq!(code(&dev, "http://127.0.0.1:0/"), "port");
}

#[test]
fn the_host_line_has_a_port_only_when_it_is_not_the_schemes_own() {
    let open = guard(|c| {
        c.allow_http = true;
        c.allow_ports = Ports::Any;
        c.allow_networks = vec!["::/0".parse().unwrap()];
    });
    for (url, host, host_port) in [
        ("http://p.example/", "p.example", "p.example:80"),
        ("http://p.example:80/", "p.example", "p.example:80"),
        ("http://p.example:8080/", "p.example:8080", "p.example:8080"),
        ("http://p.example:443/", "p.example:443", "p.example:443"),
        ("https://p.example:8443/", "p.example:8443", "p.example:8443"),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("https://[2001:db8::1]/", "[2001:db8::1]", "[2001:db8::1]:443"),
    ] {
        let target = open.parse_url(url).unwrap();
        assert_eq!(target.host_header(), host.as_bytes(), "{url}");
        assert_eq!(target.host_port(), host_port, "{url}");
    }
}

#[test]
fn the_operator_learns_the_setting_and_the_partner_learns_nothing() {
    let guard = guard(|_| ());
    let refused = guard.parse_url("https://db.internal/h").unwrap_err();
    assert_eq!(
        refused.operator(),
        "endpoint url: host \"db.internal\" is not allowed: names ending in .internal lead inside. \
         Allow it with egress.allow_networks if you mean to."
    );
    assert_eq!(refused.partner(), "this address is not allowed");
    let refused = guard.parse_url("https://10.1.2.3/h").unwrap_err();
    assert!(refused.operator().contains("10.1.2.3") && refused.operator().contains("allow_networks"));
    assert_eq!(refused.partner(), "this address is not allowed");
}

proptest! {
    #[test]
    fn what_is_stored_is_read_again_as_itself(url in "https://[a-z]{1,8}\\.example(/[ -~]{0,20})?") {
        let guard = guard(|_| ());
        if let Ok(target) = guard.parse_url(&url) {
            let again = guard.parse_url(target.text()).unwrap();
            prop_assert_eq!(again.text(), target.text());
            prop_assert_eq!(again.path_and_query(), target.path_and_query());
            let wire = String::from_utf8(target.path_and_query().to_vec()).unwrap();
            prop_assert!(wire.bytes().all(|b| (b'!'..=b'~').contains(&b)));
            prop_assert!(target.text().ends_with(&wire));
        }
    }

    #[test]
    fn no_text_makes_the_guard_panic_or_pass_a_strange_host(text in "\\PC{0,40}") {
        let guard = guard(|_| ());
        for url in [text.clone(), format!("https://{text}")] {
            if let Ok(target) = guard.parse_url(&url) {
                prop_assert!(target.host().contains(['.', ':']));
                prop_assert_eq!(target.port(), 443);
            }
        }
    }
}
