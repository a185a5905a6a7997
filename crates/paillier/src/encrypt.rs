//! Encryption: `c = (1 + m n) R mod n^2` with a randomiser `R = r^n mod n^2`.
//!
//! With `R = a + b n` in parts modulo `n`, `c = a + n ((b + a m) mod n)`, which takes one
//! multiplication modulo `n`. The randomiser dominates the cost. There are three ways to compute
//! one:
//!
//! - from the public key: `r^n` for a random unit `r`, with arithmetic modulo `n` only;
//! - from a key with a generator: `(h^n)^a` with a comb for the fixed base, for a random `a` of
//!   half the length of `n` (DJN) or of the length that the key states (subgroup);
//! - from a standard private key: separately modulo `p^2` and `q^2`, with exponents of half the
//!   length.
//!
//! The third way works because the `n`-th powers modulo `p^2` are the `p`-th powers. The group of
//! units has order `p (p - 1)`, and all `p`-th powers lie in its subgroup of order `p - 1`, which
//! raising to the power `q` permutes: `gcd(q, p - 1) = 1`. Also, `x^p mod p^2` depends only on
//! `x mod p`. So `x^p` for a random `x` in `[1, p)` is a uniform randomiser modulo `p^2`, and `y^q`
//! for a random `y` in `[1, q)` is one modulo `q^2`. The Chinese remainder theorem combines them
//! into a uniform randomiser modulo `n^2`. This takes more than twice as long as the comb of a DJN
//! key, so owners of such keys also use the comb.

use crate::ciphertexts::{check_key, check_lengths};
use crate::key::factors::{Chinese, Factors};
use crate::lazy::Lazy;
use crate::random::{residues, units};
use crate::{Ciphertexts, Error, Plaintexts, PrivateKey, PublicKey, Randomisers, Variant};
use hearith_arith::natural::product_in;
use hearith_arith::random::bits;
use hearith_arith::{ArithError, Batch, Exponents, Modulus, Pairs};

impl PublicKey {
    /// Encrypts every plaintext with its own randomiser: `r^n`, or a power of `h^n` if the key has
    /// a generator.
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::encode_signed};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let plaintexts = encode_signed(public, &[7, 7])?;
    /// let ciphertexts = public.encrypt(&plaintexts)?;
    /// assert_ne!(ciphertexts.range(0..1)?, ciphertexts.range(1..2)?);
    /// assert_eq!(private.decrypt(&ciphertexts)?, plaintexts);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or if the random generator fails.
    pub fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        check_key(self.id(), plaintexts.key_id())?;
        Ok(self.shifted(self.random_pairs(plaintexts.len())?, plaintexts.batch()).public())
    }

    /// Creates `len` randomisers for [`PublicKey::encrypt_with`] and
    /// [`PublicKey::rerandomise_with`].
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn randomisers(&self, len: usize) -> Result<Randomisers, Error> {
        Ok(Randomisers::new(self.id(), self.random_pairs(len)?))
    }

    /// Encrypts with randomisers from a pool, at one multiplication modulo `n` per plaintext.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`PoolExhausted`](crate::ErrorKind::PoolExhausted), which leaves the pool unchanged.
    pub fn encrypt_with(&self, plaintexts: &Plaintexts, pool: &mut Randomisers) -> Result<Ciphertexts, Error> {
        check_key(self.id(), plaintexts.key_id())?;
        check_key(self.id(), pool.key_id())?;
        Ok(self.shifted(pool.take(plaintexts.len())?.into_pairs(), plaintexts.batch()).public())
    }

    /// Re-randomises ciphertexts. The results encrypt the same plaintexts, and nobody can link them
    /// to the inputs without the private key.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or if the random generator fails.
    pub fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.rerandomise_with(ciphertexts, &mut self.randomisers(ciphertexts.len())?)
    }

    /// Re-randomises ciphertexts with randomisers from a pool, at one multiplication modulo `n^2`
    /// each.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`PoolExhausted`](crate::ErrorKind::PoolExhausted), which leaves the pool unchanged.
    pub fn rerandomise_with(&self, ciphertexts: &Ciphertexts, pool: &mut Randomisers) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_key(self.id(), pool.key_id())?;
        let factors = self.square().join(&pool.take(ciphertexts.len())?.into_pairs());
        Ok(self.ciphertexts(self.squared().mul(ciphertexts.batch(), &factors)).public())
    }

    /// The trivial ciphertext of 0, which is the number 1, as the start of a sum. It hides nothing
    /// until it is re-randomised.
    pub fn zero(&self) -> Ciphertexts {
        self.zeros(1)
    }

    /// `len` trivial ciphertexts of 0.
    pub fn zeros(&self, len: usize) -> Ciphertexts {
        let mut one = vec![0; self.ciphertext_limbs()];
        one[0] = 1;
        self.ciphertexts(Batch::repeat(&one, len))
    }

    /// Random randomisers, in parts modulo `n`.
    fn random_pairs(&self, len: usize) -> Result<Pairs, Error> {
        let limbs = self.plaintext_limbs();
        if let Some(comb) = self.comb() {
            return Ok(comb.pow(&bits(len, limbs, self.comb_bits())?));
        }
        Ok(self.unit_powers(&units(len, self.modulus())?))
    }

    /// `r^n mod n^2`, in parts modulo `n`. The exponent is public; `r` is secret.
    fn unit_powers(&self, r: &Batch) -> Pairs {
        self.square().pow(r, Exponents::Public(self.modulus()))
    }

    /// `(1 + m n) c mod n^2` row by row, for numbers `c` in parts modulo `n`.
    pub(crate) fn shifted(&self, numbers: Pairs, by: &Batch) -> Ciphertexts {
        let high = self.root().add(&numbers.high, &self.root().mul(&numbers.low, by));
        self.joined(&Pairs { low: numbers.low, high })
    }

    /// The ciphertexts `low + high n`.
    pub(crate) fn joined(&self, pairs: &Pairs) -> Ciphertexts {
        self.ciphertexts(self.square().join(pairs))
    }

    /// Numbers below `n^2` as ciphertexts of this key.
    pub(crate) fn ciphertexts(&self, numbers: Batch) -> Ciphertexts {
        let limbs = self.ciphertext_limbs();
        let numbers = if numbers.limbs() == limbs { numbers } else { numbers.resize(limbs) };
        Ciphertexts::new(self.id(), self.ciphertext_bytes(), numbers)
    }

    /// Fails unless both batches belong to this key and have the same length.
    pub(crate) fn check_pair(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<(), Error> {
        check_key(self.id(), a.key_id())?;
        check_key(self.id(), b.key_id())?;
        check_lengths(a.len(), b.len())
    }
}

