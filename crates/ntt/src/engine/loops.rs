//! The inner loops of both engines: butterflies (\[Harvey14\], with the reduction of
//! \[Montgomery85\]) and products at the leaves.
//!
//! # Bounds
//! Factors of a product are below 2^52, and so is `16 p` for every prime `p`. The product of `x`
//! and a [`Constant`] is the difference of two numbers below `p`, exactly `c x + m p` for some `m`.
//! So it lies strictly between `-p` and `p`, and `p` is added where it must not be negative.
//! Coefficients are
//! - below `12 p` in the forward transform. Two levels: one conditional subtraction reduces the
//!   first of four coefficients below `8 p`, and the second stays as it is. `2 p` and `p` are added
//!   to them once, then at most two products are added or subtracted. All sums are therefore
//!   positive. The second one is below `14 p` when used as a factor, and the results are below
//!   `12 p`;
//! - below `4 p` in the inverse transform. Two levels: a sum of two coefficients is below `8 p`,
//!   and one of all four below `16 p`, which two conditional subtractions reduce. A difference of
//!   two has `4 p` or `8 p` added and is below `8 p` or `16 p` before it is multiplied. Products
//!   are below `2 p`, and the sum of two below `4 p`.
//!
//! At the leaves factors are reduced below `2 p`. A sum of the upper halves of 15 products is below
//! `15 (4 p^2 / 2^52) < 3.75 p`. Its reduction lies between 0 and `5 p`, or below `9 p` after
//! adding it to the previous value.

use super::{Target, Word};
use crate::memory::Prefetch;
use crate::plan::{INVERSE, P};
use crate::primes::{Constant, INVERSES, LANES, Lanes, MASK, PRIMES, RADIX};

/// The multiples of the primes used to keep within the bounds.
#[derive(Clone, Copy)]
pub(super) struct Moduli<W> {
    pub(super) zero: W,
    p: W,
    p2: W,
    p4: W,
    p8: W,
    minus_p: W,
}

impl<W: Word> Moduli<W> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        let (zero, p) = (W::splat(0), W::load(&P));
        let p2 = p.add(p);
        let p4 = p2.add(p2);
        Moduli { zero, p, p2, p4, p8: p4.add(p4), minus_p: zero.sub(p) }
    }

    /// Montgomery's reduction of sums of lower and upper halves, for `inverse = p^-1`. Modulo `p`
    /// the result is `high + low / 2^52`; it exceeds that by at most `p`.
    ///
    /// Proved: `reduced_correct` in formal/coq/butterflies.v.
    #[inline(always)]
    pub(super) fn reduced(&self, low: W, high: W, inverse: W) -> W {
        let q = self.zero.add_low(low, inverse);
        high.add(low.shift_right(RADIX)).sub(self.minus_p.add_high(q, self.p))
    }
}

/// A constant in registers.
#[derive(Clone, Copy)]
pub(super) struct Factor<W> {
    value: W,
    by_inverse: W,
}

impl<W: Word> Factor<W> {
    #[inline(always)]
    pub(super) fn load(constant: &Constant) -> Self {
        Factor { value: W::load(&constant.value), by_inverse: W::load(&constant.by_inverse) }
    }

    /// `c x` between `-p` and `p`, for `x` below 2^52.
    ///
    /// Proved: `times_correct` in formal/coq/butterflies.v.
    #[inline(always)]
    fn times(self, x: W, m: &Moduli<W>) -> W {
        let q = m.zero.add_low(x, self.by_inverse);
        m.zero.add_high(x, self.value).sub(m.zero.add_high(q, m.p))
    }

    /// `c x` between `0` and `2 p`, for `x` below 2^52.
    ///
    /// Proved: `times_positive_correct` in formal/coq/butterflies.v.
    #[inline(always)]
    pub(super) fn times_positive(self, x: W, m: &Moduli<W>) -> W {
        let q = m.zero.add_low(x, self.by_inverse);
        m.zero.add_high(x, self.value).sub(m.minus_p.add_high(q, m.p))
    }
}

/// `x - bound` if that is not negative, otherwise `x`.
#[inline(always)]
fn reduce<W: Word>(x: W, bound: W) -> W {
    x.min(x.sub(bound))
}

/// The constant 1 or -1.
const fn unit(negative: bool) -> Constant {
    let (mut value, mut by_inverse, mut i) = ([0; LANES], [0; LANES], 0);
    while i < LANES {
        let one = (1 << RADIX) % PRIMES[i];
        value[i] = if negative { PRIMES[i] - one } else { one };
        by_inverse[i] = value[i].wrapping_mul(INVERSES[i]) & MASK;
        i += 1;
    }
    Constant { value: Lanes(value), by_inverse: Lanes(by_inverse) }
}

