//! The cost of an encryption over the integers: cycles of the encryptor in `rtl/dghv` step by step,
//! and cycles of the paper's by its corrected equation 12.

use super::Parameters;
use super::cost::Blocks;
use super::four_step::{FourStep, Shape};

/// Number of segments of an element generated from the seed side by side.
const LANES: u64 = 8;

/// Lengths of a key, in bits except for the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The modulus, `phi`.
    pub modulus: u64,
    /// The number of elements, `tau`, or of elements of each kind.
    pub elements: u64,
    /// A coefficient.
    pub coefficient: u64,
    /// A correction of a compressed key.
    pub correction: u64,
    /// The bits by which the sum before its reduction exceeds the modulus, `gamma`.
    pub excess: u64,
}

/// The configuration of the encryptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encryptor {
    /// Cycles of a product of blocks, which equal the length of its transforms.
    pub points: u64,
    /// Number of words of a block.
    pub block: u64,
    /// Length of a word in bits.
    pub word: u64,
    /// Number of words in a piece of the adder.
    pub chunk: u64,
    /// Cycles from the start of a product to its end, excluding its products of blocks.
    pub way: u64,
    /// Cycles between steps, until written words are in memory and the next step is available.
    pub between: u64,
    /// Cycles after the last step for clearing all internal state.
    pub clear: u64,
    /// The unit that computes long products of a reduction by transforms, if there is one.
    pub transforms: Option<Transforms>,
}

/// The configuration of `transform_product`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transforms {
    /// Minimum number of words of both factors.
    pub least: u64,
    /// Logarithm of the shortest transform of a row or column.
    pub shortest: u64,
    /// The configuration of its transforms.
    pub by: FourStep,
}

impl Transforms {
    /// The unit with [`FourStep::LONG`]. From `least` words on, both products of a reduction of
    /// twice the bits take fewer cycles with it than with [`Encryptor::HALVES`].
    pub const LONG: Transforms = Transforms { least: 1288, shortest: 6, by: FourStep::LONG };

    /// The shape of a product, if the factors are long enough for this unit and a shape holds the
    /// product.
    fn shape(&self, x: u64, y: u64, z: u64) -> Option<Shape> {
        let long = x.min(y) >= self.least;
        long.then(|| self.by.shape(self.shortest, (x + y).max(z) * self.by.word)).flatten()
    }
}

/// A pass over memory; lengths in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The lowest `z` words of the sum of `terms` products of `x` by `y` words.
    Product {
        /// Words of the first factor.
        x: u64,
        /// Words of the second factor.
        y: u64,
        /// Words of the result.
        z: u64,
        /// Number of pairs of factors.
        terms: u64,
        /// Number of sums side by side, with the same `x`.
        lanes: u64,
    },
    /// A product by transforms.
    Transforms {
        /// The configuration of the transforms.
        by: FourStep,
        /// The shape of the matrices.
        shape: Shape,
        /// Words of the result.
        z: u64,
    },
    /// A sum or difference of `z` words whose first operand has `x` words.
    Sum {
        /// Words of the first operand.
        x: u64,
        /// Words of the result.
        z: u64,
    },
}

impl Step {
    /// The number of block products: those of every column, and one product of zeros for an empty
    /// column.
    pub fn products(&self, block: u64) -> u64 {
        let Step::Product { x, y, z, terms, lanes } = *self else { return 0 };
        let [i, j, columns] = [x, y, z].map(|words| words.div_ceil(block));
        let pairs = |c: u64| (c.min(i - 1) + 1).saturating_sub((c + 1).saturating_sub(j));
        lanes * (0..columns).map(|c| (pairs(c) * terms).max(1)).sum::<u64>()
    }

    /// Cycles with a memory that responds immediately.
    pub fn cycles(&self, design: &Encryptor) -> u64 {
        match *self {
            Step::Product { .. } => self.products(design.block) * design.points + design.way,
            // One cycle to choose the shape. If the result ends before its shape does, the unit
            // does not wait for its carry.
            Step::Transforms { by, shape, z } => {
                let whole = z * by.word == by.base * shape.points();
                1 + by.cycles(shape) - if whole { 0 } else { 2 }
            }
            Step::Sum { x, z } => x.min(z) + z + 2 * z.div_ceil(design.chunk) + 4,
        }
    }
}

impl Encryptor {
    /// The encryptor with 128 points modulo `2^64 - 2^32 + 1` and words of 64 bits.
    pub const HALVES: Encryptor =
        Encryptor { points: 128, block: 28, word: 64, chunk: 32, way: 354, between: 5, clear: 1000, transforms: None };

