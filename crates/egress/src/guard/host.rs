//! Which names may stand in a URL, before anyone asks DNS.
//!
//! Names that lead inside are refused by their text because their answers depend on who asks:
//! a verdict about one answer says nothing about the next. Once the operator has opened an inside
//! network, names of inside zones are wanted, and only their addresses are judged.

/// Zones of inside networks: open once `allow_networks` opens one.
const INSIDE: [&str; 7] = ["local", "internal", "lan", "home", "corp", "home.arpa", "svc.cluster.local"];

/// Zones that never lead to a partner's server.
const NEVER: [&str; 3] = ["localhost", "arpa", "onion"];

/// Names under which clouds serve their machines' credentials.
const METADATA: [&str; 9] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
    "metadata",
    "instance-data",
];

/// The longest label and name of DNS, in bytes (RFC 1035 §2.3.4).
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;

/// Judges a name in lower-case ASCII without a trailing dot; the error says why it is refused.
pub(super) fn check(name: &str, local_names: bool, inside_names: bool) -> Result<(), String> {
    if !is_dns_name(name) {
        return Err("it is not a DNS name".to_owned());
    }
    if METADATA.contains(&name) {
        return Err("it is a cloud's metadata service".to_owned());
    }
    if name == "localhost" {
        return if local_names {
            Ok(())
        } else {
            Err("it is this machine itself. Start with --dev to allow it".to_owned())
        };
    }
    if !name.contains('.') {
        return if local_names {
            Ok(())
        } else {
            Err("a name without a dot leads inside. Write the full name".to_owned())
        };
    }
    // Longest first, so that the message names the zone that was meant.
    if let Some(zone) = INSIDE.iter().rev().find(|zone| is_in(name, zone)) {
        return if inside_names {
            Ok(())
        } else {
            Err(format!(
                "names ending in .{zone} lead inside. Allow it with egress.allow_networks if you mean to"
            ))
        };
    }
    match NEVER.iter().find(|zone| is_in(name, zone)) {
        Some(zone) => Err(format!("names ending in .{zone} lead to no public server")),
        None => Ok(()),
    }
}

fn is_in(name: &str, zone: &str) -> bool {
    name == zone || name.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'))
}

fn is_dns_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.split('.').all(|label| {
            (1..=MAX_LABEL).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inside_zone_is_refused_by_its_name_and_opens_with_an_inside_network() {
        for name in ["a.local", "b.c.internal", "x.home.arpa", "s.n.svc.cluster.local"] {
            assert!(check(name, true, false).is_err(), "{name}");
            assert!(check(name, false, true).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_zone_that_is_never_a_partner_stays_closed_whatever_is_open() {
        for name in ["a.localhost", "1.in-addr.arpa", "a.onion", "metadata.google.internal"] {
            assert!(check(name, true, true).is_err(), "{name}");
        }
    }

    #[test]
    fn a_name_that_merely_contains_a_zone_is_a_name_like_any_other() {
        for name in ["mylocal.example", "a.notinternal", "internal.example", "corp.example"] {
            assert!(check(name, false, false).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_dns_cannot_carry_is_no_name() {
        let long_label = format!("{}.example", "a".repeat(64));
        let long_name = "a.".repeat(127) + "example";
        for name in ["", "a..example", ".example", "a*.example", &long_label, &long_name] {
            assert!(check(name, true, true).is_err(), "{name}");
        }
    }
}
