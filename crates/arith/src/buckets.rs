//! Products of powers whose exponents everybody knows: what a batch of proofs is verified by.

use crate::Batch;
use crate::constants::Constants;
use crate::groups::{Moduli, for_groups};
use crate::kernel::{Kernel, Space};
use crate::natural::bits_at;
use crate::product::{load_parts, products};
use crate::ring::{Ring, Workspace};
use rayon::prelude::*;

/// Widest digit: beyond it the buckets of a window outgrow the bases of any batch that fits in memory.
const WIDEST: u32 = 16;
/// Products that a bucket costs beside those of the bases in it: out of the product of its chain, into Montgomery form, and into the
/// two running products.
const BUCKET: usize = 4;

/// The product of `base^exponent` over all rows, bases canonical numbers or pairs, exponents below `2^bits`; one row.
///
/// Exponents are cut into digits. For each digit's place, bases are multiplied up by the value of their digit, a bucket a value; the
/// product of `bucket^value` is that of the running products from the highest value down, a place a lane; and the places are put
/// together by squarings (\[BDLO12\], section 4, after \[Pippenger80\]).
pub(crate) fn product_of_powers<R: Ring>(constants: &Constants, bases: &Batch, exponents: &Batch, bits: u32) -> Batch {
    assert_eq!(bases.len(), exponents.len(), "one exponent a base");
    let width = digit_width(bases.len(), bits);
    let places = bits.div_ceil(width) as usize;
    let values = 1 << width;
    let lists: Vec<Vec<u32>> =
        (0..places).into_par_iter().flat_map_iter(|place| lists(exponents, place, width)).collect();
    let buckets = products::<R>(constants, bases, &lists);

    let limbs = bases.limbs();
    let mut of_places = Batch::zeros(places, limbs);
    for_groups::<R>(Moduli::Shared(constants), &mut of_places, |m, work, range, rows| {
        let space = || Space::<R::Kernel>::new(R::width(m));
        let (mut bucket, mut running, mut total) = (space(), space(), space());
        running.copy_from_slice(R::one(m));
        total.copy_from_slice(R::one(m));
        let mut lanes = Vec::with_capacity(R::Kernel::LANES);
        for value in (1..values).rev() {
            let rows = range.clone().map(|place| buckets.row(place * values + value));
            load_parts::<R>(m, &mut bucket, rows, &mut lanes);
            work.mul_assign(m, &mut bucket, &m.r2[..R::width(m)]);
            work.mul_assign(m, &mut running, &bucket);
            work.mul_assign(m, &mut total, &running);
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &total);
    });
    joined::<R>(constants, &of_places, width)
}

/// For each value of a digit the rows whose exponents have it in this place; none for 0.
fn lists(exponents: &Batch, place: usize, width: u32) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); 1 << width];
    for (row, exponent) in exponents.rows().enumerate() {
        let digit = bits_at(exponent, place * width as usize, width) as usize;
        if digit != 0 {
            lists[digit].push(row as u32);
        }
    }
    lists
}

/// The product of the places' numbers, each to the power of two that its place stands for.
fn joined<R: Ring>(constants: &Constants, of_places: &Batch, width: u32) -> Batch {
    let limbs = of_places.limbs();
    let mut out = Batch::zeros(1, limbs);
    for_groups::<R>(Moduli::Shared(constants), &mut out, |m, work: &mut Workspace<R>, _, rows| {
        let mut factor = Space::<R::Kernel>::new(R::width(m));
        let mut total = Space::<R::Kernel>::new(R::width(m));
        total.copy_from_slice(R::one(m));
        let mut lanes = Vec::with_capacity(1);
        for place in of_places.rows().rev() {
            work.sqr_assign(m, &mut total, width as usize);
            load_parts::<R>(m, &mut factor, std::iter::once(place), &mut lanes);
            work.mul_assign(m, &mut factor, &m.r2[..R::width(m)]);
            work.mul_assign(m, &mut total, &factor);
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &total);
    });
    out
}

/// The width of digits that needs the fewest products.
fn digit_width(rows: usize, bits: u32) -> u32 {
    let cost = |width: u32| bits.div_ceil(width) as usize * (rows + (BUCKET << width));
    (1..=WIDEST).min_by_key(|&width| cost(width)).expect("the range is not empty")
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
        for (modulus_bits, rows, bits) in [(64, 0, 5), (130, 1, 128), (512, 7, 1), (320, 40, 200), (1024, 300, 131)] {
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
