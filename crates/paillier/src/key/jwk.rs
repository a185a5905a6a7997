//! Keys as JSON Web Keys, in the format of python-paillier's command `pheutil`.
//!
//! A public key is `{"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": ..., "kid":
//! ...}`, where `n` is the unpadded base64url of its big-endian bytes and `kid` is a comment. A
//! private key has `p`, `q`, `kid`, `"key_ops": ["decrypt"]` and its public key in `pub`. A DJN key
//! has its generator in the additional member `h` of the public key. python-paillier ignores `h`,
//! so it can also read DJN keys, encrypt to them and decrypt with them.
//!
//! A subgroup key has a different algorithm, `"alg": "PAI-SG1"`, which other readers reject. Its
//! public key has `h`, and in `x` the length of the randomisers' exponents in bits. Its private key
//! has the primes of the subgroup in `sp` and `sq`, which divide `p - 1` and `q - 1`.

use super::encrypted::{self, EncryptedJwk};
use super::private::PrivateKey;
use super::public::PublicKey;
use super::text::{KeyKind, MAX_KEY_TEXT, kind};
use super::{KeyId, KeyPolicy};
use crate::{Error, ErrorKind};
use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_arith::Engine;
use hearith_arith::natural::{self, to_be};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use zeroize::Zeroizing;

const TYPE: &str = "DAJ";
const ALGORITHM: &str = "PAI-GN1";
const SUBGROUP: &str = "PAI-SG1";
const ENCRYPT: &str = "encrypt";
const DECRYPT: &str = "decrypt";

/// Maximum length of a base64url text that is decoded, larger than the largest key needs.
const LONGEST: usize = 4096;
/// Maximum length of a comment in bytes.
const LONGEST_COMMENT: usize = 1024;

#[derive(Serialize, Deserialize)]
struct PublicJwk<'a> {
    #[serde(borrow)]
    kty: Cow<'a, str>,
    #[serde(borrow, default)]
    alg: Cow<'a, str>,
    #[serde(borrow, default)]
    key_ops: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    n: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    h: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    x: Option<u32>,
    #[serde(borrow, default)]
    kid: Option<Cow<'a, str>>,
}

/// The secret members are always borrowed, from the input text or from buffers that are wiped.
#[derive(Serialize, Deserialize)]
struct PrivateJwk<'a> {
    #[serde(borrow)]
    kty: Cow<'a, str>,
    #[serde(borrow, default)]
    key_ops: Vec<Cow<'a, str>>,
    p: &'a str,
    q: &'a str,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sp: Option<&'a str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sq: Option<&'a str>,
    #[serde(borrow, rename = "pub")]
    public: PublicJwk<'a>,
    #[serde(borrow, default)]
    kid: Option<Cow<'a, str>>,
}

impl PublicKey {
    /// The key as a one-line JSON Web Key.
    pub fn to_jwk(&self) -> String {
        let (n, h) = (encode(self.modulus()), self.generator().map(encode));
        // A struct of strings always has a JSON form.
        serde_json::to_string(&self.jwk(&n, h.as_deref().map(String::as_str))).unwrap_or_default()
    }

    /// Reads a JSON Web Key of python-paillier or of [`PublicKey::to_jwk`].
    ///
    /// # Errors
    /// If the text is not such a key, or as [`PublicKey::new`].
    pub fn from_jwk(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        public_key(&parse(text)?, policy, engine)
    }

    fn jwk<'a>(&'a self, n: &'a str, h: Option<&'a str>) -> PublicJwk<'a> {
        PublicJwk {
            kty: TYPE.into(),
            alg: if self.exponent_bits().is_some() { SUBGROUP.into() } else { ALGORITHM.into() },
            key_ops: vec![ENCRYPT.into()],
            n: n.into(),
            h: h.map(Cow::from),
            x: self.exponent_bits(),
            kid: Some(self.comment().into()),
        }
    }
}

