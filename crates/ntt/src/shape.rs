//! How a number is cut into coefficients, and how many there are: the choice by size.
//!
//! A number is a polynomial in `2^b`, and a product is one modulo `x^n - 1` with `n = d 2^k`. The
//! transform stops where polynomials of `d` coefficients are left, which are multiplied as they
//! are: so `d` can be any small number, `n` need not be a power of two, and the cost grows
//! smoothly. Stopping at eight to fifteen is cheaper than going on, too.

use crate::primes::{Constant, INVERSES, LANES, Lanes, MASK, PRIMES, RADIX, inverse, mul, pow};

/// Bits of the smallest digit that [`Shape::of`] considers, and of the largest.
const DIGIT_BITS: std::ops::RangeInclusive<u32> = 42..=47;
/// Coefficients of a leaf.
const DEGREES: std::ops::RangeInclusive<usize> = 7..=15;
/// Fewest and most levels of a transform.
const LEVELS: std::ops::RangeInclusive<u32> = 4..=22;
/// Digits of a coefficient.
pub(crate) const DIGITS: usize = 4;
/// Coefficients that are carried out at a time, a whole number of words whatever their length.
pub(crate) const RUN: usize = 16;

/// `n = d 2^k` coefficients of four digits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `k`.
    pub(crate) levels: u32,
    /// `d`.
    pub(crate) degree: usize,
    /// Bits of a digit, `b / 4`.
    pub(crate) digit: u32,
}

impl Shape {
    /// The cheapest shape for numbers of so many 64-bit limbs, and sums of so many products of
    /// them; `None` if there is none.
    pub(crate) fn of(limbs: usize, terms: usize) -> Option<Self> {
        let bits = limbs.checked_mul(64)?;
        let all = DIGIT_BITS.flat_map(|digit| DEGREES.map(move |degree| (digit, degree)));
        let shapes = all.filter_map(|(digit, degree)| {
            let coefficients = bits.div_ceil(4 * digit as usize);
            let levels = LEVELS.into_iter().find(|&levels| degree << levels >= coefficients)?;
            let shape = Shape { levels, degree, digit };
            (shape.length().checked_mul(terms)? <= 1 << shape.log_sum()).then_some(shape)
        });
        shapes.min_by_key(Shape::cost)
    }

    /// What a product costs, in instructions a port and lane: counted, not fitted.
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

    /// 64-bit limbs of the numbers, `n b / 64`.
    pub(crate) fn limbs(&self) -> usize {
        self.length() / RUN * self.run_words()
    }

    /// 64-bit words of a run of coefficients.
    pub(crate) fn run_words(&self) -> usize {
        RUN * self.coefficient_bits() / 64
    }

    /// Sums of up to 2 to this power products of two coefficients are below half of the primes'
    /// product, which tells them apart by their residues.
    fn log_sum(&self) -> u32 {
        383 - 8 * self.digit
    }
}

/// The constants of the ways from digits to residues and back, for a length of digits and the
/// number of levels.
pub(crate) struct Digits {
    /// Bits of a digit.
    pub(crate) bits: u32,
    /// `2^(bits k)` for the digits `k = 1, 2, 3` of a coefficient.
    pub(crate) places: [Constant; 3],
    /// `2^-levels (M / p)^-1`, for the primes' product `M`, and `2^52` for the product's lost
    /// factor.
    pub(crate) scale: Constant,
    /// For each prime the digits of `M / p`, times `2^(52 - bits)`.
    pub(crate) cofactors: [Lanes; LANES],
    /// `2^99 / p`.
    pub(crate) fractions: Lanes,
    /// The digits of `M`, and, in the first lane, what is above the eighth.
    pub(crate) modulus: Lanes,
    pub(crate) modulus_top: Lanes,
    /// Where the digits of a run are in its words, eight digits at a time, and words in digits.
    pub(crate) cut: Vec<SplitPlan>,
    pub(crate) pack: Vec<JoinPlan>,
}

