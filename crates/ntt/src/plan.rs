//! The division of a number into coefficients, and their number: the choice by size.
//!
//! A number is a polynomial in `2^b`, and a product is one modulo `x^n - 1` with `n = d 2^k`. The
//! transform stops at polynomials of `d` coefficients, which are multiplied directly. So `d` can be
//! any small number, `n` need not be a power of two, and the cost grows smoothly. Stopping at eight
//! to fifteen coefficients is also cheaper than continuing.

use crate::primes::{Constant, INVERSES, LANES, Lanes, MASK, PRIMES, RADIX, inverse, mul, pow};

/// Lengths in bits of the digits that [`TransformPlan::of`] considers.
const DIGIT_BITS: std::ops::RangeInclusive<u32> = 42..=47;
/// Numbers of coefficients in a leaf that it considers.
const DEGREES: std::ops::RangeInclusive<usize> = 7..=15;
/// Numbers of levels of a transform that it considers.
const LEVELS: std::ops::RangeInclusive<u32> = 4..=22;
/// Number of digits in a coefficient.
pub(crate) const DIGITS: usize = 4;
/// Number of coefficients that are carried at a time. They are a whole number of words whatever
/// their length.
pub(crate) const RUN: usize = 16;

/// `n = d 2^k` coefficients of four digits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransformPlan {
    /// `k`.
    pub(crate) levels: u32,
    /// `d`.
    pub(crate) degree: usize,
    /// Length of a digit in bits, `b / 4`.
    pub(crate) digit: u32,
}

impl TransformPlan {
    /// The cheapest plan for numbers of `limbs` 64-bit limbs and sums of `terms` products of them.
    /// `None` if there is none.
    pub(crate) fn of(limbs: usize, terms: usize) -> Option<Self> {
        let bits = limbs.checked_mul(64)?;
        let all = DIGIT_BITS.flat_map(|digit| DEGREES.map(move |degree| (digit, degree)));
        let plans = all.filter_map(|(digit, degree)| {
            let coefficients = bits.div_ceil(4 * digit as usize);
            let levels = LEVELS.into_iter().find(|&levels| degree << levels >= coefficients)?;
            let plan = TransformPlan { levels, degree, digit };
            (plan.length().checked_mul(terms)? <= 1 << plan.log_sum()).then_some(plan)
        });
        plans.min_by_key(TransformPlan::cost)
    }

    /// The cost of a product, in instructions per port and lane. The coefficients are counted, not
    /// fitted.
    fn cost(&self) -> usize {
        self.length() * (11 * self.levels as usize + 2 * self.degree + 94)
    }

    /// `n`.
    pub(crate) fn length(&self) -> usize {
        self.degree << self.levels
    }

    /// `b`.
    pub(crate) fn coefficient_bits(&self) -> usize {
        4 * self.digit as usize
    }

    /// Number of 64-bit limbs of the numbers, `n b / 64`.
    pub(crate) fn limbs(&self) -> usize {
        self.length() / RUN * self.run_words()
    }

    /// Number of 64-bit words in a run of coefficients.
    pub(crate) fn run_words(&self) -> usize {
        RUN * self.coefficient_bits() / 64
    }

    /// Sums of up to 2 to this power products of two coefficients are below half of the primes'
    /// product, so their residues determine them.
    fn log_sum(&self) -> u32 {
        383 - 8 * self.digit
    }
}

/// The constants for converting digits to residues and back, for one digit length and number of
/// levels.
pub(crate) struct Digits {
    /// Length of a digit in bits.
    pub(crate) bits: u32,
    /// `2^(bits k)` for the digits `k = 1, 2, 3` of a coefficient.
    pub(crate) weights: [Constant; 3],
    /// `2^-levels (M / p)^-1 2^52`, for the primes' product `M`. The factor `2^52` compensates for
    /// the division in Montgomery reduction.
    pub(crate) scale: Constant,
    /// For each prime, the digits of `M / p`, times `2^(52 - bits)`.
    pub(crate) cofactors: [Lanes; LANES],
    /// `2^99 / p`.
    pub(crate) fractions: Lanes,
    /// The first eight digits of `M`, and the part above them in the first lane.
    pub(crate) modulus: Lanes,
    pub(crate) modulus_top: Lanes,
    /// The position of a run's digits in its words, eight digits at a time, and of words in digits.
    pub(crate) cut: Vec<SplitPlan>,
    pub(crate) pack: Vec<JoinPlan>,
}

/// The position of eight digits of a run in its words: digit `i` has bits of the word
/// `word + index[i]` and of the next one.
pub(crate) struct SplitPlan {
    pub(crate) word: usize,
    pub(crate) index: [Lanes; 2],
    /// Shifts of the two words: to the right and to the left.
    pub(crate) right: Lanes,
    pub(crate) left: Lanes,
}

/// The digits in eight words of a run: word `i` has bits of the digit `digit + index[i]` and of the
/// next two.
pub(crate) struct JoinPlan {
    pub(crate) word: usize,
    pub(crate) digit: usize,
    pub(crate) index: [Lanes; 3],
    /// Shifts of the three digits: the first to the right, the others to the left.
    pub(crate) right: Lanes,
    pub(crate) left: [Lanes; 2],
}

