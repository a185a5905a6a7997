//! Verification and shares as JSON of one line.
//!
//! A verification file is the public key's JSON Web Key with one member more, `shared`:
//! `{"needed": w, "trustees": l, "v": ..., "v_i": [...]}`; whoever takes public keys takes it for
//! one. Of a key that the trustees generated together, `shared` has `"version": 2` and no `v`,
//! which follows from `n`: programs that know dealt keys alone refuse it. A trustee's file has
//! `"key_ops": ["decrypt-share"]`, `i`, the secret `s`, `shared` with one `v_i`, which is that
//! trustee's, the public key in `pub`, and a comment in `kid`. Numbers are unpadded base64url of
//! big-endian bytes: as many as `n^2` has, and none to spare for `s`.

use crate::error::{Error, ErrorKind};
use crate::key::{KeyShare, Origin, Shared, Verification, checked_unit, checked_units};
use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_arith::Batch;
use hearith_arith::natural::{bit_length, from_be, to_be};
use hearith_paillier::{EncryptedJwk, Engine, KeyPolicy, MAX_BITS, MAX_KEY_TEXT, PublicKey};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

const TYPE: &str = "DAJ";
/// The version of keys that the trustees generated together.
const DISTRIBUTED: u32 = 2;
const DECRYPT_SHARE: &str = "decrypt-share";
/// Characters of the longest number: twice as many bytes as the longest `n^2` has.
const LONGEST: usize = (4 * MAX_BITS as usize / 8).div_ceil(3) * 4;

#[derive(Serialize, Deserialize)]
struct SharedMembers {
    /// None of a dealt key, [`DISTRIBUTED`] of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    needed: u32,
    trustees: u32,
    /// Of a dealt key alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    v: Option<String>,
    v_i: Vec<String>,
}

#[derive(Deserialize)]
struct VerificationMembers {
    shared: SharedMembers,
}

/// The secret is only ever borrowed: from the text that is read, or from a buffer that is wiped.
#[derive(Serialize, Deserialize)]
struct ShareMembers<'a> {
    kty: String,
    key_ops: Vec<String>,
    i: u32,
    s: &'a str,
    shared: SharedMembers,
    #[serde(borrow, rename = "pub")]
    public: &'a RawValue,
    kid: String,
}

impl Verification {
    /// The verification as JSON of one line, which is a public key's as well.
    pub fn to_json(&self) -> String {
        let shared = members(self.shared(), self.of_trustees());
        // A struct of numbers and strings always has a JSON form; a key's has a brace at its end.
        let shared = serde_json::to_string(&shared).unwrap_or_default();
        let key = self.key().to_jwk();
        format!("{},\"shared\":{shared}}}", key.strip_suffix('}').unwrap_or_default())
    }

    /// What [`Verification::to_json`] wrote. Its numbers are checked: they belong to one sharing of
    /// the key.
    ///
    /// # Errors
    /// If the text is not that, if a number in it is not a unit modulo `n^2`,
    /// [`OtherBase`](ErrorKind::OtherBase), [`NotDealt`](ErrorKind::NotDealt), or as
    /// [`PublicKey::from_jwk`].
    pub fn from_json(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let VerificationMembers { shared } = parse(text, "a verification file")?;
        let key = PublicKey::from_jwk(text, policy, engine)?;
        let count = shared.trustees as usize;
        let (shared, of_trustees) = numbers(key, shared, count)?;
        Verification::checked(shared, of_trustees)
    }
}

