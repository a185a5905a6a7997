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

/// A Paillier private key: the prime factors of `n` and what decryption derives from them. `Debug`
/// shows the id of the key pair only.
///
/// Cloning is cheap and copies no secret: clones share the numbers, which are wiped when the last
/// of them is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    comment: String,
    factors: Arc<Locked<Factors>>,
    decryption: Arc<Locked<Decryption>>,
    subgroup: Option<Arc<Locked<Subgroup>>>,
    /// Whether it decrypts with the exponents of the factors although there are shorter ones.
    is_for_any: bool,
    owner: Arc<Owner>,
}

/// What only a subgroup key has.
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
    /// A new random key whose modulus has exactly `bits` bits.
    ///
    /// `p < q` are primes of `bits / 2` bits from the operating system's generator, their two
    /// highest bits set, found by the crate crypto-primes (sieving, then the strengthened
    /// Baillie-PSW test) and tested once more by Miller and Rabin's method with random bases, so
    /// that the chance of a composite one is below `2^-128`. For [`Variant::Djn`] both are 3 modulo
    /// 4 and `gcd(p - 1, q - 1) = 2`. The time that it takes depends on the numbers that were tried
    /// and turned down, and crypto-primes does not wipe the space that it works in; do not run it
    /// beside code that you do not trust.
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
    /// If the size is not even, out of range or refused by the policy, or if the random generator
    /// fails.
    pub fn generate(bits: u32, variant: Variant, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        if variant == Variant::Subgroup {
            return Self::generate_subgroup(bits, policy, engine);
        }
        let kind = if variant == Variant::Djn { Primes::Blum } else { Primes::Any };
        Self::generate_with(bits, variant, kind, policy, engine)
    }

    /// As [`PrivateKey::generate`], of safe primes: `(p - 1) / 2` and `(q - 1) / 2` are prime too,
    /// as a key that is to be shared among trustees needs them. They are rare: the search takes
    /// some hundred times as long.
    ///
    /// # Errors
    /// As [`PrivateKey::generate`], and [`NotForSubgroup`](crate::ErrorKind::NotForSubgroup): such
    /// a key has no safe primes.
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

    /// The key with the given primes, and with the generator `h` if it is of the DJN variant, all
    /// big-endian.
    ///
    /// # Errors
    /// If the primes are not prime, not different or not of one length, if the policy refuses a
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

    /// The subgroup key with the primes `P` and `Q`, the primes `p` and `q` that divide `P - 1` and
    /// `Q - 1`, the generator `h`, all big-endian, and the length of the randomisers' exponents in
    /// bits.
    ///
    /// # Errors
    /// As [`PrivateKey::from_primes`], and if `p` and `q` are not prime, not of the size that the
    /// key asks for, do not divide or leave cofactors that are no primes, if the order of `h` is
    /// not `2 p q`, or the length does not hide.
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

    /// The primes of a subgroup key's subgroup, 64-bit limbs, the least significant first: those
    /// that divide `P - 1` and `Q - 1` for its primes `P < Q`; none for other keys. They are as
    /// secret as [`PrivateKey::primes`].
    pub fn subgroup_primes(&self) -> Option<[&[u64]; 2]> {
        let orders = &self.subgroup.as_ref()?.orders;
        Some([&orders.p, &orders.q])
    }

    /// The same key, decrypting ciphertexts of any origin: under a subgroup key with the exponents
    /// of other keys, which take three to five times as long (see [`PrivateKey::decrypt_any`]). The
    /// key itself under every other variant.
    ///
    /// All that decrypts with the result does so, devices that are loaded with it included.
    pub fn any_randomiser(&self) -> Self {
        PrivateKey { is_for_any: true, ..self.clone() }
    }

    /// Whether it decrypts ciphertexts whatever their randomisers: every key but that of a
    /// subgroup, and that one after [`PrivateKey::any_randomiser`].
    pub fn decrypts_any_randomiser(&self) -> bool {
        self.short_decryption().is_none()
    }

    /// The primes `p < q` as 64-bit limbs, least significant first: for a device that is loaded
    /// with the key. They are the secret itself: copies must be wiped.
    pub fn primes(&self) -> [&[u64]; 2] {
        [&self.factors.p, &self.factors.q]
    }

    /// Whether both primes are safe ones: `(p - 1) / 2` and `(q - 1) / 2` are prime too. The chance
    /// of a wrong yes is below `2^-128`.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn has_safe_primes(&self) -> Result<bool, Error> {
        are_safe(&self.factors, self.public.engine())
    }

    /// The private key of a public key, given its primes, big-endian, and of a subgroup key those
    /// of its subgroup in their order.
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

    /// The key with primes that are prime; how far they are apart, its subgroup and its generator
    /// are checked.
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

    /// What the key's JSON Web Key says about it in `kid`.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// Whether the operating system keeps the key's numbers out of swap space: every page that the
    /// primes and what follows from them lie in. It may refuse, most often because a process can
    /// only lock so much (`ulimit -l`); the key works all the same.
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

    /// Decryption with the exponents of the key's subgroup, if it has one and may use it.
    pub(crate) fn short_decryption(&self) -> Option<&Decryption> {
        let subgroup = self.subgroup.as_ref().filter(|_| !self.is_for_any)?;
        Some(&subgroup.decryption)
    }

    /// The same key with what decryption derives from it put in place of its own: for tests of
    /// faults.
    #[cfg(test)]
    pub(crate) fn with_decryption(&self, decryption: Decryption) -> Self {
        PrivateKey { decryption: Arc::new(Locked::new(decryption)), ..self.clone() }
    }

    /// The same key with other constants of its subgroup's decryption: for tests of faults.
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

/// What belongs to two primes, in the order of the primes `p < q`; `first` is the one that the
/// first of it belongs to.
fn in_order<'a>(p: &[u64], first: &[u8], [one, other]: [&'a [u8]; 2]) -> [&'a [u8]; 2] {
    let is_p = natural::from_be(first, p.len()).is_some_and(|first| *first == *p);
    if is_p { [one, other] } else { [other, one] }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public.id())
    }
}
