//! The sizes that follow from a key's length and its number of trustees, and values computed once.

use super::Parameters;
use super::numbers::Trial;
use crate::combine::inverse;
use crate::error::{Error, ErrorKind};
use crate::lagrange::{coefficients, factorial};
use hearith_arith::natural::{Secret, add_assign, bit_length, limbs_of, product, resized};
use hearith_arith::{Engine, Factor, Modulus};
use hearith_paillier as paillier;
use zeroize::Zeroizing;

/// The number of bits by which a hiding number exceeds the secret.
const HIDING_BITS: u32 = 128;
/// The number of bits by which a number exceeds `N` before its reduction modulo `N`.
pub(crate) const EXTRA_BITS: u32 = 128;
/// Exponents `m` with `2^m - 1` prime, which give the fields that contain the shares.
const MERSENNE: [u32; 13] = [127, 521, 607, 1279, 2203, 2281, 3217, 4253, 4423, 9689, 9941, 11213, 19937];
/// Primes that the sieve excludes as factors of candidates.
const SIEVE: [u64; 17] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61];

/// Bits of the sum of powers `1 + l + ... + l^(w - 1)`: the number of bits by which a share may
/// exceed the longest coefficient of its polynomial.
fn power_sum_bits(needed: u32, trustees: u32) -> u32 {
    let sum: u64 = (0..needed).map(|power| u64::from(trustees).pow(power)).sum();
    word_bits(sum)
}

fn word_bits(word: u64) -> u32 {
    u64::BITS - word.leading_zeros()
}

/// Bits of `rho`, of the coefficients of its polynomials, and of their shares.
fn blind_bits(bits: u32, needed: u32, trustees: u32) -> (u32, u32, u32) {
    let rho = bits + HIDING_BITS + word_bits(u64::from(trustees));
    let coefficient = rho + HIDING_BITS + word_bits(factorial(trustees)) + needed - 1;
    // The first coefficient has one bit more, which is set.
    (rho, coefficient, coefficient + 1 + power_sum_bits(needed, trustees))
}

/// Bits of the longest share `s_i` of a jointly generated key.
pub(crate) fn key_share_bits(bits: u32, needed: u32, trustees: u32) -> u32 {
    let (_, _, share) = blind_bits(bits, needed, trustees);
    2 * bits + share + word_bits(u64::from(trustees))
}

/// Values that all trustees know before the run.
pub(crate) struct Plan {
    pub(crate) parameters: Parameters,
    /// Bits of a prime.
    pub(crate) prime_bits: u32,
    /// `w - 1`, the degree of the polynomials.
    pub(crate) degree: usize,
    /// `D = l!`.
    pub(crate) factorial: u64,
    pub(crate) sieve: Sieve,
    pub(crate) trial: Trial,
    /// Bits of the coefficients of the polynomials that share `D p_i`.
    pub(crate) coefficient_bits: u32,
    /// Bits of the longest share of `D p_i`.
    pub(crate) share_bits: u32,
    /// Bits of `rho_i`.
    pub(crate) rho_bits: u32,
    pub(crate) blind_coefficient_bits: u32,
    pub(crate) blind_share_bits: u32,
    /// Bits of the longest `Theta`.
    pub(crate) result_bits: u32,
    /// The field of the products `p q`.
    pub(crate) field: Field,
    /// The field of `Theta`.
    pub(crate) wide: Field,
}

/// Integers modulo a Mersenne prime `P = 2^m - 1`.
pub(crate) struct Field {
    pub(crate) bits: u32,
    pub(crate) modulus: Modulus,
    /// For each trustee, its Lagrange coefficient at 0 among all trustees, divided by a power of
    /// `D`.
    pub(crate) lagrange: Vec<Factor>,
}

