//! A proof that a public key's `n` has no common factor with the order of its group, so every
//! ciphertext decrypts to only one number.
//!
//! The prover shows `n`-th roots modulo `n` of numbers derived from a hash of `n` (\[GRSB19\],
//! section 3.1). If a prime `r` divides both `n` and the order, at most one in `r` numbers has a
//! root. No prime factor of `n` is below `2^16` ([`PublicKey`] rejects such keys), so [`ROOTS`]
//! roots leave a cheating probability of `2^-176`.

use crate::error::{Error, ErrorKind};
use crate::hashed::hashed;
use hearith_arith::Exponents;
use hearith_paillier::{Openings, PrivateKey, PublicKey};

/// Number of roots in a proof.
pub const ROOTS: usize = 11;

/// Proves it as the key's owner. Returns the [`ROOTS`] roots, numbers below `n`.
///
/// # Errors
/// With negligible probability, a hashed number shares a factor with `n`.
pub fn prove(key: &PrivateKey) -> Result<Openings, Error> {
    let public = key.public();
    let numbers =
        hashed("roots", public, ROOTS).resize(2 * public.plaintext_limbs()).to_be_bytes(public.ciphertext_bytes());
    Ok(key.open(&public.ciphertexts_from_be(&numbers)?)?.1)
}

/// Verifies a proof read by [`PublicKey::openings_from_be`].
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) with the first invalid root, or without a row if there
/// are not [`ROOTS`] roots.
pub fn verify(key: &PublicKey, roots: &Openings) -> Result<(), Error> {
    if roots.key_id() != key.id() || roots.len() != ROOTS {
        return Err(ErrorKind::DoesNotHold.into());
    }
    let powers = key.root().pow(roots.batch(), Exponents::Public(key.root().as_limbs()));
    let wrong = powers.rows().zip(hashed("roots", key, ROOTS).rows()).position(|(power, number)| power != number);
    wrong.map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}
