//! The portable kernel: 64-bit limbs, 128-bit sums, fully reduced.

use super::{Numbers, ResidueKernel};
use crate::basis::System;
use hearith_arith::natural::{mac_row, reduce_once, sub_assign};

/// Numbers to residues: `sum of x_k (2^(64k) mod q)`, with a reduction after every 15 limbs `x_k`.
///
/// Residues to numbers (the Chinese remainder theorem): with `y_i = r_i (Q / q_i)^-1 mod q_i`,
///
/// ```text
/// X = sum of y_i (Q / q_i) - k Q,    k = floor(sum of y_i / q_i)
/// ```
///
/// # Bounds
/// - Fifteen products of a limb and a residue are below `15 2^64 2^60`, and with the previous
///   residue below `2^128`.
/// - `k` follows from `v`, the sum of `y_i / q_i` in units of `2^-48`, each rounded down by less
///   than 2. `v` is too small by less than `2 t`, at most `2^10`. So `floor(v / 2^48)` is `k` or
///   `k - 1`, and one conditional subtraction of `Q` is enough.
/// - The sum before the subtraction is below `t Q` with `t <= 512`, so one limb more than `Q` has
///   holds it.
pub(super) struct Serial {
    moduli: Vec<Modulus>,
    product: Vec<u64>,
}

/// Number of fraction bits in the sum that gives `k`.
const FRACTION: u32 = 48;
/// Number of limbs between two reductions.
const LIMBS: usize = 15;

struct Modulus {
    q: Reciprocal,
    /// `2^(64k) mod q`.
    powers: Vec<u64>,
    /// `Q / q`.
    cofactor: Vec<u64>,
    /// `(Q / q)^-1 mod q`.
    inverse: u64,
    /// `floor(2^(63 + b) / q)` and `63 + b - 48`, for `q` of `b` bits.
    part: (u64, u32),
}

impl ResidueKernel for Serial {
    fn new(system: &System) -> Self {
        let limbs = system.product.len();
        let modulus = |index: usize| {
            let modulus = system.moduli[index];
            let q = Reciprocal::new(modulus);
            let power = |&power: &u64| Some(q.reduce(u128::from(power) << 64));
            let shift = 63 + (u64::BITS - modulus.leading_zeros());
            Modulus {
                powers: std::iter::successors(Some(1), power).take(limbs).collect(),
                cofactor: system.cofactors[index].clone(),
                inverse: system.inverses[index],
                // One less for a power of two, since its quotient would be 2^64.
                part: ((((1_u128 << shift) - 1) / u128::from(modulus)) as u64, shift - FRACTION),
                q,
            }
        };
        Serial { moduli: (0..system.moduli.len()).map(modulus).collect(), product: system.product.clone() }
    }

    fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        let mut row = vec![0; numbers.limbs().min(self.product.len())];
        for index in 0..numbers.len() {
            match numbers {
                Numbers::Rows { words, limbs } => {
                    row.iter_mut().zip(&words[index * limbs..]).for_each(|(limb, &word)| *limb = word);
                }
                Numbers::Slices(slices) => row.iter_mut().zip(slices).for_each(|(limb, slice)| *limb = slice[index]),
            }
            for (modulus, column) in self.moduli.iter().zip(columns.iter_mut()) {
                column[index] = modulus.residue(&row);
            }
        }
    }

    // Proved: `numbers_correct` in formal/coq/residues.v.
    fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]) {
        let limbs = self.product.len();
        let mut multiple = vec![0; limbs + 1];
        for (index, row) in rows.chunks_exact_mut(limbs).enumerate() {
            row.fill(0);
            let (mut top, mut quotient) = (0, 0);
            for (modulus, column) in self.moduli.iter().zip(columns) {
                let y = modulus.q.reduce(u128::from(column[index]) * u128::from(modulus.inverse));
                top += mac_row(row, &modulus.cofactor, y);
                quotient += modulus.part_of(y);
            }
            multiple.fill(0);
            multiple[limbs] = mac_row(&mut multiple[..limbs], &self.product, quotient >> FRACTION);
            let borrow = sub_assign(row, &multiple[..limbs]);
            reduce_once(row, top - multiple[limbs] - borrow, &self.product);
        }
    }
}

impl Modulus {
    // Proved: `residue_correct` in formal/coq/residues.v.
    fn residue(&self, row: &[u64]) -> u64 {
        let mut residue = 0;
        for (limbs, powers) in row.chunks(LIMBS).zip(self.powers.chunks(LIMBS)) {
            let products = limbs.iter().zip(powers).map(|(&limb, &power)| u128::from(limb) * u128::from(power));
            residue = self.q.reduce(products.sum::<u128>() + u128::from(residue));
        }
        residue
    }

    /// `y / q` in units of `2^-48`, rounded down by less than 2.
    ///
    /// Proved: `part_of_correct` in formal/coq/residues.v.
    fn part_of(&self, y: u64) -> u64 {
        let (reciprocal, shift) = self.part;
        ((u128::from(y) * u128::from(reciprocal)) >> shift) as u64
    }
}

/// A modulus below 2^63 with its reciprocal, for Barrett reduction with `k = 128`.
struct Reciprocal {
    q: u64,
    /// `floor((2^128 - 1) / q)`.
    m: u128,
}

impl Reciprocal {
    fn new(q: u64) -> Self {
        Self { q, m: u128::MAX / u128::from(q) }
    }

    /// `x mod q`. The quotient is right or one too small, as `x < 2^128`. The same holds for a
    /// power of two, where `x (m + 1) = x 2^128 / q` exactly.
    ///
    /// Proved: `reduce_correct` in formal/coq/residues.v.
    fn reduce(&self, x: u128) -> u64 {
        let (x0, x1) = (u128::from(x as u64), x >> 64);
        let (m0, m1) = (u128::from(self.m as u64), self.m >> 64);
        let low = ((x0 * m0) >> 64) + u128::from((x0 * m1) as u64) + u128::from((x1 * m0) as u64);
        let quotient = ((x0 * m1) >> 64).wrapping_add((x1 * m0) >> 64).wrapping_add(x1 * m1).wrapping_add(low >> 64);
        // Below 2 q: the lower word of the difference is all of it.
        let r = (x as u64).wrapping_sub((quotient as u64).wrapping_mul(self.q));
        r.min(r.wrapping_sub(self.q))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        text.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
    }

    /// Compares with the results that Coq computes from the loops it proves correct, limb by limb.
    #[test]
    fn conversions_are_those_of_the_proofs() {
        let mut count = 0;
        for line in include_str!("serial_steps.txt").lines().filter(|line| !line.starts_with('#')) {
            let lists: Vec<Vec<u64>> = line.split(", ").map(words).collect();
            let [moduli, residues, number] = &lists[..] else { panic!("three lists: {line}") };
            let kernel = Serial::new(&System::new(moduli).unwrap());
            let mut row = vec![0; number.len()];
            kernel.numbers(&residues.chunks(1).collect::<Vec<_>>(), &mut row);
            let mut found = vec![0; residues.len()];
            let words = Numbers::Rows { words: number, limbs: number.len() };
            kernel.residues(&words, &mut found.chunks_mut(1).collect::<Vec<_>>());
            assert_eq!((&row, &found), (number, residues), "{line}");
            count += 1;
        }
        assert_eq!(count, 20);
    }
}
