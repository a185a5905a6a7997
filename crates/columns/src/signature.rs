//! Signed tables: Ed25519 signatures (RFC 8032) of a table's full contents.
//!
//! The signed statement has three lines: `hearith signed table 1`, the table's digest
//! ([`TableDigest`](crate::TableDigest)) in hexadecimal, and the ids of the tables that it contains
//! ([`Contents`], empty if unknown). The digest covers the names, types and order of all columns,
//! the descriptions of encrypted ones, every plaintext value, count and ciphertext, and the order
//! of rows. It does not cover how a file stores them.
//!
//! The signer's public key and the signature are stored in the metadata of the file (Parquet's
//! footer or an Arrow schema) as [`SIGNER`] and [`SIGNATURE`], both in base64url without padding.
//!
//! Keys are JSON Web Keys according to RFC 8037 (`"kty": "OKP"`, `"crv": "Ed25519"`).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signature, Signer as _, SigningKey as Secret, VerifyingKey as Point};
use hearith_paillier::KeyId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::contents::{Contents, hex};
use crate::digest::{Digest, TableDigest};
use crate::error::{Error, ErrorKind};

/// The metadata entry with the signer's public key.
pub const SIGNER: &str = "hearith.signer";
/// The metadata entry with the signature.
pub const SIGNATURE: &str = "hearith.signature";

/// The first line of every signed statement.
const NAME: &str = "hearith signed table 1";
const TYPE: &str = "OKP";
const CURVE: &str = "Ed25519";
/// Characters of a key in base64url without padding.
const TEXT: usize = 43;

/// Why a text is not a signing key. No message contains a part of the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The text is not JSON, or is not a JSON Web Key.
    #[error("invalid key: line {line}, column {column} of its JSON is wrong")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The key is of another kind.
    #[error("not a signing key: `hearith keygen --signing` makes one")]
    Kind,
    /// A member is malformed.
    #[error("'{0}' is not 32 bytes in base64url")]
    Member(&'static str),
    /// The key is not a point of the curve, has small order, or is not in canonical encoding.
    #[error("'x' is not a public key")]
    Point,
    /// The two halves belong to different keys.
    #[error("'x' is not the public key of 'd'")]
    Mismatch,
    /// The private half is missing.
    #[error("a public key: signing needs the private key")]
    Public,
    /// A list of public keys is empty.
    #[error("lists no key")]
    Empty,
    /// The operating system's random generator failed.
    #[error("the random generator failed")]
    Random,
}

/// A key that signs tables. The secret is wiped when dropped; `Debug` shows only the public key.
pub struct SigningKey(Secret);

/// The public key of a signer of tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VerifyingKey([u8; 32]);

/// A JSON Web Key. The secret member is always borrowed from the text.
#[derive(Deserialize)]
struct Jwk<'a> {
    #[serde(borrow)]
    kty: Cow<'a, str>,
    #[serde(borrow, default)]
    crv: Cow<'a, str>,
    #[serde(borrow, default)]
    x: Cow<'a, str>,
    d: Option<&'a str>,
}

/// A set of JSON Web Keys (RFC 7517, section 5).
#[derive(Deserialize)]
struct JwkSet<'a> {
    #[serde(borrow)]
    keys: Vec<Jwk<'a>>,
}

/// Whether a text is a JSON Web Key of the type for signatures, valid or not.
pub fn is_signing_key(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow)]
        kty: Cow<'a, str>,
    }
    serde_json::from_str::<Members<'_>>(text).is_ok_and(|key| key.kty == TYPE)
}

impl Jwk<'_> {
    fn public(&self) -> Result<VerifyingKey, SigningKeyError> {
        if self.kty != TYPE || self.crv != CURVE {
            return Err(SigningKeyError::Kind);
        }
        VerifyingKey::from_text(&self.x).ok_or(SigningKeyError::Member("x"))?.checked()
    }
}

