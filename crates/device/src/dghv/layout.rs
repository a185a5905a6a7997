//! The layout of the device's memory: the positions of the numbers of a key and of an encryption.

use hearith_dghv::{Parameters, Scheme};

use crate::dghv::command::DATA_WORDS;
use crate::{Error, ErrorKind};

/// Words of a row of the stream: one per segment of an element.
const SEGMENTS: u32 = 8;
/// The device's transforms for products of a reduction: logarithms of their points, and bits of a
/// digit.
const SHORTEST: u32 = 12;
const LONGEST: u32 = 22;
const DIGIT: u64 = 20;
/// Words of a row of the transforms' tiles. Their matrices begin at multiples of it.
const ROW: u64 = 16;
/// Most cycles per point of such a product, and cycles to zero the tile memories.
const POINT_CYCLES: u64 = 12;
pub(super) const TILE_CYCLES: u64 = 1 << 15;
/// Least number of bits of the modulus above the word boundary that a reduction uses: Barrett's
/// `-beta` is at least 3.
const LEAST_ABOVE: u32 = 3;

/// A number, or several of `words` words each, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) at: u32,
    pub(super) words: u32,
}

/// The memory of a device with a key, public numbers first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) modulus: u32,
    pub(super) reciprocal: Operand,
    pub(super) corrections: Operand,
    pub(super) coefficients: Operand,
    /// The noise, followed by its excess of the same length.
    pub(super) noise: Operand,
    /// The ciphertext's number, followed by the quotient.
    pub(super) result: Operand,
    pub(super) scratch: Operand,
    /// Words of the whole layout.
    pub(super) end: u32,
    /// Words of the modulus.
    pub(super) limbs: u32,
    /// The reciprocal is `floor(2^(64 power) / A_0)`.
    pub(super) power: u32,
    /// Words of the scratch for transforms.
    pub(super) matrices: u64,
}

/// Words of scratch for the matrices of a reduction's two products, wherever the preceding data
/// end.
///
/// One product has two factors of `size` words, the other has factors of `size` and `limbs` words.
/// Transforms compute a product if both factors have at least `long` words, `long` is not zero, and
/// the product fits.
fn matrices(long: u32, size: u32, limbs: u32) -> u64 {
    let of = |x: u32, y: u32| {
        let bits = 64 * (u64::from(x) + u64::from(y));
        let points = (SHORTEST..=LONGEST).map(|log| 1_u64 << log).find(|points| points * DIGIT >= bits);
        if long > 0 && x.min(y) >= long { points.map_or(0, |points| 2 * points + ROW - 1) } else { 0 }
    };
    of(size, size).max(of(size, limbs))
}

/// Allocates numbers one after another, each at the start of a row of words.
struct Allocator(u64);

impl Allocator {
    fn take(&mut self, words: u32, count: u64) -> Operand {
        let at = self.0;
        self.0 = (at + u64::from(words) * count).next_multiple_of(DATA_WORDS as u64);
        Operand { at: at.min(u32::MAX.into()) as u32, words }
    }
}

