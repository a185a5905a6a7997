//! Verification that plaintexts match their ciphertexts, at a fraction of the cost of decryption.
//!
//! # Motivation
//! Decryption works modulo `p` and modulo `q` and combines the two. If one half is faulty, the
//! result `m'` is correct modulo the other prime and wrong modulo this one, so `gcd(m' - m, n)` is
//! a prime. Anyone who learns `m'` and `m`, or who encrypted `m`, then has the private key. Boneh,
//! DeMillo and Lipton showed this for signatures \[BDL97\]; it holds for Paillier too. One bit flip
//! in a constant of a device or in this machine's memory is enough.
//!
//! # Method
//! The check takes one random linear combination (\[BGR98\] for signatures) of a batch of
//! ciphertexts `c_1 ... c_k` and of their claimed plaintexts `m_1 ... m_k`. The factors `r_i` are
//! uniform below `2^64`, independent, and drawn after the plaintexts are known:
//!
//! ```text
//! C = c_1^r_1 ... c_k^r_k mod n^2        M = r_1 m_1 + ... + r_k m_k mod n        D = C (1 - M n) mod n^2
//! ```
//!
//! `C` encrypts `r_1 mu_1 + ... + r_k mu_k`, where `mu_i` is the plaintext of `c_i`, and `D`
//! encrypts `sum r_i (mu_i - m_i)`. The batch passes if `D` encrypts 0: if `D^(p-1) = 1 mod p^2`
//! and `D^(q-1) = 1 mod q^2`. This is equivalent to comparing `M` with the decryption of `C`, but
//! does not use the constants by which decryption multiplies. A wrong constant, which would affect
//! both sides in the same way and could cancel, is therefore also detected.
//!
//! # Error probability
//! Correct plaintexts always pass. A batch with a wrong plaintext passes with probability at most
//! `2^-64`, whatever the fault and however many rows are wrong. Let `d_i = m_i - mu_i` be nonzero
//! modulo `n` for some `i`. Then it is nonzero modulo one of the primes, say `p`. For any values of
//! the other factors, `D` encrypts 0 modulo `p` only if `r_i d_i` has one particular value modulo
//! `p`. Since `d_i` is invertible there, this determines `r_i` modulo `p`. At most one of the
//! `2^64` values of `r_i` qualifies if `p >= 2^64`. For keys of up to 128 bits, which are only for
//! tests, the probability is at most `2^-64 + 1/p`.
//!
//! It does not matter whether a row is wrong modulo one prime or both. Each batch has its own
//! factors: another attempt has the same small probability, and a rejection reveals only that the
//! batch was rejected.
//!
//! # Cost
//! Up to 127 rows, the check works modulo `n^2`. It costs 36 products of dual numbers per row: 2 to
//! convert it, 14 for its table, 16 for the digits of its factor, and 4 as its share of 64
//! squarings when 16 rows share them. A decryption takes two powers with exponents of half the
//! length, modulo numbers of half the length: about `0.31 b` such products for a key of `b` bits.
//!
//! From 128 rows on, the rows are multiplied according to the digits of their factors
//! ([`Square::product_of_powers`](hearith_arith::Square::product_of_powers)), modulo `p^2` and
//! modulo `q^2`, where a product costs a quarter of one modulo `n^2`. Each digit takes one product,
//! and the digit width grows with the number of rows (18 products for 256 rows, 9 for 4 096, 6.4
//! for 65 536). Converting a row takes a few more. Each call also costs slightly more than one
//! decryption. Measured at 2048 bits on one thread, with `avx2` and the portable engine: a check
//! took 8 and 7 % of the time of decrypting 127 rows, 3 % with 256 rows, and 2 % with 4 096.

use crate::ciphertexts::{check_key, check_lengths};

