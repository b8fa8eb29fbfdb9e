//! Every row of the table of addresses and URLs, with its verdict.

use std::net::IpAddr;

use gonets_egress::{EgressConfig, Guard};
use serde_json::Value;

fn table() -> Value {
    serde_json::from_str(include_str!("vectors/egress.json")).unwrap()
}

fn rows<'a>(table: &'a Value, name: &str) -> &'a Vec<Value> {
    let rows = table[name].as_array().unwrap();
    assert!(!rows.is_empty(), "{name} has no rows");
    rows
}

#[test]
fn every_address_has_the_verdict_of_its_row() {
    let (table, guard) = (table(), Guard::new(&EgressConfig::default()));
    for row in rows(&table, "addresses") {
        let address: IpAddr = row["address"].as_str().unwrap().parse().unwrap();
        let verdict = guard.verdict(address);
        assert_eq!(verdict.is_ok(), row["allowed"].as_bool().unwrap(), "{address}: {verdict:?}");
    }
}

#[test]
fn every_denied_network_is_denied_at_both_ends() {
    let (table, guard) = (table(), Guard::new(&EgressConfig::default()));
    for name in ["denied_v4", "denied_v6"] {
        for row in rows(&table, name) {
            let network: ipnet::IpNet = row["cidr"].as_str().unwrap().parse().unwrap();
            assert!(guard.verdict(network.network()).is_err(), "{network}");
            assert!(guard.verdict(network.broadcast()).is_err(), "{network}");
        }
    }
}

#[test]
fn every_url_has_the_verdict_and_the_text_of_its_row() {
    let (table, guard) = (table(), Guard::new(&EgressConfig::default()));
    for row in rows(&table, "urls") {
        let (url, verdict) = (row["url"].as_str().unwrap(), row["verdict"].as_str().unwrap());
        match guard.parse_url(url) {
            Ok(target) => {
                assert_eq!(verdict, "ok", "{url}");
                assert_eq!(target.text(), row["canonical"].as_str().unwrap_or(url));
            }
            Err(refused) => {
                assert_eq!(verdict, format!("refused:{}", refused.code()), "{url}: {refused}");
                assert!(refused.operator().ends_with('.'), "{refused}");
            }
        }
    }
}