impl Layout {
    /// The memory for keys of these parameters, and its size in words. The device computes products
    /// with factors of at least `long` words by transforms; 0: it has none.
    ///
    /// # Errors
    /// [`ErrorKind::CoefficientTooLong`].
    pub(super) fn new(parameters: &Parameters, long: u32) -> Result<(Self, u64), Error> {
        let lengths = parameters.lengths();
        let limbs = parameters.limbs() as u32;
        let segment = limbs.div_ceil(SEGMENTS);
        let (coefficient, correction) = (lengths.coefficient.div_ceil(64), parameters.correction_limbs() as u32);
        // Sums of neighbouring segments overlap by a coefficient. Sums of every second segment must
        // not overlap.
        if coefficient >= segment {
            let largest = 64 * (segment - 1);
            return Err(ErrorKind::CoefficientTooLong { bits: lengths.coefficient, largest }.into());
        }
        let above = lengths.modulus % 64;
        let above = if above < LEAST_ABOVE { above + 64 } else { above };
        let size = (parameters.encryption_excess() + above) / 64 + 1;
        let noise = (lengths.encryption_noise + 3).div_ceil(64);
        let (elements, wide) = (u64::from(lengths.elements), u64::from(limbs));
        let (rows, between) = match parameters.scheme() {
            Scheme::Cnt => (elements, 0),
            Scheme::Cmnt => (elements * elements, 1 + elements * (2 * wide + u64::from(coefficient) + 1)),
        };
        let sums = u64::from(coefficient + correction + 1) + between;
        let matrices = matrices(long, size, limbs);
        let reduction = u64::from(2 * size) + wide + 1 + matrices;
        let scratch = 18 * u64::from(segment) + sums.max(reduction);
        let mut allocator = Allocator(0);
        let modulus = allocator.take(limbs, 1).at;
        let reciprocal = allocator.take(size, 1);
        let corrections = allocator.take(correction, parameters.key_elements() as u64);
        let coefficients = allocator.take(coefficient, rows);
        let noise = allocator.take(noise, 2);
        let result = allocator.take(limbs + size, 1);
        let scratch = Operand { words: scratch.min(u32::MAX.into()) as u32, ..allocator.take(1, scratch) };
        let words = allocator.0;
        let end = words.min(u32::MAX.into()) as u32;
        let power = (lengths.modulus - above) / 64 + size;
        let layout = Self {
            modulus,
            reciprocal,
            corrections,
            coefficients,
            noise,
            result,
            scratch,
            end,
            limbs,
            power,
            matrices,
        };
        Ok((layout, words))
    }

    /// The secret numbers, from the coefficients to the end.
    pub(super) fn secrets(&self) -> Operand {
        Operand { at: self.coefficients.at, words: self.end - self.coefficients.at }
    }

    /// The whole layout.
    pub(super) fn whole(&self) -> Operand {
        Operand { at: 0, words: self.end }
    }

