//! Exponentiation by windows: fixed ones, in constant time, for secret exponents, and
//! [`crate::sliding`] for public ones. Powers of 2 use doublings instead.

use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::exponents::Exponents;
use crate::groups::{Moduli, for_long_groups, rows_of};
use crate::kernel::{Kernel, Space};
use crate::natural::bits_at;
use crate::ring::{LanesOf, Plain, Ring, Word, Workspace};
use crate::sliding::{Term, product_of_terms};

/// Maximum window width of the vector engine. Its tables hold a number in every lane, and 16 dual
/// numbers fill the first-level cache.
pub(crate) const VECTOR_WINDOW: u32 = 4;

/// A method that computes `power = base^exponent` for the residues of a group of lanes, with one
/// exponent of `bits` bits per lane.
pub(crate) type Method<R> =
    fn(&LanesOf<R>, &mut Workspace<R>, power: &mut [Word<R>], base: &[Word<R>], exponents: &[&[u64]], bits: u32);

/// The power of every row by the window method, each as a canonical number or pair.
pub(crate) fn pow<R: Ring>(moduli: Moduli<'_>, bases: &Batch, exponents: Exponents<'_>) -> Batch {
    let method: Method<R> = match exponents {
        Exponents::Public(_) => sliding,
        Exponents::Shared(..) | Exponents::Each(..) => fixed_window,
    };
    pow_by(method, moduli, bases, exponents)
}

/// The power of every row by the given method.
pub(crate) fn pow_by<R: Ring>(method: Method<R>, moduli: Moduli<'_>, bases: &Batch, exponents: Exponents<'_>) -> Batch {
    exponents.check(bases.len());
    let limbs = R::PARTS * moduli.first().limbs();
    let mut out = Batch::zeros(bases.len(), limbs);
    for_long_groups::<R>(moduli, &mut out, |m, work, range, rows| {
        let mut base = Space::<R::Kernel>::new(R::width(m));
        let mut power = Space::<R::Kernel>::new(R::width(m));
        let exponent_rows: Vec<&[u64]> = range.clone().map(|row| exponents.row(row)).collect();
        work.enter(m, &mut base, &rows_of(bases, range));
        method(m, work, &mut power, &base, &exponent_rows, exponents.bits());
        work.exit(m, rows.chunks_exact_mut(limbs), &power);
    });
    out
}

/// Sliding windows for a public exponent, which is the same in all lanes.
fn sliding<R: Ring>(
    m: &LanesOf<R>,
    work: &mut Workspace<R>,
    power: &mut [Word<R>],
    base: &[Word<R>],
    exponents: &[&[u64]],
    _bits: u32,
) {
    let term = Term::<R>::new(m, work, base, exponents[0]);
    product_of_terms(m, work, power, &[term]);
}

/// Fixed windows from the top. A step of `w` bits takes `w` squarings and one multiplication by a
/// table entry, which is read with masks over the whole table. The sequence of operations depends
/// only on `bits` (Menezes, van Oorschot, Vanstone, Handbook of Applied Cryptography, algorithm
/// 14.82, without omitting multiplications for zero digits).
fn fixed_window<R: Ring>(
    m: &LanesOf<R>,
    work: &mut Workspace<R>,
    power: &mut [Word<R>],
    base: &[Word<R>],
    exponents: &[&[u64]],
    bits: u32,
) {
    let width = window_width(bits, R::Kernel::WINDOW);
    let table = powers::<R>(m, work, base, 1 << width);
    let mut index = Word::<R>::default();
    let mut entry = Space::<R::Kernel>::new(R::width(m));
    let windows = bits.div_ceil(width);
    power.copy_from_slice(R::one(m));
    for position in (0..windows).rev() {
        set_index::<R>(&mut index, exponents, (position * width) as usize, width);
        R::Kernel::select(&mut entry, &table, &index);
        if position + 1 == windows {
            power.copy_from_slice(&entry);
        } else {
            work.sqr_assign(m, power, width as usize);
            work.mul_assign(m, power, &entry);
        }
    }
}

/// `2^exponent` modulo several moduli with the same number of limbs, one per row.
///
/// Scans bits from the top, with one squaring each, and doubles if the bit is 1 (Menezes, van
/// Oorschot, Vanstone, Handbook of Applied Cryptography, algorithm 14.79, with additions for the
/// products by the base). If the bit is 0, it adds zero, so the sequence of operations depends only
/// on the number of bits.
pub(crate) fn powers_of_two<K: Kernel>(moduli: &[&MontgomeryParams], exponents: Exponents<'_>) -> Batch {
    exponents.check(moduli.len());
    let limbs = moduli[0].limbs();
    let mut out = Batch::zeros(moduli.len(), limbs);
    for_long_groups::<Plain<K>>(Moduli::Each(moduli), &mut out, |m, work, range, rows| {
        let exponent_rows: Vec<&[u64]> = range.map(|row| exponents.row(row)).collect();
        let (mut index, mut more, mut power) = (K::Word::default(), Space::<K>::new(m.k), Space::<K>::new(m.k));
        // Zero, or the power again.
        let mut table = Space::<K>::new(2 * m.k);
        power.copy_from_slice(&m.one[..m.k]);
        for position in (0..exponents.bits()).rev() {
            work.sqr_assign(m, &mut power, 1);
            set_index::<Plain<K>>(&mut index, &exponent_rows, position as usize, 1);
            table[m.k..].copy_from_slice(&power);
            K::select(&mut more, &table, &index);
            K::add(m, &mut power, &more);
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &power);
    });
    out
}

/// Sets each lane to the digit of its exponent at a bit position.
pub(crate) fn set_index<R: Ring>(index: &mut Word<R>, exponents: &[&[u64]], position: usize, width: u32) {
    for (lane, exponent) in exponents.iter().enumerate() {
        R::Kernel::set_lane(index, lane, bits_at(exponent, position, width));
    }
}

/// The window width up to `most` that needs the fewest multiplications, including one per table
/// entry.
pub(crate) fn window_width(bits: u32, most: u32) -> u32 {
    let cost = |width: u32| (1 << width) + bits.div_ceil(width);
    (1..=most).min_by_key(|&width| cost(width)).expect("the range is not empty")
}

/// The table `base^0, base^1, ... base^(entries - 1)`.
pub(crate) fn powers<R: Ring>(
    m: &LanesOf<R>,
    work: &mut Workspace<R>,
    base: &[Word<R>],
    entries: usize,
) -> Space<R::Kernel> {
    let width = R::width(m);
    let mut table = Space::<R::Kernel>::new(entries * width);
    table[..width].copy_from_slice(R::one(m));
    table[width..2 * width].copy_from_slice(base);
    for entry in 2..entries {
        let (done, next) = table.split_at_mut(entry * width);
        let half = &done[entry / 2 * width..][..width];
        if entry % 2 == 0 {
            R::sqr(m, &mut next[..width], half, &mut work.scratch);
        } else {
            R::mul(m, &mut next[..width], &done[(entry - 1) * width..], base, &mut work.scratch);
        }
    }
    table
}