impl Field {
    /// The smallest supported field above `2^bits`, with the integers of [`coefficients`] divided
    /// by `D^divisions`.
    fn new(bits: u32, trustees: u32, divisions: u32, engine: Engine) -> Result<Self, Error> {
        let too_long = || Error::from(ErrorKind::Scheme(paillier::ErrorKind::KeySizeOutOfRange { bits }));
        let bits = MERSENNE.into_iter().find(|&exponent| exponent > bits).ok_or_else(too_long)?;
        let mut prime = vec![u64::MAX; limbs_of(bits)];
        let unused = 64 * prime.len() as u32 - bits;
        *prime.last_mut().ok_or_else(too_long)? >>= unused;
        let modulus = Modulus::new(engine, &prime)
            .map_err(|error| Error::from(paillier::Error::from(paillier::ErrorKind::Arithmetic(error))))?;
        let everybody: Vec<u32> = (1..=trustees).collect();
        let inverse = inverse(&modulus, factorial(trustees).pow(divisions));
        let inverse = modulus.factor(&inverse);
        let coefficient = |&coefficient: &i128| {
            let magnitude = coefficient.unsigned_abs();
            let row = resized(&[magnitude as u64, (magnitude >> 64) as u64], modulus.limbs());
            let row = hearith_arith::Batch::from_rows(modulus.limbs(), [&row[..]]).public();
            let signed = if coefficient < 0 { modulus.neg(&row) } else { row };
            modulus.factor(modulus.mul_by(&signed, &inverse).row(0))
        };
        let lagrange = coefficients(trustees, &everybody).iter().map(coefficient).collect();
        Ok(Field { bits, modulus, lagrange })
    }

    /// Length of an element in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }
}

/// Keeps small primes out of the candidates. Each sieve prime `r` belongs to one trustee, whose
/// number has a residue modulo `r` that is neither 0 nor 1. The numbers of all other trustees are
/// multiples of `r`.
pub(crate) struct Sieve {
    /// 4 times all primes of the sieve.
    period: u128,
    /// For each trustee, its primes, each with the number below the period that is 1 modulo this
    /// prime and 0 modulo the other primes and 4.
    primes_of_trustees: Vec<Vec<(u64, u128)>>,
    /// 3 modulo 4, 0 modulo all primes.
    three: u128,
    /// A multiple of the period, at least `3 2^(k - 2)` for primes of `k` bits.
    base: Vec<u64>,
    /// Bits of the random multiple of the period.
    pub(crate) multiple_bits: u32,
}

impl Sieve {
    fn new(prime_bits: u32, trustees: u32) -> Result<Self, Error> {
        let too_short = ErrorKind::Scheme(paillier::ErrorKind::KeySizeOutOfRange { bits: 2 * prime_bits });
        // At most a quarter of a prime's bits.
        let fits = |product: u128| 128 - product.leading_zeros() <= prime_bits / 4;
        let (mut period, mut primes) = (4_u128, Vec::new());
        for prime in SIEVE {
            if fits(period * u128::from(prime)) {
                period *= u128::from(prime);
                primes.push(prime);
            }
        }
        let unit = |modulus: u64| {
            let others = period / u128::from(modulus);
            let rest = (others % u128::from(modulus)) as u64;
            // A prime, or 4, has no common factor with the rest of the period.
            let inverse = hearith_arith::natural::word::inverse_mod(rest, modulus).unwrap_or_default();
            others * u128::from(inverse)
        };
        let mut primes_of_trustees = vec![Vec::new(); trustees as usize];
        for (index, &prime) in primes.iter().enumerate() {
            primes_of_trustees[index % trustees as usize].push((prime, unit(prime)));
        }
        // The maximum sum of all trustees' numbers above the base must fit in 2^(k - 2): l (period
        // (2^u + sum of primes)) and one period.
        let primes_sum: u128 = primes.iter().map(|&prime| u128::from(prime)).sum::<u128>() + 4;
        let period_bits = 128 - period.leading_zeros();
        let spare = word_bits(u64::from(trustees)) + period_bits + 1;
        let multiple_bits = (prime_bits - 2).checked_sub(spare).filter(|&bits| 1 << bits.min(64) > primes_sum);
        let multiple_bits = multiple_bits.ok_or(too_short)?;
        // period ceil(3 2^(k - 2) / period), by long division.
        let mut three_quarters = vec![0; limbs_of(prime_bits)];
        three_quarters[(prime_bits as usize - 2) / 64] = 1 << ((prime_bits - 2) % 64);
        let start = resized(&product(&three_quarters, &[3]), limbs_of(prime_bits));
        let base = next_multiple(&start, period);
        Ok(Sieve { period, primes_of_trustees, three: unit(4) * 3, base, multiple_bits })
    }

    /// A trustee's number with the required residues, in `limbs` limbs. `residue` draws a number
    /// below its argument, and `multiple` is the random multiple of the period.
    pub(crate) fn contribution(
        &self,
        trustee: u32,
        limbs: usize,
        mut residue: impl FnMut(u64) -> u64,
        multiple: &[u64],
    ) -> Secret {
        let own = &self.primes_of_trustees[trustee as usize - 1];
        let mut low = Zeroizing::new(if trustee == 1 { self.three } else { 0 });
        for &(prime, unit) in own {
            *low += unit * u128::from(2 + residue(prime - 2));
        }
        let period = [self.period as u64, (self.period >> 64) as u64];
        let mut number = resized(&Zeroizing::new(product(multiple, &period)), limbs);
        add_assign(&mut number, &Zeroizing::new([*low as u64, (*low >> 64) as u64]).as_slice()[..limbs.min(2)]);
        if trustee == 1 {
            add_assign(&mut number, &self.base);
        }
        number
    }