impl PrivateKey {
    /// The key as a one-line JSON Web Key that includes the public key.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let public = self.public();
        let (n, h) = (encode(public.modulus()), public.generator().map(encode));
        let (p, q) = (encode(&self.factors().p), encode(&self.factors().q));
        let orders = self.subgroup_primes().map(|primes| primes.map(encode));
        let [sp, sq] = [0, 1].map(|at| orders.as_ref().map(|orders| orders[at].as_str()));
        let jwk = PrivateJwk {
            kty: TYPE.into(),
            key_ops: vec![DECRYPT.into()],
            p: &p,
            q: &q,
            sp,
            sq,
            public: public.jwk(&n, h.as_deref().map(String::as_str)),
            kid: Some(self.comment().into()),
        };
        // Full capacity from the start avoids leaving an unwiped copy behind. An escape takes at
        // most six bytes per byte.
        let comments = 6 * (self.comment().len() + public.comment().len());
        let mut text = Zeroizing::new(Vec::with_capacity(4 * LONGEST + comments));
        // Writing a struct of strings to memory cannot fail, and the output is UTF-8.
        let _ = serde_json::to_writer(&mut *text, &jwk);
        Zeroizing::new(String::from_utf8(std::mem::take(&mut *text)).unwrap_or_default())
    }

    /// Reads a JSON Web Key of python-paillier or of [`PrivateKey::to_jwk`].
    ///
    /// # Errors
    /// If the text is not such a key, or as [`PrivateKey::from_primes`].
    pub fn from_jwk(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let jwk: PrivateJwk = parse(text)?;
        expect("kty", &jwk.kty, TYPE)?;
        if !jwk.key_ops.iter().any(|name| name == DECRYPT) {
            return Err(ErrorKind::Member { member: "key_ops", problem: "does not contain 'decrypt'" }.into());
        }
        let public = public_key(&jwk.public, policy, engine)?;
        let orders = match (jwk.sp, jwk.sq) {
            (Some(sp), Some(sq)) => Some([decode("sp", sp)?, decode("sq", sq)?]),
            _ => None,
        };
        let orders = orders.as_ref().map(|[sp, sq]| [sp.as_slice(), sq.as_slice()]);
        let key = PrivateKey::of_public(public, &decode("p", jwk.p)?, &decode("q", jwk.q)?, orders, policy)?;
        Ok(match comment(jwk.kid.as_deref())? {
            Some(comment) => key.with_comment(comment),
            None => key,
        })
    }

    /// The key as a one-line JSON Web Key encrypted with a passphrase (see [`EncryptedJwk`]).
    ///
    /// # Errors
    /// If the passphrase is empty, `iterations` is not between
    /// [`MIN_ITERATIONS`](crate::MIN_ITERATIONS) and [`MAX_ITERATIONS`](crate::MAX_ITERATIONS) (use
    /// [`DEFAULT_ITERATIONS`](crate::DEFAULT_ITERATIONS)), or the random generator fails.
    pub fn to_encrypted_jwk(&self, passphrase: &str, iterations: u32) -> Result<String, Error> {
        encrypted::encrypt(&self.to_jwk(), self.public().id(), passphrase.as_bytes(), iterations)
    }

    /// Reads an encrypted JSON Web Key.
    ///
    /// # Errors
    /// As [`EncryptedJwk::parse`], [`EncryptedJwk::decrypt`] and [`PrivateKey::from_jwk`].
    pub fn from_encrypted_jwk(text: &str, passphrase: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        Self::from_jwk(&EncryptedJwk::parse(text)?.decrypt(passphrase.as_bytes())?, policy, engine)
    }
}

/// The default comment of a private key.
pub(crate) fn private_comment(id: KeyId) -> String {
    format!("Paillier private key {id} of Hearith")
}

fn public_key(jwk: &PublicJwk<'_>, policy: KeyPolicy, engine: Engine) -> Result<PublicKey, Error> {
    expect("kty", &jwk.kty, TYPE)?;
    let n = decode("n", &jwk.n)?;
    let h = jwk.h.as_ref().map(|h| decode("h", h)).transpose()?;
    let key = match (&*jwk.alg, &h, jwk.x) {
        (SUBGROUP, Some(h), Some(length)) => PublicKey::new_subgroup(&n, h, length, policy, engine)?,
        (SUBGROUP, None, _) => return Err(ErrorKind::Member { member: "h", problem: "is missing" }.into()),
        (SUBGROUP, _, None) => return Err(ErrorKind::Member { member: "x", problem: "is missing" }.into()),
        (alg, ..) => {
            expect("alg", alg, ALGORITHM)?;
            PublicKey::new(&n, h.as_ref().map(|h| h.as_slice()), policy, engine)?
        }
    };
    Ok(match comment(jwk.kid.as_deref())? {
        Some(comment) => key.with_comment(comment),
        None => key,
    })
}

/// Parses a JSON Web Key.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    if text.len() > MAX_KEY_TEXT {
        return Err(ErrorKind::KeyTooLong { bytes: text.len() }.into());
    }
    serde_json::from_str(text).map_err(|error| match kind(text) {
        KeyKind::Encrypted => ErrorKind::EncryptedKey.into(),
        KeyKind::Share => ErrorKind::ShareOfKey.into(),
        _ => json_error(error),
    })
}

/// The key's comment, if it is short enough to show.
fn comment(kid: Option<&str>) -> Result<Option<String>, Error> {
    match kid {
        Some(comment) if comment.len() > LONGEST_COMMENT => {
            Err(ErrorKind::Member { member: "kid", problem: "is too long" }.into())
        }
        _ => Ok(kid.map(str::to_owned)),
    }
}

fn expect(member: &'static str, found: &str, wanted: &'static str) -> Result<(), Error> {
    if found == wanted {
        Ok(())
    } else {
        Err(ErrorKind::Member { member, problem: "has the wrong value for a Paillier key" }.into())
    }
}

/// A number's big-endian bytes without leading zeros, in unpadded base64url.
fn encode(number: &[u64]) -> Zeroizing<String> {
    let bytes = natural::bit_length(number).div_ceil(8) as usize;
    Zeroizing::new(Base64UrlUnpadded::encode_string(&to_be(number, bytes)))
}

/// Decodes unpadded base64url. Padding, which some writers add, is ignored.
fn decode(member: &'static str, text: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let text = text.trim_end_matches('=');
    if text.len() > LONGEST {
        return Err(ErrorKind::Member { member, problem: "is too long" }.into());
    }
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let length = match Base64UrlUnpadded::decode(text, &mut bytes) {
        Ok(decoded) => decoded.len(),
        Err(_) => return Err(ErrorKind::Member { member, problem: "is not base64url" }.into()),
    };
    bytes.truncate(length);
    Ok(bytes)
}

/// Keeps only the position of an error, because the parser's message may quote the text.
pub(crate) fn json_error(error: serde_json::Error) -> Error {
    ErrorKind::KeyJson { line: error.line(), column: error.column() }.into()
}
