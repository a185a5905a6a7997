//! Checking decryptions: whether plaintexts are what their ciphertexts hold, for a fraction of the
//! price of decrypting.
//!
//! # Why
//! Decryption works modulo `p` and modulo `q` and puts the two together. If one of the halves goes
//! wrong, the result `m'` is right modulo the other prime and wrong modulo this one, so that
//! `gcd(m' - m, n)` is a prime: whoever learns `m'` and `m`, or encrypted `m` themselves, has the
//! private key. Boneh, DeMillo and Lipton showed it for signatures \[BDL97\]; for Paillier it is
//! the same. One flipped bit in a constant of a device is enough, or one in this machine's memory.
//!
//! # How
//! Of a batch of ciphertexts `c_1 ... c_k` and of what is said to be their plaintexts
//! `m_1 ... m_k`, one random linear combination is taken (\[BGR98\] for signatures). With factors
//! `r_i`, uniform below `2^64`, independent, and drawn after the plaintexts are there,
//!
//! ```text
//! C = c_1^r_1 ... c_k^r_k mod n^2        M = r_1 m_1 + ... + r_k m_k mod n        D = C (1 - M n) mod n^2
//! ```
//!
//! `C` encrypts `r_1 mu_1 + ... + r_k mu_k`, where `mu_i` is what `c_i` holds, and `D` encrypts
//! `sum r_i (mu_i - m_i)`. The batch passes if `D` encrypts 0: if `D^(p-1) = 1 mod p^2` and
//! `D^(q-1) = 1 mod q^2`. That is the comparison of `M` with the decryption of `C`, but with
//! nothing in it that the decryption multiplies by: a wrong constant, which would be wrong in the
//! same way on both sides and could cancel, is found as well.
//!
//! # How sure
//! Right plaintexts always pass. A batch with a wrong plaintext passes with a probability of at
//! most `2^-64`, whatever was done to it and however many rows are wrong: let `d_i = m_i - mu_i` be
//! other than 0 modulo `n` for some `i`. Then it is so modulo one of the primes, say `p`. Whatever
//! the other factors are, `D` encrypts 0 modulo `p` only if `r_i d_i` has one certain value modulo
//! `p`, and since `d_i` is invertible there, only if `r_i` has. Among the `2^64` values of `r_i` at
//! most one has it if `p >= 2^64`. For keys of up to 128 bits, which are for tests alone, the
//! probability is at most `2^-64 + 1/p`.
//!
//! So it is no matter whether a row is wrong modulo one of the primes or both. Each batch has
//! factors of its own: whoever tries again has the same small chance again, and learns from a
//! refusal nothing but that it is one.
//!
//! # What it costs
//! Up to 127 rows: modulo `n^2`, in products of dual numbers, 2 a row to bring it in, 14 for its
//! table, 16 for the digits of its factor and its share of 64 squarings, 4 of them where 16 rows
//! share: 36. A decryption takes two powers of half the length modulo numbers of half the length,
//! some `0.31 b` such products for a key of `b` bits.
//!
//! From 128 rows on, rows are multiplied up by the digits of their factors
//! ([`Square::product_of_powers`](hearith_arith::Square::product_of_powers)), modulo `p^2` and
//! modulo `q^2`, where a product is a quarter of one modulo `n^2`: one for each digit, whose width
//! grows with the rows (18 products for 256 rows, 9 for 4 096, 6.4 for 65 536), and some for
//! bringing a row in. To that comes, once for each call, somewhat more than one decryption.
//! Measured at 2048 bits on one thread, with `avx2` and the portable engine: a check took 8 and 7 %
//! of the time of decrypting 127 rows, 3 % with 256 rows, and 2 % with 4 096.

use crate::ciphertexts::{check_key, check_lengths};

use crate::{Ciphertexts, Decrypt, DecryptError, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};
use hearith_arith::natural::{add_multiple, is_one, is_zero};
use hearith_arith::{Batch, Pairs, random};
use std::borrow::Cow;
use std::ops::Range;
use zeroize::Zeroizing;

/// Bits of a random factor.
const FACTOR_BITS: u32 = 64;
/// Rows of which one part of the product is made: what bounds the memory of a check.
const CHUNK: usize = 1 << 16;
/// Rows from which they are multiplied up by the digits of their factors.
const MANY: usize = 128;
/// Rows that share their squarings (as many as `Square::multi_pow` lets).
const TERMS: usize = 16;

impl PrivateKey {
    /// Whether plaintexts are what their ciphertexts hold, row by row: by one random linear
    /// combination with independent factors of 64 bits from the operating system's generator. A
    /// batch that is wrong, be it in one row and modulo one prime only, passes with a probability
    /// of at most `2^-64`, for keys of more than 128 bits. A batch of no rows is right.
    ///
    /// Constant time in the plaintexts and the key. A row of thousands takes a fraction of a
    /// decryption that the module's text counts; to that comes one decryption a call. For results
    /// that come from where they may be wrong; a wrong one can give the key away (\[BDL97\]).
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
    /// [`WrongDecryption`](ErrorKind::WrongDecryption); [`WrongKey`](ErrorKind::WrongKey),
    /// [`Lengths`](ErrorKind::Lengths), or if the random generator fails.
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

    /// Decrypts as [`PrivateKey::decrypt`] and checks the result as [`PrivateKey::check`] before it
    /// gives any of it out: for machines that may err, where a fault would give the key away.
    ///
    /// # Errors
    /// As the two.
    pub fn decrypt_checked(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let plaintexts = self.decrypt(ciphertexts)?;
        self.check(ciphertexts, &plaintexts)?;
        Ok(plaintexts)
    }