static ONE: Constant = unit(false);
static MINUS_ONE: Constant = unit(true);

/// The negative inverse of the root of node `node`, which is the root mirrored within its level.
///
/// Proved: `table_correct` in formal/coq/ntt_transforms.v.
#[inline(always)]
fn reflected(roots: &[Constant], node: usize) -> &Constant {
    if node == 0 { &MINUS_ONE } else { &roots[3 * (1 << node.ilog2()) - 1 - node] }
}

#[inline(always)]
fn quarters(block: &mut [Lanes]) -> [&mut [Lanes]; 4] {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    [a, b, c, d]
}

/// One level: splits a polynomial modulo `x^(2 m) - w^2` into its residues modulo `x^m - w` and
/// `x^m + w`.
///
/// Proved: `forward2_correct` in formal/coq/butterflies.v.
#[inline(always)]
fn forward2<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant], m: &Moduli<W>) {
    let w = Factor::<W>::load(&roots[node]);
    let (low, high) = block.split_at_mut(block.len() / 2);
    for (x0, x1) in low.iter_mut().zip(high) {
        let t = w.times_positive(W::load(x1), m);
        let x = reduce(W::load(x0), m.p8);
        x.add(t).store(x0);
        x.add(m.p2).sub(t).store(x1);
    }
}

/// Two levels at once.
///
/// Proved: `forward4_correct` in formal/coq/butterflies.v.
#[inline(always)]
pub(super) fn forward4<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant], m: &Moduli<W>) {
    let w =
        [Factor::<W>::load(&roots[node]), Factor::<W>::load(&roots[2 * node]), Factor::<W>::load(&roots[2 * node + 1])];
    let [q0, q1, q2, q3] = quarters(block);
    for (((x0, x1), x2), x3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
        let t2 = w[0].times(W::load(x2), m);
        let t3 = w[0].times(W::load(x3), m);
        let base = reduce(W::load(x0), m.p8).add(m.p2);
        let other = W::load(x1).add(m.p);
        let (a0, a2) = (base.add(t2), base.sub(t2));
        let t1 = w[1].times(other.add(t3), m);
        let t3 = w[2].times(other.sub(t3), m);
        a0.add(t1).store(x0);
        a0.sub(t1).store(x1);
        a2.add(t3).store(x2);
        a2.sub(t3).store(x3);
    }
}

/// Undoes [`forward2`], except for a factor of two.
///
/// Proved: `inverse2_correct` in formal/coq/butterflies.v.
#[inline(always)]
fn inverse2<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant], m: &Moduli<W>) {
    let w = Factor::<W>::load(reflected(roots, node));
    let (low, high) = block.split_at_mut(block.len() / 2);
    for (u0, u1) in low.iter_mut().zip(high) {
        let (x, y) = (W::load(u0), W::load(u1));
        reduce(x.add(y), m.p4).store(u0);
        w.times_positive(y.sub(x).add(m.p4), m).store(u1);
    }
}

/// Undoes [`forward4`], except for a factor of four.
///
/// Proved: `inverse4_correct` in formal/coq/butterflies.v.
#[inline(always)]
pub(super) fn inverse4<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant], m: &Moduli<W>) {
    let w = [
        Factor::<W>::load(reflected(roots, node)),
        Factor::<W>::load(reflected(roots, 2 * node)),
        Factor::<W>::load(reflected(roots, 2 * node + 1)),
    ];
    let [q0, q1, q2, q3] = quarters(block);
    for (((u0, u1), u2), u3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
        let (x0, x1, x2, x3) = (W::load(u0), W::load(u1), W::load(u2), W::load(u3));
        let a0 = x0.add(x1);
        let a1 = w[1].times_positive(x1.sub(x0).add(m.p4), m);
        let a2 = x2.add(x3);
        let a3 = w[2].times_positive(x3.sub(x2).add(m.p4), m);
        reduce(reduce(a0.add(a2), m.p8), m.p4).store(u0);
        a1.add(a3).store(u1);
        w[0].times_positive(a2.sub(a0).add(m.p8), m).store(u2);
        w[0].times_positive(a3.sub(a1).add(m.p2), m).store(u3);
    }
}