use crate::{Ciphertexts, DecryptError, DecryptionBackend, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};
use hearith_arith::natural::{add_multiple, is_one, is_zero};
use hearith_arith::{Batch, Pairs, random};
use std::borrow::Cow;
use std::ops::Range;
use zeroize::Zeroizing;

/// Bits of a random factor.
const FACTOR_BITS: u32 = 64;
/// Number of rows per partial product, which bounds the memory of a check.
const CHUNK: usize = 1 << 16;
/// Number of rows from which they are multiplied by the digits of their factors.
const MANY: usize = 128;
/// Number of rows that share their squarings (the maximum of `Square::multi_pow`).
const TERMS: usize = 16;

impl PrivateKey {
    /// Checks that plaintexts match their ciphertexts row by row.
    ///
    /// The check uses one random linear combination with independent 64-bit factors from the
    /// operating system's generator. For keys of more than 128 bits, a wrong batch passes with
    /// probability at most `2^-64`, even if only one row is wrong modulo one prime. An empty batch
    /// passes.
    ///
    /// Constant time with respect to the plaintexts and the key. A call costs one decryption plus a
    /// small fraction of a decryption per row (see the source of this module). Use it for results
    /// from a source that may be faulty: one wrong result can leak the key (\[BDL97\]).
    ///
    /// ```
    /// # use hearith_paillier::{Engine, ErrorKind, KeyPolicy, PrivateKey, Variant, encoding::encode_signed};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let ciphertexts = public.encrypt(&encode_signed(public, &[7, -3])?)?;
    /// private.check(&ciphertexts, &encode_signed(public, &[7, -3])?)?;
    /// let wrong = private.check(&ciphertexts, &encode_signed(public, &[7, 3])?).unwrap_err();
    /// assert_eq!(*wrong.kind(), ErrorKind::WrongDecryption);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongDecryption`](ErrorKind::WrongDecryption) if a plaintext is wrong;
    /// [`WrongKey`](ErrorKind::WrongKey), [`Lengths`](ErrorKind::Lengths), or if the random
    /// generator fails.
    pub fn check(&self, ciphertexts: &Ciphertexts, plaintexts: &Plaintexts) -> Result<(), Error> {
        let public = self.public();
        check_key(public.id(), ciphertexts.key_id())?;
        check_key(public.id(), plaintexts.key_id())?;
        check_lengths(ciphertexts.len(), plaintexts.len())?;
        if ciphertexts.is_empty() {
            return Ok(());
        }
        let is_right = if ciphertexts.len() < MANY {
            let rest = combination(public, ciphertexts.batch(), plaintexts.batch())?;
            self.encrypts_zero(&rest, &rest)
        } else {
            let [at_p, at_q] = self.combinations(ciphertexts.batch(), plaintexts.batch())?;
            self.encrypts_zero(&at_p, &at_q)
        };
        if is_right { Ok(()) } else { Err(ErrorKind::WrongDecryption.into()) }
    }

    /// Decrypts as [`PrivateKey::decrypt`] and verifies the result with [`PrivateKey::check`]
    /// before returning it, for machines on which a fault could leak the key.
    ///
    /// # Errors
    /// As these two methods.
    pub fn decrypt_checked(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let plaintexts = self.decrypt(ciphertexts)?;
        self.check(ciphertexts, &plaintexts)?;
        Ok(plaintexts)
    }