impl PrivateKey {
    /// Encrypts as [`PublicKey::encrypt`]. Under a standard key this is faster, through `p` and
    /// `q`.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or if the random generator fails.
    pub fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        check_key(self.public().id(), plaintexts.key_id())?;
        self.public().encrypt_with(plaintexts, &mut self.randomisers(plaintexts.len())?)
    }

    /// Creates `len` randomisers for [`PublicKey::encrypt_with`] and
    /// [`PublicKey::rerandomise_with`].
    ///
    /// A standard key computes them through `p` and `q`. A key with a generator uses
    /// [`PublicKey::randomisers`], which is faster.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn randomisers(&self, len: usize) -> Result<Randomisers, Error> {
        if self.public().variant() != Variant::Standard {
            return self.public().randomisers(len);
        }
        let [x, y] = self.residues(len)?;
        let numbers = self.residue_powers(&x, &y)?;
        Ok(Randomisers::new(self.public().id(), self.public().square().split(&numbers)))
    }

    /// `len` random numbers in `[1, p)` and as many in `[1, q)`, for `p < q` as in
    /// [`PrivateKey::primes`].
    ///
    /// The `p`-th powers of the former modulo `p^2` and the `q`-th powers of the latter modulo
    /// `q^2` form the randomisers of a standard key's owner. The numbers are as secret as those
    /// randomisers.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn residues(&self, len: usize) -> Result<[Batch; 2], Error> {
        let (p, q) = (self.factors().square_p.root(), self.factors().square_q.root());
        Ok([residues(p, len)?, residues(q, len)?])
    }

    /// Re-randomises as [`PublicKey::rerandomise`], with randomisers from
    /// [`PrivateKey::randomisers`].
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or if the random generator fails.
    pub fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.public().rerandomise_with(ciphertexts, &mut self.randomisers(ciphertexts.len())?)
    }

    /// The numbers modulo `n^2` that are `x^p` modulo `p^2` and `y^q` modulo `q^2`.
    fn residue_powers(&self, x: &Batch, y: &Batch) -> Result<Batch, Error> {
        let factors = self.factors();
        let (at_p, at_q) = factors.powers(x, y, (&factors.p, &factors.q), factors.bits);
        self.combine(&at_p, &at_q)
    }

    /// Combines rows modulo `p^2` and `q^2`, given in parts modulo `p` and modulo `q`, into numbers
    /// modulo `n^2`. The results are randomisers if the inputs are the powers that
    /// [`PrivateKey::residues`] describes, for example computed on a device.
    ///
    /// # Errors
    /// None for an accepted key.
    pub fn combine(&self, at_p: &Pairs, at_q: &Pairs) -> Result<Batch, Error> {
        let factors = self.factors();
        let (at_p, at_q) = (factors.square_p.join(at_p), factors.square_q.join(at_q));
        Ok(self.owner().chinese(self.public(), factors)?.combine(&at_p, &at_q))
    }
}

/// The constants for encryption by the key's owner, computed on first use.
pub(crate) struct Owner(Lazy<Chinese>);

impl Owner {
    pub(crate) fn new() -> Self {
        Owner(Lazy::new())
    }