    /// For each trustee, the number of bits that its residues reveal of each prime.
    #[cfg(test)]
    fn known_bits(&self) -> Vec<f64> {
        let bits = |own: &Vec<(u64, u128)>| own.iter().map(|&(prime, _)| (prime as f64).log2()).sum();
        self.primes_of_trustees.iter().map(bits).collect()
    }

    /// The period.
    #[cfg(test)]
    pub(crate) fn period(&self) -> f64 {
        self.period as f64
    }

    /// The odd primes of the sieve.
    pub(crate) fn primes(&self) -> impl Iterator<Item = u64> {
        self.primes_of_trustees.iter().flatten().map(|&(prime, _)| prime)
    }
}

/// The smallest multiple of a period that is at least a public number, in the same number of limbs.
fn next_multiple(number: &[u64], period: u128) -> Vec<u64> {
    // number mod period, bit by bit from the top: the period has fewer than 127 bits.
    let mut rest = 0_u128;
    for position in (0..64 * number.len()).rev() {
        rest = 2 * rest + u128::from(number[position / 64] >> (position % 64) & 1);
        rest -= if rest >= period { period } else { 0 };
    }
    let more = if rest == 0 { 0 } else { period - rest };
    let mut multiple = number.to_vec();
    let more = [more as u64, (more >> 64) as u64];
    add_assign(&mut multiple, &more[..number.len().min(2)]);
    multiple
}

impl Plan {
    pub(crate) fn new(parameters: Parameters) -> Result<Self, Error> {
        let Parameters { bits, needed, trustees, engine, .. } = parameters;
        let (prime_bits, factorial) = (bits / 2, factorial(trustees));
        let coefficient_bits = prime_bits + HIDING_BITS + word_bits(factorial) + needed - 1;
        let (rho_bits, blind_coefficient_bits, blind_share_bits) = blind_bits(bits, needed, trustees);
        let result_bits = word_bits(factorial) + word_bits(u64::from(trustees)) + bits + rho_bits + 1;
        Ok(Plan {
            parameters,
            prime_bits,
            degree: needed as usize - 1,
            factorial,
            sieve: Sieve::new(prime_bits, trustees)?,
            trial: Trial::new(bits),
            coefficient_bits,
            share_bits: coefficient_bits + power_sum_bits(needed, trustees),
            rho_bits,
            blind_coefficient_bits,
            blind_share_bits,
            result_bits,
            field: Field::new(bits, trustees, 3, engine)?,
            wide: Field::new(result_bits, trustees, 1, engine)?,
        })
    }

    pub(crate) fn trustees(&self) -> u32 {
        self.parameters.trustees
    }

    /// The number of candidates in a batch.
    pub(crate) fn candidates(&self) -> usize {
        self.parameters.candidates
    }

    /// The number of limbs of a prime.
    pub(crate) fn prime_limbs(&self) -> usize {
        limbs_of(self.prime_bits)
    }

    /// Length of `N` in bytes.
    pub(crate) fn modulus_bytes(&self) -> usize {
        self.parameters.bits.div_ceil(8) as usize
    }

    /// Length of a share of `D p_i` in bytes.
    pub(crate) fn share_bytes(&self) -> usize {
        self.share_bits.div_ceil(8) as usize
    }

    /// Length of a share of `D rho_i` in bytes.
    pub(crate) fn blind_share_bytes(&self) -> usize {
        self.blind_share_bits.div_ceil(8) as usize
    }

    /// Bits of the sum of one number of `bits` bits per trustee.
    pub(crate) fn sum_bits(&self, bits: u32) -> u32 {
        bits + word_bits(u64::from(self.trustees()))
    }
}

/// The expected number of candidates until one is a product of two primes:
/// `(k ln 2 / (e^gamma ln B))^2` for primes of `k` bits that no prime up to `B` divides (Mertens).
pub(crate) fn expected(prime_bits: u32, trustees: u32) -> f64 {
    let largest = Sieve::new(prime_bits, trustees).ok().and_then(|sieve| sieve.primes().max()).unwrap_or(2);
    let density = f64::from(prime_bits) * std::f64::consts::LN_2 / (1.781 * (largest as f64).ln());
    density * density
}

