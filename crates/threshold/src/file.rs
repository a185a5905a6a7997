//! Files with verification keys or a share, as JSON on one line.
//!
//! A verification file is the public key's JSON Web Key with one additional member, `shared`:
//! `{"needed": w, "trustees": l, "v": ..., "v_i": [...]}`. Programs that expect a public key accept
//! it as one. For a key that the trustees generated together, `shared` has `"version": 2` and no
//! `v`, which follows from `n`. Programs that only support dealt keys reject it.
//!
//! A trustee's file has `"key_ops": ["decrypt-share"]`, `i`, the secret `s`, `shared` with the one
//! `v_i` of that trustee, the public key in `pub`, and a comment in `kid`. Numbers are unpadded
//! base64url of big-endian bytes. They have as many bytes as `n^2`, except `s`, which has no
//! leading zero bytes.

use crate::error::{Error, ErrorKind};
use crate::key::{KeyShare, Origin, Shared, VerificationKeys, checked_unit, checked_units};
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
/// Maximum number of characters of a number: twice as many bytes as the longest `n^2`.
const LONGEST: usize = (4 * MAX_BITS as usize / 8).div_ceil(3) * 4;

#[derive(Serialize, Deserialize)]
struct SharedMembers {
    /// `None` for a dealt key, [`DISTRIBUTED`] for a jointly generated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    needed: u32,
    trustees: u32,
    /// Only for a dealt key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    v: Option<String>,
    v_i: Vec<String>,
}

#[derive(Deserialize)]
struct VerificationMembers {
    shared: SharedMembers,
}

/// The secret is always borrowed, either from the text being read or from a buffer that is wiped.
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

impl VerificationKeys {
    /// The verification keys as JSON on one line, which is also a valid public key.
    pub fn to_json(&self) -> String {
        let shared = members(self.shared(), self.trustee_keys());
        // A struct of numbers and strings always has a JSON form, and that of a key ends with a
        // brace.
        let shared = serde_json::to_string(&shared).unwrap_or_default();
        let key = self.key().to_jwk();
        format!("{},\"shared\":{shared}}}", key.strip_suffix('}').unwrap_or_default())
    }

    /// Parses the output of [`VerificationKeys::to_json`]. Checks that the numbers belong to one
    /// sharing of the key.
    ///
    /// # Errors
    /// An invalid text, a number that is not a unit modulo `n^2`,
    /// [`OtherBase`](ErrorKind::OtherBase), [`NotDealt`](ErrorKind::NotDealt), or the errors of
    /// [`PublicKey::from_jwk`].
    pub fn from_json(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let VerificationMembers { shared } = parse(text, "a verification file")?;
        let key = PublicKey::from_jwk(text, policy, engine)?;
        let count = shared.trustees as usize;
        let (shared, trustee_keys) = numbers(key, shared, count)?;
        VerificationKeys::checked(shared, trustee_keys)
    }
}

impl KeyShare {
    /// The share as JSON on one line, with the secret in plain text.
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
        // The full capacity at once, so that no unwiped copy remains.
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_KEY_TEXT));
        // Writing a struct of strings to memory cannot fail, and the output is UTF-8.
        let _ = serde_json::to_writer(&mut *text, &members);
        Zeroizing::new(String::from_utf8(std::mem::take(&mut *text)).unwrap_or_default())
    }

    /// The share as JSON encrypted under a passphrase, in the format of encrypted private keys
    /// ([`EncryptedJwk`]).
    ///
    /// # Errors
    /// The errors of [`EncryptedJwk::seal`].
    pub fn to_encrypted_json(&self, passphrase: &str, iterations: u32) -> Result<String, Error> {
        Ok(EncryptedJwk::seal(&self.to_json(), self.key().id(), passphrase, iterations)?)
    }

    /// Parses the output of [`KeyShare::to_json`].
    ///
    /// # Errors
    /// An invalid text, [`WrongSecret`](ErrorKind::WrongSecret), or the errors of
    /// [`PublicKey::from_jwk`].
    pub fn from_json(text: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let members: ShareMembers<'_> = parse(text, "a share of a private key")?;
        if members.kty != TYPE || members.key_ops != [DECRYPT_SHARE] {
            return Err(ErrorKind::Member {
                member: "key_ops",
                problem: "has the wrong value for a share of a private key",
            }
            .into());
        }
        let key = PublicKey::from_jwk(members.public.get(), policy, engine)?;
        let s = decode("s", members.s)?;
        let (shared, verification) = numbers(key, members.shared, 1)?;
        let limbs = shared.lengths().share_limbs();
        let s = from_be(&s, limbs).ok_or(ErrorKind::Member { member: "s", problem: "is too long" })?;
        KeyShare::new(shared, members.i, verification, &s)
    }

    /// Parses the output of [`KeyShare::to_encrypted_json`].
    ///
    /// # Errors
    /// The errors of [`EncryptedJwk::decrypt`] and [`KeyShare::from_json`].
    pub fn from_encrypted_json(text: &str, passphrase: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let text = EncryptedJwk::parse(text)?.decrypt(passphrase.as_bytes())?;
        Self::from_json(&text, policy, engine)
    }
}

fn members(shared: &Shared, trustee_keys: &Batch) -> SharedMembers {
    let width = shared.key().ciphertext_bytes();
    let encode = |row: &[u64]| Base64UrlUnpadded::encode_string(&to_be(row, width));
    let is_dealt = shared.origin() == Origin::Dealt;
    SharedMembers {
        version: (!is_dealt).then_some(DISTRIBUTED),
        needed: shared.needed(),
        trustees: shared.trustees(),
        v: is_dealt.then(|| encode(shared.generator().row(0))),
        v_i: trustee_keys.rows().map(encode).collect(),
    }
}

/// The shared key, and `count` numbers `v_i`.
fn numbers(key: PublicKey, members: SharedMembers, count: usize) -> Result<(Shared, Batch), Error> {
    let origin = match (members.version, &members.v) {
        (None, Some(_)) => Origin::Dealt,
        (Some(DISTRIBUTED), None) => Origin::Distributed,
        (None, None) => return Err(ErrorKind::Member { member: "v", problem: "is missing" }.into()),
        (Some(DISTRIBUTED), Some(_)) => {
            return Err(ErrorKind::Member { member: "v", problem: "is not allowed in keys of version 2" }.into());
        }
        (Some(_), _) => return Err(ErrorKind::Member { member: "version", problem: "is not supported" }.into()),
    };
    let given = members.v.map(|v| checked_unit(&key, "v", &decode("v", &v)?)).transpose()?;
    let shared = Shared::new(key, members.needed, members.trustees, origin)?;
    given.map_or(Ok(()), |v| shared.check_generator(&v))?;
    if members.v_i.len() != count {
        return Err(ErrorKind::Member { member: "v_i", problem: "has the wrong number of entries" }.into());
    }
    let mut be = Vec::new();
    for number in &members.v_i {
        be.extend_from_slice(&decode("v_i", number)?);
    }
    let trustee_keys = checked_units(shared.key(), "v_i", &be)?;
    match trustee_keys.len() == count {
        true => Ok((shared, trustee_keys)),
        false => Err(ErrorKind::Member { member: "v_i", problem: "has a number of the wrong length" }.into()),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str, what: &'static str) -> Result<T, Error> {
    if text.len() > MAX_KEY_TEXT {
        return Err(ErrorKind::TooLong { bytes: text.len() }.into());
    }
    // Reports only the position: the parser's message may quote the text.
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
