//! A proof that a public key's `n` has no factor in common with the order of its group, so that every ciphertext decrypts to one number only.
//!
//! The prover shows `n`-th roots modulo `n` of numbers that a hash of `n` gives (\[GRSB19\], section 3.1). If a prime divides both `n` and the order, at most every
//! so-manieth number has a root, as many as the prime says. No prime factor of `n` is below `2^16` ([`PublicKey`] refuses such keys), so [`ROOTS`] roots leave a
//! chance of `2^-176`.

use crate::error::{Error, ErrorKind};
use crate::transcript::Transcript;
use hearith_arith::{Batch, Exponents};
use hearith_paillier::{Openings, PrivateKey, PublicKey};

/// Roots in a proof.
pub const ROOTS: usize = 11;

/// Proves it, by the key's owner. Bytes of [`ROOTS`] numbers below `n`, big-endian.
///
/// # Errors
/// If a number that the hash gives shares a factor with `n`, which nobody will see.
pub fn prove(key: &PrivateKey) -> Result<Openings, Error> {
    let public = key.public();
    let numbers = numbers(public).resize(2 * public.plaintext_limbs()).to_be_bytes(public.ciphertext_bytes());
    Ok(key.open(&public.ciphertexts_from_be(&numbers)?)?.1)
}

/// Checks a proof that [`PublicKey::openings_from_be`] has read.
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) with the first root that is none, or if there are not [`ROOTS`].
pub fn verify(key: &PublicKey, roots: &Openings) -> Result<(), Error> {
    if roots.key_id() != key.id() || roots.len() != ROOTS {
        return Err(ErrorKind::DoesNotHold.into());
    }
    let powers = key.root().pow(roots.batch(), Exponents::Public(key.root().as_limbs()));
    let wrong = powers.rows().zip(numbers(key).rows()).position(|(power, number)| power != number);
    wrong.map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}

/// The numbers whose roots are asked for: blocks of the hash of `n`, counters and nothing else, 128 bits more than `n` has, modulo `n`.
fn numbers(key: &PublicKey) -> Batch {
    let n = key.modulus_be();
    let bytes = key.plaintext_bytes() + 16;
    let number = |index: usize| {
        let block = |block: usize| {
            let counters = [(index as u32).to_be_bytes(), (block as u32).to_be_bytes()].concat();
            Transcript::new("roots").with(&n).with(&counters).challenge()
        };
        (0..).flat_map(block).take(bytes).collect::<Vec<u8>>()
    };
    let numbers: Vec<u8> = (0..ROOTS).flat_map(number).collect();
    key.root().reduce(&Batch::from_be_bytes(&numbers, bytes, bytes.div_ceil(8)).public())
}