impl SplitPlan {
    /// For the eight digits from `8 group` on.
    fn new(bits: usize, group: usize) -> Self {
        let at = |i: usize| (LANES * group + i) * bits;
        let word = at(0) / 64;
        let index = |next: usize| Lanes::of(|i| (at(i) / 64 - word + next) as u64);
        let right = Lanes::of(|i| (at(i) % 64) as u64);
        SplitPlan { word, index: [index(0), index(1)], right, left: Lanes::of(|i| 64 - right.0[i]) }
    }
}

impl JoinPlan {
    /// For the eight words from `word` on.
    fn new(bits: usize, word: usize) -> Self {
        let at = |i: usize| (word + i) * 64;
        let digit = at(0) / bits;
        let index = |next: usize| Lanes::of(|i| (at(i) / bits - digit + next) as u64);
        let left = |next: usize| Lanes::of(|i| (next * bits - at(i) % bits) as u64);
        let right = Lanes::of(|i| (at(i) % bits) as u64);
        JoinPlan { word, digit, index: [index(0), index(1), index(2)], right, left: [left(1), left(2)] }
    }
}

impl Digits {
    pub(crate) fn new(plan: &TransformPlan) -> Self {
        let bits = plan.digit;
        let weight = |k: u64| Constant::of(|i| pow(2, u64::from(bits) * k, i));
        let cofactor = |i: usize| product((0..LANES).filter(|&j| j != i));
        let all = product(0..LANES);
        let scale = Constant::of(|i| {
            let others = (0..LANES).filter(|&j| j != i).fold(1, |others, j| mul(others, PRIMES[j] % PRIMES[i], i));
            let factor = mul(others, pow(2, u64::from(plan.levels), i), i);
            mul(inverse(factor, i), pow(2, u64::from(RADIX), i), i)
        });
        let cofactors = std::array::from_fn(|i| {
            let (digits, above) = cut(&cofactor(i), bits);
            assert_eq!(above, 0, "M / p has eight digits");
            Lanes(digits.0.map(|digit| digit << (RADIX - bits)))
        });
        let fractions = Lanes::of(|i| ((1_u128 << 99) / u128::from(PRIMES[i])) as u64);
        let (modulus, top) = cut(&all, bits);
        let size = bits as usize;
        Digits {
            bits,
            weights: [weight(1), weight(2), weight(3)],
            scale,
            cofactors,
            fractions,
            modulus,
            modulus_top: Lanes::of(|i| if i == 0 { top } else { 0 }),
            cut: (0..RUN / 2).map(|group| SplitPlan::new(size, group)).collect(),
            // A run has as many words as a digit has bits. The last group of eight may overlap the
            // one before it.
            pack: (0..size.div_ceil(LANES))
                .map(|group| JoinPlan::new(size, (LANES * group).min(size - LANES)))
                .collect(),
        }
    }
}

/// The product of some of the primes, in seven limbs.
fn product(of: impl Iterator<Item = usize>) -> [u64; 7] {
    of.fold([1, 0, 0, 0, 0, 0, 0], |product, i| times(&product, PRIMES[i]))
}

fn times(number: &[u64; 7], factor: u64) -> [u64; 7] {
    let mut carry = 0;
    number.map(|limb| {
        let sum = u128::from(limb) * u128::from(factor) + carry;
        carry = sum >> 64;
        sum as u64
    })
}

/// The lowest eight digits and the part above them, which is below 2^64.
fn cut(number: &[u64; 7], bits: u32) -> (Lanes, u64) {
    let from = |k: usize| {
        let (word, shift) = (k * bits as usize / 64, k as u32 * bits % 64);
        let pair = u128::from(number[word]) | u128::from(number.get(word + 1).copied().unwrap_or(0)) << 64;
        (pair >> shift) as u64
    };
    (Lanes::of(|k| from(k) & mask(bits)), from(LANES))
}

/// Constants used by all loops.
pub(crate) const P: Lanes = Lanes(PRIMES);
pub(crate) const INVERSE: Lanes = Lanes(INVERSES);

/// The mask of a digit.
pub(crate) fn mask(bits: u32) -> u64 {
    MASK >> (RADIX - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_grow_smoothly() {
        for limbs in (100..20_000).step_by(7).chain((20_000..40_000_000).step_by(99_991)) {
            let plan = TransformPlan::of(limbs, 1).unwrap();
            assert!(plan.limbs() >= limbs);
            // For all lengths above the smallest transform.
            if limbs > 400 {
                assert!(plan.limbs() < limbs * 5 / 4 + 80, "{limbs}: {plan:?}");
            }
            assert!(plan.length() <= 1 << plan.log_sum());
        }
        assert_eq!(TransformPlan::of(1 << 40, 1), None);
        assert_eq!(TransformPlan::of(usize::MAX, 1), None);
        assert_eq!(TransformPlan::of(1 << 10, 1 << 40), None);
    }

    #[test]
    fn two_products_of_ten_to_the_nine_bits() {
        assert!(TransformPlan::of(2 * 15_625_000, 1).is_some());
        assert!(TransformPlan::of(15_625_000, 100).is_some());
    }

    #[test]
    fn the_longest_numbers() {
        // 15 * 2^22 coefficients of 176 bits.
        let most = (15 << 22) * 176 / 64;
        assert_eq!(TransformPlan::of(most, 1).map(|plan| plan.limbs()), Some(most));
        assert_eq!(TransformPlan::of(most + 1, 1), None);
    }
}
