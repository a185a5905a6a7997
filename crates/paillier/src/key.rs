//! Definitions shared by public and private keys.

pub(crate) mod encrypted;
pub(crate) mod factors;
pub(crate) mod generate;
pub(crate) mod jwk;
mod prime;
pub(crate) mod private;
pub(crate) mod public;
pub(crate) mod subgroup;
pub(crate) mod text;
pub(crate) mod weakness;

pub use encrypted::{DEFAULT_ITERATIONS, EncryptedJwk, MAX_ITERATIONS, MIN_ITERATIONS};
pub use subgroup::MIN_SUBGROUP_BITS;
pub use text::{KeyKind, MAX_KEY_TEXT, SecretText};
pub use weakness::Weakness;

use crate::{Error, ErrorKind};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// Minimum key size in bits that the arithmetic supports.
pub const MIN_BITS: u32 = 64;
/// Maximum key size in bits that the arithmetic supports.
pub const MAX_BITS: u32 = 8192;
/// Minimum key size in bits under [`KeyPolicy::Secure`]: 112-bit security \[SP800\].
pub const MIN_SECURE_BITS: u32 = 2048;
/// Default key size in bits: 128-bit security \[SP800\].
pub const DEFAULT_BITS: u32 = 3072;

/// The ID of a key pair: the first 32 hexadecimal digits of the SHA-256 of `n`, big-endian without
/// leading zeros. The ID of a subgroup key hashes `n`, the generator and the exponent length.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 32]);

impl KeyId {
    /// The ID of the key with this modulus, which has no leading zero bytes.
    pub(crate) fn of_modulus(n_be: &[u8]) -> KeyId {
        Self::of_digest(&Sha256::digest(n_be))
    }

    /// The ID of a subgroup key, which also binds its generator and exponent length. `n` and `h`
    /// have the same length.
    pub(crate) fn of_subgroup(n_be: &[u8], h_be: &[u8], exponent_bits: u32) -> KeyId {
        let mut digest = Sha256::new();
        digest.update(b"hearith subgroup key 1\0");
        digest.update(exponent_bits.to_be_bytes());
        digest.update(n_be);
        digest.update(h_be);
        Self::of_digest(&digest.finalize())
    }

    fn of_digest(digest: &[u8]) -> KeyId {
        KeyId::from_bytes(std::array::from_fn(|at| digest[at]))
    }

    /// The ID with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> KeyId {
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
            pair.copy_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 15)]);
        }
        KeyId(digits)
    }

    /// The 16 bytes that the digits encode.
    pub fn to_bytes(&self) -> [u8; 16] {
        let value = |digit: u8| if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 };
        std::array::from_fn(|at| value(self.0[2 * at]) << 4 | value(self.0[2 * at + 1]))
    }

    /// The 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The lower-case hexadecimal digit of a value below 16.
fn hex_digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value)]
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeyId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let lower_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let digits: [u8; 32] = text.as_bytes().try_into().map_err(|_| ErrorKind::NotAKeyId)?;
        if digits.iter().all(lower_hex) { Ok(KeyId(digits)) } else { Err(ErrorKind::NotAKeyId.into()) }
    }
}

/// How public-key encryption draws its randomisers.
/// [`PrivateKey::decrypt`](crate::PrivateKey::decrypt) works with every variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// `r^n` for a random unit `r` \[Paillier99\].
    #[default]
    Standard,
    /// `(h^n)^a` for a fixed `h = -x^2 mod n` and a random exponent `a` of half the length of `n`
    /// (\[DJN10\], section 4.2). Much faster, under the additional assumption that these powers are
    /// hard to distinguish from `r^n`.
    Djn,
    /// `(h^n)^a` for an `h` of order `2 p q` modulo `n = P Q`, where the primes `p` and `q` divide
    /// `P - 1` and `Q - 1` (Ma, Han and Lei \[MHL21\]). Encryption and decryption use shorter
    /// exponents than any other variant. Security rests on the further assumption that elements of
    /// this subgroup are hard to distinguish from others \[Groth05\]. Ciphertexts from elsewhere
    /// are rejected, except by [`PrivateKey::decrypt_any`](crate::PrivateKey::decrypt_any).
    Subgroup,
}

impl Variant {
    /// All variants.
    pub const ALL: [Variant; 3] = [Variant::Standard, Variant::Djn, Variant::Subgroup];

    /// The name by which users select the variant.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Standard => "standard",
            Variant::Djn => "djn",
            Variant::Subgroup => "subgroup",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|variant| variant.name() == name);
        Ok(found.ok_or(ErrorKind::UnknownName { what: "variant", known: "standard, djn, subgroup" })?)
    }
}

/// Which keys are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPolicy {
    /// Keys without a known [`Weakness`]: at least [`MIN_SECURE_BITS`] bits and primes far apart.
    #[default]
    Secure,
    /// All keys of at least [`MIN_BITS`] bits, for tests and for reproducing published figures.
    AllowInsecure,
}

impl KeyPolicy {
    /// Rejects a weakness unless insecure keys are allowed.
    pub(crate) fn permit(self, weakness: Option<Weakness>) -> Result<(), Error> {
        match weakness {
            Some(weakness) if self == KeyPolicy::Secure => Err(ErrorKind::InsecureKey(weakness).into()),
            _ => Ok(()),
        }
    }

    /// Fails unless keys of `bits` bits are accepted.
    pub(crate) fn check(self, bits: u32) -> Result<(), Error> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            Err(ErrorKind::KeySizeOutOfRange { bits }.into())
        } else if !bits.is_multiple_of(2) {
            Err(ErrorKind::OddKeySize { bits }.into())
        } else if self == KeyPolicy::Secure && bits < MIN_SECURE_BITS {
            Err(ErrorKind::InsecureKey(Weakness::Short { bits }).into())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_back() {
        let id = KeyId::of_modulus(&[1, 2, 3]);
        assert_eq!(id.as_str(), "039058c6f2c0cb492c533b0a4d14ef77");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("039058C6F2C0CB492C533B0A4D14EF77".parse::<KeyId>().is_err());
        assert!("0390".parse::<KeyId>().is_err());
    }

    #[test]
    fn sizes_are_judged() {
        let judge = |bits| KeyPolicy::Secure.check(bits);
        assert_eq!(judge(2048), Ok(()));
        assert_eq!(judge(2046), Err(ErrorKind::InsecureKey(Weakness::Short { bits: 2046 }).into()));
        assert_eq!(judge(3071), Err(ErrorKind::OddKeySize { bits: 3071 }.into()));
        assert_eq!(judge(8194), Err(ErrorKind::KeySizeOutOfRange { bits: 8194 }.into()));
        assert_eq!(KeyPolicy::AllowInsecure.check(64), Ok(()));
        assert_eq!(KeyPolicy::AllowInsecure.check(62), Err(ErrorKind::KeySizeOutOfRange { bits: 62 }.into()));
    }

    #[test]
    fn variants_are_found_by_name() {
        assert_eq!("djn".parse(), Ok(Variant::Djn));
        assert_eq!("standard".parse(), Ok(Variant::Standard));
        assert!("DJN".parse::<Variant>().is_err());
    }
}
