//! Products of powers with public exponents, used to verify batches of proofs.

use crate::Batch;
use crate::backend::{uses_across_kernel, with_kernel, with_kernel_for};
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_groups, for_long_groups};
use crate::kernel::{Kernel, Space};
use crate::natural::bits_at;
use crate::product::{Form, load_parts, products_in, to_montgomery};
use crate::ring::{Ring, RingFamily, Workspace};
use crate::sliding::product_of_few;
use rayon::prelude::*;
use std::ops::Range;

/// Maximum digit width. With wider digits, the buckets of a window outgrow the bases of any batch
/// that fits in memory.
const MAX_WINDOW: u32 = 16;
/// Maximum number of bases that share squarings.
const SMALL_BATCH: usize = 16;
/// Products per bucket in addition to those of its bases: the updates of the two running products.
const BUCKET_PRODUCTS: usize = 2;

/// The product of `base^exponent` over all rows, as one row. Bases have any width, exponents are
/// below `2^bits`. Constant time in the bases and the modulus, whose copies are wiped.
///
/// Pippenger's bucket method (\[BDLO12\], section 4, after \[Pippenger80\]): exponents are split
/// into windows of one digit each. In each window, the bases with the same digit are multiplied
/// into one bucket. The product of `bucket^digit` is the product of the running products from the
/// highest digit down, with one window per lane. Squarings then combine the windows sequentially.
/// If a single product is cheap, a few bases share squarings instead: their tables and windows cost
/// less than buckets.
pub(crate) fn product_of_powers<R: RingFamily>(
    constants: &MontgomeryParams,
    bases: &Batch,
    exponents: &Batch,
    bits: u32,
) -> Batch {
    assert_eq!(bases.len(), exponents.len(), "there must be one exponent per base");
    if shares_squarings(constants, bases.len()) {
        return with_kernel_for!(constants, 1, K => product_of_few::<R::Of<K>>(constants, bases, exponents));
    }
    let width = digit_width(bases.len(), bits);
    let windows = with_kernel!(constants.engine, K => pippenger::<R::Of<K>>(constants, bases, exponents, bits, width));
    with_kernel_for!(constants, 1, K => combine_windows::<R::Of<K>>(constants, &windows, width))
}

/// Whether this number of bases shares squarings.
pub(crate) fn shares_squarings(constants: &MontgomeryParams, bases: usize) -> bool {
    bases <= SMALL_BATCH && (constants.engine.engine().lanes() == 1 || uses_across_kernel(constants, 1))
}

/// The product of the powers in each window, one window per row, in Montgomery form.
fn pippenger<R: Ring>(constants: &MontgomeryParams, bases: &Batch, exponents: &Batch, bits: u32, width: u32) -> Batch {
    let windows = bits.div_ceil(width) as usize;
    // Everything stays in Montgomery form until the end.
    let bases = to_montgomery::<R>(constants, bases);
    // Process only as many windows at once as there are lanes, because buckets take memory.
    let parts = windows.div_ceil(R::Kernel::LANES * rayon::current_num_threads()).max(1);
    let of_part = |part: usize| {
        let windows = windows * part / parts..windows * (part + 1) / parts;
        window_products::<R>(constants, &bases, exponents, windows, width)
    };
    let products: Vec<Batch> = (0..parts).map(of_part).collect();
    Batch::concat(&products.iter().collect::<Vec<_>>())
}

/// For each window the product of the bases, each raised to its digit there.
fn window_products<R: Ring>(
    constants: &MontgomeryParams,
    bases: &Batch,
    exponents: &Batch,
    windows: Range<usize>,
    width: u32,
) -> Batch {
    let (count, values, limbs) = (windows.len(), 1 << width, bases.limbs());
    let digits: Vec<Digits> = windows.into_par_iter().map(|window| Digits::new(exponents, window, width)).collect();
    let lists: Vec<&[u32]> =
        digits.iter().flat_map(|window| (0..values).map(move |value| window.rows_with(value))).collect();
    let buckets = products_in::<R>(Form::Montgomery, constants, bases, &lists);
    let mut products = Batch::zeros(count, limbs);
    for_long_groups::<R>(Moduli::Shared(constants), &mut products, |m, work, range, rows| {
        let space = || Space::<R::Kernel>::new(R::width(m));
        let (mut bucket, mut running, mut total) = (space(), space(), space());
        running.copy_from_slice(R::one(m));
        total.copy_from_slice(R::one(m));
        let mut lanes = Vec::with_capacity(R::Kernel::LANES);
        let of_value = |value: usize| range.clone().map(|window| buckets.row(window * values + value)).collect();
        let mut rows_of_value: Vec<&[u64]> = of_value(values - 1);
        for value in (1..values).rev() {
            load_parts::<R>(m, &mut bucket, rows_of_value.iter().copied(), &mut lanes);
            rows_of_value = of_value(value - 1);
            R::Kernel::prefetch(&rows_of_value);
            work.mul_assign(m, &mut running, &bucket);
            work.mul_assign(m, &mut total, &running);
        }
        work.canonicalise(m, rows.chunks_exact_mut(limbs), &total);
    });
    products
}

