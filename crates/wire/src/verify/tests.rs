use proptest::prelude::*;

use super::*;
use crate::sign::Signer;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const PAIR: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const NOW: i64 = 1_700_000_000;
const BODY: &[u8] = b"{\"a\":1}";

type Headers = Vec<(String, String)>;

fn signed(keys: &[&str], body: &[u8]) -> Headers {
    let keys = keys.iter().map(|key| Secret::parse(key).unwrap()).collect();
    let mut out = Vec::new();
    let signer = Signer::new(&Scheme::ALL, keys).unwrap();
    signer.write_headers(&mut out, "msg_test0001", NOW, body);
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn keys(texts: &[&str]) -> Vec<VerifyingKey> {
    let key = |text: &&str| VerifyingKey::parse(text).unwrap();
    texts.iter().map(key).collect()
}

fn with(mut headers: Headers, name: &str, value: &str) -> Headers {
    headers.iter_mut().find(|(n, _)| n == name).unwrap().1 = value.to_owned();
    headers
}

fn without(mut headers: Headers, name: &str) -> Headers {
    headers.retain(|(n, _)| n != name);
    headers
}

fn standard(headers: &Headers, key: &str) -> Result<Verified, VerifyError> {
    verify_scheme(Scheme::Standard, headers, BODY, &keys(&[key]), Window::around(NOW))
}

fn verified(scheme: Scheme) -> Result<Verified, VerifyError> {
    Ok(Verified { scheme, timestamp: NOW })
}

#[test]
fn every_scheme_verifies_alone_with_header_names_in_any_case() {
    let mut headers = signed(&[SECRET], BODY);
    headers.iter_mut().for_each(|(name, _)| *name = name.to_uppercase());
    for scheme in Scheme::ALL {
        let only: Headers = headers
            .iter()
            .filter(|(name, _)| scheme.headers().iter().any(|n| n.eq_ignore_ascii_case(name)))
            .cloned()
            .collect();
        let verdict = verify(&only, BODY, &keys(&[SECRET]), Window::around(NOW));
        assert_eq!(verdict, verified(scheme));
    }
}

#[test]
fn ed25519_signatures_verify_with_the_public_key_alone() {
    let headers = signed(&[SECRET, PAIR], BODY);
    for scheme in [Scheme::Standard, Scheme::Svix, Scheme::TV1] {
        for key in [PUBLIC, PAIR] {
            let window = Window::around(NOW);
            let verdict = verify_scheme(scheme, &headers, BODY, &keys(&[key]), window);
            assert_eq!(verdict, verified(scheme));
            let changed = verify_scheme(scheme, &headers, b"{\"a\":2}", &keys(&[key]), window);
            assert!(matches!(changed, Err(VerifyError::Mismatch { .. })));
        }
    }
    let x_webhook = verify_scheme(Scheme::XWebhook, &headers, BODY, &keys(&[PUBLIC]), Window::around(NOW));
    assert!(matches!(x_webhook, Err(VerifyError::NoFittingKey { .. })));
}

/// Field report 020: a comparison up to the shorter length lets `v1,` pass.
#[test]
fn a_signature_that_is_cut_extended_or_of_another_version_is_refused() {
    let headers = signed(&[SECRET], BODY);
    let right = "v1,KBoMUoW9SLqm7ReqoRMr+AGDDjVdeAY27agIHpESEx0=";
    let base64 = &right[3..];
    let megabyte = "v1,x ".repeat(1 << 18);
    for wrong in [
        "",
        "v1",
        "v1,",
        "v1,A",
        &right[..right.len() - 1],
        &format!("{right}A"),
        &format!("{right},"),
        &format!("v1a,{base64}"),
        &format!("v2,{base64}"),
        &format!("V1,{base64}"),
        base64,
        &format!("v1, {base64}"),
        &megabyte,
    ] {
        let forged = with(headers.clone(), "webhook-signature", wrong);
        let refused = Err(VerifyError::Mismatch { header: "webhook-signature" });
        let shown = &wrong[..wrong.len().min(60)];
        assert_eq!(standard(&forged, SECRET), refused, "{shown}");
    }
    for list in [format!("v1,x {right}"), format!("v1a,x  v9,y {right} v1,"), format!("{megabyte}{right}")] {
        let listed = with(headers.clone(), "webhook-signature", &list);
        assert_eq!(standard(&listed, SECRET), verified(Scheme::Standard));
    }
}

#[test]
fn a_hex_signature_that_is_cut_extended_or_upper_case_is_refused() {
    let headers = signed(&[SECRET], BODY);
    let right = headers.iter().find(|(n, _)| n == "X-Webhook-Signature").unwrap().1.clone();
    for wrong in ["", &right[..63], &right[..62], &format!("{right}0"), &right.to_uppercase()] {
        let forged = with(headers.clone(), "X-Webhook-Signature", wrong);
        let list = format!("t={NOW},v1={wrong}");
        let forged = with(forged, "X-Signature", &list);
        for scheme in [Scheme::XWebhook, Scheme::TV1] {
            let verdict = verify_scheme(scheme, &forged, BODY, &keys(&[SECRET]), Window::around(NOW));
            assert!(matches!(verdict, Err(VerifyError::Mismatch { .. })), "{wrong}");
        }
    }
}

/// Field report 021: the tolerance has two sides.
#[test]
fn a_timestamp_may_be_300_seconds_away_in_both_directions() {
    let headers = signed(&[SECRET], BODY);
    for scheme in Scheme::ALL {
        let at = |now_s| verify_scheme(scheme, &headers, BODY, &keys(&[SECRET]), Window::around(now_s));
        for offset in [-300, -299, 0, 299, 300] {
            assert!(at(NOW + offset).is_ok(), "{offset}");
        }
        let old = VerifyError::TooOld { age_s: 301, tolerance_s: 300 };
        assert_eq!(at(NOW + 301), Err(old));
        let new = VerifyError::TooNew { ahead_s: 301, tolerance_s: 300 };
        assert_eq!(at(NOW - 301), Err(new));
        assert!(at(i64::MAX).is_err() && at(i64::MIN).is_err());
    }
}

#[test]
fn a_timestamp_is_whole_seconds_in_plain_digits() {
    let headers = signed(&[SECRET], BODY);
    for wrong in [
        "",
        "now",
        "1700000000.0",
        "1700000000.5",
        "-1700000000",
        "+1700000000",
        " 1700000000",
        "1700000000 ",
        "01700000000",
        "1.7e9",
        "1700000000000",
        "1_700_000_000",
        "٣٤٥",
        "99999999999999999999",
    ] {
        let forged = with(headers.clone(), "webhook-timestamp", wrong);
        let refused = Err(VerifyError::BadTimestamp("webhook-timestamp"));
        assert_eq!(standard(&forged, SECRET), refused, "{wrong}");
        let forged = with(headers.clone(), "X-Signature", &format!("t={wrong},v1=00"));
        let window = Window::around(NOW);
        let verdict = verify_scheme(Scheme::TV1, &forged, BODY, &keys(&[SECRET]), window);
        assert_eq!(verdict, Err(VerifyError::BadTimestamp("X-Signature")), "{wrong}");
    }
}

#[test]
fn each_refusal_names_its_cause() {
    let headers = signed(&[SECRET], BODY);
    let error = |headers: &Headers, key| standard(headers, key).unwrap_err();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let partial = without(headers.clone(), name);
        assert_eq!(error(&partial, SECRET), VerifyError::MissingHeader(name));
        let mut twice = headers.clone();
        twice.push((name.to_uppercase(), "x".to_owned()));
        assert_eq!(error(&twice, SECRET), VerifyError::RepeatedHeader(name));
    }
    let mismatch = VerifyError::Mismatch { header: "webhook-signature" };
    assert_eq!(error(&headers, OTHER), mismatch);
    let other_id = with(headers.clone(), "webhook-id", "msg_test0002");
    assert_eq!(error(&other_id, SECRET), mismatch);
    let none: Headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let verdict = verify(&none, BODY, &keys(&[SECRET]), Window::around(NOW));
    assert_eq!(verdict, Err(VerifyError::NoSignature));
    let no_keys = verify(&headers, BODY, &[], Window::around(NOW)).unwrap_err();
    assert!(matches!(no_keys, VerifyError::NoFittingKey { scheme: Scheme::Standard, .. }));
    for list in ["v1=00", "", "t=1700000000,t=1700000000,v1=00"] {
        let forged = with(headers.clone(), "X-Signature", list);
        let window = Window::around(NOW);
        let verdict = verify_scheme(Scheme::TV1, &forged, BODY, &keys(&[SECRET]), window);
        assert_eq!(verdict, Err(VerifyError::BadSignatureList), "{list}");
    }
}

