//! Keys as JSON Web Keys.

use crate::common::{decrypt_small, encrypt, engines, some_keys, vectors};
use hearith_paillier::{
    Engine, Error, ErrorKind, KeyPolicy, MIN_ITERATIONS, PrivateKey, PublicKey, SecretText, Weakness,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn private(text: &str) -> Result<PrivateKey, Error> {
    PrivateKey::from_jwk(text, KeyPolicy::AllowInsecure, engines().next().unwrap())
}

fn public(text: &str) -> Result<PublicKey, Error> {
    PublicKey::from_jwk(text, KeyPolicy::AllowInsecure, engines().next().unwrap())
}

/// The JSON of a private key, for modification.
fn document() -> Value {
    serde_json::from_str(&some_keys().next().unwrap().to_jwk()).unwrap()
}

#[test]
fn keys_survive() {
    for key in some_keys() {
        let engine: Engine = key.public().engine();
        let again = PrivateKey::from_jwk(&key.to_jwk(), KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!((again.public(), again.comment()), (key.public(), key.comment()));
        assert_eq!(again.to_jwk(), key.to_jwk());
        assert_eq!(decrypt_small(&again, &encrypt(key.public(), &[-7])), [-7]);

        let text = key.public().to_jwk();
        let again = PublicKey::from_jwk(&text, KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!((&again, again.variant(), again.to_jwk()), (key.public(), key.public().variant(), text));
    }
}

#[test]
fn keys_of_all_sizes_survive() {
    for engine in engines() {
        for vector in vectors().keys {
            let key = vector.key(engine);
            let again = PrivateKey::from_jwk(&key.to_jwk(), KeyPolicy::AllowInsecure, engine).unwrap();
            assert_eq!(again.to_jwk(), key.to_jwk(), "{} {}", vector.kind, vector.bits);
        }
    }
}

#[test]
fn members_are_as_pheutil_writes_them() {
    let document = document();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&document), ["key_ops", "kid", "kty", "p", "pub", "q"]);
    assert_eq!(names(&document["pub"]), ["alg", "key_ops", "kid", "kty", "n"]);
    assert_eq!((&document["kty"], &document["key_ops"]), (&json!("DAJ"), &json!(["decrypt"])));
    assert_eq!((&document["pub"]["alg"], &document["pub"]["key_ops"]), (&json!("PAI-GN1"), &json!(["encrypt"])));
}

#[test]
fn comments_are_kept() {
    let mut document = document();
    for comment in ["", "made on Monday", "quotes \" and \\, \u{1F511} and \n"] {
        document["kid"] = json!(format!("private: {comment}"));
        document["pub"]["kid"] = json!(comment);
        let key = private(&document.to_string()).unwrap();
        assert_eq!((key.comment(), key.public().comment()), (&*format!("private: {comment}"), comment));
        assert_eq!(private(&key.to_jwk()).unwrap().comment(), key.comment());
    }
    document.as_object_mut().unwrap().remove("kid");
    document["pub"].as_object_mut().unwrap().remove("kid");
    let key = private(&document.to_string()).unwrap();
    assert!(key.comment().contains(key.public().id().as_str()));
}

#[test]
fn the_order_of_the_primes_padding_and_further_members_do_not_matter() {
    let mut document = document();
    let (p, q) = (document["p"].take(), document["q"].take());
    document["p"] = json!(format!("{}==", q.as_str().unwrap()));
    document["q"] = p;
    document["note"] = json!({"n": [1, 2]});
    document["pub"]["use"] = json!(null);
    let key = private(&document.to_string()).unwrap();
    assert_eq!(&key.to_jwk()[..], &some_keys().next().unwrap().to_jwk()[..]);
}

#[test]
fn the_policy_is_asked() {
    let engine = engines().next().unwrap();
    for key in some_keys() {
        let insecure = ErrorKind::InsecureKey(Weakness::Short { bits: 512 }).into();
        assert_eq!(PrivateKey::from_jwk(&key.to_jwk(), KeyPolicy::Secure, engine).unwrap_err(), insecure);
        assert_eq!(PublicKey::from_jwk(&key.public().to_jwk(), KeyPolicy::Secure, engine).unwrap_err(), insecure);
    }
}

#[test]
fn wrong_members_are_named() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = document();
        change(&mut document);
        let error = private(&document.to_string()).unwrap_err();
        match error.kind() {
            ErrorKind::Member { member, .. } => (*member).to_owned(),
            other => other.to_string(),
        }
    };
    assert_eq!(refused(&|key| key["kty"] = json!("RSA")), "kty");
    assert_eq!(refused(&|key| key["key_ops"] = json!(["encrypt"])), "key_ops");
    assert_eq!(refused(&|key| key["pub"]["alg"] = json!("PAI-GN2")), "alg");
    assert_eq!(refused(&|key| key["pub"]["kty"] = json!("")), "kty");
    assert_eq!(refused(&|key| key["pub"]["n"] = json!("+/+/")), "n");
    assert_eq!(refused(&|key| key["pub"]["n"] = json!("A")), "n");
    assert_eq!(refused(&|key| key["pub"]["h"] = json!("a b")), "h");
    assert_eq!(refused(&|key| key["p"] = json!("*")), "p");
    assert_eq!(refused(&|key| key["q"] = json!("A".repeat(5000))), "q");
    let other = "the primes of the private key do not belong to its public modulus";
    assert_eq!(
        refused(&|key| {
            let n = vectors().keys[9].n.bytes();
            key["pub"]["n"] = json!(url(&n));
        }),
        other
    );
    let unequal = "the primes of the private key must be different and of equal length";
    assert_eq!(refused(&|key| key["p"] = key["q"].clone()), unequal);
    assert_eq!(refused(&|key| key["p"] = json!("AQAB")), unequal);
    assert_eq!(refused(&|key| key["p"] = json!("")), unequal);
}