/// See [`Kernel::forward`](super::Kernel::forward).
///
/// Proved: `forward_correct` in formal/coq/ntt_transforms.v.
#[inline(always)]
pub(super) fn forward<W: Word>(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
    let m = Moduli::<W>::new();
    let (mut node, mut done) = (node, 0);
    if levels % 2 == 1 {
        forward2(block, node, roots, &m);
        (node, done) = (2 * node, 1);
    }
    while done < levels {
        let size = block.len() >> done;
        for (i, block) in block.chunks_exact_mut(size).enumerate() {
            forward4(block, node + i, roots, &m);
        }
        (node, done) = (4 * node, done + 2);
    }
}

/// See [`Kernel::split`](super::Kernel::split).
///
/// Proved: `forward_correct` in formal/coq/ntt_transforms.v.
#[inline(always)]
pub(super) fn split<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant]) {
    forward4(block, node, roots, &Moduli::<W>::new());
}

/// See [`Kernel::inverse`](super::Kernel::inverse).
///
/// Proved: `backward_correct` in formal/coq/ntt_transforms.v.
#[inline(always)]
pub(super) fn inverse<W: Word>(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
    let m = Moduli::<W>::new();
    let mut left = levels;
    while left >= 2 {
        left -= 2;
        let size = block.len() >> left;
        for (i, block) in block.chunks_exact_mut(size).enumerate() {
            inverse4(block, (node << left) + i, roots, &m);
        }
    }
    if left == 1 {
        inverse2(block, node, roots, &m);
    }
}

/// See [`Kernel::join`](super::Kernel::join).
///
/// Proved: `backward_correct` in formal/coq/ntt_transforms.v.
#[inline(always)]
pub(super) fn join<W: Word>(block: &mut [Lanes], node: usize, roots: &[Constant]) {
    inverse4(block, node, roots, &Moduli::<W>::new());
}

/// Maximum number of coefficients of a leaf.
const MOST: usize = 15;

/// Coefficients `at..at + G` of a product at a leaf: sums of lower and of upper halves, reduced
/// below `5 p`.
///
/// Proved: `leaf_correct` in formal/coq/leaves.v.
#[inline(always)]
fn columns<W: Word, const G: usize>(a: &[Lanes], b: &[Lanes], at: usize, m: &Moduli<W>) -> [W; G] {
    let (mut low, mut high) = ([m.zero; G], [m.zero; G]);
    for (x, y) in a.iter().rev().zip(b[at..].windows(G)) {
        let x = W::load(x);
        for g in 0..G {
            let y = W::load(&y[g]);
            low[g] = low[g].add_low(x, y);
            high[g] = high[g].add_high(x, y);
        }
    }
    let inverse = W::load(&INVERSE);
    for g in 0..G {
        high[g] = m.reduced(low[g], high[g], inverse);
    }
    high
}

/// See [`Kernel::multiply`](super::Kernel::multiply).
///
/// Proved: `leaf_correct` in formal/coq/leaves.v.
/// Proved: `convolution_correct` in formal/coq/ntt_products.v.
#[inline(always)]
pub(super) fn multiply<W: Word>(
    target: Target<'_>,
    a: Option<&[Lanes]>,
    b: Option<&[Lanes]>,
    degree: usize,
    leaf: usize,
    roots: &[Constant],
    soon: [Option<Prefetch>; 2],
) {
    let m = Moduli::<W>::new();
    let one = Factor::<W>::load(&ONE);
    let (out, add) = match target {
        Target::Set(out) => (out, false),
        Target::Add(out) => (out, true),
    };
    let (mut x, mut y) = ([Lanes::default(); MOST], [Lanes::default(); 2 * MOST - 1]);
    let (x, y) = (&mut x[..degree], &mut y[..2 * degree - 1]);
    for (i, out) in out.chunks_exact_mut(degree).enumerate() {
        let range = i * degree..(i + 1) * degree;
        for soon in soon.into_iter().flatten() {
            soon.request(range.clone());
        }
        let from = match a {
            Some(a) => &a[range.clone()],
            None => &*out,
        };
        for (x, from) in x.iter_mut().zip(from) {
            one.times_positive(W::load(from), &m).store(x);
        }
        // The coefficients of the second factor, after those that are multiplied by the leaf's
        // root.
        match b {
            Some(b) => {
                for (y, from) in y[degree - 1..].iter_mut().zip(&b[range]) {
                    one.times_positive(W::load(from), &m).store(y);
                }
            }
            None => y[degree - 1..].copy_from_slice(x),
        }
        let leaf = leaf + i;
        let w = Factor::<W>::load(&roots[leaf / 2]);
        let (wrapped, plain) = y.split_at_mut(degree - 1);
        for (y, from) in wrapped.iter_mut().zip(&plain[1..]) {
            let product = w.times(W::load(from), &m);
            // An odd leaf's root is the negative.
            if leaf.is_multiple_of(2) { m.p.add(product) } else { m.p.sub(product) }.store(y);
        }
        let mut at = 0;
        while at < degree {
            match degree - at {
                1 => put(&mut out[at..], columns::<W, 1>(x, y, at, &m), add, &m),
                2 => put(&mut out[at..], columns::<W, 2>(x, y, at, &m), add, &m),
                3 => put(&mut out[at..], columns::<W, 3>(x, y, at, &m), add, &m),
                5 => put(&mut out[at..], columns::<W, 5>(x, y, at, &m), add, &m),
                6 => put(&mut out[at..], columns::<W, 3>(x, y, at, &m), add, &m),
                _ => put(&mut out[at..], columns::<W, 4>(x, y, at, &m), add, &m),
            }
            at += match degree - at {
                rest @ (1 | 2 | 3 | 5) => rest,
                6 => 3,
                _ => 4,
            };
        }
    }
}

