use proptest::prelude::*;

use super::*;

const PLACE: Place = Place { purpose: Purpose::EndpointSecret, environment: 1, owner: 2 };

fn key(byte: u8) -> MasterKey {
    MasterKey(Zeroizing::new([byte; MASTER_KEY_LEN]))
}

fn ring(keys: &[(u32, u8)]) -> Keyring {
    Keyring::new(keys.iter().map(|&(v, byte)| (v, key(byte))).collect()).unwrap()
}

#[test]
fn a_rotated_master_key_still_opens_old_secrets_and_seals_new_ones() {
    let old = ring(&[(1, 7)]);
    let sealed = old.seal(PLACE, b"whsec_").unwrap();
    let both = ring(&[(2, 8), (1, 7)]);
    assert_eq!(both.open(PLACE, &sealed).unwrap().as_slice(), b"whsec_");
    assert_eq!(both.is_current(&sealed), Ok(false));
    let again = both.seal(PLACE, b"whsec_").unwrap();
    assert_eq!(both.is_current(&again), Ok(true));
    assert_eq!(old.open(PLACE, &again).unwrap_err(), SealError::UnknownVersion(2));
    let new = ring(&[(2, 8)]);
    assert_eq!(new.open(PLACE, &again).unwrap().as_slice(), b"whsec_");
    assert_eq!(new.open(PLACE, &sealed).unwrap_err(), SealError::UnknownVersion(1));
}

#[test]
fn a_sealed_secret_opens_only_in_its_place_and_under_its_key() {
    let ring_1 = ring(&[(1, 7)]);
    let sealed = ring_1.seal(PLACE, b"text").unwrap();
    for elsewhere in [
        Place { environment: 2, ..PLACE },
        Place { owner: 1, ..PLACE },
        Place { purpose: Purpose::EndpointHeaders, ..PLACE },
    ] {
        assert_eq!(ring_1.open(elsewhere, &sealed).unwrap_err(), SealError::DoesNotOpen);
    }
    let other_key = ring(&[(1, 8)]);
    assert_eq!(other_key.open(PLACE, &sealed).unwrap_err(), SealError::DoesNotOpen);
    // The same key under another version: the version is bound too.
    let mut renamed = sealed.clone();
    renamed[4] = 2;
    assert_eq!(ring(&[(2, 7)]).open(PLACE, &renamed).unwrap_err(), SealError::DoesNotOpen);
}

#[test]
fn sealing_twice_gives_different_bytes_that_do_not_hold_the_text() {
    let ring = ring(&[(1, 7)]);
    let text = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let (one, other) = (ring.seal(PLACE, text).unwrap(), ring.seal(PLACE, text).unwrap());
    assert_ne!(one, other);
    assert!(!one.windows(8).any(|part| part == &text[..8]));
}

#[test]
fn master_keys_are_read_or_refused_with_a_reason() {
    let good = key(7).shown();
    assert_eq!(MasterKey::parse(&format!("{}\n", *good)), Ok(key(7)));
    assert_eq!(MasterKey::parse(" "), Err(SealError::Empty));
    assert_eq!(MasterKey::parse("hunter2!"), Err(SealError::NotBase64));
    assert_eq!(MasterKey::parse("AAAA"), Err(SealError::WrongLength(3)));
    let made = MasterKey::generate().unwrap();
    assert_eq!(MasterKey::parse(&made.shown()).unwrap(), made);
    assert_eq!(format!("{made:?}"), "MasterKey(…)");
}

#[test]
fn a_keyring_is_read_with_and_without_versions() {
    let (a, b) = (key(7).shown(), key(8).shown());
    let text = |ring: Result<Keyring, SealError>| ring.map(|ring| format!("{ring:?}"));
    let parse = |s: String| text(Keyring::parse(&s));
    assert_eq!(parse(a.to_string()), Ok("[1]".to_owned()));
    assert_eq!(parse(format!("2:{}, 1:{}", *b, *a)), Ok("[2, 1]".to_owned()));
    let twice = parse(format!("{},1:{}", *b, *a));
    assert_eq!(twice, Err(SealError::RepeatedVersion(1)));
    for version in ["0", "x", "-1", ""] {
        let refused = parse(format!("{version}:{}", *a));
        assert_eq!(refused, Err(SealError::BadVersion(version.to_owned())));
    }
    let swapped = parse(format!("{}:1", *a)).unwrap_err();
    assert!(!format!("{swapped} {swapped:?}").contains(&a[..8]));
    assert_eq!(parse(String::new()), Err(SealError::Empty));
    assert_eq!(text(Keyring::new(Vec::new())), Err(SealError::Empty));
}

proptest! {
    #[test]
    fn what_was_sealed_opens_and_a_changed_or_cut_byte_does_not(
        plaintext in proptest::collection::vec(any::<u8>(), 0..200),
        at: proptest::sample::Index,
        flip in 1u8..,
    ) {
        let ring = ring(&[(1, 7)]);
        let sealed = ring.seal(PLACE, &plaintext).unwrap();
        prop_assert_eq!(&**ring.open(PLACE, &sealed).unwrap(), &plaintext);
        let at = at.index(sealed.len());
        prop_assert!(ring.open(PLACE, &sealed[..at]).is_err());
        let mut changed = sealed;
        changed[at] ^= flip;
        prop_assert!(ring.open(PLACE, &changed).is_err());
    }
}
