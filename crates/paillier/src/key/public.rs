//! The public key.

use super::subgroup::check_exponent;
use super::weakness::{Weakness, fermat_finds_factors, small_factor};
use super::{KeyId, KeyPolicy, Variant};
use crate::boxed::boxed;
use crate::short::MORE_BITS;
use crate::{Error, ErrorKind};
use crypto_bigint::{BoxedUint, Gcd};
use hearith_arith::natural::{self, from_be, limbs_of, product_in, to_be};
use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Square};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Primes below this are tried as factors of `n`: no key has any, since the primes of the smallest
/// have 32 bits.
const TRIAL_BOUND: u32 = 1 << 16;

/// A Paillier public key, ready for one engine: the modulus `n`, with `g = n + 1`, the generator
/// `h` of a DJN or a subgroup key, and the length of a subgroup key's exponents. Cloning is cheap.
///
/// Two keys are equal if they have the same `n`, `h` and length.
#[derive(Clone)]
pub struct PublicKey(Arc<Parts>);

struct Parts {
    id: KeyId,
    bits: u32,
    comment: String,
    weakness: Option<Weakness>,
    square: Square,
    squared: Modulus,
    generator: Option<Vec<u64>>,
    /// Bits of the exponents of a subgroup key.
    exponent_bits: Option<u32>,
    lazy: Lazy,
}

/// What is made when it is first needed, of a key with a generator.
#[derive(Default)]
struct Lazy {
    /// `h^n mod n^2`.
    base: OnceLock<Batch>,
    comb: OnceLock<FixedBase>,
    long_comb: OnceLock<FixedBase>,
}

impl PublicKey {
    /// The key with modulus `n`, and with generator `h` if it is of the DJN variant, both
    /// big-endian.
    ///
    /// # Errors
    /// If the size is not even or out of range, if `n` is a square or has a factor below 2^16, if
    /// `h` is not a unit modulo `n` other than 1 and -1, or if the policy refuses a weakness that
    /// shows in `n` (see [`Weakness`]). That `n` is a product of two primes cannot be seen from
    /// outside.
    pub fn new(n_be: &[u8], h_be: Option<&[u8]>, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        Self::read(n_be, h_be, None, policy, engine)
    }

    /// The subgroup key with modulus `n` and generator `h`, big-endian, and the length of its
    /// exponents in bits.
    ///
    /// # Errors
    /// As [`PublicKey::new`], and if the key is too short or the length is not one for its size:
    /// shorter exponents would not hide. That `h` generates a subgroup as long as the length says
    /// cannot be seen from outside.
    pub fn new_subgroup(
        n_be: &[u8],
        h_be: &[u8],
        exponent_bits: u32,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        Self::read(n_be, Some(h_be), Some(exponent_bits), policy, engine)
    }

    fn read(
        n_be: &[u8],
        h_be: Option<&[u8]>,
        exponent_bits: Option<u32>,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        let widest = limbs_of(crate::MAX_BITS);
        let n = from_be(n_be, widest).ok_or(ErrorKind::KeySizeOutOfRange { bits: 8 * n_be.len() as u32 })?;
        let bits = natural::bit_length(&n);
        policy.check(bits)?;
        exponent_bits.map_or(Ok(()), |length| check_exponent(bits, length))?;
        let n = &n[..limbs_of(bits)];
        if let Some(factor) = small_factor(n, TRIAL_BOUND) {
            return Err(ErrorKind::SmallFactor { factor }.into());
        }
        let weakness = Weakness::of_modulus(&Modulus::new(engine, n)?)?;
        policy.permit(weakness)?;
        let generator = h_be.map(|h| checked_generator(h, n)).transpose()?;
        Self::of_modulus(n, generator, exponent_bits, weakness, engine)
    }