    /// The key as one that [`Decrypt`]s with [`PrivateKey::decrypt_checked`].
    pub fn checking(&self) -> FaultChecked<'_> {
        FaultChecked(self)
    }

    /// [`combination`] modulo the squares of both primes, for many rows: half as many limbs make a
    /// product a quarter as long.
    fn combinations(&self, ciphertexts: &Batch, plaintexts: &Batch) -> Result<[Batch; 2], Error> {
        let public = self.public();
        let squares = [&self.factors().square_p, &self.factors().square_q];
        // Of each part of the rows the product modulo each square, and last the plaintexts' share.
        let mut products = squares.map(|_| Batch::zeros(0, public.ciphertext_limbs()));
        let mut sum = room(plaintexts);
        for start in (0..ciphertexts.len()).step_by(CHUNK) {
            let rows = start..ciphertexts.len().min(start + CHUNK);
            let factors = random::bits(rows.len(), 1, FACTOR_BITS)?;
            add_multiples(&mut sum, plaintexts, rows.clone(), &factors);
            let all = rows.len() == ciphertexts.len();
            let some = if all { Cow::Borrowed(ciphertexts) } else { Cow::Owned(ciphertexts.range(rows)) };
            for (products, square) in products.iter_mut().zip(squares) {
                // The time depends on the factors, which this batch alone has and nobody needs to
                // guess.
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

    /// Whether one number encrypts 0: the number modulo `p^2` and modulo `q^2`, or any that are the
    /// same there. Constant time but for the answer.
    fn encrypts_zero(&self, at_p: &Batch, at_q: &Batch) -> bool {
        let exponents = &self.decryption().exponents;
        let factors = self.factors();
        let (p, q) = factors.powers(at_p, at_q, (&exponents.0, &exponents.1), factors.bits);
        let is_one = |power: &Pairs| is_one(power.low.row(0)) & is_zero(power.high.row(0));
        is_one(&p) & is_one(&q) == 1
    }
}

/// A private key that checks what it has decrypted before it gives it out: see
/// [`PrivateKey::checking`].
#[derive(Clone, Copy, Debug)]
pub struct FaultChecked<'a>(&'a PrivateKey);

impl Decrypt for FaultChecked<'_> {
    fn public(&self) -> &PublicKey {
        self.0.public()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        Ok(self.0.decrypt_checked(ciphertexts)?)
    }
}

/// A random linear combination of what the ciphertexts hold less what they are said to hold,
/// encrypted: `D` of the module. Groups are small enough for every lane of every core to have one.
fn combination(public: &PublicKey, ciphertexts: &Batch, plaintexts: &Batch) -> Result<Batch, Error> {
    let (square, squared) = (public.square(), public.squared());
    let factors = random::bits(ciphertexts.len(), 1, FACTOR_BITS)?;
    let mut sum = room(plaintexts);
    add_multiples(&mut sum, plaintexts, 0..plaintexts.len(), &factors);
    let lanes = public.engine().lanes() * rayon::current_num_threads();
    let terms = ciphertexts.len().div_ceil(lanes).clamp(1, TERMS);
    let rows: Vec<u32> = (0..ciphertexts.len() as u32).collect();
    let groups: Vec<&[u32]> = rows.chunks(terms).collect();
    let powers = square.join(&square.multi_pow(ciphertexts, &factors, FACTOR_BITS, &groups));
    // `n^2` may have a limb less than twice those of `n`.
    let product = squared.products(&powers.resize(squared.limbs()), &[&rows[..groups.len()]]);
    Ok(squared.mul(&product, &negative(public, &sum)))
}

/// Room for the sum of as many products of plaintexts and factors as can be.
fn room(plaintexts: &Batch) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(vec![0; plaintexts.limbs() + 2])
}

/// Adds the plaintexts of some rows, each times its factor.
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
    // `n^2` may have a limb less than twice those of `n`.
    public.square().join(&Pairs { low: one, high: public.root().neg(&sum) }).resize(public.ciphertext_limbs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxed::boxed;
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

    /// A factor that is another one.
    fn faulty(factor: &Factor, modulus: &Modulus) -> Factor {
        let one = Batch::from_rows(1, [&[1][..]]);
        let number = modulus.mul_by(&one, factor);
        let mut wrong = number.row(0).to_vec();
        wrong[0] ^= 1 << 17;
        modulus.factor(&wrong)
    }

    /// Faults that stay, in what decryption derives from the key: `decrypt` gives wrong plaintexts
    /// below `n`, one of which gives the key away; `decrypt_checked` gives an error.
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
            // A wrong exponent shows earlier: its powers are no longer 1 modulo the primes.
            let (p_less, q_less) = factors.less_one();
            let exponents = (difference(&p_less, &[2]), q_less);
            let broken = key.with_decryption(Decryption { exponents, ..sound() });
            assert!(broken.decrypt_checked(&ciphertexts).is_err() && broken.check(&ciphertexts, &right).is_err());
        }
    }

    /// Likewise of a subgroup key: the check takes the full exponents, and none of the constants
    /// that the short ones go with.
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

    /// \[BDL97\]: whether the difference of a row and its wrong version has one prime in common
    /// with `n`.
    fn gives_the_key_away(key: &PrivateKey, right: &Plaintexts, wrong: &Plaintexts) -> bool {
        let differences = key.public().root().sub(right.batch(), wrong.batch());
        let common = boxed(differences.row(3)).gcd(&boxed(key.public().modulus()));
        let limbs = common.as_words();
        [&key.factors().p, &key.factors().q].into_iter().any(|prime| limbs[..prime.len()] == prime[..])
    }

    /// A fault that passes: one half of one row of one batch.
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

    /// Of few rows and of many, which are multiplied up in another way.
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
