//! The election's public key: what its numbers have to be, and the proofs that come with them.
//!
//! Everything is checked under every policy but the length: tests may use short keys, and no other
//! bad ones.

use crate::body::ElectionKey;
use crate::canonical::Bytes;
use crate::error::ErrorKind;
use hearith_arith::natural::resized;
use hearith_arith::{Batch, Engine, Exponents};
use hearith_paillier::{KeyPolicy, Openings, PrivateKey, PublicKey, Variant};
use hearith_proofs::{blum, roots};
use hearith_threshold::distributed::KeyProofs;

const NOT_DJN: &str = "the key is not of the variant djn, which elections need";

impl ElectionKey {
    /// A DJN key as an election has it, with the proofs that its owner makes.
    ///
    /// # Errors
    /// A key of another variant: a standard one has no short openings, a subgroup's do not fit the
    /// proofs. Or as [`roots::prove`] and [`blum::prove`].
    pub fn new(private: &PrivateKey) -> Result<Self, ErrorKind> {
        let public = private.public();
        let Some(generator) = public.generator_be().filter(|_| public.variant() == Variant::Djn) else {
            return Err(ErrorKind::Manifest { problem: NOT_DJN });
        };
        Ok(Self::with_proofs(public, generator, &roots::prove(private)?, &blum::prove(private)?))
    }

    /// The same of a key that trustees generated together, who made the proofs.
    ///
    /// # Errors
    /// A key of another variant, which comes without proofs.
    pub fn generated(public: &PublicKey, proofs: Option<&KeyProofs>) -> Result<Self, ErrorKind> {
        let (Some(generator), Some(KeyProofs { roots, square_roots })) = (public.generator_be(), proofs) else {
            return Err(ErrorKind::Manifest { problem: NOT_DJN });
        };
        Ok(Self::with_proofs(public, generator, roots, square_roots))
    }

    fn with_proofs(public: &PublicKey, generator: Vec<u8>, roots: &Openings, square_roots: &Openings) -> Self {
        let width = public.plaintext_bytes();
        let rows = |numbers: &Openings| {
            numbers.to_be_bytes().chunks_exact(width).map(|row| Bytes(row.to_vec())).collect::<Vec<_>>()
        };
        ElectionKey {
            blum: Some(rows(square_roots)),
            generator: Bytes(generator),
            modulus: Bytes(public.modulus_be()),
            roots: rows(roots),
        }
    }
}

/// The key of a manifest: its numbers in the lengths that they must have, its modulus no prime,
/// square or product of close primes, and its proofs verified.
pub(crate) fn public_key(parts: &ElectionKey, policy: KeyPolicy, engine: Engine) -> Result<PublicKey, ErrorKind> {
    let wrong = |problem| Err(ErrorKind::Manifest { problem });
    let Some(square_roots) = &parts.blum else {
        return wrong(
            "the key carries no proof that it has two prime factors: the election was set up by an earlier version",
        );
    };
    let key = PublicKey::new(&parts.modulus.0, Some(&parts.generator.0), policy, engine)?;
    if key.variant() != Variant::Djn
        || key.modulus_be() != parts.modulus.0
        || key.generator_be().as_ref() != Some(&parts.generator.0)
    {
        return wrong("a number of the key has not the length that it must have");
    }
    if may_be_prime(&key) {
        return wrong("the modulus is prime: 2 to the power of n - 1 is 1");
    }
    if key.has_close_primes() {
        return wrong("the primes of the modulus are close: Fermat's method finds them");
    }
    let width = key.plaintext_bytes();
    if parts.roots.len() != roots::ROOTS || parts.roots.iter().any(|root| root.0.len() != width) {
        return wrong("the key does not have eleven roots of its length");
    }
    if square_roots.len() != blum::ROUNDS || square_roots.iter().any(|root| root.0.len() != width) {
        return wrong("the key does not have 128 square roots of its length");
    }
    roots::verify(&key, &key.openings_from_be(&joined(&parts.roots))?)?;
    blum::verify(&key, &key.openings_from_be(&joined(square_roots))?)?;
    Ok(key)
}

fn joined(numbers: &[Bytes]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.0.clone()).collect()
}

/// Fermat's test to the base 2. Every prime passes, and hardly any other number: verifiers need to
/// agree more than to spare those.
fn may_be_prime(key: &PublicKey) -> bool {
    let n = key.root();
    let small = |word| Batch::repeat(&resized(&[word], n.limbs()), 1);
    let mut less_one = n.as_limbs().to_vec();
    less_one[0] &= !1;
    n.pow(&small(2).public(), Exponents::Public(&less_one)) == small(1)
}
