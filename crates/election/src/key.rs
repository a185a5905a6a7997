//! The election's public key: the requirements on its numbers, and the proofs about it.
//!
//! The policy relaxes only the check of the key's length, which lets tests use short keys. All
//! other checks apply under every policy.

use crate::body::ElectionKey;
use crate::canonical::Bytes;
use crate::error::ErrorKind;
use hearith_arith::natural::resized;
use hearith_arith::{Batch, Engine, Exponents};
use hearith_paillier::{KeyPolicy, Openings, PrivateKey, PublicKey, Variant};
use hearith_proofs::{blum, roots};
use hearith_threshold::distributed::KeyProofs;

const NOT_DJN: &str = "elections need a key of the variant djn";

impl ElectionKey {
    /// The election key of a DJN key, with proofs made by its owner.
    ///
    /// # Errors
    /// A key of another variant: standard keys have no short openings, and those of subgroup keys
    /// do not fit the proofs. Otherwise the errors of [`roots::prove`] and [`blum::prove`].
    pub fn new(private: &PrivateKey) -> Result<Self, ErrorKind> {
        let public = private.public();
        let Some(generator) = public.generator_be().filter(|_| public.variant() == Variant::Djn) else {
            return Err(ErrorKind::Manifest { problem: NOT_DJN });
        };
        Ok(Self::with_proofs(public, generator, &roots::prove(private)?, &blum::prove(private)?))
    }

    /// The election key that trustees generated together, with their proofs.
    ///
    /// # Errors
    /// A key of another variant, which has no proofs.
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

/// The public key of a manifest. Checks that its numbers have the required lengths, that its
/// modulus is not a prime, a square or a product of close primes, and that its proofs hold.
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
        return wrong("the modulus or the generator has the wrong length");
    }
    if may_be_prime(&key) {
        return wrong("the modulus is probably prime: 2^(n - 1) is 1 modulo n");
    }
    if key.has_close_primes() {
        return wrong("the primes of the modulus are too close: Fermat's method finds them");
    }
    let width = key.plaintext_bytes();
    if parts.roots.len() != roots::ROOTS || parts.roots.iter().any(|root| root.0.len() != width) {
        return wrong("the key does not have 11 roots of the length of its modulus");
    }
    if square_roots.len() != blum::ROUNDS || square_roots.iter().any(|root| root.0.len() != width) {
        return wrong("the key does not have 128 square roots of the length of its modulus");
    }
    roots::verify(&key, &key.openings_from_be(&joined(&parts.roots))?)?;
    blum::verify(&key, &key.openings_from_be(&joined(square_roots))?)?;
    Ok(key)
}

fn joined(numbers: &[Bytes]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.0.clone()).collect()
}

/// Fermat's test to base 2. Every prime passes, and hardly any other number. Agreement between
/// verifiers matters more than accepting those few numbers.
fn may_be_prime(key: &PublicKey) -> bool {
    let n = key.root();
    let small = |word| Batch::repeat(&resized(&[word], n.limbs()), 1);
    let mut less_one = n.as_limbs().to_vec();
    less_one[0] &= !1;
    n.pow(&small(2).public(), Exponents::Public(&less_one)) == small(1)
}