    /// The key as a [`DecryptionBackend`] that uses [`PrivateKey::decrypt_checked`].
    pub fn with_fault_check(&self) -> FaultChecked<'_> {
        FaultChecked(self)
    }

    /// [`combination`] modulo the squares of both primes, for many rows. With half as many limbs, a
    /// product costs a quarter.
    fn combinations(&self, ciphertexts: &Batch, plaintexts: &Batch) -> Result<[Batch; 2], Error> {
        let public = self.public();
        let squares = [&self.factors().square_p, &self.factors().square_q];
        // For each chunk of rows the product modulo each square, and finally the plaintexts' term.
        let mut products = squares.map(|_| Batch::zeros(0, public.ciphertext_limbs()));
        let mut sum = zero_accumulator(plaintexts);
        for start in (0..ciphertexts.len()).step_by(CHUNK) {
            let rows = start..ciphertexts.len().min(start + CHUNK);
            let factors = random::bits(rows.len(), 1, FACTOR_BITS)?;
            add_multiples(&mut sum, plaintexts, rows.clone(), &factors);
            let all = rows.len() == ciphertexts.len();
            let some = if all { Cow::Borrowed(ciphertexts) } else { Cow::Owned(ciphertexts.range(rows)) };
            for (products, square) in products.iter_mut().zip(squares) {
                // The time depends on the factors, which are used for this batch only and need not
                // stay secret.
                let powers = square.product_of_powers(&some, &factors, FACTOR_BITS);
                products.append(&square.join(&powers).resize(public.ciphertext_limbs()));
            }
        }
        let negative = negative(public, &sum);
        let [p, q] = [0, 1].map(|half| {
            products[half].append(&negative);
            let ones = Batch::repeat(&[1], products[half].len());
            squares[half].join(&squares[half].product_of_powers(&products[half], &ones, 1))
        });
        Ok([p, q])
    }

    /// Whether a number encrypts 0, given modulo `p^2` and modulo `q^2`, not necessarily reduced.
    /// Constant time apart from the result.
    fn encrypts_zero(&self, at_p: &Batch, at_q: &Batch) -> bool {
        let exponents = &self.decryption().exponents;
        let factors = self.factors();
        let (p, q) = factors.powers(at_p, at_q, (&exponents.0, &exponents.1), factors.bits);
        let is_one = |power: &Pairs| is_one(power.low.row(0)) & is_zero(power.high.row(0));
        is_one(&p) & is_one(&q) == 1
    }
}

/// A private key that verifies each decryption before returning it: see
/// [`PrivateKey::with_fault_check`].
#[derive(Clone, Copy, Debug)]
pub struct FaultChecked<'a>(&'a PrivateKey);

impl DecryptionBackend for FaultChecked<'_> {
    fn public(&self) -> &PublicKey {
        self.0.public()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        Ok(self.0.decrypt_checked(ciphertexts)?)
    }
}

/// The `D` of the module: a ciphertext of a random linear combination of the differences between
/// the actual and the claimed plaintexts. Groups are small enough to give every lane of every core
/// one.
fn combination(public: &PublicKey, ciphertexts: &Batch, plaintexts: &Batch) -> Result<Batch, Error> {
    let (square, squared) = (public.square(), public.squared());
    let factors = random::bits(ciphertexts.len(), 1, FACTOR_BITS)?;
    let mut sum = zero_accumulator(plaintexts);
    add_multiples(&mut sum, plaintexts, 0..plaintexts.len(), &factors);
    let lanes = public.engine().lanes() * rayon::current_num_threads();
    let terms = ciphertexts.len().div_ceil(lanes).clamp(1, TERMS);
    let rows: Vec<u32> = (0..ciphertexts.len() as u32).collect();
    let groups: Vec<&[u32]> = rows.chunks(terms).collect();
    let powers = square.join(&square.multi_pow(ciphertexts, &factors, FACTOR_BITS, &groups));
    // `n^2` may have one limb less than twice those of `n`.
    let product = squared.products(&powers.resize(squared.limbs()), &[&rows[..groups.len()]]);
    Ok(squared.mul(&product, &negative(public, &sum)))
}

/// A zero accumulator that can hold the sum of any possible number of products of plaintexts and
/// factors.
fn zero_accumulator(plaintexts: &Batch) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(vec![0; plaintexts.limbs() + 2])
}

/// Adds the plaintexts of a range of rows, each multiplied by its factor.
fn add_multiples(sum: &mut [u64], plaintexts: &Batch, rows: Range<usize>, factors: &Batch) {
    for (row, factor) in rows.zip(factors.as_limbs()) {
        add_multiple(sum, plaintexts.row(row), *factor);
    }
}

