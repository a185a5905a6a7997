//! Sliding windows for public exponents, for one power or a product of a few powers.

use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_groups};
use crate::kernel::Space;
use crate::natural::{bit_at, bit_length, bits_at};
use crate::ring::{LanesOf, Ring, Word, Workspace};

/// The product of `base^exponent` over all rows, as one row. All squarings are shared
/// (\[Straus64\]), and each base has its own windows, with the best width for its exponent
/// (\[Moller01\]).
pub(crate) fn product_of_few<R: Ring>(constants: &MontgomeryParams, bases: &Batch, exponents: &Batch) -> Batch {
    let limbs = R::PARTS * constants.limbs();
    let mut out = Batch::zeros(1, limbs);
    for_groups::<R>(Moduli::Shared(constants), &mut out, |m, work, _, rows| {
        let mut base = Space::<R::Kernel>::new(R::width(m));
        let mut power = Space::<R::Kernel>::new(R::width(m));
        let terms = bases.rows().zip(exponents.rows()).map(|(row, exponent)| {
            work.enter(m, &mut base, &[row]);
            Term::<R>::new(m, work, &base, exponent)
        });
        let terms: Vec<_> = terms.collect();
        product_of_terms(m, work, &mut power, &terms);
        work.exit(m, rows.chunks_exact_mut(limbs), &power);
    });
    out
}

/// A base and an exponent that is cut into windows: odd digits, each with the position of its
/// lowest bit.
pub(crate) struct Term<R: Ring> {
    /// The powers 1, 3, 5, ... of the base, consecutively.
    odd_powers: Space<R::Kernel>,
    digits: Vec<(u32, usize)>,
}

impl<R: Ring> Term<R> {
    pub(crate) fn new(m: &LanesOf<R>, work: &mut Workspace<R>, base: &[Word<R>], exponent: &[u64]) -> Self {
        let bits = bit_length(exponent);
        let width = sliding_width(bits);
        Term { odd_powers: odd_powers::<R>(m, work, base, 1 << (width - 1)), digits: digits(exponent, bits, width) }
    }
}

/// The product of powers, with one squaring per bit of the longest exponent and one product per
/// digit.
pub(crate) fn product_of_terms<R: Ring>(
    m: &LanesOf<R>,
    work: &mut Workspace<R>,
    power: &mut [Word<R>],
    terms: &[Term<R>],
) {
    let mut steps: Vec<(u32, &[Word<R>])> = Vec::new();
    for term in terms {
        let entry = |digit: usize| &term.odd_powers[digit / 2 * R::width(m)..][..R::width(m)];
        steps.extend(term.digits.iter().map(|&(position, digit)| (position, entry(digit))));
    }
    steps.sort_by_key(|&(position, _)| std::cmp::Reverse(position));
    let Some((&(mut at, first), others)) = steps.split_first() else { return power.copy_from_slice(R::one(m)) };
    power.copy_from_slice(first);
    for &(position, entry) in others {
        work.sqr_assign(m, power, (at - position) as usize);
        work.mul_assign(m, power, entry);
        at = position;
    }
    work.sqr_assign(m, power, at as usize);
}

/// The first `entries` odd powers of a base.
fn odd_powers<R: Ring>(m: &LanesOf<R>, work: &mut Workspace<R>, base: &[Word<R>], entries: usize) -> Space<R::Kernel> {
    let width = R::width(m);
    let mut odd = Space::<R::Kernel>::new(entries * width);
    odd[..width].copy_from_slice(base);
    if entries > 1 {
        let mut square = Space::<R::Kernel>::new(width);
        R::sqr(m, &mut square, base, &mut work.scratch);
        for entry in 1..entries {
            let (done, next) = odd.split_at_mut(entry * width);
            R::mul(m, &mut next[..width], &done[(entry - 1) * width..], &square, &mut work.scratch);
        }
    }
    odd
}

/// The digits of an exponent from the lowest bit on (Handbook of Applied Cryptography, algorithm
/// 14.85, starts at the highest).
fn digits(exponent: &[u64], bits: u32, width: u32) -> Vec<(u32, usize)> {
    let (mut digits, mut position) = (Vec::new(), 0);
    while position < bits {
        if bit_at(exponent, position as usize) == 0 {
            position += 1;
        } else {
            digits.push((position, bits_at(exponent, position as usize, width) as usize));
            position += width;
        }
    }
    digits
}

/// The width of sliding windows that needs the fewest multiplications.
pub(crate) fn sliding_width(bits: u32) -> u32 {
    (1..=7).min_by_key(|width| (1 << (width - 1)) + bits / (width + 1)).expect("the range is not empty")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_odd_and_make_up_the_exponent() {
        for exponent in [0, 1, 2, 0b1011_0000_1101, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
            for width in 1..=7 {
                let digits = digits(&[exponent, 0], bit_length(&[exponent]), width);
                assert!(digits.iter().all(|(_, digit)| digit % 2 == 1 && *digit < 1 << width), "{exponent}, {width}");
                let sum: u128 = digits.iter().map(|&(position, digit)| (digit as u128) << position).sum();
                assert_eq!(sum, u128::from(exponent));
            }
        }
    }
}