/// The rows of exponents, sorted by their digits in one window.
struct Digits {
    /// Row numbers, in the order of the digits.
    rows: Vec<u32>,
    /// The end of the rows of each digit.
    ends: Vec<usize>,
}

impl Digits {
    /// Sorts by counting.
    fn new(exponents: &Batch, window: usize, width: u32) -> Self {
        let digit = |exponent| bits_at(exponent, window * width as usize, width) as usize;
        let digits: Vec<usize> = exponents.rows().map(digit).collect();
        let mut ends = vec![0; 1 << width];
        digits.iter().for_each(|&digit| ends[digit] += 1);
        // `ends` first holds the start of each digit's rows. Placing a row advances it, so it
        // finally holds the end.
        let mut begin = 0;
        ends.iter_mut().for_each(|end| begin += std::mem::replace(end, begin));
        let mut rows = vec![0; digits.len()];
        for (row, digit) in digits.into_iter().enumerate() {
            rows[ends[digit]] = row as u32;
            ends[digit] += 1;
        }
        Digits { rows, ends }
    }

    /// The rows with this digit; empty for 0.
    fn rows_with(&self, value: usize) -> &[u32] {
        if value == 0 { &[] } else { &self.rows[self.ends[value - 1]..self.ends[value]] }
    }
}

/// The product of the windows' products, each raised to the power of two where its window starts.
fn combine_windows<R: Ring>(constants: &MontgomeryParams, windows: &Batch, width: u32) -> Batch {
    let limbs = windows.limbs();
    let mut out = Batch::zeros(1, limbs);
    for_groups::<R>(Moduli::Shared(constants), &mut out, |m, work: &mut Workspace<R>, _, rows| {
        let mut factor = Space::<R::Kernel>::new(R::width(m));
        let mut total = Space::<R::Kernel>::new(R::width(m));
        total.copy_from_slice(R::one(m));
        let mut lanes = Vec::with_capacity(1);
        for window in windows.rows().rev() {
            work.sqr_assign(m, &mut total, width as usize);
            load_parts::<R>(m, &mut factor, std::iter::once(window), &mut lanes);
            work.mul_assign(m, &mut total, &factor);
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &total);
    });
    out
}

/// The digit width that needs the fewest products.
fn digit_width(rows: usize, bits: u32) -> u32 {
    let cost = |width: u32| bits.div_ceil(width) as usize * (rows + (BUCKET_PRODUCTS << width));
    (1..=MAX_WINDOW).min_by_key(|&width| cost(width)).expect("the range is not empty")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Modulus, Square, random};
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn expected(bases: &Batch, exponents: &Batch, m: &Integer) -> Integer {
        let power = |(base, exponent)| integer(base).pow_mod(&integer(exponent), m).unwrap();
        bases.rows().zip(exponents.rows()).map(power).fold(Integer::from(1), |product, power| product * power % m)
    }

    #[test]
    fn products_of_powers_are_those_of_gmp_on_every_engine() {
        for (modulus_bits, rows, bits) in
            [(64, 0, 5), (130, 1, 128), (512, 7, 1), (257, 16, 250), (320, 17, 90), (320, 40, 200), (1024, 300, 131)]
        {
            let limbs = modulus_bits / 64 + 1;
            let mut m = random::bits(1, limbs, modulus_bits as u32).unwrap();
            m.row_mut(0)[0] |= 1;
            let bases = random::bits(rows, 2 * limbs, 2 * modulus_bits as u32).unwrap();
            let mut exponents = random::bits(rows, 4, bits).unwrap();
            if rows > 2 {
                exponents.row_mut(0).fill(0);
                crate::natural::clear_bits_from(exponents.row_mut(1), 0);
                exponents.row_mut(2).copy_from_slice(&[u64::MAX; 4]);
                crate::natural::clear_bits_from(exponents.row_mut(2), bits);
            }
            let n = integer(m.row(0));
            for engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
                let plain = Modulus::new(*engine, m.row(0)).unwrap();
                let found = plain.product_of_powers(&bases, &exponents, bits);
                assert_eq!(integer(found.row(0)), expected(&bases, &exponents, &n), "{modulus_bits}, {rows}, {engine}");
                let square = Square::new(*engine, m.row(0)).unwrap();
                let found = square.join(&square.product_of_powers(&bases, &exponents, bits));
                let squared = n.clone().square();
                assert_eq!(
                    integer(found.row(0)),
                    expected(&bases, &exponents, &squared),
                    "{modulus_bits}, {rows}, {engine}"
                );
            }
        }
    }

    #[test]
    fn more_bases_take_wider_digits() {
        let widths: Vec<u32> = [1, 100, 10_000, 1_000_000].map(|rows| digit_width(rows, 128)).to_vec();
        assert!(widths.is_sorted() && widths[0] <= 2 && widths[3] >= 14, "{widths:?}");
    }
}
