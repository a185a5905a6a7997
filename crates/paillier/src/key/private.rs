//! The private key.

use super::factors::Factors;
use super::generate::{Primes, are_safe, check_primes, generates, generator, primes};
use super::jwk::private_comment;
use super::public::PublicKey;
use super::subgroup::{self, Orders};
use super::weakness::Weakness;
use super::{KeyPolicy, Variant};
use crate::decrypt::Decryption;
use crate::encrypt::Owner;
use crate::locked::Locked;
use crate::{Error, ErrorKind, MIN_SECURE_BITS};
use hearith_arith::natural::{self, Secret, limbs_of, product_in, to_be};
use hearith_arith::{Engine, Memory};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A Paillier private key: the prime factors of `n` and the constants that decryption derives from
/// them. `Debug` shows only the ID of the key pair.
///
/// Cloning is cheap and copies no secret: clones share the numbers, which are wiped when the last
/// clone is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    comment: String,
    factors: Arc<Locked<Factors>>,
    decryption: Arc<Locked<Decryption>>,
    subgroup: Option<Arc<Locked<Subgroup>>>,
    /// Whether decryption uses the exponents of the factors although shorter ones exist.
    is_for_any: bool,
    owner: Arc<Owner>,
}

/// The additional parts of a subgroup key.
struct Subgroup {
    orders: Orders,
    /// Decryption with the exponents of the subgroup.
    decryption: Decryption,
}

impl Memory for Subgroup {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.orders.memory(ranges);
        self.decryption.memory(ranges);
    }
}

impl PrivateKey {
    /// Generates a random key whose modulus has exactly `bits` bits.
    ///
    /// `p < q` are primes of `bits / 2` bits from the operating system's generator, with the two
    /// highest bits set. The crate crypto-primes finds them by sieving and the strengthened
    /// Baillie-PSW test. A Miller-Rabin test with random bases then bounds the chance of a
    /// composite factor by `2^-128`. For [`Variant::Djn`], both primes are 3 modulo 4 and
    /// `gcd(p - 1, q - 1) = 2`. The running time depends on the rejected candidates, and
    /// crypto-primes does not wipe its working memory: do not generate keys next to untrusted code.
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
    /// If the size is odd, out of range or rejected by the policy, or if the random generator
    /// fails.
    pub fn generate(bits: u32, variant: Variant, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        if variant == Variant::Subgroup {
            return Self::generate_subgroup(bits, policy, engine);
        }
        let kind = if variant == Variant::Djn { Primes::Blum } else { Primes::Any };
        Self::generate_with(bits, variant, kind, policy, engine)
    }

    /// Generates a key of safe primes, for which `(p - 1) / 2` and `(q - 1) / 2` are also prime.
    ///
    /// Keys that are shared among trustees need safe primes. They are rare: the search takes about
    /// a hundred times as long as [`PrivateKey::generate`].
    ///
    /// # Errors
    /// As [`PrivateKey::generate`], and [`NotForSubgroup`](crate::ErrorKind::NotForSubgroup),
    /// because a subgroup key has no safe primes.
    pub fn generate_safe(bits: u32, variant: Variant, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        if variant == Variant::Subgroup {
            return Err(ErrorKind::NotForSubgroup { what: "shares of trustees", instead: "standard or djn" }.into());
        }
        Self::generate_with(bits, variant, Primes::Safe, policy, engine)
    }

