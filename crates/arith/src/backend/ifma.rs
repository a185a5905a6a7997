//! The vector kernel: eight numbers in parallel in AVX-512 registers, with limbs of 52 bits and
//! lazily reduced residues.
//!
//! `vpmadd52luq` and `vpmadd52huq` multiply 52-bit limbs and add the low or high half of the
//! product to 64-bit sums. Carries can therefore wait: a column holds up to 4096 halves before it
//! overflows. Numbers have a multiple of ten limbs and at least 8 bits more than the modulus:
//! `R >= 256 m`. `crates/arith/src/backend/README.md` explains the blocks and counts the
//! instructions.
//!
//! # Bounds
//! A limb is the lower 52 bits of its word. Products ignore the bits above, which remain after
//! carrying. A residue is below `2 m`, and the high part of a dual residue below `3 m`. The low
//! part of a result of [`Kernel::add_chunk`] is below `R / 2`; its other factor is then canonical
//! or, in a plain product, a residue.
//! - low: `(2 m 2 m + R m) / R < 2 m`, and `(R/2 2 m + R m) / R = 2 m`, which is not reached;
//! - a sum of two residues, squared: `(4 m 4 m + R m) / R < 2 m`;
//! - high: `a d + b c + R m - Q` reduces to less than `(12 m^2 + 2 R m) / R < 3 m`, and to less
//!   than `(R/2 m + 3 m^2 + 2 R m) / R < 3 m`.
//!
//! A column sums its initial value, below 2^53, at most `4 k` halves of the products and `2 k`
//! halves of the reduction, each below 2^52, and a carry. The total is below `(6 k + 3) 2^52`. With
//! `k = 320` limbs (plain products only: `4 k + 3`) or 160, it stays below 2^63.

pub(crate) mod across;
pub(crate) mod alone;
mod blocks;
pub(crate) mod lanes;
mod peak;
mod tables;

use crate::kernel::{Kernel, Lanes};
use blocks::{BLOCK, multiply, multiply_add, normalise, normalise_pair, reduce, reduce_pair, square};
use zeroize::DefaultIsZeroes;

/// The vector engine's kernel.
pub(crate) struct Ifma;

/// One limb of each of eight numbers.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Octet(pub [u64; 8]);

impl DefaultIsZeroes for Octet {}

/// Bits of a limb.
pub const RADIX: u32 = 52;
/// A mask for the bits of a limb.
pub const MASK: u64 = (1 << RADIX) - 1;

// Calls into `blocks`, `lanes` and `tables` need the engine's instructions. A kernel only runs with
// `Lanes`, which come from `MontgomeryParams`, which hold their engine as `Available`.
impl Kernel for Ifma {
    type Word = Octet;
    const LANES: usize = 8;
    const RADIX_BITS: u32 = RADIX;
    const WINDOW: u32 = crate::pow::VECTOR_WINDOW;

    /// Proved: `spare_bits` in formal/coq/ifma.v.
    /// Proved: `most_limbs` in formal/coq/ifma.v.
    fn limbs(bits: u32) -> usize {
        ((bits + 8).div_ceil(RADIX) as usize).next_multiple_of(BLOCK)
    }

    /// The maximum that the bounds allow: the square of a 2048-bit number has two chunks.
    ///
    /// Proved: `add_chunk_correct` in formal/coq/canonical.v.
    fn chunk_bits(k: usize) -> u32 {
        RADIX * k as u32 - 2
    }

    fn scratch(k: usize) -> usize {
        5 * k + 2 * BLOCK
    }

    fn set_lane(word: &mut Octet, lane: usize, limb: u64) {
        word.0[lane] = limb;
    }

    fn lane(word: &Octet, lane: usize) -> u64 {
        word.0[lane] & MASK
    }

    fn load(words: &mut [Octet], rows: &[&[u64]], start: usize) {
        // SAFETY: the CPU supports the instructions.
        unsafe { lanes::load(words, rows, start) }
    }

    fn prefetch(rows: &[&[u64]]) {
        lanes::prefetch(rows);
    }

    fn store(words: &[Octet], rows: &mut [&mut [u64]]) {
        // SAFETY: the CPU supports the instructions.
        unsafe { lanes::store(words, rows) }
    }

    /// The low part is below `2 m`. If it is `m` or more, `m` is subtracted and 1 added to the high
    /// part, which is below `3 m` before and at most `3 m` afterwards.
    fn canonical(m: &Lanes<Self>, residue: &mut [Octet]) {
        let (low, high) = residue.split_at_mut(m.k);
        // SAFETY: as in `mul`.
        unsafe {
            blocks::settle(low, Octet::default());
            let carried = blocks::reduce_once(low, &m.m);
            if !high.is_empty() {
                blocks::settle(high, carried);
                (0..3).for_each(|_| _ = blocks::reduce_once(high, &m.m));
            }
        }
    }

    fn starts(m: &[Octet]) -> [Vec<Octet>; 2] {
        [blocks::start_low(m.len()), blocks::start_high(m)]
    }