impl SigningKey {
    /// Generates a key.
    ///
    /// # Errors
    /// If the operating system's random generator fails.
    pub fn generate() -> Result<Self, SigningKeyError> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).map_err(|_| SigningKeyError::Random)?;
        Ok(Self(Secret::from_bytes(&secret)))
    }

    /// Reads a private key from a JSON Web Key.
    ///
    /// # Errors
    /// When the text is not a JSON Web Key with both halves of one key.
    pub fn from_jwk(text: &str) -> Result<Self, SigningKeyError> {
        let jwk: Jwk<'_> = serde_json::from_str(text).map_err(json_error)?;
        let public = jwk.public()?;
        let text = jwk.d.ok_or(SigningKeyError::Public)?;
        let mut secret = Zeroizing::new([0; 32]);
        match Base64UrlUnpadded::decode(text, &mut *secret) {
            Ok(bytes) if bytes.len() == 32 => {}
            _ => return Err(SigningKeyError::Member("d")),
        }
        let key = Self(Secret::from_bytes(&secret));
        if key.public() == public { Ok(key) } else { Err(SigningKeyError::Mismatch) }
    }

    /// The key as a JSON Web Key in one line, including its public half.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let secret = Zeroizing::new(self.0.to_bytes());
        let mut d = Zeroizing::new([0; TEXT]);
        let d = Base64UrlUnpadded::encode(&*secret, &mut *d).unwrap_or_default();
        let (x, id) = (self.public().to_text(), self.public().id());
        let parts = [
            "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"key_ops\":[\"sign\"],\"x\":\"",
            &x,
            "\",\"d\":\"",
            d,
            "\",\"kid\":\"Ed25519 private key ",
            id.as_str(),
            " of Hearith\"}",
        ];
        // Allocated in full, because a growing string leaves copies in memory.
        let mut text = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.into_iter().for_each(|part| text.push_str(part));
        text
    }

    /// The public key.
    pub fn public(&self) -> VerifyingKey {
        VerifyingKey(self.0.verifying_key().to_bytes())
    }

    /// The 32 bytes that RFC 8032 calls the private key, for other protocols in which the holder
    /// signs.
    pub fn to_seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    fn sign(&self, statement: &str) -> TableSignature {
        TableSignature { signer: self.public(), signature: self.0.sign(statement.as_bytes()).to_bytes() }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public().id())
    }
}

impl VerifyingKey {
    /// Reads a public key from a public or private JSON Web Key.
    ///
    /// # Errors
    /// When the text is not a JSON Web Key of a valid key.
    pub fn from_jwk(text: &str) -> Result<Self, SigningKeyError> {
        serde_json::from_str::<Jwk<'_>>(text).map_err(json_error)?.public()
    }

    /// Reads the key in a JSON Web Key, or all keys of a set (`{"keys": [...]}`), which must not be
    /// empty.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn all_from_jwk(text: &str) -> Result<Vec<Self>, SigningKeyError> {
        #[derive(Deserialize)]
        struct Members {
            keys: Option<IgnoredAny>,
        }
        if !serde_json::from_str::<Members>(text).is_ok_and(|members| members.keys.is_some()) {
            return Ok(vec![Self::from_jwk(text)?]);
        }
        let set: JwkSet<'_> = serde_json::from_str(text).map_err(json_error)?;
        match set.keys.is_empty() {
            true => Err(SigningKeyError::Empty),
            false => set.keys.iter().map(Jwk::public).collect(),
        }
    }

    /// The key as a JSON Web Key in one line.
    pub fn to_jwk(&self) -> String {
        let (x, id) = (self.to_text(), self.id());
        let kid = format!("Ed25519 public key {id} of Hearith");
        format!("{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"key_ops\":[\"verify\"],\"x\":\"{x}\",\"kid\":\"{kid}\"}}")
    }

    /// The 32 bytes of the key (RFC 8032).
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }

    /// The first 16 bytes of the key's thumbprint (RFC 7638, with SHA-256), in the same form as
    /// other key ids.
    pub fn id(&self) -> KeyId {
        let thumbprint = format!("{{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"{}\"}}", self.to_text());
        let hash: [u8; 32] = Sha256::digest(thumbprint.as_bytes()).into();
        hex(&hash[..16]).parse().unwrap_or_else(|_| unreachable!("32 lower-case hexadecimal digits"))
    }

    /// The 32 bytes in base64url.
    fn to_text(self) -> String {
        Base64UrlUnpadded::encode_string(&self.0)
    }

    fn from_text(text: &str) -> Option<Self> {
        decoded(text).map(Self)
    }

    /// The key, if valid: a point of large order in canonical encoding.
    fn checked(self) -> Result<Self, SigningKeyError> {
        match Point::from_bytes(&self.0) {
            Ok(key) if !key.is_weak() && key.to_edwards().compress().to_bytes() == self.0 => Ok(self),
            _ => Err(SigningKeyError::Point),
        }
    }

    fn verify(&self, statement: &str, signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        Point::from_bytes(&self.0).is_ok_and(|key| key.verify_strict(statement.as_bytes(), &signature).is_ok())
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({})", self.id())
    }
}

/// The unverified signature of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSignature {
    signer: VerifyingKey,
    signature: [u8; 64],
}

