//! The part of recryption before the circuit: products of the ciphertext and the fractions, and the
//! sum of each block.

use super::stream::PIECE;
use super::{BITS, RecryptionKey, SUBSET};
use crate::number::bits_of;
use crate::{Ciphertext, Error};
use hearith_arith::natural::{add_assign, clear_bits_from, sub_assign};
use rayon::prelude::*;

/// The `z_i` of a ciphertext, in sixteenths modulo 2, so below 32.
pub(super) type Digits = Vec<u8>;

impl RecryptionKey {
    /// Computes the `z_i` of each ciphertext.
    pub(super) fn expand(&self, ciphertexts: &[&Ciphertext]) -> Vec<Digits> {
        // With a zero at each end, word `j` of a fraction, from the top, meets limbs `j - 1` and
        // `j`.
        let padded: Vec<Vec<u64>> = ciphertexts.iter().map(|c| [&[0], c.value(), &[0]].concat()).collect();
        let elements = (0..Self::set_size(&self.parameters)).into_par_iter();
        let digits: Vec<Digits> = elements.map(|index| self.products(index, &padded)).collect();
        (0..ciphertexts.len()).map(|row| digits.iter().map(|digits| digits[row]).collect()).collect()
    }

    /// Computes one `z_i` for each ciphertext.
    fn products(&self, index: usize, padded: &[Vec<u64>]) -> Digits {
        let limbs = Self::fraction_limbs(&self.parameters);
        let mut columns = vec![Columns::default(); padded.len()];
        let mut buffer = [0; PIECE];
        for from in (0..limbs).step_by(PIECE) {
            let words = &mut buffer[..PIECE.min(limbs - from)];
            self.fraction_words(index, from, words);
            for (columns, ciphertext) in columns.iter_mut().zip(padded) {
                columns.add(words, &ciphertext[from..]);
            }
        }
        columns.into_iter().map(Columns::rounded).collect()
    }

    /// Words of `u_i` from the top. The key stores the first fraction; the stream generates the
    /// others.
    fn fraction_words(&self, index: usize, from: usize, words: &mut [u64]) {
        if index == 0 {
            let top = self.first.iter().rev().skip(from);
            words.iter_mut().zip(top).for_each(|(word, &limb)| *word = limb);
        } else {
            self.stream.words(index, from, words);
        }
    }

    /// For each ciphertext, the encrypted bits of all blocks' sums: [`BITS`] bits for each block in
    /// order.
    pub(super) fn sums(&self, digits: &[Digits]) -> Result<Vec<Vec<Ciphertext>>, Error> {
        let limbs = self.parameters.limbs();
        let pieces = limbs.div_ceil(PIECE);
        let parts: Vec<Vec<Sums>> =
            (0..SUBSET * pieces).into_par_iter().map(|at| self.piece(at / pieces, at % pieces, digits)).collect();
        let rows = (0..digits.len() * SUBSET * BITS).into_par_iter().map(|at| {
            let (row, block, bit) = (at / (SUBSET * BITS), at / BITS % SUBSET, at % BITS);
            let mut sum = vec![0; limbs + 2];
            for (piece, part) in parts[block * pieces..][..pieces].iter().enumerate() {
                add_assign(&mut sum[piece * PIECE..], &part[row][bit]);
            }
            self.corrected(sum, block, bit, &digits[row])
        });
        let bits = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(bits.chunks(SUBSET * BITS).map(<[Ciphertext]>::to_vec).collect())
    }

    /// One piece of a block's sums, before corrections, for each ciphertext. A sum has one word
    /// more than the piece.
    fn piece(&self, block: usize, piece: usize, digits: &[Digits]) -> Vec<Sums> {
        let (from, limbs) = (piece * PIECE, self.parameters.limbs());
        let mut buffer = [0; PIECE];
        let words = &mut buffer[..PIECE.min(limbs - from)];
        let mut sums: Vec<Sums> = vec![std::array::from_fn(|_| vec![0; words.len() + 1]); digits.len()];
        for index in self.indices(block) {
            self.element_words(index, from, words);
            for (sums, digits) in sums.iter_mut().zip(digits) {
                for (_, sum) in sums.iter_mut().enumerate().filter(|(bit, _)| digits[index] >> bit & 1 == 1) {
                    add_assign(sum, words);
                }
            }
        }
        sums
    }

    /// Words of the random part of `sigma_i`, least significant first.
    fn element_words(&self, index: usize, from: usize, words: &mut [u64]) {
        self.stream.words(Self::set_size(&self.parameters) + index, from, words);
        clear_bits_from(words, self.parameters.lengths().modulus - 64 * from as u32);
    }

    /// A block's sum after subtracting the corrections of its elements, modulo `A_0`.
    fn corrected(&self, mut sum: Vec<u64>, block: usize, bit: usize, digits: &Digits) -> Result<Ciphertext, Error> {
        let limbs = self.parameters.correction_limbs();
        let mut less = vec![0; limbs + 1];
        for index in self.indices(block).filter(|&index| digits[index] >> bit & 1 == 1) {
            add_assign(&mut less, &self.corrections[index * limbs..][..limbs]);
        }
        // Negative with a probability of 2^-(gamma - eta - lambda), and never for no elements.
        if sub_assign(&mut sum, &less) == 1 {
            add_assign(&mut sum, self.reduction.modulus());
        }
        debug_assert!(bits_of(&sum) <= u64::from(self.parameters.lengths().modulus) + 64);
        let value = self.reduction.reduce(&sum).to_vec();
        Ciphertext::checked(self.id, &self.parameters, value, Self::sum_noise(&self.parameters))
    }

    fn indices(&self, block: usize) -> std::ops::Range<usize> {
        block * self.block()..(block + 1) * self.block()
    }
}

/// A piece of a block's sums, one sum per bit.
type Sums = [Vec<u64>; BITS];

/// The two columns of a product that determine its limb `limbs`, counted from 0: this column and
/// the next lower one. The columns below them are ignored.
#[derive(Clone, Default)]
struct Columns {
    upper: u64,
    lower: u128,
}

impl Columns {
    fn add(&mut self, words: &[u64], padded: &[u64]) {
        for (&word, limbs) in words.iter().zip(padded.windows(2)) {
            self.lower = self.lower.wrapping_add(u128::from(word) * u128::from(limbs[0]));
            self.upper = self.upper.wrapping_add(word.wrapping_mul(limbs[1]));
        }
    }

    /// The product modulo 2 rounded to sixteenths.
    fn rounded(self) -> u8 {
        let top = self.upper.wrapping_add((self.lower >> 64) as u64);
        (top.wrapping_add(1 << 58) >> 59) as u8
    }
}