impl KeyShare {
    /// The share as JSON of one line, the secret in the clear.
    pub fn to_json(&self) -> Zeroizing<String> {
        let (trustee, trustees, id) = (self.trustee(), self.trustees(), self.key().id());
        let bytes = bit_length(self.share()).div_ceil(8) as usize;
        let s = Zeroizing::new(Base64UrlUnpadded::encode_string(&to_be(self.share(), bytes)));
        let public = RawValue::from_string(self.key().to_jwk()).unwrap_or_default();
        let members = ShareMembers {
            kty: TYPE.into(),
            key_ops: vec![DECRYPT_SHARE.into()],
            i: trustee,
            s: &s,
            shared: members(self.shared(), self.verification()),
            public: &public,
            kid: format!("Share {trustee} of {trustees} of Paillier private key {id} of Hearith"),
        };
        // With room enough from the start no unwiped copy stays behind.
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_KEY_TEXT));
        // Writing a struct of strings to memory cannot fail, and what comes out is UTF-8.
        let _ = serde_json::to_writer(&mut *text, &members);
        Zeroizing::new(String::from_utf8(std::mem::take(&mut *text)).unwrap_or_default())
    }

    /// The share as JSON encrypted under a passphrase, as a private key is ([`EncryptedJwk`]).
    ///
    /// # Errors
    /// As [`EncryptedJwk::seal`].
    pub fn to_encrypted_json(&self, passphrase: &str, iterations: u32) -> Result<String, Error> {
        Ok(EncryptedJwk::seal(&self.to_json(), self.key().id(), passphrase, iterations)?)
    }

    /// What [`KeyShare::to_json`] wrote.
    ///
    /// # Errors
    /// If the text is not that, [`WrongSecret`](ErrorKind::WrongSecret), or as
    /// [`PublicKey::from_jwk`].
    pub fn from_json(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let members: ShareMembers<'_> = parse(text, "a share of a private key")?;
        if members.kty != TYPE || members.key_ops != [DECRYPT_SHARE] {
            return Err(ErrorKind::Member { member: "key_ops", problem: "is not that of a share" }.into());
        }
        let key = PublicKey::from_jwk(members.public.get(), policy, engine)?;
        let s = decode("s", members.s)?;
        let (shared, verification) = numbers(key, members.shared, 1)?;
        let limbs = shared.lengths().share_limbs();
        let s = from_be(&s, limbs).ok_or(ErrorKind::Member { member: "s", problem: "is too long" })?;
        KeyShare::new(shared, members.i, verification, &s)
    }

    /// What [`KeyShare::to_encrypted_json`] wrote.
    ///
    /// # Errors
    /// As [`EncryptedJwk::decrypt`] and [`KeyShare::from_json`].
    pub fn from_encrypted_json(text: &str, passphrase: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let text = EncryptedJwk::parse(text)?.decrypt(passphrase.as_bytes())?;
        Self::from_json(&text, policy, engine)
    }
}

fn members(shared: &Shared, of_trustees: &Batch) -> SharedMembers {
    let width = shared.key().ciphertext_bytes();
    let encode = |row: &[u64]| Base64UrlUnpadded::encode_string(&to_be(row, width));
    let is_dealt = shared.origin() == Origin::Dealt;
    SharedMembers {
        version: (!is_dealt).then_some(DISTRIBUTED),
        needed: shared.needed(),
        trustees: shared.trustees(),
        v: is_dealt.then(|| encode(shared.generator().row(0))),
        v_i: of_trustees.rows().map(encode).collect(),
    }
}

/// The shared key, and so many `v_i`.
fn numbers(key: PublicKey, members: SharedMembers, count: usize) -> Result<(Shared, Batch), Error> {
    let origin = match (members.version, &members.v) {
        (None, Some(_)) => Origin::Dealt,
        (Some(DISTRIBUTED), None) => Origin::Distributed,
        (None, None) => return Err(ErrorKind::Member { member: "v", problem: "is missing" }.into()),
        (Some(DISTRIBUTED), Some(_)) => {
            return Err(ErrorKind::Member { member: "v", problem: "is not for keys of version 2" }.into());
        }
        (Some(_), _) => return Err(ErrorKind::Member { member: "version", problem: "is not known here" }.into()),
    };
    let given = members.v.map(|v| checked_unit(&key, "v", &decode("v", &v)?)).transpose()?;
    let shared = Shared::new(key, members.needed, members.trustees, origin)?;
    given.map_or(Ok(()), |v| shared.check_base(&v))?;
    if members.v_i.len() != count {
        return Err(ErrorKind::Member { member: "v_i", problem: "has not as many numbers as it must" }.into());
    }
    let mut be = Vec::new();
    for number in &members.v_i {
        be.extend_from_slice(&decode("v_i", number)?);
    }
    let of_trustees = checked_units(shared.key(), "v_i", &be)?;
    match of_trustees.len() == count {
        true => Ok((shared, of_trustees)),
        false => Err(ErrorKind::Member { member: "v_i", problem: "has a number of the wrong length" }.into()),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str, what: &'static str) -> Result<T, Error> {
    if text.len() > MAX_KEY_TEXT {
        return Err(ErrorKind::TooLong { bytes: text.len() }.into());
    }
    // The place of an error only: the parser's message may quote the text.
    serde_json::from_str(text)
        .map_err(|error| ErrorKind::Json { what, line: error.line(), column: error.column() }.into())
}

fn decode(member: &'static str, text: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
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