/// Evaluates a polynomial, with coefficients from the lowest, at a small number. `out` must have
/// enough limbs for the value. Constant time in the coefficients.
pub(crate) fn evaluate(out: &mut [u64], coefficients: &[Secret], at: u64) {
    out.fill(0);
    for coefficient in coefficients.iter().rev() {
        let mut carry = 0;
        for limb in out.iter_mut() {
            let wide = u128::from(*limb) * u128::from(at) + carry;
            (*limb, carry) = (wide as u64, wide >> 64);
        }
        add_assign(out, coefficient);
    }
}

/// Whether a public number is not 0 and has at most `bits` bits.
pub(crate) fn has_at_most(number: &[u64], bits: u32) -> bool {
    (1..=bits).contains(&bit_length(number))
}

#[cfg(test)]
mod tests {
    use super::super::is_threshold;
    use super::*;
    use hearith_paillier::{KeyPolicy, Variant};
    use rug::{Integer, integer::Order};

    fn thresholds() -> impl Iterator<Item = (u32, u32)> {
        (3..=9).flat_map(|trustees| (2..=5).map(move |needed| (needed, trustees))).filter(|&(w, l)| is_threshold(w, l))
    }

    #[test]
    fn contributions_have_their_residues_and_sum_to_numbers_of_the_right_size() {
        for (bits, trustees) in [(64, 3), (65, 9), (128, 5), (1024, 3), (1536, 5), (2048, 9)] {
            let sieve = Sieve::new(bits, trustees).unwrap();
            let limbs = limbs_of(bits);
            for extreme in [0, u64::MAX] {
                let mut multiple = vec![extreme; limbs];
                hearith_arith::natural::clear_bits_from(&mut multiple, sieve.multiple_bits);
                let draw = |below: u64| if extreme == 0 { 0 } else { below - 1 };
                let parts: Vec<Integer> = (1..=trustees)
                    .map(|trustee| sieve.contribution(trustee, limbs, draw, &multiple))
                    .map(|part| Integer::from_digits(&part[..], Order::Lsf))
                    .collect();
                assert!(parts[1..].iter().all(|part| part.mod_u(4) == 0) && parts[0].mod_u(4) == 3);
                let sum: Integer = parts.iter().sum();
                assert_eq!(sum.significant_bits(), bits);
                assert!(sum >= Integer::from(3) << (bits - 2), "{bits}");
                for prime in sieve.primes() {
                    assert!(sum.mod_u(prime as u32) > 1, "{prime}");
                }
            }
        }
        assert_eq!(Sieve::new(1024, 5).unwrap().primes().count(), SIEVE.len());
    }

    /// The number of bits of each prime that fewer than w trustees know, as in
    /// docs/explanation/threshold.md.
    #[test]
    fn residues_tell_few_bits() {
        for (needed, trustees) in thresholds() {
            let mut bits = Sieve::new(1024, trustees).unwrap().known_bits();
            bits.sort_by(|a, b| b.total_cmp(a));
            let most: f64 = bits[..needed as usize - 1].iter().sum();
            assert!(most < 42.0, "{needed} of {trustees}: {most}");
        }
    }

    #[test]
    fn shares_have_about_three_times_the_bits_of_the_key() {
        for (needed, trustees) in thresholds() {
            let more = key_share_bits(2048, needed, trustees) - 3 * 2048;
            assert!((256..320).contains(&more), "{needed} of {trustees}: {more}");
        }
    }

    #[test]
    fn fields_are_large_enough() {
        for (needed, trustees) in thresholds() {
            for bits in [128, 256, 2048, 3072, 4096] {
                let parameters =
                    Parameters::new(bits, needed, trustees, Variant::Djn, KeyPolicy::AllowInsecure, Engine::Serial);
                let plan = Plan::new(parameters.unwrap()).unwrap();
                assert!(plan.field.bits > bits && plan.wide.bits > plan.result_bits);
                assert!(plan.factorial.checked_pow(3).is_some());
            }
        }
    }

    #[test]
    fn polynomials_are_evaluated() {
        let coefficients: Vec<Secret> =
            [[7, 0], [u64::MAX, 1], [3, 5]].iter().map(|one| Zeroizing::new(one.to_vec())).collect();
        let mut out = [9; 3];
        evaluate(&mut out, &coefficients, 9);
        let expected = coefficients
            .iter()
            .rev()
            .fold(Integer::new(), |sum, one| sum * 9u32 + Integer::from_digits(one, Order::Lsf));
        assert_eq!(Integer::from_digits(&out, Order::Lsf), expected);
    }
}