#[test]
fn the_first_scheme_that_is_right_counts_and_else_the_first_error() {
    let headers = with(signed(&[SECRET], BODY), "webhook-signature", "v1,");
    let verdict = verify(&headers, BODY, &keys(&[SECRET]), Window::around(NOW));
    assert_eq!(verdict, verified(Scheme::Svix));
    let verdict = verify(&headers, BODY, &keys(&[OTHER]), Window::around(NOW));
    assert_eq!(verdict, Err(VerifyError::Mismatch { header: "webhook-signature" }));
}

#[test]
fn a_public_key_is_32_bytes_of_base64() {
    for wrong in ["whpk_", "whpk_AAAA", "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4"] {
        let refused = VerifyingKey::parse(wrong).unwrap_err();
        assert_eq!(refused, SecretError::NotAPublicKey, "{wrong}");
    }
}

#[test]
fn a_flood_of_ed25519_signatures_is_not_all_tried() {
    let headers = signed(&[PAIR], BODY);
    let right = headers.iter().find(|(n, _)| n == "webhook-signature").unwrap().1.clone();
    let wrong = format!("v1a,{}== ", "A".repeat(86));
    let tried = with(headers.clone(), "webhook-signature", &format!("{}{right}", wrong.repeat(15)));
    assert_eq!(standard(&tried, PUBLIC), verified(Scheme::Standard));
    let flood = with(headers, "webhook-signature", &format!("{}{right}", wrong.repeat(16)));
    assert!(standard(&flood, PUBLIC).is_err());
}

