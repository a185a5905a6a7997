//! A proof that a public key's `n` has no factor in common with the order of its group, so that
//! every ciphertext decrypts to one number only.
//!
//! The prover shows `n`-th roots modulo `n` of numbers that a hash of `n` gives (\[GRSB19\],
//! section 3.1). If a prime divides both `n` and the order, at most every so-manieth number has a
//! root, as many as the prime says. No prime factor of `n` is below `2^16` ([`PublicKey`] refuses
//! such keys), so [`ROOTS`] roots leave a chance of `2^-176`.

use crate::error::{Error, ErrorKind};
use crate::hashed::hashed;
use hearith_arith::Exponents;
use hearith_paillier::{Openings, PrivateKey, PublicKey};

/// Roots in a proof.
pub const ROOTS: usize = 11;

/// Proves it, by the key's owner. Bytes of [`ROOTS`] numbers below `n`, big-endian.
///
/// # Errors
/// If a number that the hash gives shares a factor with `n`, which nobody will see.
pub fn prove(key: &PrivateKey) -> Result<Openings, Error> {
    let public = key.public();
    let numbers =
        hashed("roots", public, ROOTS).resize(2 * public.plaintext_limbs()).to_be_bytes(public.ciphertext_bytes());
    Ok(key.open(&public.ciphertexts_from_be(&numbers)?)?.1)
}

/// Checks a proof that [`PublicKey::openings_from_be`] has read.
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) with the first root that is none, or if there are not
/// [`ROOTS`].
pub fn verify(key: &PublicKey, roots: &Openings) -> Result<(), Error> {
    if roots.key_id() != key.id() || roots.len() != ROOTS {
        return Err(ErrorKind::DoesNotHold.into());
    }
    let powers = key.root().pow(roots.batch(), Exponents::Public(key.root().as_limbs()));
    let wrong = powers.rows().zip(hashed("roots", key, ROOTS).rows()).position(|(power, number)| power != number);
    wrong.map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}
