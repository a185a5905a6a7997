//! Storage of private keys as JSON Web Keys encrypted with a passphrase.
//!
//! The format follows RFC 7517, section 7: a JSON Web Encryption (RFC 7516) whose plaintext is the
//! key, with `"cty": "jwk+json"`. A random content encryption key is wrapped with a key that PBKDF2
//! derives from the passphrase (PBES2, RFC 7518, section 4.8). Keys are written as flattened JSON
//! with `PBES2-HS512+A256KW` and `A256GCM`. The reader also accepts the compact form and every
//! algorithm of [`wrapping`] and [`content`].

mod content;
mod wrapping;

use super::{KeyId, text};
use crate::{Error, ErrorKind};
use base64ct::{Base64UrlUnpadded, Encoding};
use content::Content;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use wrapping::Wrapping;
use zeroize::Zeroizing;

/// Default number of PBKDF2 rounds for new files. They take about half a second and are three times
/// the recommendation for HMAC-SHA-512 (OWASP Password Storage Cheat Sheet, 2023: 210 000).
pub const DEFAULT_ITERATIONS: u32 = 600_000;
/// Minimum number of PBKDF2 rounds (RFC 7518, section 4.8.1.2).
pub const MIN_ITERATIONS: u32 = 1000;
/// Maximum number of PBKDF2 rounds. It keeps a file from occupying a program for more than about
/// ten seconds.
pub const MAX_ITERATIONS: u32 = 10_000_000;

/// Content type of a JSON Web Key.
const CONTENT_TYPE: &str = "jwk+json";
/// Bytes of a new salt.
const SALT: usize = 16;
/// Minimum length of a salt in bytes (RFC 7518, section 4.8.1.1).
const SHORTEST_SALT: usize = 8;

/// A parsed encrypted JSON Web Key. Its contents are not authenticated before decryption.
pub struct EncryptedJwk {
    wrapping: Wrapping,
    content: Content,
    iterations: u32,
    key_id: Option<KeyId>,
    salt: Vec<u8>,
    /// The protected header exactly as in the text, which the encryption authenticates.
    protected: String,
    encrypted_key: Vec<u8>,
    iv: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Header<'a> {
    #[serde(borrow)]
    alg: Cow<'a, str>,
    #[serde(borrow)]
    enc: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    cty: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    kid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    p2s: Cow<'a, str>,
    p2c: u64,
    #[serde(default, skip_serializing)]
    zip: Option<IgnoredAny>,
    #[serde(default, skip_serializing)]
    crit: Option<IgnoredAny>,
}

/// The flattened JSON serialisation, with those members of it and of the general one that would
/// change its meaning.
#[derive(Default, Serialize, Deserialize)]
struct Flattened<'a> {
    #[serde(borrow)]
    protected: Cow<'a, str>,
    #[serde(borrow)]
    encrypted_key: Cow<'a, str>,
    #[serde(borrow)]
    iv: Cow<'a, str>,
    #[serde(borrow)]
    ciphertext: Cow<'a, str>,
    #[serde(borrow)]
    tag: Cow<'a, str>,
    #[serde(default, skip_serializing)]
    aad: Option<IgnoredAny>,
    #[serde(default, skip_serializing)]
    header: Option<IgnoredAny>,
    #[serde(default, skip_serializing)]
    unprotected: Option<IgnoredAny>,
    #[serde(default, skip_serializing)]
    recipients: Option<IgnoredAny>,
}

impl Flattened<'_> {
    /// The first member that is not authenticated or is meant for several recipients (RFC 7516,
    /// section 7.2).
    fn unsupported(&self) -> Option<&'static str> {
        let members = [
            ("aad", &self.aad),
            ("header", &self.header),
            ("unprotected", &self.unprotected),
            ("recipients", &self.recipients),
        ];
        members.into_iter().find_map(|(name, member)| member.is_some().then_some(name))
    }
}

impl EncryptedJwk {
    /// Encrypts a JSON Web Key, or other data to be stored like one, with a passphrase. The ID of
    /// the key is stored unencrypted in the header.
    ///
    /// # Errors
    /// As [`PrivateKey::to_encrypted_jwk`](crate::PrivateKey::to_encrypted_jwk).
    pub fn seal(jwk: &str, key: KeyId, passphrase: &str, iterations: u32) -> Result<String, Error> {
        encrypt(jwk, key, passphrase.as_bytes(), iterations)
    }

