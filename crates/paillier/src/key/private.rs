//! The private key.

use super::factors::Factors;
use super::generate::{Primes, are_safe, check_primes, generates, generator, primes};
use super::jwk::private_comment;
use super::public::PublicKey;
use super::weakness::Weakness;
use super::{KeyPolicy, Variant};
use crate::decrypt::Decryption;
use crate::encrypt::Owner;
use crate::locked::Locked;
use crate::{Error, ErrorKind, MIN_SECURE_BITS};
use hearith_arith::Engine;
use hearith_arith::natural::{self, Secret, limbs_of, product_in, to_be};
use std::fmt;
use std::sync::Arc;

/// A Paillier private key: the prime factors of `n` and what decryption derives from them. `Debug` shows the id of the key
/// pair only.
///
/// Cloning is cheap and copies no secret: clones share the numbers, which are wiped when the last of them is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    comment: String,
    factors: Arc<Locked<Factors>>,
    decryption: Arc<Locked<Decryption>>,
    owner: Arc<Owner>,
}

impl PrivateKey {
    /// A new random key whose modulus has exactly `bits` bits.
    ///
    /// `p < q` are primes of `bits / 2` bits from the operating system's generator, their two highest bits set, found by
    /// the crate crypto-primes (sieving, then the strengthened Baillie-PSW test) and tested once more by Miller and Rabin's
    /// method with random bases, so that the chance of a composite one is below `2^-128`. For [`Variant::Djn`] both are 3 modulo 4 and
    /// `gcd(p - 1, q - 1) = 2`. The time that it takes depends on the numbers that were tried and turned down, and
    /// crypto-primes does not wipe the space that it works in; do not run it beside code that you do not trust.
    ///
    /// ```
    /// use hearith_paillier::{Engine, Error, ErrorKind, KeyPolicy, PrivateKey, Variant, Weakness};
    /// let key = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
    /// assert_eq!(key.public().bits(), 512);
    ///
    /// let refused = PrivateKey::generate(512, Variant::Djn, KeyPolicy::Secure, Engine::best());
    /// assert_eq!(refused.unwrap_err(), ErrorKind::InsecureKey(Weakness::Short { bits: 512 }).into());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not even, out of range or refused by the policy, or if the random generator fails.
    pub fn generate(bits: u32, variant: Variant, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let kind = if variant == Variant::Djn { Primes::Blum } else { Primes::Any };
        Self::generate_with(bits, variant, kind, policy, engine)
    }

    /// As [`PrivateKey::generate`], of safe primes: `(p - 1) / 2` and `(q - 1) / 2` are prime too, as a key that is to be shared among
    /// trustees needs them. They are rare: the search takes some hundred times as long.
    ///
    /// # Errors
    /// As [`PrivateKey::generate`].
    pub fn generate_safe(bits: u32, variant: Variant, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        Self::generate_with(bits, variant, Primes::Safe, policy, engine)
    }

    fn generate_with(
        bits: u32,
        variant: Variant,
        kind: Primes,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        policy.check(bits)?;
        let (p, q) = primes(bits, kind, engine)?;
        let n = product_in(&p, &q, limbs_of(bits));
        let h = match variant {
            Variant::Standard => None,
            Variant::Djn => Some(generator(&n, engine)?.to_vec()),
        };
        let weakness = (bits < MIN_SECURE_BITS).then_some(Weakness::Short { bits });
        let public = PublicKey::of_modulus(&n, h, weakness, engine)?;
        Self::of_factors(public, p, q)
    }

    /// The key with the given primes, and with the generator `h` if it is of the DJN variant, all big-endian.
    ///
    /// # Errors
    /// If the primes are not prime, not different or not of one length, if the policy refuses a [`Weakness`], or if `h` is
    /// not `-x^2` for a unit `x`.
    pub fn from_primes(
        p_be: &[u8],
        q_be: &[u8],
        h_be: Option<&[u8]>,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        let (p, q) = check_primes(p_be, q_be, engine)?;
        let n = product_in(&p, &q, 2 * p.len());
        let public = PublicKey::new(&to_be(&n, 16 * p.len()), h_be, policy, engine)?;
        Self::checked(public, p, q, policy)
    }

    /// The primes `p < q` as 64-bit limbs, least significant first: for a device that is loaded with the key. They are the
    /// secret itself: copies must be wiped.
    pub fn primes(&self) -> [&[u64]; 2] {
        [&self.factors.p, &self.factors.q]
    }

    /// Whether both primes are safe ones: `(p - 1) / 2` and `(q - 1) / 2` are prime too. The chance of a wrong yes is below `2^-128`.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn has_safe_primes(&self) -> Result<bool, Error> {
        are_safe(&self.factors, self.public.engine())
    }

    /// The private key of a public key, given its primes, big-endian.
    pub(crate) fn of_public(public: PublicKey, p_be: &[u8], q_be: &[u8], policy: KeyPolicy) -> Result<Self, Error> {
        let (p, q) = check_primes(p_be, q_be, public.engine())?;
        let n = product_in(&p, &q, 2 * p.len());
        if n[..limbs_of(natural::bit_length(&n))] != *public.modulus() {
            return Err(ErrorKind::WrongPrimes.into());
        }
        Self::checked(public, p, q, policy)
    }

    /// The key with primes that are prime; how far they are apart and its generator are checked.
    fn checked(public: PublicKey, p: Secret, q: Secret, policy: KeyPolicy) -> Result<Self, Error> {
        let weakness = public.weakness().or_else(|| Weakness::of_primes(&p, &q, public.bits()));
        policy.permit(weakness)?;
        let key = Self::of_factors(public.with_weakness(weakness), p, q)?;
        match key.public.generator() {
            Some(h) if !generates(h, &key.factors) => Err(ErrorKind::InvalidGenerator.into()),
            _ => Ok(key),
        }
    }

    fn of_factors(public: PublicKey, p: Secret, q: Secret) -> Result<Self, Error> {
        let factors = Arc::new(Locked::new(Factors::new(p, q, public.engine())?));
        let comment = private_comment(public.id());
        let decryption = Arc::new(Locked::new(Decryption::new(&factors)));
        Ok(PrivateKey { public, comment, factors, decryption, owner: Arc::new(Owner::new()) })
    }

    pub(crate) fn with_comment(self, comment: String) -> Self {
        PrivateKey { comment, ..self }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// What the key's JSON Web Key says about it in `kid`.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// Whether the operating system keeps the key's numbers out of swap space: every page that the primes and what follows
    /// from them lie in. It may refuse, most often because a process can only lock so much (`ulimit -l`); the key works
    /// all the same.
    pub fn is_locked_in_memory(&self) -> bool {
        self.factors.is_locked() && self.decryption.is_locked()
    }

    pub(crate) fn factors(&self) -> &Factors {
        &self.factors
    }

    pub(crate) fn decryption(&self) -> &Decryption {
        &self.decryption
    }

    /// The same key with what decryption derives from it put in place of its own: for tests of faults.
    #[cfg(test)]
    pub(crate) fn with_decryption(&self, decryption: Decryption) -> Self {
        PrivateKey { decryption: Arc::new(Locked::new(decryption)), ..self.clone() }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public.id())
    }
}
