//! The test vectors, published and made, through the public API: what Gonets sends, and what its
//! own verifier says to it.

use gonets_wire::{Scheme, Secret, Signer, VerifyingKey, Window, verify_scheme};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    #[serde(rename = "note")]
    _note: String,
    published: Vec<Vector>,
    made: Vec<Vector>,
}

/// A field that this file does not test is an error.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    secret: Option<String>,
    private_key: Option<String>,
    public_key: Option<String>,
    id: String,
    timestamp: i64,
    body: String,
    webhook_signature: Option<String>,
    webhook_signature_v1a: Option<String>,
    x_webhook_signature: Option<String>,
    x_signature: Option<String>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("vectors/signatures.json")).unwrap()
}

type Headers = Vec<(String, String)>;

fn sent(keys: &[&str], id: &str, timestamp: i64, body: &str) -> Headers {
    let keys = keys.iter().map(|key| Secret::parse(key).unwrap()).collect();
    let signer = Signer::new(&Scheme::ALL, keys).unwrap();
    let mut out = Vec::new();
    signer.write_headers(&mut out, id, timestamp, body.as_bytes());
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("\r\n"));
    text.split_terminator("\r\n")
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn value<'a>(headers: &'a Headers, name: &str) -> &'a str {
    &headers.iter().find(|(given, _)| given == name).unwrap().1
}

fn assert_verifies(headers: &Headers, vector: &Vector, key: &str, schemes: &[Scheme]) {
    let keys = [VerifyingKey::parse(key).unwrap()];
    for scheme in schemes {
        let window = Window::around(vector.timestamp);
        let verdict = verify_scheme(*scheme, headers, vector.body.as_bytes(), &keys, window);
        assert_eq!(verdict.map(|v| v.timestamp), Ok(vector.timestamp), "{scheme:?}");
    }
}

fn check_symmetric(vector: &Vector, secret: &str) {
    let headers = sent(&[secret], &vector.id, vector.timestamp, &vector.body);
    let expected = vector.webhook_signature.as_deref().unwrap();
    assert_eq!(value(&headers, "webhook-signature"), expected);
    assert_eq!(value(&headers, "svix-signature"), expected);
    if let Some(expected) = &vector.x_webhook_signature {
        assert_eq!(value(&headers, "X-Webhook-Signature"), expected);
    }
    if let Some(expected) = &vector.x_signature {
        assert_eq!(value(&headers, "X-Signature"), expected);
    }
    assert_verifies(&headers, vector, secret, &Scheme::ALL);
}

fn check_ed25519(vector: &Vector, private_key: &str) {
    let public_key = vector.public_key.as_deref().unwrap();
    let parsed = Secret::parse(private_key).unwrap();
    assert_eq!(parsed.public_key().as_deref(), Some(public_key));
    let headers = sent(&[private_key], &vector.id, vector.timestamp, &vector.body);
    let expected = vector.webhook_signature_v1a.as_deref().unwrap();
    assert_eq!(value(&headers, "webhook-signature"), expected);
    assert_eq!(value(&headers, "svix-signature"), expected);
    let schemes = [Scheme::Standard, Scheme::Svix, Scheme::TV1];
    assert_verifies(&headers, vector, public_key, &schemes);
}

/// With both keys, both signatures, the symmetric one first.
fn check_both(vector: &Vector, secret: &str, private_key: &str) {
    let keys = [private_key, secret];
    let headers = sent(&keys, &vector.id, vector.timestamp, &vector.body);
    let expected = format!(
        "{} {}",
        vector.webhook_signature.as_deref().unwrap(),
        vector.webhook_signature_v1a.as_deref().unwrap()
    );
    assert_eq!(value(&headers, "webhook-signature"), expected);
    let symmetric = vector.x_signature.as_deref().unwrap();
    let list = value(&headers, "X-Signature");
    assert!(list.starts_with(&format!("{symmetric},v2=")), "{list}");
}

#[test]
fn every_vector_gives_exactly_its_headers_and_verifies() {
    let Vectors { published, made, .. } = vectors();
    assert_eq!((published.len(), made.len()), (3, 5));
    let (mut symmetric, mut ed25519) = (0, 0);
    for vector in published.iter().chain(&made) {
        if let Some(secret) = &vector.secret {
            check_symmetric(vector, secret);
            symmetric += 1;
        }
        if let Some(private_key) = &vector.private_key {
            check_ed25519(vector, private_key);
            ed25519 += 1;
        }
        if let (Some(secret), Some(private_key)) = (&vector.secret, &vector.private_key) {
            check_both(vector, secret, private_key);
        }
    }
    assert_eq!((symmetric, ed25519), (7, 6));
}

fn standard(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    value(&sent(&[secret], id, timestamp, body), "webhook-signature").to_owned()
}

/// Appendix 1 of the field reports: bodies that look alike and are not the same bytes.
#[test]
fn bodies_that_look_alike_have_signatures_of_their_own() {
    let escaped = r#"{"t":"\ud83d\ude80 \u00e9 \u0442\u0435\u0441\u0442"}"#;
    assert_eq!(escaped.len(), 52);
    for (body, signature) in [
        (r#"{"a":1}"#, "v1,KBoMUoW9SLqm7ReqoRMr+AGDDjVdeAY27agIHpESEx0="),
        (r#"{ "a" : 1 }"#, "v1,GrdfeKjUz9ca1EueJjmL0aO9SAfSIv/yQahod33E7BQ="),
        (r#"{"t":"🚀 é тест"}"#, "v1,ViqTyh2VYyxUar7jawQVr//MGTkzyvr5jWZrtH0luc8="),
        (escaped, "v1,i0knZDlot2JPoHFmWaMYfRh0YTzXekhxt13Oaw9i6BI="),
        (r#"{"b":1,"a":2}"#, "v1,spln64W0ew2YpuC0ZYnciQIQGpyHAAnTd/E/dKerDqk="),
        (r#"{"u":"https:\/\/x.example\/p"}"#, "v1,kQT3X9ivApeGUmxC753XXMfMmY9tyD1F7hhR2wxD4To="),
        (r#"{"h":"<b>&amp;</b>"}"#, "v1,5JoisvRZxq950kVeHOPQTFiV9JIrnGoj59j2MRuOzwA="),
    ] {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        assert_eq!(standard(secret, "msg_test0001", 1_700_000_000, body), signature, "{body}");
    }
    let library = standard(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        r#"{"test": 2432232314}"#,
    );
    assert_eq!(library, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

/// Field report 013: every character of base64 is used as it is.
#[test]
fn secrets_with_plus_slash_and_padding_sign_byte_exactly() {
    for (secret, signature) in [
        (
            "whsec_+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/Pg==",
            "v1,gVHpIFuX6udmZlRis4vTkpKCWTpj40pipdZsb89Ztr8=",
        ),
        ("whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ==", "v1,xepylWMdXLhQnR3mUqpXAj6SKpaRA9po+L3qY+AwDJU="),
    ] {
        assert_eq!(standard(secret, "msg_test0001", 1_700_000_000, r#"{"a":1}"#), signature);
    }
}
