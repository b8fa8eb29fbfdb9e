use proptest::prelude::*;

use super::*;

const GOOD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PRIVATE: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

fn error(text: &str) -> SecretError {
    Secret::parse(text).unwrap_err()
}

#[test]
fn a_secret_is_shown_exactly_as_it_was_given() {
    for text in [
        GOOD,
        PRIVATE,
        "whsec_+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/Pg==",
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ==",
    ] {
        assert_eq!(Secret::parse(text).unwrap().shown(), text);
    }
}

#[test]
fn what_people_paste_beside_a_secret_is_refused_with_its_own_sentence() {
    assert_eq!(error(""), SecretError::Empty);
    let version = error(&format!("v1,{GOOD}"));
    assert_eq!(version, SecretError::VersionInFront("v1,", "whsec_"));
    let version = error(&format!("v1a,{PRIVATE}"));
    assert_eq!(version, SecretError::VersionInFront("v1a,", "whsk_"));
    for text in [format!(" {GOOD} "), format!("{GOOD}\n"), format!("{GOOD}\u{a0}"), GOOD.replace('9', "9 ")] {
        assert_eq!(error(&text), SecretError::WhiteSpace, "{text:?}");
    }
    for text in ["é&<>\"'", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_AAAA"] {
        assert_eq!(error(text), SecretError::UnknownPrefix, "{text}");
    }
    let public = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    assert_eq!(error(public), SecretError::PublicKey);
}

#[test]
fn what_is_not_strict_base64_is_refused() {
    for text in [
        "whsec_xyz!".to_owned(),
        format!("{GOOD}="),
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ".to_owned(),
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGR==".to_owned(),
        "whsec_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_".to_owned(),
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ\\u003D".to_owned(),
    ] {
        assert_eq!(error(&text), SecretError::NotBase64("whsec_"), "{text}");
    }
}

#[test]
fn keys_outside_24_to_64_bytes_are_refused() {
    for (bytes, accepted) in [(0, false), (1, false), (23, false), (24, true), (64, true)] {
        let text = spelled(SYMMETRIC_PREFIX, &vec![7; bytes]);
        assert_eq!(Secret::parse(&text).is_ok(), accepted, "{bytes}");
    }
    assert_eq!(error(&spelled("whsec_", &[7; 23])), SecretError::TooShort(23));
    for bytes in [65, 513, 1 << 20] {
        assert_eq!(error(&spelled("whsec_", &vec![7; bytes])), SecretError::TooLong);
    }
}

/// Field report 010: the key is the decoded part after `whsec_`. Its secret has 18 bytes, so
/// that it is refused as an endpoint's; the arithmetic must be right all the same.
#[test]
fn the_standard_scheme_signs_with_the_decoded_key_and_not_with_the_text() {
    let text = "whsec_plJ3nmyCDGBKInavdOK15jsl";
    assert_eq!(error(text), SecretError::TooShort(18));
    let key = SymmetricKey::new(&decoded("whsec_", &text[6..]).unwrap(), text);
    let body = br#"{"event_type":"ping","data":{"success":true}}"#;
    let mac = key.mac_standard(b"msg_loFOjxBNrRLzqYUf", b"1731705121", body);
    assert_eq!(BASE64_STANDARD.encode(mac), "rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
}

#[test]
fn an_ed25519_key_must_be_whole_and_consistent() {
    let secret = Secret::parse(PRIVATE).unwrap();
    let public = secret.public_key();
    assert_eq!(public.as_deref(), Some("whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="));
    let seed_only = spelled(PRIVATE_PREFIX, &[7; 32]);
    assert_eq!(error(&seed_only), SecretError::PrivateKeyLength(32));
    let mixed = spelled(PRIVATE_PREFIX, &[7; 64]);
    assert_eq!(error(&mixed), SecretError::PrivateKeyHalves);
}

#[test]
fn made_secrets_are_valid_and_never_the_same() {
    let (one, other) = (Secret::generate().unwrap(), Secret::generate().unwrap());
    assert_ne!(one, other);
    assert_eq!(one, Secret::parse(one.shown()).unwrap());
    assert_eq!(one.shown().len(), "whsec_".len() + 32);
    assert_eq!(one.public_key(), None);
    let pair = Secret::generate_ed25519().unwrap();
    assert_ne!(pair, Secret::generate_ed25519().unwrap());
    assert!(pair.public_key().unwrap().starts_with("whpk_"));
}

#[test]
fn printing_a_secret_or_its_error_does_not_show_it() {
    assert_eq!(format!("{:?}", Secret::parse(GOOD).unwrap()), "Secret(whsec_…)");
    assert_eq!(format!("{:?}", Secret::parse(PRIVATE).unwrap()), "Secret(whsk_…)");
    let refused = error("whsec_hunter2hunter2!");
    assert!(!format!("{refused} {refused:?}").contains("hunter2"));
}

proptest! {
    #[test]
    fn any_text_is_refused_or_kept_as_it_is(text in "(whsec_|whsk_|whpk_|v1,)?[A-Za-z0-9+/=\\- ]{0,90}") {
        if let Ok(secret) = Secret::parse(&text) {
            prop_assert_eq!(secret.shown(), text);
        }
    }

    #[test]
    fn every_key_of_24_to_64_bytes_is_taken(key in proptest::collection::vec(any::<u8>(), 24..=64)) {
        prop_assert!(Secret::parse(&spelled(SYMMETRIC_PREFIX, &key)).is_ok());
    }
}