    fn generate_subgroup(bits: u32, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        policy.check(bits)?;
        let parts = subgroup::parts(bits, engine)?;
        let (p, q) = (parts.primes.0.clone(), parts.primes.1.clone());
        let n = product_in(&p, &q, limbs_of(bits));
        let factors = Factors::new(p, q, engine)?;
        let h = parts.generator(&n, &factors, engine)?.to_vec();
        let length = parts.orders.exponent_bits();
        let weakness = (bits < MIN_SECURE_BITS).then_some(Weakness::Short { bits });
        let public = PublicKey::of_modulus(&n, Some(h), Some(length), weakness, engine)?;
        Ok(Self::of_parts(public, factors, Some(parts.orders)))
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
            Variant::Djn => Some(generator(&n, engine)?.to_vec()),
            Variant::Standard | Variant::Subgroup => None,
        };
        let weakness = (bits < MIN_SECURE_BITS).then_some(Weakness::Short { bits });
        let public = PublicKey::of_modulus(&n, h, None, weakness, engine)?;
        Ok(Self::of_parts(public, Factors::new(p, q, engine)?, None))
    }

    /// Creates the key with the given primes, and for a DJN key with the generator `h`, all
    /// big-endian.
    ///
    /// # Errors
    /// If the primes are not prime, equal or of different lengths, if the policy rejects a
    /// [`Weakness`], or if `h` is not `-x^2` for a unit `x`.
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
        Self::checked(public, p, q, None, policy)
    }

    /// Creates the subgroup key with the primes `P` and `Q`, the primes `p` and `q` that divide
    /// `P - 1` and `Q - 1`, the generator `h`, all big-endian, and the length of the randomisers'
    /// exponents in bits.
    ///
    /// # Errors
    /// As [`PrivateKey::from_primes`]. Also if `p` or `q` is not prime, has the wrong size for the
    /// key, does not divide or leaves a composite cofactor, if the order of `h` is not `2 p q`, or
    /// if the exponents are too short to hide.
    pub fn from_subgroup_primes(
        primes_be: [&[u8]; 2],
        orders_be: [&[u8]; 2],
        h_be: &[u8],
        exponent_bits: u32,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        let (p, q) = check_primes(primes_be[0], primes_be[1], engine)?;
        let n = product_in(&p, &q, 2 * p.len());
        let public = PublicKey::new_subgroup(&to_be(&n, 16 * p.len()), h_be, exponent_bits, policy, engine)?;
        let orders_be = in_order(&p, primes_be[0], orders_be);
        Self::checked(public, p, q, Some(orders_be), policy)
    }

    /// The primes that divide `P - 1` and `Q - 1` for the primes `P < Q` of a subgroup key, as
    /// 64-bit limbs, least significant first; `None` for other keys. They are as secret as
    /// [`PrivateKey::primes`].
    pub fn subgroup_primes(&self) -> Option<[&[u64]; 2]> {
        let orders = &self.subgroup.as_ref()?.orders;
        Some([&orders.p, &orders.q])
    }

    /// A copy of the key that decrypts ciphertexts with any randomiser.
    ///
    /// A subgroup key then uses the exponents of other keys, which take three to five times as long
    /// (see [`PrivateKey::decrypt_any`]). Keys of other variants stay the same.
    ///
    /// Everything that decrypts with the copy does so, including devices that are loaded with it.
    pub fn any_randomiser(&self) -> Self {
        PrivateKey { is_for_any: true, ..self.clone() }
    }

    /// Whether the key decrypts ciphertexts with any randomiser: true for every key except a
    /// subgroup key without [`PrivateKey::any_randomiser`].
    pub fn decrypts_any_randomiser(&self) -> bool {
        self.short_decryption().is_none()
    }

    /// The primes `p < q` as 64-bit limbs, least significant first, for loading a device with the
    /// key. They are the secret itself, so copies must be wiped.
    pub fn primes(&self) -> [&[u64]; 2] {
        [&self.factors.p, &self.factors.q]
    }

    /// Whether both primes are safe: `(p - 1) / 2` and `(q - 1) / 2` are also prime. The chance of
    /// a wrong `true` is below `2^-128`.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn has_safe_primes(&self) -> Result<bool, Error> {
        are_safe(&self.factors, self.public.engine())
    }

    /// The private key of a public key, given its big-endian primes and, for a subgroup key, the
    /// primes of its subgroup in the same order.
    pub(crate) fn of_public(
        public: PublicKey,
        p_be: &[u8],
        q_be: &[u8],
        orders_be: Option<[&[u8]; 2]>,
        policy: KeyPolicy,
    ) -> Result<Self, Error> {
        let (p, q) = check_primes(p_be, q_be, public.engine())?;
        let n = product_in(&p, &q, 2 * p.len());
        if n[..limbs_of(natural::bit_length(&n))] != *public.modulus() {
            return Err(ErrorKind::WrongPrimes.into());
        }
        let orders_be = orders_be.map(|orders_be| in_order(&p, p_be, orders_be));
        Self::checked(public, p, q, orders_be, policy)
    }

    /// Creates the key from tested primes. Checks their distance, the subgroup and the generator.
    fn checked(
        public: PublicKey,
        p: Secret,
        q: Secret,
        orders_be: Option<[&[u8]; 2]>,
        policy: KeyPolicy,
    ) -> Result<Self, Error> {
        let weakness = public.weakness().or_else(|| Weakness::of_primes(&p, &q, public.bits()));
        policy.permit(weakness)?;
        let factors = Factors::new(p, q, public.engine())?;
        let public = public.with_weakness(weakness);
        let Some(length) = public.exponent_bits() else {
            if public.generator().is_some_and(|h| !generates(h, &factors)) {
                return Err(ErrorKind::InvalidGenerator.into());
            }
            return Ok(Self::of_parts(public, factors, None));
        };
        let missing = ErrorKind::InvalidSubgroup { problem: "the primes of its subgroup are missing" };
        let [p_be, q_be] = orders_be.ok_or(missing)?;
        let orders = Orders::checked(p_be, q_be, &factors, public.engine())?;
        let least = orders.exponent_bits();
        if length < least {
            return Err(ErrorKind::ExponentLength { bits: length, least, most: public.bits() / 2 }.into());
        }
        if !public.generator().is_some_and(|h| orders.is_order_of(h, &factors)) {
            return Err(ErrorKind::InvalidGenerator.into());
        }
        Ok(Self::of_parts(public, factors, Some(orders)))
    }

    fn of_parts(public: PublicKey, factors: Factors, orders: Option<Orders>) -> Self {
        let factors = Arc::new(Locked::new(factors));
        let comment = private_comment(public.id());
        let decryption = Arc::new(Locked::new(Decryption::new(&factors)));
        let subgroup = orders.map(|orders| {
            let decryption = Decryption::short(&decryption, &factors, &orders);
            Arc::new(Locked::new(Subgroup { orders, decryption }))
        });
        PrivateKey { public, comment, factors, decryption, subgroup, is_for_any: false, owner: Arc::new(Owner::new()) }
    }

    pub(crate) fn with_comment(self, comment: String) -> Self {
        PrivateKey { comment, ..self }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The comment in `kid` of the key's JSON Web Key.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// Whether the operating system keeps every page with the primes and values derived from them
    /// out of swap space. It may refuse, usually because a process can lock only a limited amount
    /// of memory (`ulimit -l`). The key works regardless.
    pub fn is_locked_in_memory(&self) -> bool {
        let subgroup = self.subgroup.as_ref().is_none_or(|subgroup| subgroup.is_locked());
        self.factors.is_locked() && self.decryption.is_locked() && subgroup
    }

    pub(crate) fn factors(&self) -> &Factors {
        &self.factors
    }

    pub(crate) fn decryption(&self) -> &Decryption {
        &self.decryption
    }

    /// Decryption with the exponents of the key's subgroup, if it has one and uses it.
    pub(crate) fn short_decryption(&self) -> Option<&Decryption> {
        let subgroup = self.subgroup.as_ref().filter(|_| !self.is_for_any)?;
        Some(&subgroup.decryption)
    }

    /// The same key with other decryption constants, for tests of faults.
    #[cfg(test)]
    pub(crate) fn with_decryption(&self, decryption: Decryption) -> Self {
        PrivateKey { decryption: Arc::new(Locked::new(decryption)), ..self.clone() }
    }

    /// The same key with other constants for decryption in its subgroup, for tests of faults.
    #[cfg(test)]
    pub(crate) fn with_short_decryption(&self, change: impl FnOnce(Decryption) -> Decryption) -> Self {
        let orders = &self.subgroup.as_ref().expect("a subgroup key").orders;
        let decryption = change(Decryption::short(&self.decryption, &self.factors, orders));
        let orders = Orders { p: orders.p.clone(), q: orders.q.clone() };
        let subgroup = Some(Arc::new(Locked::new(Subgroup { orders, decryption })));
        PrivateKey { subgroup, ..self.clone() }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// Sorts two items into the order of the primes `p < q`; `first` is the prime of the first item.
fn in_order<'a>(p: &[u64], first: &[u8], [one, other]: [&'a [u8]; 2]) -> [&'a [u8]; 2] {
    let is_p = natural::from_be(first, p.len()).is_some_and(|first| *first == *p);
    if is_p { [one, other] } else { [other, one] }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public.id())
    }
}