    /// Parses an encrypted JSON Web Key in either serialisation.
    ///
    /// # Errors
    /// If the text is not such a key or uses unsupported or unsafe parameters: other algorithms, a
    /// short salt, fewer than [`MIN_ITERATIONS`] or more than [`MAX_ITERATIONS`] rounds.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > text::MAX_KEY_TEXT {
            return Err(ErrorKind::KeyTooLong { bytes: text.len() }.into());
        }
        let parts = match Self::is_compact(text) {
            true => compact(text),
            false => serde_json::from_str(text).map_err(super::jwk::json_error)?,
        };
        if let Some(name) = parts.unsupported() {
            return Err(member(name, "is not supported"));
        }
        let header = decode("protected", &parts.protected)?;
        let header: Header<'_> =
            serde_json::from_slice(&header).map_err(|_| member("protected", "is not a JWE header"))?;
        if header.zip.is_some() || header.crit.is_some() {
            return Err(member("protected", "requires an extension that is not supported"));
        }
        if header.cty.is_some_and(|cty| cty != CONTENT_TYPE) {
            return Err(member("cty", "is not the content type of a key"));
        }
        let iterations = u32::try_from(header.p2c).unwrap_or(u32::MAX);
        check_iterations(iterations)?;
        let salt = decode("p2s", &header.p2s)?;
        if salt.len() < SHORTEST_SALT {
            return Err(member("p2s", "is too short"));
        }
        Ok(EncryptedJwk {
            wrapping: Wrapping::named(&header.alg).ok_or(member("alg", "is not supported"))?,
            content: Content::named(&header.enc).ok_or(member("enc", "is not supported"))?,
            iterations,
            key_id: header.kid.and_then(|kid| kid.parse().ok()),
            salt,
            encrypted_key: decode("encrypted_key", &parts.encrypted_key)?,
            iv: decode("iv", &parts.iv)?,
            ciphertext: decode("ciphertext", &parts.ciphertext)?,
            tag: decode("tag", &parts.tag)?,
            protected: parts.protected.into_owned(),
        })
    }

    /// Whether a text has the form of the compact serialisation: five base64url parts.
    pub(crate) fn is_compact(text: &str) -> bool {
        let text = text.trim();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        text.bytes().filter(|&byte| byte == b'.').count() == 4 && text.bytes().all(is_part)
    }

    /// The algorithm that wraps the content encryption key: `PBES2-HS512+A256KW`, ...
    pub fn algorithm(&self) -> &'static str {
        self.wrapping.name()
    }

    /// The algorithm that encrypts the key: `A256GCM`, ...
    pub fn encryption(&self) -> &'static str {
        self.content.name()
    }

    /// Number of PBKDF2 rounds.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// The ID of the key pair that the file claims to contain, if it states one.
    pub fn key_id(&self) -> Option<KeyId> {
        self.key_id
    }

    /// Decrypts the JSON Web Key.
    ///
    /// # Errors
    /// If the passphrase is wrong or the text was changed.
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<Zeroizing<String>, Error> {
        let kek = self.wrapping.derive(passphrase, &self.salt, self.iterations);
        let cek = self.wrapping.unwrap(&kek, &self.encrypted_key, self.content.key_bytes());
        let cek = cek.ok_or(ErrorKind::WrongPassphrase)?;
        let mut plain = Zeroizing::new(self.ciphertext.clone());
        let length = self.content.decrypt(&cek, &self.iv, self.protected.as_bytes(), &mut plain, &self.tag);
        plain.truncate(length.ok_or(ErrorKind::DamagedKey)?);
        match std::str::from_utf8(&plain) {
            // Checked: the buffer itself becomes the text.
            Ok(_) => Ok(Zeroizing::new(String::from_utf8(std::mem::take(&mut *plain)).unwrap_or_default())),
            Err(_) => Err(ErrorKind::DamagedKey.into()),
        }
    }
}

impl fmt::Debug for EncryptedJwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncryptedJwk({}, {}, {} rounds)", self.algorithm(), self.encryption(), self.iterations)
    }
}