/// Stores sums below `5 p`, or adds them to stored values below `4 p`. The stored results are below
/// `4 p`.
///
/// Proved: `leaf_correct` in formal/coq/leaves.v.
#[inline(always)]
fn put<W: Word, const G: usize>(out: &mut [Lanes], sums: [W; G], add: bool, m: &Moduli<W>) {
    for (out, sum) in out.iter_mut().zip(sums) {
        let sum = if add { reduce(sum.add(W::load(out)), m.p8) } else { sum };
        reduce(sum, m.p4).store(out);
    }
}

/// Compiles the loops for an engine with the target features of its instructions.
macro_rules! kernel {
    ($engine:ty, $word:ty, { $(#[$feature:meta])? }) => {
        impl Kernel for $engine {
            fn forward(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
                $(#[$feature])?
                fn compiled(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
                    $crate::engine::loops::forward::<$word>(block, node, levels, roots);
                }
                // SAFETY: only `dispatch!` reaches a kernel, and it selects engines that this
                // machine can run.
                #[allow(unused_unsafe)]
                unsafe { compiled(block, node, levels, roots) }
            }

            fn split(block: &mut [Lanes], node: usize, roots: &[Constant]) {
                $(#[$feature])?
                fn compiled(block: &mut [Lanes], node: usize, roots: &[Constant]) {
                    $crate::engine::loops::split::<$word>(block, node, roots);
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(block, node, roots) }
            }

            fn inverse(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
                $(#[$feature])?
                fn compiled(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]) {
                    $crate::engine::loops::inverse::<$word>(block, node, levels, roots);
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(block, node, levels, roots) }
            }

            fn join(block: &mut [Lanes], node: usize, roots: &[Constant]) {
                $(#[$feature])?
                fn compiled(block: &mut [Lanes], node: usize, roots: &[Constant]) {
                    $crate::engine::loops::join::<$word>(block, node, roots);
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(block, node, roots) }
            }

            fn multiply(
                out: Target<'_>,
                a: Option<&[Lanes]>,
                b: Option<&[Lanes]>,
                degree: usize,
                leaf: usize,
                roots: &[Constant],
                soon: [Option<Prefetch>; 2],
            ) {
                $(#[$feature])?
                fn compiled(
                    out: Target<'_>,
                    a: Option<&[Lanes]>,
                    b: Option<&[Lanes]>,
                    degree: usize,
                    leaf: usize,
                    roots: &[Constant],
                    soon: [Option<Prefetch>; 2],
                ) {
                    $crate::engine::loops::multiply::<$word>(out, a, b, degree, leaf, roots, soon);
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(out, a, b, degree, leaf, roots, soon) }
            }

            fn residues(out: &mut [Lanes], number: &[u64], from: usize, digits: &Digits, soon: Option<Prefetch>) {
                $(#[$feature])?
                fn compiled(out: &mut [Lanes], number: &[u64], from: usize, digits: &Digits, soon: Option<Prefetch>) {
                    $crate::engine::digits::residues::<$word>(out, number, from, digits, soon);
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(out, number, from, digits, soon) }
            }

            fn combine(out: &mut [u64], coefficients: &[Lanes], digits: &Digits, soon: Option<Prefetch>) -> [u64; 4] {
                $(#[$feature])?
                fn compiled(out: &mut [u64], coefficients: &[Lanes], digits: &Digits, soon: Option<Prefetch>) -> [u64; 4] {
                    $crate::engine::digits::combine::<$word>(out, coefficients, digits, soon)
                }
                // SAFETY: as in `forward`.
                #[allow(unused_unsafe)]
                unsafe { compiled(out, coefficients, digits, soon) }
            }
        }
    };
}
pub(super) use kernel;