/// Where eight digits of a run are in its words: digit `i` has bits of the word `word + index[i]`
/// and of the next.
pub(crate) struct SplitPlan {
    pub(crate) word: usize,
    pub(crate) index: [Lanes; 2],
    /// How far the two are shifted: to the right, and to the left.
    pub(crate) right: Lanes,
    pub(crate) left: Lanes,
}

/// What eight words of a run are made of: word `i` has bits of the digit `digit + index[i]` and of
/// the next two.
pub(crate) struct JoinPlan {
    pub(crate) word: usize,
    pub(crate) digit: usize,
    pub(crate) index: [Lanes; 3],
    /// How far the three are shifted: the first to the right, the others to the left.
    pub(crate) right: Lanes,
    pub(crate) left: [Lanes; 2],
}

impl SplitPlan {
    /// Of the eight digits from `8 group` on.
    fn new(bits: usize, group: usize) -> Self {
        let at = |i: usize| (LANES * group + i) * bits;
        let word = at(0) / 64;
        let index = |next: usize| Lanes::of(|i| (at(i) / 64 - word + next) as u64);
        let right = Lanes::of(|i| (at(i) % 64) as u64);
        SplitPlan { word, index: [index(0), index(1)], right, left: Lanes::of(|i| 64 - right.0[i]) }
    }
}

impl JoinPlan {
    /// Of the eight words from `word` on.
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
    pub(crate) fn new(shape: &Shape) -> Self {
        let bits = shape.digit;
        let place = |k: u64| Constant::of(|i| pow(2, u64::from(bits) * k, i));
        let cofactor = |i: usize| product((0..LANES).filter(|&j| j != i));
        let all = product(0..LANES);
        let scale = Constant::of(|i| {
            let others = (0..LANES).filter(|&j| j != i).fold(1, |others, j| mul(others, PRIMES[j] % PRIMES[i], i));
            let factor = mul(others, pow(2, u64::from(shape.levels), i), i);
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
            places: [place(1), place(2), place(3)],
            scale,
            cofactors,
            fractions,
            modulus,
            modulus_top: Lanes::of(|i| if i == 0 { top } else { 0 }),
            cut: (0..RUN / 2).map(|group| SplitPlan::new(size, group)).collect(),
            // A run has as many words as a digit has bits; the last eight may be the last ones'
            // neighbours again.
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

/// Eight digits, and what is above them, less than 64 bits.
fn cut(number: &[u64; 7], bits: u32) -> (Lanes, u64) {
    let from = |k: usize| {
        let (word, shift) = (k * bits as usize / 64, k as u32 * bits % 64);
        let pair = u128::from(number[word]) | u128::from(number.get(word + 1).copied().unwrap_or(0)) << 64;
        (pair >> shift) as u64
    };
    (Lanes::of(|k| from(k) & mask(bits)), from(LANES))
}

/// The constants that all loops need.
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
            let shape = Shape::of(limbs, 1).unwrap();
            assert!(shape.limbs() >= limbs);
            // From the least transform on.
            if limbs > 400 {
                assert!(shape.limbs() < limbs * 5 / 4 + 80, "{limbs}: {shape:?}");
            }
            assert!(shape.length() <= 1 << shape.log_sum());
        }
        assert_eq!(Shape::of(1 << 40, 1), None);
        assert_eq!(Shape::of(usize::MAX, 1), None);
        assert_eq!(Shape::of(1 << 10, 1 << 40), None);
    }

    #[test]
    fn two_products_of_ten_to_the_nine_bits() {
        assert!(Shape::of(2 * 15_625_000, 1).is_some());
        assert!(Shape::of(15_625_000, 100).is_some());
    }

    #[test]
    fn the_longest_numbers() {
        // 15 * 2^22 coefficients of 176 bits.
        let most = (15 << 22) * 176 / 64;
        assert_eq!(Shape::of(most, 1).map(|shape| shape.limbs()), Some(most));
        assert_eq!(Shape::of(most + 1, 1), None);
    }
}