/// Encrypts a JSON Web Key with a passphrase. The header states `key_id` unencrypted.
pub(crate) fn encrypt(jwk: &str, key_id: KeyId, passphrase: &[u8], iterations: u32) -> Result<String, Error> {
    check_iterations(iterations)?;
    if passphrase.is_empty() {
        return Err(ErrorKind::EmptyPassphrase.into());
    }
    let (wrapping, content) = (Wrapping::Hs512A256, Content::A256Gcm);
    let mut salt = [0; SALT];
    let mut cek = Zeroizing::new(vec![0; content.key_bytes()]);
    // Each file has its own key, so any value works for its only nonce.
    let mut iv = [0; content::GCM_IV];
    getrandom::fill(&mut salt)?;
    getrandom::fill(&mut cek)?;
    getrandom::fill(&mut iv)?;
    let header = Header {
        alg: wrapping.name().into(),
        enc: content.name().into(),
        cty: Some(CONTENT_TYPE.into()),
        kid: Some(key_id.as_str().into()),
        p2s: encode(&salt).into(),
        p2c: iterations.into(),
        zip: None,
        crit: None,
    };
    // Structs of strings and numbers always have a JSON form.
    let protected = encode(&serde_json::to_vec(&header).unwrap_or_default());
    let kek = wrapping.derive(passphrase, &salt, iterations);
    let encrypted_key = wrapping.wrap(&kek, &cek);
    let mut text = Zeroizing::new(jwk.as_bytes().to_vec());
    let tag = content::encrypt(&cek, &iv, protected.as_bytes(), &mut text).ok_or(ErrorKind::DamagedKey)?;
    let parts = Flattened {
        protected: protected.into(),
        encrypted_key: encode(&encrypted_key).into(),
        iv: encode(&iv).into(),
        ciphertext: encode(&text).into(),
        tag: encode(&tag).into(),
        ..Flattened::default()
    };
    Ok(serde_json::to_string(&parts).unwrap_or_default())
}

fn check_iterations(iterations: u32) -> Result<(), Error> {
    match iterations {
        MIN_ITERATIONS..=MAX_ITERATIONS => Ok(()),
        _ => Err(ErrorKind::Iterations { iterations }.into()),
    }
}

/// Splits a text for which [`EncryptedJwk::is_compact`] holds.
fn compact(text: &str) -> Flattened<'_> {
    let mut parts = text.trim().split('.').map(Cow::from);
    let mut next = || parts.next().unwrap_or_default();
    Flattened {
        protected: next(),
        encrypted_key: next(),
        iv: next(),
        ciphertext: next(),
        tag: next(),
        ..Flattened::default()
    }
}

fn member(member: &'static str, problem: &'static str) -> Error {
    ErrorKind::Member { member, problem }.into()
}

fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn decode(name: &'static str, text: &str) -> Result<Vec<u8>, Error> {
    Base64UrlUnpadded::decode_vec(text).map_err(|_| member(name, "is not base64url"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JWK: &str = r#"{"kty": "DAJ", "p": "AQ", "q": "Aw"}"#;

    fn id() -> KeyId {
        KeyId::of_modulus(&[1, 2, 3])
    }

    fn sealed() -> String {
        encrypt(JWK, id(), b"open sesame", MIN_ITERATIONS).unwrap()
    }

    #[test]
    fn the_example_of_rfc_7517_is_decrypted() {
        // Appendix C: an RSA key under PBES2-HS256+A128KW and A128CBC-HS256.
        let text = include_str!("../../tests/vectors/rfc7517-appendix-c.jwe");
        let key = EncryptedJwk::parse(text).unwrap();
        assert_eq!(
            (key.algorithm(), key.encryption(), key.iterations()),
            ("PBES2-HS256+A128KW", "A128CBC-HS256", 4096)
        );
        let jwk = key.decrypt(b"Thus from my lips, by yours, my sin is purged.").unwrap();
        let jwk: serde_json::Value = serde_json::from_str(&jwk).unwrap();
        assert_eq!((&jwk["kty"], &jwk["kid"]), (&"RSA".into(), &"juliet@capulet.lit".into()));
        assert!(jwk["qi"].as_str().unwrap().starts_with("lSQi-w9CpyUReMErP1RsBLk7wNtOvs5EQpPqmuMvqW57"));
        assert_eq!(key.decrypt(b"Thus from my lips").unwrap_err(), ErrorKind::WrongPassphrase.into());
    }

    #[test]
    fn what_is_encrypted_is_decrypted() {
        let key = EncryptedJwk::parse(&sealed()).unwrap();
        assert_eq!((key.algorithm(), key.encryption()), ("PBES2-HS512+A256KW", "A256GCM"));
        assert_eq!((key.iterations(), key.key_id()), (MIN_ITERATIONS, Some(id())));
        assert_eq!(&key.decrypt(b"open sesame").unwrap()[..], JWK);
        for wrong in ["", "open sesam", "open sesame "] {
            assert_eq!(key.decrypt(wrong.as_bytes()).unwrap_err(), ErrorKind::WrongPassphrase.into());
        }
        assert_ne!(sealed(), sealed(), "a salt and a key of its own for every file");
    }

    #[test]
    fn both_serialisations_are_read() {
        let sealed = sealed();
        let parts: Flattened<'_> = serde_json::from_str(&sealed).unwrap();
        let compact =
            [&parts.protected, &parts.encrypted_key, &parts.iv, &parts.ciphertext, &parts.tag].map(|part| &**part);
        let key = EncryptedJwk::parse(&(compact.join(".") + "\n")).unwrap();
        assert_eq!(&key.decrypt(b"open sesame").unwrap()[..], JWK);
    }

    #[test]
    fn every_change_is_noticed() {
        let sealed: serde_json::Value = serde_json::from_str(&sealed()).unwrap();
        for member in ["protected", "encrypted_key", "iv", "ciphertext", "tag"] {
            let mut changed = sealed.clone();
            let mut bytes = Base64UrlUnpadded::decode_vec(sealed[member].as_str().unwrap()).unwrap();
            let length = bytes.len();
            for position in [0, length / 2, length - 1] {
                bytes[position] ^= 1;
                changed[member] = Base64UrlUnpadded::encode_string(&bytes).into();
                bytes[position] ^= 1;
                let opened = EncryptedJwk::parse(&changed.to_string()).and_then(|key| key.decrypt(b"open sesame"));
                assert!(opened.is_err(), "{member} at {position}");
            }
            for text in ["", "AA", "*"] {
                changed[member] = text.into();
                let opened = EncryptedJwk::parse(&changed.to_string()).and_then(|key| key.decrypt(b"open sesame"));
                assert!(opened.is_err(), "{member} as {text:?}");
            }
        }
    }

    #[test]
    fn members_that_nothing_authenticates_are_rejected() {
        for name in ["aad", "header", "unprotected", "recipients"] {
            let mut parts: serde_json::Value = serde_json::from_str(&sealed()).unwrap();
            parts[name] = serde_json::json!({"p2c": 1_000_000});
            let error = EncryptedJwk::parse(&parts.to_string()).unwrap_err();
            assert_eq!(error, ErrorKind::Member { member: name, problem: "is not supported" }.into());
        }
    }

    #[test]
    fn headers_are_bounded() {
        let with = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut parts: serde_json::Value = serde_json::from_str(&sealed()).unwrap();
            let header = Base64UrlUnpadded::decode_vec(parts["protected"].as_str().unwrap()).unwrap();
            let mut header: serde_json::Value = serde_json::from_slice(&header).unwrap();
            change(&mut header);
            parts["protected"] = encode(header.to_string().as_bytes()).into();
            EncryptedJwk::parse(&parts.to_string()).map(|_| ()).unwrap_err()
        };
        for iterations in [0, 999, 10_000_001, u64::MAX] {
            let error = with(&|header| header["p2c"] = iterations.into());
            assert!(matches!(error.kind(), ErrorKind::Iterations { .. }), "{error}");
        }
        let named = |error: Error| match error.kind() {
            ErrorKind::Member { member, .. } => *member,
            other => panic!("{other}"),
        };
        assert_eq!(named(with(&|header| header["p2s"] = "AAAA".into())), "p2s");
        assert_eq!(named(with(&|header| header["alg"] = "dir".into())), "alg");
        assert_eq!(named(with(&|header| header["enc"] = "A128CTR".into())), "enc");
        assert_eq!(named(with(&|header| header["cty"] = "JWT".into())), "cty");
        assert_eq!(named(with(&|header| header["zip"] = "DEF".into())), "protected");
        assert_eq!(named(with(&|header| header["crit"] = serde_json::json!(["exp"]))), "protected");
        assert_eq!(named(with(&|header| header["p2c"] = (-1).into())), "protected");
    }

    #[test]
    fn a_passphrase_and_rounds_are_needed() {
        assert_eq!(encrypt(JWK, id(), b"", MIN_ITERATIONS), Err(ErrorKind::EmptyPassphrase.into()));
        assert_eq!(encrypt(JWK, id(), b"x", 999), Err(ErrorKind::Iterations { iterations: 999 }.into()));
        assert!(matches!(EncryptedJwk::parse(&"x".repeat(1 << 17)).unwrap_err().kind(), ErrorKind::KeyTooLong { .. }));
    }
}
