//! The vector kernel for machines without AVX-512: four numbers in parallel in AVX2 registers, with
//! limbs of 28 bits and lazily reduced residues.
//!
//! `vpmuludq` multiplies 32-bit numbers. Most cores execute two such instructions per cycle, while
//! the scalar multiplier processes one 64-bit number per cycle. Eight products of 28-bit limbs thus
//! take the time of one product of 64-bit limbs, which is equivalent to about five of them.
//! Products of 56 bits accumulate in 64-bit columns, so carries can wait for about 250 products;
//! longer numbers propagate carries in between.
//!
//! # Bounds
//! A limb is below 2^28. `R >= 2^28 m`. A residue is below `2 m`, and the high part of a dual
//! residue below `3 m`. The low part of a result of [`Kernel::add_chunk`] is below `R / 2`; its
//! other factor is then canonical or, in a plain product, a residue.
//! - low: `(2 m 2 m + R m) / R < 2 m`, and `(R/2 2 m + R m) / R = 2 m`, which is not reached;
//! - a sum of two residues, squared: `(4 m 4 m + R m) / R < 2 m`;
//! - high: `a d + b c + R m - Q` reduces to less than `(12 m^2 + 2 R m) / R < 3 m`, and to less
//!   than `(R/2 m + 3 m^2 + 2 R m) / R < 3 m`.
//!
//! Terms added to a column are counted in products of two limbs ([`blocks::Columns`]): never more
//! than 255.

mod blocks;
mod lanes;
mod tables;

use crate::kernel::{Kernel, Lanes};
use blocks::{Columns, normalise, reduce, reduce_pair};
use zeroize::DefaultIsZeroes;

/// The kernel of the AVX2 engine.
pub(crate) struct Avx2;

/// One limb of each of four numbers.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Quad(pub(crate) [u64; 4]);

impl DefaultIsZeroes for Quad {}

/// Bits of a limb.
const RADIX: u32 = 28;
/// A mask for the bits of a limb.
const MASK: u64 = (1 << RADIX) - 1;
/// Minimum number of bits by which `R` is longer than the modulus. It lets a number as long as the
/// modulus fit into one chunk.
const SPARE: u32 = RADIX;

// Calls into `blocks`, `lanes` and `tables` need the engine's instructions. A kernel only runs with
// `Lanes`, which come from `MontgomeryParams`, which hold their engine as `Available`.
impl Kernel for Avx2 {
    type Word = Quad;
    const LANES: usize = 4;
    const RADIX_BITS: u32 = RADIX;
    const WINDOW: u32 = crate::pow::VECTOR_WINDOW;

    /// An even number, because blocks have two, four or six limbs.
    ///
    /// Proved: `spare_bits` in formal/coq/avx2.v.
    fn limbs(bits: u32) -> usize {
        ((bits + SPARE).div_ceil(RADIX) as usize).next_multiple_of(2)
    }

    fn chunk_bits(k: usize) -> u32 {
        RADIX * (k as u32 - 1)
    }

    fn scratch(k: usize) -> usize {
        5 * k
    }

    fn set_lane(word: &mut Quad, lane: usize, limb: u64) {
        word.0[lane] = limb;
    }

    fn lane(word: &Quad, lane: usize) -> u64 {
        word.0[lane]
    }

    fn load(words: &mut [Quad], rows: &[&[u64]], start: usize) {
        lanes::load(words, rows, start);
    }

    fn store(words: &[Quad], rows: &mut [&mut [u64]]) {
        // SAFETY: the CPU supports the instructions.
        unsafe { lanes::store(words, rows) }
    }