    /// The key of a modulus and a generator that are known to be good.
    pub(crate) fn of_modulus(
        n: &[u64],
        generator: Option<Vec<u64>>,
        exponent_bits: Option<u32>,
        weakness: Option<Weakness>,
        engine: Engine,
    ) -> Result<Self, Error> {
        let bits = natural::bit_length(n);
        let squared = Modulus::new(engine, &product_in(n, n, limbs_of(2 * bits)))?;
        let be = |number: &[u64]| to_be(number, bits.div_ceil(8) as usize);
        let id = match (&generator, exponent_bits) {
            (Some(h), Some(length)) => KeyId::of_subgroup(&be(n), &be(h), length),
            _ => KeyId::of_modulus(&be(n)),
        };
        Ok(PublicKey(Arc::new(Parts {
            id,
            bits,
            comment: format!("Paillier public key {id} of Hearith"),
            weakness,
            square: Square::new(engine, n)?,
            squared,
            generator,
            exponent_bits,
            lazy: Lazy::default(),
        })))
    }

    /// The same key under another comment.
    pub(crate) fn with_comment(&self, comment: String) -> Self {
        self.with(comment, self.0.weakness)
    }

    /// The same key, of which its owner knows a weakness.
    pub(crate) fn with_weakness(&self, weakness: Option<Weakness>) -> Self {
        self.with(self.0.comment.clone(), weakness)
    }

    fn with(&self, comment: String, weakness: Option<Weakness>) -> Self {
        let Parts { id, bits, square, squared, generator, exponent_bits, .. } = &*self.0;
        PublicKey(Arc::new(Parts {
            id: *id,
            bits: *bits,
            comment,
            weakness,
            square: square.clone(),
            squared: squared.clone(),
            generator: generator.clone(),
            exponent_bits: *exponent_bits,
            lazy: Lazy::default(),
        }))
    }

    /// Bits of `n`.
    pub fn bits(&self) -> u32 {
        self.0.bits
    }

    /// The name of the key pair: see [`KeyId`].
    pub fn id(&self) -> KeyId {
        self.0.id
    }

    /// What the key's JSON Web Key says about it in `kid`.
    pub fn comment(&self) -> &str {
        &self.0.comment
    }

    /// Why the key protects nothing, as far as is known: `None` for every key that
    /// [`KeyPolicy::Secure`] takes.
    pub fn weakness(&self) -> Option<Weakness> {
        self.0.weakness
    }

    /// Whether a hundred steps of Fermat's method find the factors of `n`, at any size and under
    /// any policy. Takes time that depends on `n`.
    pub fn has_close_primes(&self) -> bool {
        fermat_finds_factors(&boxed(self.modulus()))
    }

    /// How the key draws its randomisers.
    pub fn variant(&self) -> Variant {
        match (&self.0.generator, self.0.exponent_bits) {
            (None, _) => Variant::Standard,
            (Some(_), None) => Variant::Djn,
            (Some(_), Some(_)) => Variant::Subgroup,
        }
    }

    /// The engine that carries the arithmetic out.
    pub fn engine(&self) -> Engine {
        self.0.squared.engine()
    }

    /// `n`, big-endian, in [`PublicKey::plaintext_bytes`] bytes.
    pub fn modulus_be(&self) -> Vec<u8> {
        to_be(self.modulus(), self.plaintext_bytes()).to_vec()
    }

    /// Bits of the randomisers' exponents of a subgroup key; none for keys of other variants.
    pub fn exponent_bits(&self) -> Option<u32> {
        self.0.exponent_bits
    }

    /// The generator `h` of a DJN or a subgroup key, big-endian, in [`PublicKey::plaintext_bytes`]
    /// bytes.
    pub fn generator_be(&self) -> Option<Vec<u8>> {
        Some(to_be(self.generator()?, self.plaintext_bytes()).to_vec())
    }

    /// Bytes of a plaintext: those of `n`.
    pub fn plaintext_bytes(&self) -> usize {
        self.0.bits.div_ceil(8) as usize
    }

