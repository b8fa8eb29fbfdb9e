//! Which addresses may be reached.
//!
//! A table of our own, not `is_global`: that one is wrong for several of these rows (6to4, AMT,
//! AS112, the Azure host service) and unstable besides. IPv4 is open but for the rows below; IPv6
//! is closed but for `2000::/3`, and there but for the rows.
//!
//! Addresses that carry another address inside are judged by that one where the network would
//! take the packet there (IPv4-mapped, NAT64), and denied where a tunnel might (6to4, Teredo,
//! ISATAP).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use super::Guard;
use super::refusal::Denied;

struct Row4(u32, u8, &'static str);
struct Row6(u128, u8, &'static str);

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8, why: &'static str) -> Row4 {
    Row4(u32::from_be_bytes([a, b, c, d]), prefix, why)
}

/// `head` is the first three groups of the network, as in `2620:4f:8000::`.
const fn v6(head: [u16; 3], prefix: u8, why: &'static str) -> Row6 {
    let bits = ((head[0] as u128) << 112) | ((head[1] as u128) << 96) | ((head[2] as u128) << 80);
    Row6(bits, prefix, why)
}

const DENIED_V4: [Row4; 19] = [
    v4(0, 0, 0, 0, 8, "0.0.0.0/8 reaches the host itself"),
    v4(10, 0, 0, 0, 8, "10.0.0.0/8 is private (RFC 1918)"),
    v4(100, 64, 0, 0, 10, "100.64.0.0/10 is carrier NAT (RFC 6598)"),
    v4(127, 0, 0, 0, 8, "127.0.0.0/8 is loopback"),
    v4(169, 254, 0, 0, 16, "169.254.0.0/16 is link-local, with the clouds' metadata"),
    v4(172, 16, 0, 0, 12, "172.16.0.0/12 is private (RFC 1918)"),
    v4(192, 0, 0, 0, 24, "192.0.0.0/24 is for IETF protocols"),
    v4(192, 0, 2, 0, 24, "192.0.2.0/24 is for documentation"),
    v4(192, 31, 196, 0, 24, "192.31.196.0/24 is AS112"),
    v4(192, 52, 193, 0, 24, "192.52.193.0/24 is AMT"),
    v4(192, 88, 99, 0, 24, "192.88.99.0/24 was the 6to4 relay"),
    v4(192, 168, 0, 0, 16, "192.168.0.0/16 is private (RFC 1918)"),
    v4(192, 175, 48, 0, 24, "192.175.48.0/24 is AS112"),
    v4(198, 18, 0, 0, 15, "198.18.0.0/15 is for benchmarks"),
    v4(198, 51, 100, 0, 24, "198.51.100.0/24 is for documentation"),
    v4(203, 0, 113, 0, 24, "203.0.113.0/24 is for documentation"),
    v4(224, 0, 0, 0, 4, "224.0.0.0/4 is multicast"),
    v4(240, 0, 0, 0, 4, "240.0.0.0/4 is reserved"),
    v4(168, 63, 129, 16, 32, "168.63.129.16 is the Azure host service"),
];

const DENIED_V6: [Row6; 6] = [
    v6([0x2001, 0, 0], 23, "2001::/23 is for IETF protocols, Teredo among them"),
    v6([0x2001, 0xdb8, 0], 32, "2001:db8::/32 is for documentation"),
    v6([0x2002, 0, 0], 16, "2002::/16 is 6to4 and leads to an IPv4 address"),
    v6([0x2620, 0x4f, 0x8000], 48, "2620:4f:8000::/48 is AS112"),
    v6([0x3ffe, 0, 0], 16, "3ffe::/16 was the 6bone"),
    v6([0x3fff, 0, 0], 20, "3fff::/20 is for documentation (RFC 9637)"),
];

const GLOBAL_UNICAST: Row6 = v6([0x2000, 0, 0], 3, "");
const NAT64: Row6 = v6([0x64, 0xff9b, 0], 96, "64:ff9b::/96 is NAT64 and leads to an IPv4 address");

impl Guard {
    /// Whether a connection to this address may be opened.
    ///
    /// # Errors
    ///
    /// A [`Denied`] with the row of the table, or the setting, that forbids it.
    pub fn verdict(&self, address: IpAddr) -> Result<(), Denied> {
        // What the kernel would dial is judged: an IPv4-mapped address is the IPv4 address.
        let dialled = address.to_canonical();
        let judged = match dialled {
            IpAddr::V6(v6) if self.nat64 && NAT64.holds(v6) => IpAddr::V4(low_v4(v6)),
            other => other,
        };
        if holds(&self.deny_networks, judged) || holds(&self.deny_networks, dialled) {
            return Err(Denied::by_configuration(address));
        }
        if holds(&self.allow_networks, judged) {
            return Ok(());
        }
        let denied = match judged {
            IpAddr::V4(v4) => why_not_v4(v4),
            IpAddr::V6(v6) => why_not_v6(v6),
        };
        denied.map_or(Ok(()), |why| Err(Denied::built_in(address, why)))
    }
}

fn holds(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

fn why_not_v4(address: Ipv4Addr) -> Option<&'static str> {
    DENIED_V4.iter().find(|row| row.holds(address)).map(|row| row.2)
}

fn why_not_v6(address: Ipv6Addr) -> Option<&'static str> {
    if NAT64.holds(address) {
        return Some(NAT64.2);
    }
    if !GLOBAL_UNICAST.holds(address) {
        return Some("it is outside 2000::/3, the public part of IPv6");
    }
    if is_isatap(address) {
        return Some("it is an ISATAP address and leads to an IPv4 address");
    }
    DENIED_V6.iter().find(|row| row.holds(address)).map(|row| row.2)
}