/// `1 - sum n` modulo `n^2`.
fn negative(public: &PublicKey, sum: &[u64]) -> Batch {
    let sum = public.root().reduce(&Batch::from_rows(sum.len(), [sum]));
    let mut one = Batch::zeros(1, sum.limbs());
    one.row_mut(0)[0] = 1;
    // `n^2` may have one limb less than twice those of `n`.
    public.square().join(&Pairs { low: one, high: public.root().neg(&sum) }).resize(public.ciphertext_limbs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxed::to_boxed_uint;
    use crate::decrypt::Decryption;
    use crate::{Engine, KeyPolicy, Variant};
    use crypto_bigint::Gcd;
    use hearith_arith::natural::difference;
    use hearith_arith::{Factor, Modulus};

    fn keys() -> impl Iterator<Item = PrivateKey> {
        let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available());
        let key = |engine| PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
        engines.map(key)
    }

    fn ciphertexts(key: &PrivateKey, count: u8) -> (Ciphertexts, Plaintexts) {
        let public = key.public();
        let mut bytes = vec![0; usize::from(count) * public.plaintext_bytes()];
        for (number, row) in bytes.chunks_exact_mut(public.plaintext_bytes()).enumerate() {
            row[1..].fill(number as u8 ^ 0x5a);
        }
        let plaintexts = public.plaintexts_from_be(&bytes).unwrap();
        (public.encrypt(&plaintexts).unwrap(), plaintexts)
    }

    /// A factor with a flipped bit.
    fn faulty(factor: &Factor, modulus: &Modulus) -> Factor {
        let one = Batch::from_rows(1, [&[1][..]]);
        let number = modulus.mul_by(&one, factor);
        let mut wrong = number.row(0).to_vec();
        wrong[0] ^= 1 << 17;
        modulus.factor(&wrong)
    }

    /// Permanent faults in the constants of decryption: `decrypt` returns wrong plaintexts below
    /// `n`, some of which leak the key; `decrypt_checked` returns an error.
    #[test]
    fn faults_in_the_keys_own_constants_are_found() {
        for key in keys() {
            let (ciphertexts, right) = ciphertexts(&key, 21);
            assert_eq!(key.decrypt_checked(&ciphertexts), Ok(right.clone()));
            let factors = key.factors();
            let (p, q) = (factors.square_p.root(), factors.square_q.root());
            let sound = || Decryption::new(factors);
            let faults = [
                Decryption { h_p: faulty(&sound().h_p, p), ..sound() },
                Decryption { h_q: faulty(&sound().h_q, q), ..sound() },
                Decryption { h_p: faulty(&sound().h_p, p), h_q: faulty(&sound().h_q, q), ..sound() },
                Decryption { chinese: sound().chinese.with_inverse(|inverse| faulty(inverse, q)), ..sound() },
            ];
            for (number, fault) in faults.into_iter().enumerate() {
                let broken = key.with_decryption(fault);
                let wrong = broken.decrypt(&ciphertexts).unwrap();
                assert_ne!(wrong, right, "fault {number}");
                assert_eq!(broken.check(&ciphertexts, &right), Ok(()), "the check uses none of these constants");
                assert_eq!(broken.decrypt_checked(&ciphertexts), Err(ErrorKind::WrongDecryption.into()));
                if number < 2 {
                    assert!(gives_the_key_away(&key, &right, &wrong), "fault {number}");
                }
            }
            // A wrong exponent is detected earlier: its powers are not 1 modulo the primes.
            let (p_less, q_less) = factors.less_one();
            let exponents = (difference(&p_less, &[2]), q_less);
            let broken = key.with_decryption(Decryption { exponents, ..sound() });
            assert!(broken.decrypt_checked(&ciphertexts).is_err() && broken.check(&ciphertexts, &right).is_err());
        }
    }

    /// The same for a subgroup key: the check uses the full exponents and none of the constants for
    /// the short ones.
    #[test]
    fn faults_in_a_subgroups_constants_are_found() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let key = PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, engine).unwrap();
            let (ciphertexts, right) = ciphertexts(&key, 9);
            assert_eq!(key.decrypt_checked(&ciphertexts), Ok(right.clone()));
            let (p, q) = (key.factors().square_p.root(), key.factors().square_q.root());
            let broken = [
                key.with_short_decryption(|sound| Decryption { h_p: faulty(&sound.h_p, p), ..sound }),
                key.with_short_decryption(|sound| Decryption { h_q: faulty(&sound.h_q, q), ..sound }),
            ];
            for broken in broken {
                let wrong = broken.decrypt(&ciphertexts).unwrap();
                assert!(gives_the_key_away(&key, &right, &wrong));
                assert_eq!(broken.decrypt_checked(&ciphertexts), Err(ErrorKind::WrongDecryption.into()));
                assert_eq!(broken.decrypt_any(&ciphertexts), Ok(right.clone()));
            }
        }
    }

    /// \[BDL97\]: whether the difference between a row and its wrong version shares one prime with
    /// `n`.
    fn gives_the_key_away(key: &PrivateKey, right: &Plaintexts, wrong: &Plaintexts) -> bool {
        let differences = key.public().root().sub(right.batch(), wrong.batch());
        let common = to_boxed_uint(differences.row(3)).gcd(&to_boxed_uint(key.public().modulus()));
        let limbs = common.as_words();
        [&key.factors().p, &key.factors().q].into_iter().any(|prime| limbs[..prime.len()] == prime[..])
    }

    /// A transient fault in one half of one row of one batch.
    #[test]
    fn a_fault_of_a_moment_in_one_row_is_found() {
        for key in keys() {
            let (ciphertexts, right) = ciphertexts(&key, 9);
            let chinese = Decryption::new(key.factors()).chinese;
            let (p, q) = (key.factors().square_p.root(), key.factors().square_q.root());
            for bit in [0, 1, 63, 64, 100] {
                let mut half = p.reduce(right.batch());
                half.row_mut(4)[bit / 64] ^= 1 << (bit % 64);
                let wrong = chinese.combine(&p.reduce(&half), &q.reduce(right.batch()));
                let wrong = Plaintexts::new(right.key_id(), right.row_bytes(), wrong);
                assert_ne!(wrong, right);
                assert_eq!(key.check(&ciphertexts, &wrong), Err(ErrorKind::WrongDecryption.into()));
            }
        }
    }

    /// Small and large batches use different methods.
    #[test]
    fn one_wrong_row_is_found_among_any_number() {
        for key in keys() {
            let (some, right) = ciphertexts(&key, 131);
            for rows in [1, 2, MANY - 1, MANY, MANY + 3] {
                let (some, right) = (some.range(0..rows).unwrap(), right.range(0..rows).unwrap());
                key.check(&some, &right).unwrap();
                for row in [0, rows / 2, rows - 1] {
                    let mut wrong = right.batch().clone();
                    wrong.row_mut(row)[0] ^= 1;
                    let wrong = Plaintexts::new(right.key_id(), right.row_bytes(), wrong);
                    assert_eq!(key.check(&some, &wrong), Err(ErrorKind::WrongDecryption.into()), "{row} of {rows}");
                }
            }
        }
    }

    #[test]
    fn sums_have_room() {
        let mut sum = vec![0; 4];
        for _ in 0..3 {
            add_multiple(&mut sum, &[u64::MAX; 2], u64::MAX);
        }
        // 3 (2^128 - 1) (2^64 - 1)
        assert_eq!(sum, [3, u64::MAX - 2, u64::MAX - 3, 2]);
    }
}
