//! Files of verification keys and shares: they are read as written, and everything else is
//! rejected.

use hearith_paillier::{Engine, KeyKind, KeyPolicy, MIN_ITERATIONS, PrivateKey, PublicKey, SecretText, Variant};
use hearith_threshold::{Error, ErrorKind, KeyShare, VerificationKeys, deal};
use std::sync::OnceLock;

fn dealt() -> &'static (VerificationKeys, Vec<KeyShare>) {
    static DEALT: OnceLock<(VerificationKeys, Vec<KeyShare>)> = OnceLock::new();
    DEALT.get_or_init(|| {
        let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::best());
        deal(&PrivateKey::generate_safe(256, Variant::Djn, policy, engine).unwrap(), 2, 3).unwrap()
    })
}

fn verification(text: &str) -> Result<VerificationKeys, Error> {
    VerificationKeys::from_json(text, KeyPolicy::AllowInsecure, Engine::best())
}

fn share(text: &str) -> Result<KeyShare, Error> {
    KeyShare::from_json(text, KeyPolicy::AllowInsecure, Engine::best())
}

/// A file with one member changed, which may be within `shared` or `pub`.
fn with(text: &str, member: &[&str], value: serde_json::Value) -> String {
    let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
    let target = member.iter().fold(&mut json, |json, name| match name.parse::<usize>() {
        Ok(index) => &mut json[index],
        Err(_) => &mut json[*name],
    });
    *target = value;
    json.to_string()
}

#[test]
fn what_is_written_is_read() {
    let (found, trustees) = dealt();
    let text = found.to_json();
    assert_eq!(verification(&text).as_ref(), Ok(found));
    assert_eq!(verification(&text).unwrap().to_json(), text);
    // Programs that expect a public key accept it as one.
    let key = PublicKey::from_jwk(&text, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    assert_eq!((&key, SecretText::from(text).kind()), (found.key(), KeyKind::Public));
    for (index, one) in trustees.iter().enumerate() {
        let text = one.to_json();
        assert_eq!(SecretText::from(text.to_string()).kind(), KeyKind::Share);
        let read = share(&text).unwrap();
        assert_eq!((read.trustee(), read.needed(), read.trustees()), (index as u32 + 1, 2, 3));
        assert_eq!(*read.to_json(), *text);
        let error = PrivateKey::from_jwk(&text, KeyPolicy::AllowInsecure, Engine::best()).unwrap_err();
        assert_eq!(error.kind(), &hearith_paillier::ErrorKind::ShareOfKey);
    }
}

#[test]
fn shares_are_kept_under_a_passphrase() {
    let one = &dealt().1[1];
    let text = one.to_encrypted_json("open sesame", MIN_ITERATIONS).unwrap();
    let open = |word: &str| KeyShare::from_encrypted_json(&text, word, KeyPolicy::AllowInsecure, Engine::best());
    assert_eq!(*open("open sesame").unwrap().to_json(), *one.to_json());
    let wrong = ErrorKind::Scheme(hearith_paillier::ErrorKind::WrongPassphrase);
    assert_eq!(open("open").unwrap_err().kind(), &wrong);
    assert_eq!(SecretText::from(text).kind(), KeyKind::Encrypted);
}

#[test]
fn other_verifications_are_refused() {
    let (found, _) = dealt();
    let text = found.to_json();
    let kind = |member: &[&str], value| verification(&with(&text, member, value)).unwrap_err().kind().clone();
    let member = |member, problem| ErrorKind::Member { member, problem };
    for (needed, trustees) in [(0, 3), (4, 3), (2, 21)] {
        let changed =
            with(&with(&text, &["shared", "needed"], needed.into()), &["shared", "trustees"], trustees.into());
        assert_eq!(verification(&changed).unwrap_err().kind(), &ErrorKind::BadThreshold);
    }
    assert_eq!(kind(&["shared", "trustees"], 2.into()), member("v_i", "has the wrong number of entries"));
    assert_eq!(kind(&["shared", "v"], "*".into()), member("v", "is not base64url"));
    assert_eq!(kind(&["shared", "v"], "AA".into()), member("v", "is not a unit modulo n^2"));
    assert_eq!(kind(&["shared", "v"], "A".repeat(86).into()), member("v", "is not a unit modulo n^2"), "0");
    assert_eq!(kind(&["shared", "v_i", "1"], "_".repeat(85).into()), member("v_i", "is not base64url"));
    assert_eq!(kind(&["shared", "v_i", "2"], "".into()), member("v_i", "has a number of the wrong length"));
    assert_eq!(kind(&["shared", "v"], "A".repeat(9000).into()), member("v", "is too long"));
    assert!(matches!(kind(&["shared"], 1.into()), ErrorKind::Json { what: "a verification file", .. }));
    assert!(matches!(kind(&["n"], "AA".into()), ErrorKind::Scheme(_)));
    assert!(matches!(verification(&found.key().to_jwk()).unwrap_err().kind(), ErrorKind::Json { .. }));
    let long = text.clone() + &" ".repeat(1 << 16);
    assert!(matches!(verification(&long).unwrap_err().kind(), ErrorKind::TooLong { .. }));
    let secure = VerificationKeys::from_json(&text, KeyPolicy::Secure, Engine::best()).unwrap_err();
    assert!(matches!(secure.kind(), ErrorKind::Scheme(hearith_paillier::ErrorKind::InsecureKey(_))));
}

#[test]
fn other_shares_are_refused() {
    let (_, trustees) = dealt();
    let [first, second] = [0, 1].map(|one| trustees[one].to_json());
    let error = |member: &[&str], value| share(&with(&first, member, value)).unwrap_err();
    let json: serde_json::Value = serde_json::from_str(&second).unwrap();
    // Another trustee's secret, another trustee's number, and an invalid secret.
    let wrong = error(&["s"], json["s"].clone());
    assert_eq!((wrong.kind(), wrong.trustee()), (&ErrorKind::WrongSecret, Some(1)));
    assert_eq!(error(&["s"], "".into()).kind(), &ErrorKind::WrongSecret);
    assert_eq!(error(&["s"], "_".repeat(84).into()).kind(), &ErrorKind::WrongSecret);
    let long = ErrorKind::Member { member: "s", problem: "is too long" };
    assert_eq!(error(&["s"], "_".repeat(100).into()).kind(), &long);
    assert_eq!(error(&["i"], 4.into()).kind(), &ErrorKind::NoSuchTrustee { trustees: 3 });
    let ops = ErrorKind::Member { member: "key_ops", problem: "has the wrong value for a share of a private key" };
    assert_eq!(error(&["key_ops"], serde_json::json!(["decrypt"])).kind(), &ops);
    assert_eq!(error(&["kty"], "RSA".into()).kind(), &ops);
    assert!(matches!(error(&["pub"], 7.into()).kind(), ErrorKind::Scheme(_)));
    let (verification, _) = dealt();
    assert!(matches!(share(&verification.to_json()).unwrap_err().kind(), ErrorKind::Json { .. }));
}

#[test]
fn nothing_secret_is_shown() {
    let (_, trustees) = dealt();
    let text = trustees[0].to_json();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let secret = json["s"].as_str().unwrap();
    let shown = format!("{:?} {:#?}", trustees[0], trustees[0]);
    assert!(shown.starts_with("KeyShare(1 of 3 of key ") && !shown.contains(&secret[..8]));
    for broken in [text.replace("\"i\":1", "\"i\":x"), text.replace("\"kty\"", "\"ktx\""), format!("{{\"s\":{secret}")]
    {
        let error = share(&broken).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&secret[..4]), "{error}");
    }
}