/// An interface id of `…:5efe:` and an IPv4 address (RFC 5214 §6.1), whatever its u and g bits.
fn is_isatap(address: Ipv6Addr) -> bool {
    let groups = address.segments();
    groups[4] & !0x0300 == 0 && groups[5] == 0x5efe
}

fn low_v4(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

impl Row4 {
    fn holds(&self, address: Ipv4Addr) -> bool {
        (address.to_bits() ^ self.0) >> (32 - self.1) == 0
    }
}

impl Row6 {
    fn holds(&self, address: Ipv6Addr) -> bool {
        (address.to_bits() ^ self.0) >> (128 - self.1) == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::EgressConfig;

    fn guard(edit: impl FnOnce(&mut EgressConfig)) -> Guard {
        let mut config = EgressConfig::default();
        edit(&mut config);
        Guard::new(&config)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn nat64_is_judged_by_the_address_inside_once_it_is_allowed() {
        let open = guard(|c| c.nat64 = true);
        assert!(open.verdict(ip("64:ff9b::808:808")).is_ok());
        assert!(open.verdict(ip("64:ff9b::7f00:1")).is_err());
        assert!(open.verdict(ip("64:ff9b:1::808:808")).is_err());
        assert!(guard(|_| ()).verdict(ip("64:ff9b::808:808")).is_err());
    }

    #[test]
    fn an_allowed_network_opens_its_mapped_form_and_nothing_beside_it() {
        let open = guard(|c| c.allow_networks = vec!["127.0.0.0/8".parse().unwrap()]);
        assert!(open.verdict(ip("127.0.0.1")).is_ok());
        assert!(open.verdict(ip("::ffff:127.0.0.1")).is_ok());
        assert!(open.verdict(ip("::1")).is_err());
        assert!(open.verdict(ip("10.0.0.1")).is_err());
    }

    #[test]
    fn a_denied_network_wins_over_an_allowed_one() {
        let closed = guard(|c| {
            c.allow_networks = vec!["10.0.0.0/8".parse().unwrap()];
            c.deny_networks = vec!["10.1.0.0/16".parse().unwrap(), "8.8.0.0/16".parse().unwrap()];
        });
        assert!(closed.verdict(ip("10.0.0.1")).is_ok());
        let denied = closed.verdict(ip("10.1.0.1")).unwrap_err();
        assert!(denied.operator().contains("egress.deny_networks"), "{denied}");
        assert!(closed.verdict(ip("::ffff:8.8.8.8")).is_err());
    }

    #[test]
    fn the_operator_reads_address_reason_and_setting_and_the_partner_reads_none_of_them() {
        let denied = guard(|_| ()).verdict(ip("169.254.169.254")).unwrap_err();
        let text = denied.of_host("evil.example").operator();
        for part in ["evil.example", "169.254.169.254", "metadata", "egress.allow_networks"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(
            guard(|_| ()).verdict(ip("10.0.0.1")).unwrap_err().partner(),
            "this address is not allowed"
        );
    }

    proptest! {
        #[test]
        fn a_mapped_address_has_the_verdict_of_its_ipv4_address(bits: u32) {
            let guard = guard(|_| ());
            let plain = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(
                guard.verdict(plain.into()).is_ok(),
                guard.verdict(plain.to_ipv6_mapped().into()).is_ok()
            );
        }

        #[test]
        fn nothing_outside_global_unicast_is_ever_open(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            prop_assume!(address.to_ipv4_mapped().is_none() && bits >> 125 != 1);
            prop_assert!(guard(|c| c.nat64 = true).verdict(address.into()).is_err()
                || NAT64.holds(address));
        }

        #[test]
        fn every_address_of_a_denied_row_is_denied(row in 0..DENIED_V4.len(), bits: u32) {
            let Row4(network, prefix, _) = DENIED_V4[row];
            let host_bits = if prefix == 32 { 0 } else { bits >> prefix };
            let address = Ipv4Addr::from_bits(network | host_bits);
            prop_assert!(guard(|_| ()).verdict(address.into()).is_err());
        }

        #[test]
        fn every_isatap_address_is_denied(head: u64, flags in 0u64..4, inner: u32) {
            let bits = (u128::from(head) << 64)
                | (u128::from(flags) << 56)
                | (0x5efe_u128 << 32)
                | u128::from(inner);
            prop_assert!(guard(|_| ()).verdict(Ipv6Addr::from_bits(bits).into()).is_err());
        }
    }
}