    /// The encryptor with 4096 points.
    pub const LONG: Encryptor = Encryptor { points: 4096, block: 832, way: 16 * 1024, ..Encryptor::HALVES };

    fn words(&self, bits: u64) -> u64 {
        bits.div_ceil(self.word)
    }

    /// Computes `sum of b_i A_i` for coefficients of `coefficient` words, into `z` words.
    fn elements(&self, lengths: &Lengths, coefficient: u64, terms: u64, z: u64) -> [Step; 4] {
        let segment = self.words(lengths.modulus).div_ceil(LANES);
        let short = coefficient + self.words(lengths.correction) + 1;
        [
            Step::Product { x: coefficient, y: segment, z: 2 * segment, terms, lanes: LANES },
            Step::Sum { x: 7 * segment, z: 8 * segment },
            Step::Product { x: coefficient, y: short - coefficient - 1, z: short, terms, lanes: 1 },
            Step::Sum { x: 9 * segment, z },
        ]
    }

    /// A product of a reduction.
    fn product(&self, x: u64, y: u64, z: u64) -> Step {
        let long = self.transforms.and_then(|transforms| Some((transforms.by, transforms.shape(x, y, z)?)));
        long.map_or(Step::Product { x, y, z, terms: 1, lanes: 1 }, |(by, shape)| Step::Transforms { by, shape, z })
    }

    /// Words of scratch memory for the longest transforms in these steps.
    pub fn matrices(steps: &[Step]) -> u64 {
        let words = |step: &Step| if let Step::Transforms { by, shape, .. } = step { by.scratch(*shape) } else { 0 };
        steps.iter().map(words).max().unwrap_or(0)
    }

    /// Number of steps of a reduction. They are the last steps of an encryption.
    pub const REDUCTION: usize = 11;

    /// Barrett's reduction of a number of `x` words.
    pub fn reduction(&self, lengths: &Lengths, x: u64) -> [Step; Self::REDUCTION] {
        let (words, rest) = (self.words(lengths.modulus), lengths.modulus % self.word);
        let minus_beta = if rest < 3 { rest + self.word } else { rest };
        let (below, size) = ((lengths.modulus - minus_beta) / self.word, (lengths.excess + minus_beta) / self.word + 1);
        let bound = (lengths.modulus + lengths.excess) / self.word;
        let sum = |x: u64, z: u64| Step::Sum { x, z };
        [
            sum(1, 1),
            sum(x.saturating_sub(bound).min(1), 1),
            sum(x.saturating_sub(bound + 1), x.saturating_sub(bound + 1).max(1)),
            self.product(size.min(x - below), size, 2 * size),
            self.product(size, words, words + 1),
            sum(x.min(words + 1), words + 1),
            sum(words + 1, words + 1),
            sum(words + 1, words + 1),
            sum(words + 1, words + 1),
            sum(words, words),
            sum(size, size),
        ]
    }

    /// Doubling, adding the noise, and adding the modulus if the result is negative.
    fn noise(&self, x: u64) -> [Step; 4] {
        [Step::Sum { x, z: x }; 4]
    }

    /// An encryption by CNT.
    pub fn cnt(&self, lengths: &Lengths) -> Vec<Step> {
        let sum = 9 * self.words(lengths.modulus).div_ceil(LANES);
        let elements = self.elements(lengths, self.words(lengths.coefficient), lengths.elements, sum);
        elements.into_iter().chain(self.noise(sum)).chain(self.reduction(lengths, sum)).collect()
    }

    /// An encryption by CMNT, with all its products.
    pub fn cmnt(&self, lengths: &Lengths) -> Vec<Step> {
        let (words, coefficient, count) =
            (self.words(lengths.modulus), self.words(lengths.coefficient), lengths.elements);
        let inner = words + coefficient + 1;
        let sum = words + inner + 1;
        let outer = (0..count).flat_map(|_| self.elements(lengths, 1, 1, words));
        let inners = (0..count).flat_map(|_| self.elements(lengths, coefficient, count, inner));
        let products = Step::Product { x: words, y: inner, z: sum, terms: count, lanes: 1 };
        let begin = [Step::Sum { x: 0, z: 1 }].into_iter().chain(outer).chain(inners).chain([products]);
        begin.chain(self.noise(sum)).chain(self.reduction(lengths, sum)).collect()
    }