    /// Upper bounds for an encryption by the steps of `rtl/dghv`: products of blocks of `block`
    /// words, and other words transferred.
    pub(super) fn work(&self, parameters: &Parameters, block: u32) -> (u64, u64) {
        let blocks = |words: u32| u64::from(words.div_ceil(block.max(1)));
        let elements = u64::from(parameters.lengths().elements);
        let segment = self.limbs.div_ceil(SEGMENTS);
        let (coefficient, size) = (blocks(self.coefficients.words), blocks(self.reciprocal.words));
        let segments = |terms: u64| u64::from(SEGMENTS) * (terms * coefficient + 1) * blocks(2 * segment);
        let corrections = |terms: u64| (terms * coefficient + 1) * (blocks(self.corrections.words) + coefficient + 1);
        let reduction = (size + 1) * (size + 1) + (size + 1) * (blocks(self.limbs) + 2);
        let (sums, products) = match parameters.scheme() {
            Scheme::Cnt => (1, segments(elements) + corrections(elements)),
            Scheme::Cmnt => {
                let inner = elements * (segments(1) + corrections(1) + segments(elements) + corrections(elements));
                let outer = elements * (blocks(self.limbs) + 1) * (blocks(self.limbs) + coefficient + 2);
                (2 * elements, inner + outer)
            }
        };
        (
            products + reduction,
            8 * (sums + 4) * u64::from(self.limbs + self.coefficients.words)
                + 4 * u64::from(self.end)
                + POINT_CYCLES * self.matrices,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_dghv::{Lengths, Size};

    /// Numbers follow each other, each at the start of a row of words, and secrets follow public
    /// numbers.
    #[test]
    fn numbers_do_not_overlap() {
        for scheme in [Scheme::Cnt, Scheme::Cmnt] {
            for size in Size::ALL {
                let parameters = Parameters::historical(scheme, *size);
                let (layout, words) = Layout::new(&parameters, 0).unwrap();
                let elements = parameters.lengths().elements;
                let rows = if scheme == Scheme::Cmnt { elements * elements } else { elements };
                let parts = [
                    (layout.modulus, layout.limbs),
                    (layout.reciprocal.at, layout.reciprocal.words),
                    (layout.corrections.at, layout.corrections.words * parameters.key_elements() as u32),
                    (layout.coefficients.at, layout.coefficients.words * rows),
                    (layout.noise.at, 2 * layout.noise.words),
                    (layout.result.at, layout.result.words),
                    (layout.scratch.at, layout.scratch.words),
                ];
                assert!(parts.is_sorted_by(|(at, words), (next, _)| at + words <= *next && next.is_multiple_of(8)));
                assert!(layout.scratch.at + layout.scratch.words <= layout.end && u64::from(layout.end) == words);
                assert_eq!(
                    layout.secrets(),
                    Operand { at: layout.coefficients.at, words: layout.end - layout.coefficients.at }
                );
            }
        }
    }

    /// If the products of a reduction are long, their matrices have separate space after the
    /// scratch that a reduction needs without them.
    ///
    /// They have the fewest points that hold the longer product.
    #[test]
    fn matrices_lie_behind_a_reduction() {
        for (scheme, size, long, points) in [
            (Scheme::Cmnt, Size::Toy, 1288, 1 << 14),
            (Scheme::Cmnt, Size::Small, 1288, 1 << 17),
            (Scheme::Cmnt, Size::Large, 1288, 1 << 21),
            (Scheme::Cmnt, Size::Large, 400_000, 0),
            // The quotient is short.
            (Scheme::Cnt, Size::Large, 1288, 0),
            (Scheme::Cnt, Size::Toy, 1, 1 << 13),
        ] {
            let parameters = Parameters::historical(scheme, size);
            let of = |long| Layout::new(&parameters, long).unwrap();
            let ((blocks, words), (layout, more)) = (of(0), of(long));
            let matrices = if points > 0 { 2 * points + ROW - 1 } else { 0 };
            assert_eq!((blocks.matrices, layout.matrices), (0, matrices), "{scheme} {size}");
            assert!(more <= words + matrices && more >= words, "{scheme} {size}");
            let segment = layout.limbs.div_ceil(SEGMENTS);
            let reduction = u64::from(18 * segment + 2 * layout.reciprocal.words + layout.limbs + 1) + matrices;
            assert!(u64::from(layout.scratch.words) >= reduction, "{scheme} {size}");
            // Everything before the matrices keeps its position.
            assert_eq!(Layout { scratch: blocks.scratch, end: blocks.end, matrices: 0, ..layout }, blocks);
        }
        assert_eq!([matrices(5, 4, 9), matrices(5, 5, 4), matrices(5, 5, 5)], [0, (2 << 12) + 15, (2 << 12) + 15]);
        // A product too long for every transform is computed in blocks.
        let longest = 5 << 18;
        assert_eq!([matrices(1, 1, longest - 1), matrices(1, 1, longest)], [(2 << 22) + 15, (2 << 12) + 15]);
    }

    /// Coefficients as long as a segment are refused; those one word shorter are accepted.
    #[test]
    fn coefficients_as_long_as_a_segment_do_not_fit() {
        let lengths = |coefficient| Lengths {
            security: 8,
            key_noise: 4,
            secret: 640,
            modulus: 4096,
            elements: 2,
            coefficient,
            encryption_noise: coefficient,
        };
        let layout = |coefficient| Layout::new(&Parameters::custom(Scheme::Cnt, lengths(coefficient)).unwrap(), 0);
        assert_eq!(layout(448).unwrap().0.coefficients.words, 7);
        let refused = layout(449).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::CoefficientTooLong { bits: 449, largest: 448 }), "{refused}");
    }
}