    /// Proved: `lazy_low` in formal/coq/lazy.v.
    /// Proved: `lazy_chunk` in formal/coq/lazy.v.
    fn mul(m: &Lanes<Self>, out: &mut [Octet], a: &[Octet], b: &[Octet], scratch: &mut [Octet]) {
        let (t, q) = scratch.split_at_mut(2 * m.k);
        // SAFETY: the CPU supports the instructions; lengths are checked by the callees.
        unsafe {
            multiply(t, a, b, &m.starts[0]);
            reduce(t, q, &m.m, m.neg_inverse);
            normalise(out, &t[m.k..]);
        }
    }

    /// Proved: `lazy_sum_squared` in formal/coq/lazy.v.
    fn sqr(m: &Lanes<Self>, out: &mut [Octet], a: &[Octet], scratch: &mut [Octet]) {
        let (t, rest) = scratch.split_at_mut(2 * m.k);
        let (twice, q) = rest.split_at_mut(m.k);
        // SAFETY: as in `mul`.
        unsafe {
            square(t, twice, a, &m.starts[0]);
            reduce(t, q, &m.m, m.neg_inverse);
            normalise(out, &t[m.k..]);
        }
    }

    /// Proved: `lazy_high` in formal/coq/lazy.v.
    /// Proved: `lazy_high_chunk` in formal/coq/lazy.v.
    fn dual_mul(m: &Lanes<Self>, out: &mut [Octet], a: &[Octet], b: &[Octet], scratch: &mut [Octet]) {
        let (t, rest) = scratch.split_at_mut(2 * m.k);
        let (u, q) = rest.split_at_mut(2 * m.k);
        let ((a_low, a_high), (b_low, b_high)) = (a.split_at(m.k), b.split_at(m.k));
        // SAFETY: as in `mul`.
        unsafe {
            multiply(t, a_low, b_low, &m.starts[0]);
            multiply(u, a_low, b_high, &m.starts[1]);
            multiply_add(u, a_high, b_low);
            reduce_pair(t, u, q, &m.m, m.neg_inverse);
            normalise_pair(out, &t[m.k..], &u[m.k..]);
        }
    }

    fn dual_sqr(m: &Lanes<Self>, out: &mut [Octet], a: &[Octet], scratch: &mut [Octet]) {
        let (t, rest) = scratch.split_at_mut(2 * m.k);
        let (u, rest) = rest.split_at_mut(2 * m.k);
        let (twice, q) = rest.split_at_mut(m.k);
        let (a_low, a_high) = a.split_at(m.k);
        // SAFETY: as in `mul`.
        unsafe {
            square(t, twice, a_low, &m.starts[0]);
            multiply(u, twice, a_high, &m.starts[1]);
            reduce_pair(t, u, q, &m.m, m.neg_inverse);
            normalise_pair(out, &t[m.k..], &u[m.k..]);
        }
    }

    /// `2 m + R / 4 < R / 2`, so there is no carry out of the low part.
    fn add_chunk(m: &Lanes<Self>, a: &mut [Octet], chunk: &[Octet]) {
        // SAFETY: as in `mul`.
        unsafe { blocks::add(&mut a[..m.k], chunk) }
    }

    const TRUNCATES: bool = true;

    fn product_from(t: &mut [Octet], a: &[Octet], b: &[Octet], from: usize) {
        t.fill(Octet::default());
        // SAFETY: as in `mul`.
        unsafe { blocks::multiply_from(t, a, b, from) }
    }

    fn product_below(t: &mut [Octet], a: &[Octet], b: &[Octet]) {
        t.fill(Octet::default());
        // SAFETY: as in `mul`.
        unsafe { blocks::multiply_below(t, a, b) }
    }

    fn carry(columns: &mut [Octet]) {
        // SAFETY: as in `mul`.
        unsafe { blocks::carry(columns) }
    }

    fn remainder(m: &Lanes<Self>, a: &mut [Octet], b: &[Octet]) {
        // SAFETY: as in `mul`.
        unsafe {
            blocks::subtract(a, b);
            _ = blocks::reduce_once(a, &m.m);
        }
    }

    fn select(out: &mut [Octet], table: &[Octet], index: &Octet) {
        // SAFETY: as in `mul`.
        unsafe { tables::select(out, table, index) }
    }

    fn select_shared(out: &mut [Octet], table: &[u64], index: &Octet) {
        // SAFETY: as in `mul`.
        unsafe { tables::select_shared(out, table, index) }
    }
}

/// The peak number of IFMA instructions per nanosecond on this core, measured over some
/// milliseconds (best of ten runs).
pub(crate) fn peak_rate() -> f64 {
    let rounds = 50_000;
    let rate = || {
        let start = std::time::Instant::now();
        // SAFETY: only called if the engine is available.
        unsafe { peak::independent_products(rounds) };
        (24 * rounds) as f64 / start.elapsed().as_nanos() as f64
    };
    (0..10).map(|_| rate()).fold(0.0, f64::max)
}