    /// Cycles of consecutive steps and of wiping, including `scratch` words of scratch memory.
    pub fn cycles(&self, steps: &[Step], scratch: u64) -> u64 {
        let wipe = [Step::Sum { x: 0, z: scratch }];
        // Memories are cleared in parallel, one word per cycle. The longest ones are those of
        // tiles.
        let tile = self.transforms.map_or(0, |transforms| transforms.by.columns << transforms.by.log);
        self.clear.max(tile) + steps.iter().chain(&wipe).map(|step| step.cycles(self) + self.between).sum::<u64>()
    }
}

/// Cycles of the paper's encryption: `products` products of a coefficient by an element, and the
/// two products of a reduction.
///
/// Each follows equation 12 with the corrected number of blocks. For CMNT the `elements^2` products
/// `A_i0 A_j1` modulo `A_0` are taken as given, as in its Table 6.
pub fn paper(parameters: &Parameters, products: u64, coefficient: u64, modulus: u64) -> u64 {
    let step = u64::from(parameters.block_bits() / parameters.bus_bits());
    let way = 16 * u64::from(parameters.k.ilog2() + 1);
    (products + 2) * (way + Blocks::new(parameters, coefficient, modulus).cycles(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer_fft::PRINTED;

    /// Counted by hand, with blocks of two words.
    #[test]
    fn products_of_blocks() {
        let product = |x, y, z, terms, lanes| Step::Product { x, y, z, terms, lanes }.products(2);
        assert_eq!(product(2, 2, 4, 1, 1), 1 + 1);
        assert_eq!(product(3, 5, 8, 1, 1), 2 * 3);
        assert_eq!(product(3, 6, 9, 4, 1), 4 * 6 + 1);
        assert_eq!(product(6, 6, 6, 1, 8), 8 * (1 + 2 + 3));
        assert_eq!(product(1, 1, 9, 1, 1), 1 + 4);
    }

    /// From the least length on, both products of a reduction of twice the modulus' bits take fewer
    /// cycles by transforms. Just below it, at least one of them does not.
    #[test]
    fn long_products_take_fewer_cycles_by_transforms() {
        let long = Transforms { least: 1, ..Transforms::LONG };
        let design = Encryptor { transforms: Some(long), ..Encryptor::HALVES };
        let gains = |words: u64| {
            [2 * words, words + 1].map(|z| {
                let blocks = Encryptor::HALVES.product(words, words, z).cycles(&Encryptor::HALVES);
                design.product(words, words, z).cycles(&design) < blocks
            })
        };
        let worst = (1..5000).rev().find(|&words| gains(words) != [true; 2]).unwrap();
        assert_eq!(worst + 1, Transforms::LONG.least);
    }

    /// Table 6 of \[CMOOH13\] follows from equation 12: seconds at the clock frequencies of its
    /// Table 5. The rows of `2^32 - 2^20 + 1` used digits of 8 bits.
    #[test]
    fn table_6_follows() {
        let sets = [(0, 292.410, 8), (3, 254.054, 8), (1, 179.346, 24), (2, 166.450, 28)];
        let cmnt = [(42, 160_000, 12), (52, 860_000, 23), (62, 4_200_000, 44), (72, 19_000_000, 88)];
        let cnt = [(936, 150_000, 158), (1476, 830_000, 572), (2016, 4_200_000, 2110), (2556, 19_350_000, 7695)];
        let seconds = |set: usize, products: u64, coefficient: u64, modulus: u64| {
            let (index, clock, base) = sets[set];
            let parameters = Parameters { base, ..PRINTED[index] };
            paper(&parameters, products, coefficient, modulus) as f64 / clock / 1e6
        };
        let printed_cmnt = [
            [0.003, 0.050, 0.872, 15.735],
            [0.003, 0.057, 1.003, 18.110],
            [0.000854, 0.0139, 0.239, 4.284],
            [0.000815, 0.0130, 0.221, 3.958],
        ];
        let printed_cnt = [
            [0.011, 0.306, 7.586, 159.173],
            [0.012, 0.352, 8.731, 183.204],
            [0.000786, 0.0142, 0.5165, 8.655],
            [0.000739, 0.0132, 0.4772, 7.994],
        ];
        // The longer the products, the less the other steps matter. The first printed seconds have
        // only two digits.
        for (size, tolerance) in [0.15, 0.03, 0.006, 0.002].into_iter().enumerate() {
            for set in 0..4 {
                let ((alpha, gamma, beta), (delta, phi, tau)) = (cmnt[size], cnt[size]);
                let found = [seconds(set, beta * beta, alpha, gamma), seconds(set, tau, delta, phi)];
                for (found, printed) in found.into_iter().zip([printed_cmnt[set][size], printed_cnt[set][size]]) {
                    assert!((found / printed - 1.0).abs() < tolerance, "{found} s, printed {printed} s");
                }
            }
        }
    }
}
