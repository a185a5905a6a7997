//! Exponentiation by windows: fixed ones, in constant time, for secret exponents; public ones have
//! [`crate::sliding`]. Powers of 2 take doublings instead.

use crate::Batch;
use crate::constants::Constants;
use crate::exponents::Exponents;
use crate::groups::{Moduli, for_long_groups, rows_of};
use crate::kernel::{Kernel, Space};
use crate::natural::bits_at;
use crate::ring::{LanesOf, Plain, Ring, Word, Workspace};
use crate::sliding::{Term, product_of_terms};

/// Widest window of the vector engine: its tables hold a number in every lane, and 16 dual numbers
/// fill the first cache.
pub(crate) const VECTOR_WINDOW: u32 = 4;

/// A method of raising the residues of a group of lanes: `power = base^exponent`, the exponents
/// (one a lane) of so many bits.
pub(crate) type Method<R> =
    fn(&LanesOf<R>, &mut Workspace<R>, power: &mut [Word<R>], base: &[Word<R>], exponents: &[&[u64]], bits: u32);

/// Every row's power by windows, each row of the result a canonical number or pair.
pub(crate) fn pow<R: Ring>(moduli: Moduli<'_>, bases: &Batch, exponents: Exponents<'_>) -> Batch {
    let method: Method<R> = match exponents {
        Exponents::Public(_) => sliding,
        Exponents::Shared(..) | Exponents::Each(..) => fixed_window,
    };
    pow_by(method, moduli, bases, exponents)
}

/// Every row's power by the method given.
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

/// Sliding windows, for an exponent that everybody knows; all lanes have the same one.
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

/// Fixed windows from the top, `w` bits a step: `w` squarings and one multiplication by a table
/// entry, read by masks over the whole table. The sequence of operations depends on `bits` only
/// (Menezes, van Oorschot, Vanstone, Handbook of Applied Cryptography, algorithm 14.82, with the
/// multiplications for zero digits kept).
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

/// `2^exponent` modulo several moduli, one a row, of one number of limbs: bits from the top, a
/// squaring each, which is doubled where the bit is 1 (Menezes, van Oorschot, Vanstone, Handbook of
/// Applied Cryptography, algorithm 14.79, whose products by the base are additions here). Where it
/// is 0, zeros are added: the sequence of operations depends on the number of bits only.
pub(crate) fn powers_of_two<K: Kernel>(moduli: &[&Constants], exponents: Exponents<'_>) -> Batch {
    exponents.check(moduli.len());
    let limbs = moduli[0].limbs();
    let mut out = Batch::zeros(moduli.len(), limbs);
    for_long_groups::<Plain<K>>(Moduli::Each(moduli), &mut out, |m, work, range, rows| {
        let exponent_rows: Vec<&[u64]> = range.map(|row| exponents.row(row)).collect();
        let (mut index, mut more, mut power) = (K::Word::default(), Space::<K>::new(m.k), Space::<K>::new(m.k));
        // Nothing, or the power once more.
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

/// The digit of each lane's exponent at a bit position.
pub(crate) fn set_index<R: Ring>(index: &mut Word<R>, exponents: &[&[u64]], position: usize, width: u32) {
    for (lane, exponent) in exponents.iter().enumerate() {
        R::Kernel::set_lane(index, lane, bits_at(exponent, position, width));
    }
}

/// The window width up to `most` that needs the fewest multiplications, counting a table entry as
/// one.
pub(crate) fn window_width(bits: u32, most: u32) -> u32 {
    let cost = |width: u32| (1 << width) + bits.div_ceil(width);
    (1..=most).min_by_key(|&width| cost(width)).expect("the range is not empty")
}

/// `base^0, base^1, ... base^(entries - 1)` one after another.
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
