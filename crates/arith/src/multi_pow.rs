//! Products of powers, for dot products of ciphertexts and plaintext weights.

use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_long_groups};
use crate::kernel::{Kernel, Space};
use crate::natural::bits_at;
use crate::pow::powers;
use crate::product::products;
use crate::ring::{Ring, Word};

/// Number of terms that share squarings. More would save little: for 64-bit exponents, the tables
/// and digits of a term take 30 products and its share of the squarings 4.
const TERMS: usize = 16;
/// Bits of a digit.
const DIGIT: u32 = 4;

/// For each group, the product of `base^exponent` over the listed rows. Each lane processes up to
/// [`TERMS`] rows of one group.
///
/// The method is that of \[Straus64\] with fixed digits and masked table reads, so the sequence of
/// operations depends only on `bits` and the groups.
pub(crate) fn multi_pow<R: Ring>(
    constants: &MontgomeryParams,
    bases: &Batch,
    exponents: &Batch,
    bits: u32,
    groups: &[impl AsRef<[u32]> + Sync],
) -> Batch {
    let limbs = R::PARTS * constants.limbs();
    let mut parts: Vec<(usize, &[u32])> = Vec::new();
    for (group, rows) in groups.iter().enumerate() {
        parts.extend(rows.as_ref().chunks(TERMS).map(|part| (group, part)));
    }
    let mut partial = Batch::zeros(parts.len(), limbs);
    for_long_groups::<R>(Moduli::Shared(constants), &mut partial, |m, work, range, rows| {
        let width = R::width(m);
        let parts = &parts[range];
        let terms = parts.iter().map(|(_, part)| part.len()).max().unwrap_or(0);
        let row = |part: &[u32], term: usize| part.get(term).map(|&row| row as usize);
        let mut base = Space::<R::Kernel>::new(width);
        let tables: Vec<Space<R::Kernel>> = (0..terms)
            .map(|term| {
                let lanes: Vec<&[u64]> =
                    parts.iter().map(|(_, part)| row(part, term).map_or(&[1][..], |row| bases.row(row))).collect();
                work.enter(m, &mut base, &lanes);
                powers::<R>(m, work, &base, 1 << DIGIT)
            })
            .collect();
        let (mut power, mut entry) = (Space::<R::Kernel>::new(width), Space::<R::Kernel>::new(width));
        let mut index = Word::<R>::default();
        power.copy_from_slice(R::one(m));
        for position in (0..bits.div_ceil(DIGIT)).rev() {
            work.sqr_assign(m, &mut power, DIGIT as usize);
            for (term, table) in tables.iter().enumerate() {
                for (lane, (_, part)) in parts.iter().enumerate() {
                    let exponent = row(part, term).map_or(&[][..], |row| exponents.row(row));
                    R::Kernel::set_lane(&mut index, lane, bits_at(exponent, (position * DIGIT) as usize, DIGIT));
                }
                R::Kernel::select(&mut entry, table, &index);
                work.mul_assign(m, &mut power, &entry);
            }
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &power);
    });
    let mut lists = vec![Vec::new(); groups.len()];
    for (row, (group, _)) in parts.iter().enumerate() {
        lists[*group].push(row as u32);
    }
    products::<R>(constants, &partial, &lists)
}
