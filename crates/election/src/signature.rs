//! Signatures: Ed25519 (RFC 8032) with strict verification, over a tag for the purpose and a text
//! in canonical form.

use crate::canonical::Bytes;
use crate::error::ErrorKind;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use std::fmt;
use zeroize::Zeroizing;

/// Tag of the signature of an entry by its author.
pub const ENTRY: &str = "hearith-election 1 entry";
/// Tag of the board's signature of a head.
pub const HEAD: &str = "hearith-election 1 head";
/// Tag of the board's signature of a receipt for an entry.
pub const RECEIPT: &str = "hearith-election 1 receipt";

/// Tag of a trustee's signature of a statement that it took part in the generation of the key.
pub const GENERATION: &str = "hearith-election 1 generation";

/// Length of a secret key in bytes.
pub const SECRET_BYTES: usize = 32;

/// A signing key. The secret is wiped when dropped, and `Debug` shows only the public key.
pub struct Signer(SigningKey);

impl Signer {
    /// Generates a key.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn generate() -> Result<Self, ErrorKind> {
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        getrandom::fill(&mut *secret)?;
        Ok(Signer(SigningKey::from_bytes(&secret)))
    }

    /// The key with this secret.
    ///
    /// # Errors
    /// If the secret does not have 32 bytes.
    pub fn from_secret(secret: &[u8]) -> Result<Self, ErrorKind> {
        let secret = Zeroizing::new(
            <[u8; SECRET_BYTES]>::try_from(secret)
                .map_err(|_| ErrorKind::Secret { problem: "a secret key must have 32 bytes" })?,
        );
        Ok(Signer(SigningKey::from_bytes(&secret)))
    }

    /// The secret, to write to a file.
    pub fn secret(&self) -> Zeroizing<[u8; SECRET_BYTES]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public key.
    pub fn public(&self) -> Bytes {
        Bytes(self.0.verifying_key().to_bytes().to_vec())
    }

    /// Signs a text under a tag.
    pub fn sign(&self, tag: &str, text: &str) -> Bytes {
        Bytes(self.0.sign(&message(tag, text)).to_bytes().to_vec())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({:?})", self.0.verifying_key().to_bytes())
    }
}

/// A public key that verifies signatures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads a key and rejects keys of small order. `whose` names its owner in errors.
    ///
    /// # Errors
    /// [`BadKey`](ErrorKind::BadKey).
    pub fn new(whose: &'static str, bytes: &Bytes) -> Result<Self, ErrorKind> {
        let bad = ErrorKind::BadKey { whose };
        let Ok(bytes) = <[u8; 32]>::try_from(&bytes.0[..]) else { return Err(bad) };
        match VerifyingKey::from_bytes(&bytes) {
            // Compressing the point again enforces a unique encoding of each key.
            Ok(key) if !key.is_weak() && key.to_edwards().compress().to_bytes() == bytes => Ok(PublicKey(bytes)),
            _ => Err(bad),
        }
    }

    /// The key as [`PublicKey::new`] reads it.
    pub fn to_bytes(&self) -> Bytes {
        Bytes(self.0.to_vec())
    }

    /// Checks a signature of a text under a tag.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn verify(&self, tag: &str, text: &str, signature: &Bytes) -> Result<(), ErrorKind> {
        let bytes = <&[u8; 64]>::try_from(&signature.0[..]).map_err(|_| ErrorKind::BadSignature)?;
        let key = VerifyingKey::from_bytes(&self.0).map_err(|_| ErrorKind::BadSignature)?;
        let found = key.verify_strict(&message(tag, text), &Signature::from_bytes(bytes));
        found.map_err(|_| ErrorKind::BadSignature)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({:02x?})", &self.0[..4])
    }
}

/// The signed message.
fn message(tag: &str, text: &str) -> Vec<u8> {
    [tag, "\n", text].concat().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_for_a_key_a_tag_and_a_text() {
        let signer = Signer::generate().unwrap();
        let key = PublicKey::new("the voter's", &signer.public()).unwrap();
        let signature = signer.sign(ENTRY, "a text");
        assert!(key.verify(ENTRY, "a text", &signature).is_ok());
        let another = Signer::generate().unwrap();
        let other = PublicKey::new("the voter's", &another.public()).unwrap();
        assert!(other.verify(ENTRY, "a text", &signature).is_err());
        assert!(key.verify(HEAD, "a text", &signature).is_err());
        assert!(key.verify(ENTRY, "another", &signature).is_err());
        assert!(key.verify(ENTRY, "a text", &Bytes(vec![])).is_err());
        for byte in 0..64 {
            let mut changed = signature.clone();
            changed.0[byte] ^= 1;
            assert!(key.verify(ENTRY, "a text", &changed).is_err(), "byte {byte}");
        }
        let again = Signer::from_secret(&*signer.secret()).unwrap();
        assert_eq!(again.sign(ENTRY, "a text"), signature);
    }

    #[test]
    fn the_first_test_of_the_standard_holds_with_a_tag_that_is_ours() {
        // RFC 8032, section 7.1, TEST 1: secret and public key.
        let hex =
            |text: &str| (0..32).map(|at| u8::from_str_radix(&text[2 * at..][..2], 16).unwrap()).collect::<Vec<_>>();
        let secret = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let signer = Signer::from_secret(&secret).unwrap();
        assert_eq!(signer.public().0, hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let small_order = {
            let mut one = vec![0; 32];
            one[0] = 1;
            one
        };
        // 2^255 - 18, a non-canonical encoding of 1.
        let beyond = [vec![0xee], vec![0xff; 30], vec![0x7f]].concat();
        // No point has y = 2.
        let no_point = [vec![2], vec![0; 31]].concat();
        for bytes in [vec![], vec![0; 31], small_order, beyond, no_point] {
            let found = PublicKey::new("the voter's", &Bytes(bytes.clone()));
            assert!(matches!(found, Err(ErrorKind::BadKey { .. })), "{bytes:?}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        let signer = Signer::from_secret(&[0xab; 32]).unwrap();
        assert!(!format!("{signer:?}").contains("171"));
    }
}
