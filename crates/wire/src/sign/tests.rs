use super::*;

const OLD: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const NEW: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PAIR: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

fn headers(schemes: &[Scheme], keys: &[&str]) -> String {
    let keys = keys.iter().map(|key| Secret::parse(key).unwrap()).collect();
    let mut out = b"POST / HTTP/1.1\r\n".to_vec();
    let signer = Signer::new(schemes, keys).unwrap();
    signer.write_headers(&mut out, "msg_test0001", 1_700_000_000, b"{\"a\":1}");
    let text = String::from_utf8(out).unwrap();
    text.strip_prefix("POST / HTTP/1.1\r\n").unwrap().to_owned()
}

fn value<'a>(headers: &'a str, name: &str) -> &'a str {
    let value = headers.split("\r\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("no {name} in {headers}"))
}

#[test]
fn standard_is_sent_even_when_no_scheme_is_named_and_spelled_in_lower_case() {
    assert_eq!(
        headers(&[], &[NEW]),
        "webhook-id: msg_test0001\r\nwebhook-timestamp: 1700000000\r\n\
         webhook-signature: v1,KBoMUoW9SLqm7ReqoRMr+AGDDjVdeAY27agIHpESEx0=\r\n"
    );
}

#[test]
fn all_schemes_are_sent_at_once_each_once_in_the_documented_spelling() {
    let text = headers(&[Scheme::Svix, Scheme::TV1, Scheme::XWebhook, Scheme::Svix], &[NEW, OLD]);
    let names: Vec<&str> = text.lines().map(|l| l.split_once(": ").unwrap().0).collect();
    assert_eq!(
        names,
        [
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature",
            "svix-id",
            "svix-timestamp",
            "svix-signature",
            "X-Webhook-Id",
            "X-Webhook-Timestamp",
            "X-Webhook-Signature",
            "X-Webhook-Signature-Old",
            "X-Event-Id",
            "X-Signature",
        ]
    );
    assert!(names.iter().all(|name| Scheme::reserves(name)));
    assert_eq!(value(&text, "svix-signature"), value(&text, "webhook-signature"));
    for id in ["webhook-id", "svix-id", "X-Webhook-Id", "X-Event-Id"] {
        assert_eq!(value(&text, id), "msg_test0001");
    }
}

#[test]
fn while_a_rotation_lasts_the_new_key_comes_first_and_the_old_one_signs_too() {
    let schemes = [Scheme::XWebhook, Scheme::TV1];
    let (new, old) = (headers(&schemes, &[NEW]), headers(&schemes, &[OLD]));
    let both = headers(&schemes, &[NEW, OLD]);
    let [new_standard, old_standard] = [&new, &old].map(|h| value(h, "webhook-signature"));
    assert_eq!(value(&both, "webhook-signature"), format!("{new_standard} {old_standard}"));
    let [new_hex, old_hex] = [&new, &old].map(|h| value(h, "X-Webhook-Signature"));
    assert_eq!(value(&both, "X-Webhook-Signature"), new_hex);
    assert_eq!(value(&both, "X-Webhook-Signature-Old"), old_hex);
    assert_eq!(value(&both, "X-Signature"), format!("t=1700000000,v1={new_hex},v1={old_hex}"));
    assert!(!new.contains("X-Webhook-Signature-Old"));
}

#[test]
fn after_two_rotations_all_live_keys_sign_and_x_webhook_names_the_newest_old_one() {
    let third = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ==";
    let text = headers(&[Scheme::XWebhook, Scheme::TV1], &[third, NEW, OLD]);
    assert_eq!(value(&text, "webhook-signature").split(' ').count(), 3);
    assert_eq!(value(&text, "X-Signature").matches(",v1=").count(), 3);
    let newest_old = headers(&[Scheme::XWebhook], &[NEW]);
    assert_eq!(value(&text, "X-Webhook-Signature-Old"), value(&newest_old, "X-Webhook-Signature"));
    assert_eq!(text.matches("X-Webhook-Signature-Old").count(), 1);
}

#[test]
fn an_ed25519_key_signs_beside_the_current_symmetric_one() {
    let text = headers(&[Scheme::TV1, Scheme::Svix], &[NEW, OLD, PAIR]);
    let kinds: Vec<&str> =
        value(&text, "webhook-signature").split(' ').map(|entry| entry.split_once(',').unwrap().0).collect();
    assert_eq!(kinds, ["v1", "v1a", "v1"]);
    let kinds: Vec<&str> =
        value(&text, "X-Signature").split(',').map(|entry| entry.split_once('=').unwrap().0).collect();
    assert_eq!(kinds, ["t", "v1", "v1", "v2"]);
}

#[test]
fn an_ed25519_key_alone_signs_what_it_can_and_x_webhook_is_left_out() {
    let text = headers(&[Scheme::XWebhook, Scheme::TV1], &[PAIR]);
    assert!(value(&text, "webhook-signature").starts_with("v1a,"));
    assert!(value(&text, "X-Signature").starts_with("t=1700000000,v2="));
    assert!(!text.contains("X-Webhook"));
}

#[test]
fn one_to_eleven_keys_can_sign() {
    let keys = |count| vec![Secret::parse(NEW).unwrap(); count];
    assert_eq!(Signer::new(&[], keys(0)).unwrap_err(), SignError::NoKeys);
    assert!(Signer::new(&[], keys(MAX_KEYS)).is_ok());
    assert_eq!(Signer::new(&[], keys(12)).unwrap_err(), SignError::TooManyKeys(12));
}

#[test]
fn every_timestamp_is_written_in_plain_digits() {
    for number in [0, 7, 1_700_000_000, i64::MAX, i64::MIN] {
        assert_eq!(Decimal::default().of(number), number.to_string().as_bytes());
    }
}

#[test]
fn printing_a_signer_does_not_show_its_keys() {
    let signer = Signer::new(&[], vec![Secret::parse(NEW).unwrap()]).unwrap();
    assert!(!format!("{signer:?}").contains("MfKQ"));
}