fn url(bytes: &[u8]) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    Base64UrlUnpadded::encode_string(bytes)
}

#[test]
fn texts_and_comments_are_bounded() {
    let mut document = document();
    document["kid"] = json!("k".repeat(1024));
    assert_eq!(private(&document.to_string()).unwrap().comment().len(), 1024);
    for owner in ["/kid", "/pub/kid"] {
        let mut long = document.clone();
        *long.pointer_mut(owner).unwrap() = json!("k".repeat(1025));
        let error = private(&long.to_string()).unwrap_err();
        assert_eq!(error, ErrorKind::Member { member: "kid", problem: "is too long" }.into());
    }
    document["note"] = json!("n".repeat(1 << 16));
    assert!(matches!(private(&document.to_string()).unwrap_err().kind(), ErrorKind::KeyTooLong { .. }));
    let long = " ".repeat(1 << 16) + &document["pub"].to_string();
    assert!(matches!(public(&long).unwrap_err().kind(), ErrorKind::KeyTooLong { .. }));
}

#[test]
fn encrypted_keys_survive() {
    for key in some_keys() {
        let engine = key.public().engine();
        let text = key.to_encrypted_jwk("one two", MIN_ITERATIONS).unwrap();
        let read = |passphrase| PrivateKey::from_encrypted_jwk(&text, passphrase, KeyPolicy::AllowInsecure, engine);
        assert_eq!(read("one two").unwrap().to_jwk(), key.to_jwk());
        assert_eq!(read("one").unwrap_err(), ErrorKind::WrongPassphrase.into());
        // A reader that expects an unencrypted key reports that it is encrypted.
        assert_eq!(private(&text).unwrap_err(), ErrorKind::EncryptedKey.into());
        assert_eq!(public(&text).unwrap_err(), ErrorKind::EncryptedKey.into());
        let opened = SecretText::from(text.clone()).decrypt("one two").unwrap();
        assert_eq!(opened.as_str(), &*key.to_jwk());
        let insecure = PrivateKey::from_encrypted_jwk(&text, "one two", KeyPolicy::Secure, engine).unwrap_err();
        assert_eq!(insecure, ErrorKind::InsecureKey(Weakness::Short { bits: 512 }).into());
        let document = document();
        for secret in ["p", "q"] {
            assert!(!text.contains(document[secret].as_str().unwrap()));
        }
    }
}

#[test]
fn errors_do_not_quote_the_text() {
    let text = document().to_string();
    let secret = document()["p"].as_str().unwrap().to_owned();
    let shape_errors = [
        text.replace(&format!("\"{secret}\""), "[1]"),
        text.replace(&format!("\"{secret}\""), &format!("{{\"{secret}\": 1}}")),
        text.replace(&secret, &format!("\\u0041{secret}")),
        text[..text.len() - 1].to_owned(),
        format!("{text}{text}"),
        format!("\"{secret}\""),
        String::new(),
    ];
    for text in shape_errors {
        let error = private(&text).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::KeyJson { line: _, column: _ }), "{error}");
        assert!(!format!("{error} {error:?}").contains(&secret[..12]));
    }
    assert_eq!(public("{}"), Err(ErrorKind::KeyJson { line: 1, column: 2 }.into()));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "\\PC*", cut in any::<prop::sample::Index>(), with in "[\\x00-\\x7f]{0,3}") {
        let _ = (private(&text), public(&text));
        let mut document = document().to_string();
        let at = cut.index(document.len());
        document.replace_range(at..at + 1, &with);
        let _ = private(&document);
    }
}