impl TableSignature {
    /// Reads the signature from the metadata of a file or schema, if there is one.
    ///
    /// # Errors
    /// [`ErrorKind::BadSignature`] for an entry that is missing, contradicts another, or is not a
    /// key or signature.
    pub fn of_entries<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Option<Self>, Error> {
        let (mut signer, mut signature) = (None, None);
        for (key, value) in entries {
            let (name, place) = match key {
                SIGNER => (SIGNER, &mut signer),
                SIGNATURE => (SIGNATURE, &mut signature),
                _ => continue,
            };
            if place.replace(value).is_some_and(|before| before != value) {
                return Err(ErrorKind::BadSignature(name).into());
            }
        }
        let (signer, signature) = match (signer, signature) {
            (None, None) => return Ok(None),
            (None, _) => return Err(ErrorKind::BadSignature(SIGNER).into()),
            (_, None) => return Err(ErrorKind::BadSignature(SIGNATURE).into()),
            (Some(signer), Some(signature)) => (signer, signature),
        };
        let signer = VerifyingKey::from_text(signer).and_then(|key| key.checked().ok());
        let signer = signer.ok_or(ErrorKind::BadSignature(SIGNER))?;
        let signature = decoded(signature).ok_or(ErrorKind::BadSignature(SIGNATURE))?;
        Ok(Some(Self { signer, signature }))
    }

    /// The metadata entries that store it.
    pub fn entries(&self) -> [(&'static str, String); 2] {
        [(SIGNER, self.signer.to_text()), (SIGNATURE, Base64UrlUnpadded::encode_string(&self.signature))]
    }

    /// The signer's key, as stored with the signature.
    pub fn signer(&self) -> VerifyingKey {
        self.signer
    }

    /// Checks that this is the signature of a table with this digest and these contents.
    ///
    /// # Errors
    /// [`ErrorKind::Altered`].
    pub fn check(&self, digest: &Digest, contents: &Contents) -> Result<(), Error> {
        match self.signer.verify(&statement(digest, contents), &self.signature) {
            true => Ok(()),
            false => Err(ErrorKind::Altered { signer: self.signer.id().to_string() }.into()),
        }
    }
}

/// Signs a table batch by batch.
#[derive(Debug)]
pub struct TableSigner {
    key: Arc<SigningKey>,
    digest: TableDigest,
    contents: Contents,
}

impl TableSigner {
    /// Starts the signature of a table with this schema.
    ///
    /// # Errors
    /// As [`TableDigest::new`].
    pub fn new(key: Arc<SigningKey>, schema: &Schema) -> Result<Self, Error> {
        Ok(Self { key, digest: TableDigest::new(schema)?, contents: Contents::of(schema)? })
    }

    /// Adds the next rows.
    ///
    /// # Errors
    /// As [`TableDigest::update`].
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.digest.update(batch)
    }

    /// The signature of all rows.
    pub fn finish(self) -> TableSignature {
        self.key.sign(&statement(&self.digest.finish(), &self.contents))
    }
}

/// Checks the signature of a table batch by batch. The table is not authenticated before
/// [`SignatureCheck::finish`] succeeds.
#[derive(Debug)]
pub struct SignatureCheck {
    signature: TableSignature,
    digest: TableDigest,
    contents: Contents,
}

impl SignatureCheck {
    /// Starts the check of a table with this schema. One of the keys in `given` must have signed
    /// it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsigned`], [`ErrorKind::OtherSigner`], and errors of [`TableDigest::new`].
    pub fn new(schema: &Schema, signature: Option<TableSignature>, given: &[VerifyingKey]) -> Result<Self, Error> {
        let signature = signature.ok_or(ErrorKind::Unsigned)?;
        if !given.contains(&signature.signer) {
            return Err(ErrorKind::OtherSigner { found: signature.signer.id().to_string() }.into());
        }
        Ok(Self { signature, digest: TableDigest::new(schema)?, contents: Contents::of(schema)? })
    }

    /// Adds the next rows, with all columns.
    ///
    /// # Errors
    /// As [`TableDigest::update`].
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.digest.update(batch)
    }

    /// The key that signed the table.
    ///
    /// # Errors
    /// [`ErrorKind::Altered`].
    pub fn finish(self) -> Result<VerifyingKey, Error> {
        self.signature.check(&self.digest.finish(), &self.contents)?;
        Ok(self.signature.signer)
    }
}

/// The signed statement.
fn statement(digest: &Digest, contents: &Contents) -> String {
    [NAME, &hex(digest), &contents.to_text()].join("\n")
}

/// Decodes `N` bytes from base64url in canonical encoding.
fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let found = Base64UrlUnpadded::decode(text, &mut bytes).ok()?.len();
    (found == N).then_some(bytes)
}