    /// The low part is below `2 m`. If it is `m` or more, `m` is subtracted and 1 added to the high
    /// part, which is below `3 m` before and at most `3 m` afterwards.
    ///
    /// Proved: `canonical_correct` in formal/coq/avx2_limbs.v.
    fn canonical(m: &Lanes<Self>, residue: &mut [Quad]) {
        let (low, high) = residue.split_at_mut(m.k);
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let carried = blocks::reduce_once(low, &m.m);
            if !high.is_empty() {
                blocks::add(high, &[carried]);
                (0..3).for_each(|_| _ = blocks::reduce_once(high, &m.m));
            }
        }
    }

    fn starts(m: &[Quad]) -> [Vec<Quad>; 2] {
        [vec![Quad::default(); 2 * m.len()], blocks::start_high(m)]
    }

    /// Proved: `mul_correct` in formal/coq/avx2_products.v.
    fn mul(m: &Lanes<Self>, out: &mut [Quad], a: &[Quad], b: &[Quad], scratch: &mut [Quad]) {
        // SAFETY: the CPU supports the instructions; lengths are checked by the callees.
        unsafe {
            let mut t = Columns::new(&mut scratch[..2 * m.k], &m.starts[0]);
            t.multiply(a, b);
            reduce(&mut t, &m.m, m.neg_inverse);
            normalise(out, &scratch[m.k..2 * m.k]);
        }
    }

    /// Proved: `sqr_correct` in formal/coq/avx2_products.v.
    fn sqr(m: &Lanes<Self>, out: &mut [Quad], a: &[Quad], scratch: &mut [Quad]) {
        let (columns, twice) = scratch.split_at_mut(2 * m.k);
        // SAFETY: as in `mul`.
        unsafe {
            let mut t = Columns::new(columns, &m.starts[0]);
            t.square(a, &mut twice[..m.k]);
            reduce(&mut t, &m.m, m.neg_inverse);
            normalise(out, &columns[m.k..]);
        }
    }

    /// Proved: `dual_mul_correct` in formal/coq/avx2_products.v.
    fn dual_mul(m: &Lanes<Self>, out: &mut [Quad], a: &[Quad], b: &[Quad], scratch: &mut [Quad]) {
        let (low, high) = scratch[..4 * m.k].split_at_mut(2 * m.k);
        let ((a_low, a_high), (b_low, b_high)) = (a.split_at(m.k), b.split_at(m.k));
        let (out_low, out_high) = out.split_at_mut(m.k);
        // SAFETY: as in `mul`.
        unsafe {
            let (mut t, mut u) = (Columns::new(low, &m.starts[0]), Columns::new(high, &m.starts[1]));
            t.multiply(a_low, b_low);
            u.multiply(a_low, b_high);
            u.multiply(a_high, b_low);
            reduce_pair(&mut t, &mut u, &m.m, m.neg_inverse);
            normalise(out_low, &low[m.k..]);
            normalise(out_high, &high[m.k..]);
        }
    }

    /// Proved: `dual_sqr_correct` in formal/coq/avx2_products.v.
    fn dual_sqr(m: &Lanes<Self>, out: &mut [Quad], a: &[Quad], scratch: &mut [Quad]) {
        let (low, rest) = scratch.split_at_mut(2 * m.k);
        let (high, twice) = rest.split_at_mut(2 * m.k);
        let ((a_low, a_high), twice) = (a.split_at(m.k), &mut twice[..m.k]);
        let (out_low, out_high) = out.split_at_mut(m.k);
        // SAFETY: as in `mul`.
        unsafe {
            let (mut t, mut u) = (Columns::new(low, &m.starts[0]), Columns::new(high, &m.starts[1]));
            t.square(a_low, twice);
            u.multiply_twice(a_high, twice);
            reduce_pair(&mut t, &mut u, &m.m, m.neg_inverse);
            normalise(out_low, &low[m.k..]);
            normalise(out_high, &high[m.k..]);
        }
    }

    /// `2 m + 2^(28 (k-1)) < R / 2`, so there is no carry out of the low part.
    ///
    /// Proved: `add_chunk_correct` in formal/coq/avx2_limbs.v.
    fn add_chunk(m: &Lanes<Self>, a: &mut [Quad], chunk: &[Quad]) {
        // SAFETY: as in `mul`.
        unsafe { blocks::add(&mut a[..m.k], chunk) }
    }

    const TRUNCATES: bool = true;

    fn product_from(t: &mut [Quad], a: &[Quad], b: &[Quad], from: usize) {
        t.fill(Quad::default());
        // SAFETY: as in `mul`.
        unsafe { Columns::of(t).multiply_from(a, b, from) }
    }

    fn product_below(t: &mut [Quad], a: &[Quad], b: &[Quad]) {
        t.fill(Quad::default());
        // SAFETY: as in `mul`.
        unsafe { Columns::of(t).multiply_below(a, b) }
    }

    fn carry(columns: &mut [Quad]) {
        // SAFETY: as in `mul`.
        unsafe { blocks::carry(columns) }
    }

    /// Proved: `remainder_correct` in formal/coq/avx2_limbs.v.
    fn remainder(m: &Lanes<Self>, a: &mut [Quad], b: &[Quad]) {
        // SAFETY: as in `mul`.
        unsafe {
            blocks::subtract(a, b);
            _ = blocks::reduce_once(a, &m.m);
        }
    }

    fn select(out: &mut [Quad], table: &[Quad], index: &Quad) {
        // SAFETY: as in `mul`.
        unsafe { tables::select(out, table, index) }
    }

    fn select_shared(out: &mut [Quad], table: &[u64], index: &Quad) {
        // SAFETY: as in `mul`.
        unsafe { tables::select_shared(out, table, index) }
    }
}