    /// The moduli `p^2` and `q^2`. There are `q (q - 1)` units modulo `q^2`.
    fn chinese(&self, public: &PublicKey, factors: &Factors) -> Result<&Chinese, ArithError> {
        self.0.get(|| {
            let (p_squared, q_squared) = factors.squares();
            let euler = product_in(&factors.q, &factors.less_one().1, factors.limbs());
            let modulus = Modulus::new(public.engine(), &q_squared)?;
            Ok(Chinese::new(&p_squared, &modulus, &euler, public.ciphertext_limbs()))
        })
    }
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::encoding::encode_signed;
    use crate::{Engine, KeyPolicy};
    use rug::{Integer, integer::Order};
    use serde_json::Value;

    /// The known answers of `tests/vectors/generate.py` for keys of one kind.
    fn vectors(kind: &str) -> Vec<Value> {
        let mut all: Value = serde_json::from_str(include_str!("../tests/vectors/vectors.json")).unwrap();
        serde_json::from_value(all[kind].take()).unwrap()
    }

    fn number(value: &Value) -> Integer {
        Integer::from_str_radix(value.as_str().unwrap(), 16).unwrap()
    }

    fn bytes(value: &Value) -> Vec<u8> {
        number(value).to_digits(Order::MsfBe)
    }

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    /// One member of every object in a list, one per row.
    fn column(list: &Value, member: &str, limbs: usize) -> Batch {
        let numbers: Vec<Vec<u64>> =
            list.as_array().unwrap().iter().map(|one| number(&one[member]).to_digits(Order::Lsf)).collect();
        Batch::from_rows(limbs, numbers.iter().map(Vec::as_slice))
    }

    fn engines() -> impl Iterator<Item = Engine> {
        Engine::ALL.iter().copied().filter(|engine| hearith_testing::has(engine.name(), engine.is_available()))
    }

    #[test]
    fn known_units_give_the_known_ciphertexts() {
        for (engine, vector) in engines().flat_map(|engine| vectors("keys").into_iter().map(move |one| (engine, one))) {
            let key = PublicKey::new(&bytes(&vector["n"]), None, KeyPolicy::AllowInsecure, engine).unwrap();
            let [m, r] = ["m", "r"].map(|member| column(&vector["encryptions"], member, key.plaintext_limbs()));
            let found = key.shifted(key.unit_powers(&r), &m);
            let expected = column(&vector["encryptions"], "c", key.ciphertext_limbs());
            assert!(*found.batch() == expected, "{} bits, {}, {engine}", vector["bits"], vector["kind"]);
        }
    }

    #[test]
    fn known_exponents_give_the_known_djn_ciphertexts() {
        for (engine, vector) in engines().flat_map(|engine| vectors("djn").into_iter().map(move |one| (engine, one))) {
            let (n, h) = (bytes(&vector["n"]), bytes(&vector["h"]));
            let key = PublicKey::new(&n, Some(&h), KeyPolicy::AllowInsecure, engine).unwrap();
            let [m, a] = ["m", "a"].map(|member| column(&vector["encryptions"], member, key.plaintext_limbs()));
            let found = key.shifted(key.comb().unwrap().pow(&a), &m);
            let expected = column(&vector["encryptions"], "c", key.ciphertext_limbs());
            assert!(*found.batch() == expected, "{} bits, {engine}", vector["bits"]);
        }
    }

    /// Powers of `h = -x^2` have Jacobi symbol 1, as does -1 modulo primes that are 3 modulo 4.
    /// Only half of all units do.
    #[test]
    fn owners_of_djn_keys_take_powers_of_the_generator() {
        let symbols = |variant| {
            let key = PrivateKey::generate(256, variant, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
            let n = Integer::from_digits(&key.public().modulus_be(), Order::MsfBe);
            let ciphertexts = key.encrypt(&encode_signed(key.public(), &[0; 64]).unwrap()).unwrap();
            ciphertexts.batch().rows().filter(|row| integer(row).jacobi(&n) == 1).count()
        };
        assert_eq!(symbols(Variant::Djn), 64);
        assert!(symbols(Variant::Standard) < 64);
    }

    #[test]
    fn owners_powers_are_those_of_gmp() {
        for (engine, vector) in engines().flat_map(|engine| vectors("keys").into_iter().map(move |one| (engine, one))) {
            let (p, q) = (bytes(&vector["p"]), bytes(&vector["q"]));
            let key = PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine).unwrap();
            let (p, q) = (key.factors().square_p.root(), key.factors().square_q.root());
            let (x, y) = (residues(p, 3).unwrap(), residues(q, 3).unwrap());
            let found = key.residue_powers(&x, &y).unwrap();
            for (row, found) in found.rows().enumerate() {
                for (x, prime) in [(x.row(row), number(&vector["p"])), (y.row(row), number(&vector["q"]))] {
                    let square = prime.clone().square();
                    assert_eq!(integer(found) % &square, integer(x).pow_mod(&prime, &square).unwrap());
                }
                assert!(integer(found) < number(&vector["n"]).square());
            }
        }
    }
}