fn json_error(error: serde_json::Error) -> SigningKeyError {
    SigningKeyError::Json { line: error.line(), column: error.column() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = SigningKey::generate().unwrap();
        let again = SigningKey::from_jwk(&key.to_jwk()).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(VerifyingKey::from_jwk(&key.to_jwk()).unwrap(), key.public());
        assert_eq!(VerifyingKey::from_jwk(&key.public().to_jwk()).unwrap(), key.public());
        assert_eq!(SigningKey::from_jwk(&key.public().to_jwk()).unwrap_err(), SigningKeyError::Public);
        let other = SigningKey::generate().unwrap().public();
        let set = format!("{{\"keys\": [{}, {}]}}", key.public().to_jwk(), other.to_jwk());
        assert_eq!(VerifyingKey::all_from_jwk(&set).unwrap(), [key.public(), other]);
        assert_eq!(VerifyingKey::all_from_jwk(&other.to_jwk()).unwrap(), [other]);
        assert_eq!(VerifyingKey::all_from_jwk("{\"keys\": []}").unwrap_err(), SigningKeyError::Empty);
        assert!(is_signing_key(&key.to_jwk()) && is_signing_key(&other.to_jwk()) && !is_signing_key("{}"));
    }

    #[test]
    fn the_key_of_the_standard_has_its_thumbprint() {
        // RFC 8037, appendix A.1 and A.3: a private key and the thumbprint of its public half,
        // kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k.
        let jwk = r#"{"kty":"OKP","crv":"Ed25519",
            "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
            "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let key = SigningKey::from_jwk(jwk).unwrap();
        let thumbprint: [u8; 32] = decoded("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").unwrap();
        assert_eq!(key.public().id().to_string(), hex(&thumbprint[..16]));
        // RFC 8032, section 7.1, test 1: the same key's signature of nothing.
        let signature = key.0.sign(b"").to_bytes();
        assert_eq!(hex(&signature[..8]), "e5564300c360ac72");
    }

    #[test]
    fn what_is_no_key_is_named() {
        let key = SigningKey::generate().unwrap();
        let (text, other) = (key.to_jwk(), SigningKey::generate().unwrap().public().to_text());
        let x = key.public().to_text();
        let changed = |from: &str, to: &str| SigningKey::from_jwk(&text.replace(from, to)).unwrap_err();
        assert_eq!(changed("OKP", "DAJ"), SigningKeyError::Kind);
        assert_eq!(changed("\"Ed25519\"", "\"Ed448\""), SigningKeyError::Kind);
        assert_eq!(changed(&x, &other), SigningKeyError::Mismatch);
        assert_eq!(changed(&x, "AQ"), SigningKeyError::Member("x"));
        // 1, which has small order, and 2^255 - 18, which is 1 again.
        let unusual = [[vec![1], vec![0; 31]].concat(), [vec![0xee], vec![0xff; 30], vec![0x7f]].concat()];
        for bytes in unusual {
            assert_eq!(changed(&x, &Base64UrlUnpadded::encode_string(&bytes)), SigningKeyError::Point);
        }
        assert!(matches!(SigningKey::from_jwk("{").unwrap_err(), SigningKeyError::Json { .. }));
        let secret = Base64UrlUnpadded::encode_string(&*Zeroizing::new(key.0.to_bytes()));
        let short = text.replace(&secret, &secret[..20]);
        assert_eq!(SigningKey::from_jwk(&short).unwrap_err(), SigningKeyError::Member("d"));
        assert!(!format!("{key:?}").contains(&secret));
    }

    #[test]
    fn entries_say_one_signature_or_none() {
        let signature = SigningKey::generate().unwrap().sign("x");
        let entries = signature.entries();
        let [signer, made] = [0, 1].map(|index| (entries[index].0, entries[index].1.as_str()));
        let of = |entries: &[(&str, &str)]| TableSignature::of_entries(entries.iter().copied());
        assert_eq!(of(&[signer, ("other", "x"), made]).unwrap(), Some(signature.clone()));
        assert_eq!(of(&[("other", "x")]).unwrap(), None);
        assert_eq!(of(&[signer, made, signer]).unwrap(), Some(signature.clone()));
        for (entries, name) in [
            (vec![signer], SIGNATURE),
            (vec![made], SIGNER),
            (vec![signer, made, (SIGNATURE, "AA")], SIGNATURE),
            (vec![(SIGNER, "AA"), made], SIGNER),
            (vec![signer, (SIGNATURE, "AA")], SIGNATURE),
        ] {
            let error = of(&entries).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::BadSignature(found) if *found == name), "{error}");
        }
    }

    #[test]
    fn a_signature_is_of_one_table() {
        let key = SigningKey::generate().unwrap();
        let (digest, contents) = ([7; 32], Contents::whole([1; 16]));
        let signature = key.sign(&statement(&digest, &contents));
        signature.check(&digest, &contents).unwrap();
        signature.check(&[8; 32], &contents).unwrap_err();
        signature.check(&digest, &Contents::whole([2; 16])).unwrap_err();
        signature.check(&digest, &Contents::default()).unwrap_err();
        for bit in 0..512 {
            let mut changed = signature.clone();
            changed.signature[bit / 8] ^= 1 << (bit % 8);
            changed.check(&digest, &contents).unwrap_err();
        }
    }
}