proptest! {
    #[test]
    fn what_is_signed_verifies_under_each_live_key_and_a_changed_byte_does_not(
        body in proptest::collection::vec(any::<u8>(), 1..300),
        at: proptest::sample::Index,
        flip in 1u8..,
    ) {
        let headers = signed(&[SECRET, OTHER, PAIR], &body);
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= flip;
        let window = Window::around(NOW);
        for (scheme, key) in Scheme::ALL.into_iter().flat_map(|s| [SECRET, OTHER, PUBLIC].map(|k| (s, k))) {
            if (scheme, key) == (Scheme::XWebhook, PUBLIC) {
                continue;
            }
            let key = keys(&[key]);
            prop_assert_eq!(verify_scheme(scheme, &headers, &body, &key, window), verified(scheme));
            let verdict = verify_scheme(scheme, &headers, &changed, &key, window);
            let mismatch = matches!(verdict, Err(VerifyError::Mismatch { .. }));
            prop_assert!(mismatch);
        }
    }

    #[test]
    fn no_header_value_makes_it_panic_or_pass(value: Vec<u8>, scheme in 0usize..4, which in 0usize..4) {
        let scheme = Scheme::ALL[scheme];
        let forged = scheme.headers()[which % scheme.headers().len()];
        let mut headers: Vec<(String, Vec<u8>)> = signed(&[OTHER], BODY)
            .into_iter()
            .map(|(name, text)| (name, text.into_bytes()))
            .collect();
        if let Some(header) = headers.iter_mut().find(|(name, _)| name == forged) {
            header.1 = value;
        }
        prop_assert!(verify(&headers, BODY, &keys(&[SECRET]), Window::around(NOW)).is_err());
    }
}