    /// Bytes of a ciphertext: twice those of a plaintext.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.plaintext_bytes()
    }

    /// 64-bit limbs of a plaintext.
    pub fn plaintext_limbs(&self) -> usize {
        limbs_of(self.0.bits)
    }

    /// 64-bit limbs of a ciphertext.
    pub(crate) fn ciphertext_limbs(&self) -> usize {
        self.0.squared.limbs()
    }

    /// `n`.
    pub(crate) fn modulus(&self) -> &[u64] {
        self.0.square.root().as_limbs()
    }

    /// `h`.
    pub(crate) fn generator(&self) -> Option<&[u64]> {
        self.0.generator.as_deref()
    }

    /// Arithmetic modulo `n^2` in parts modulo `n`: for what is built on the scheme.
    pub fn square(&self) -> &Square {
        &self.0.square
    }

    /// Arithmetic modulo `n`: for what is built on the scheme.
    pub fn root(&self) -> &Modulus {
        self.0.square.root()
    }

    /// Arithmetic modulo `n^2`: for what is built on the scheme.
    pub fn squared(&self) -> &Modulus {
        &self.0.squared
    }

    /// Bits of the randomisers' exponents: of a DJN key half the bits of `n`, of a subgroup key
    /// what it says.
    pub(crate) fn comb_bits(&self) -> u32 {
        self.0.exponent_bits.unwrap_or(self.0.bits / 2)
    }

    /// `h^n mod n^2`, if the key has a generator.
    pub(crate) fn randomiser_base(&self) -> Option<&Batch> {
        let generator = self.generator()?;
        Some(self.0.lazy.base.get_or_init(|| {
            let base = Batch::repeat(generator, 1).public();
            self.square().join(&self.square().pow(&base, Exponents::Public(self.modulus())))
        }))
    }

    /// Powers of `h^n mod n^2` for exponents of [`PublicKey::comb_bits`] bits, if the key has a
    /// generator. The table is made when it is first needed.
    pub(crate) fn comb(&self) -> Option<&FixedBase> {
        self.comb_of(&self.0.lazy.comb, self.comb_bits())
    }

    /// The same for the longest short openings.
    pub(crate) fn long_comb(&self) -> Option<&FixedBase> {
        self.comb_of(&self.0.lazy.long_comb, self.comb_bits() + MORE_BITS)
    }

    fn comb_of<'a>(&'a self, comb: &'a OnceLock<FixedBase>, bits: u32) -> Option<&'a FixedBase> {
        let base = self.randomiser_base()?;
        Some(comb.get_or_init(|| FixedBase::new(self.square(), base.row(0), bits)))
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.modulus() == other.modulus()
            && self.generator() == other.generator()
            && self.exponent_bits() == other.exponent_bits()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, {} bits, {})", self.id(), self.bits(), self.variant())
    }
}

/// The generator of a DJN or a subgroup key, as far as it can be checked from outside:
/// `1 < h < n - 1`, a unit that is neither 1 nor -1 modulo a prime (its powers would show the
/// factor, and hide nothing modulo that prime), and `n = 1 mod 4`, which `p = q = 3 mod 4` make it.
fn checked_generator(h_be: &[u8], n: &[u64]) -> Result<Vec<u64>, Error> {
    let h = from_be(h_be, n.len()).ok_or(ErrorKind::InvalidGenerator)?;
    let mut next = h.clone();
    natural::add_assign(&mut next, &[1]);
    let inside = natural::less(&[1], &h[..1]) | (1 ^ natural::is_zero(&h[1..])) == 1 && natural::less(&next, n) == 1;
    let is_good = || {
        let (h, one) = (boxed(&h), BoxedUint::one_with_precision(64 * n.len() as u32));
        let neighbours = [h.wrapping_sub(&one), h.clone(), h.wrapping_add(&one)];
        neighbours.iter().all(|number| number.gcd_vartime(&boxed(n)) == BoxedUint::one())
    };
    if inside && n[0] & 3 == 1 && is_good() { Ok(h.to_vec()) } else { Err(ErrorKind::InvalidGenerator.into()) }
}
