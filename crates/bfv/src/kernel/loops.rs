//! The loops, generic over the vector type.
//!
//! # Bounds
//! A prime `q` is below 2^50. Numbers in transforms are below `4 q`, so they fit 52 bits. The
//! product of any 52-bit number and a [`Constant`] is below `2 q`: `x w - floor(x w' / 2^52) q`,
//! with `w' = floor(2^52 w / q)`, is below `q + x q / 2^52`.

use super::{LANES, Lanes, MASK, Word};
use crate::prime::{Constant, Prime, Tail};

/// A prime and values derived from it, in registers.
#[derive(Clone, Copy)]
struct Modulus<W> {
    q: W,
    two_q: W,
    /// `2^52 - q`.
    negative: W,
    mask: W,
}

impl<W: Word> Modulus<W> {
    #[inline(always)]
    fn new(q: u64) -> Self {
        let splat = W::splat;
        Modulus { q: splat(q), two_q: splat(2 * q), negative: splat((1 << super::RADIX) - q), mask: splat(MASK) }
    }

    /// `x w`, below `2 q`.
    ///
    /// Proved: `times_correct` in formal/coq/lattice.v.
    #[inline(always)]
    fn times(&self, x: W, (w, quotient): (W, W)) -> W {
        let zero = W::splat(0);
        let whole = zero.add_high(x, quotient);
        zero.add_low(x, w).add_low(whole, self.negative).and(self.mask)
    }

    /// Reduces a number below `2 b` to below `b`.
    ///
    /// Proved: `once_correct` in formal/coq/lattice.v.
    #[inline(always)]
    fn once(x: W, b: W) -> W {
        x.min(x.sub(b))
    }

    /// Reduces a number below `4 q` to below `q`.
    ///
    /// Proved: `reduced_correct` in formal/coq/lattice.v.
    #[inline(always)]
    fn reduced(&self, x: W) -> W {
        Self::once(Self::once(x, self.two_q), self.q)
    }

    /// `(x + y w, x - y w)`, both below `4 q`, for `x` and `y` below `4 q`.
    ///
    /// Proved: `butterfly_correct` in formal/coq/lattice.v.
    #[inline(always)]
    fn butterfly(&self, x: W, y: W, w: (W, W)) -> (W, W) {
        let x = Self::once(x, self.two_q);
        let y = self.times(y, w);
        (x.add(y), x.sub(y).add(self.two_q))
    }

    /// `(x + y, (x - y) w)`, both below `2 q`, for `x` and `y` below `2 q`.
    ///
    /// Proved: `back_correct` in formal/coq/lattice.v.
    #[inline(always)]
    fn back(&self, x: W, y: W, w: (W, W)) -> (W, W) {
        let difference = x.sub(y).add(self.two_q);
        (Self::once(x.add(y), self.two_q), self.times(difference, w))
    }
}

#[inline(always)]
fn splat<W: Word>(c: Constant) -> (W, W) {
    (W::splat(c.value), W::splat(c.quotient))
}

#[inline(always)]
fn load<W: Word>(from: &[Lanes; 2]) -> (W, W) {
    (W::load(&from[0]), W::load(&from[1]))
}

/// Transforms coefficients to values at the odd powers of a root of unity of order `2 N`, by
/// decimation in time with the roots in bit-reversed order. The last three levels work on blocks of
/// 64 values, which stay transposed. This order of values is specific to the scheme and the same on
/// every engine.
///
/// Proved: `forward_correct` in formal/coq/transforms.v.
/// Proved: `values_correct` in formal/coq/transforms.v.
/// Proved: `convolution_correct` in formal/coq/transforms.v.
#[inline(always)]
pub(super) fn forward<W: Word>(a: &mut [Lanes], prime: &Prime) {
    let modulus = Modulus::<W>::new(prime.q);
    let (mut groups, mut length) = (1, a.len());
    // A single level first where two at a time would leave one.
    if length.trailing_zeros() % 2 == 1 {
        length /= 2;
        let w = splat(prime.roots[1]);
        let (x, y) = a.split_at_mut(length);
        for (x, y) in x.iter_mut().zip(y) {
            let (sum, difference) = modulus.butterfly(W::load(x), W::load(y), w);
            sum.store(x);
            difference.store(y);
        }
        groups = 2;
    }
    while length > 1 {
        let quarter = length / 4;
        for (i, block) in a.chunks_exact_mut(length).enumerate() {
            let node = groups + i;
            let [w, left, right] = [node, 2 * node, 2 * node + 1].map(|node| splat(prime.roots[node]));
            let (x, y) = block.split_at_mut(2 * quarter);
            let ((x0, x1), (y0, y1)) = (x.split_at_mut(quarter), y.split_at_mut(quarter));
            for (((x0, x1), y0), y1) in x0.iter_mut().zip(x1).zip(y0).zip(y1) {
                let (a0, b0) = modulus.butterfly(W::load(x0), W::load(y0), w);
                let (a1, b1) = modulus.butterfly(W::load(x1), W::load(y1), w);
                let (a0, a1) = modulus.butterfly(a0, a1, left);
                let (b0, b1) = modulus.butterfly(b0, b1, right);
                a0.store(x0);
                a1.store(x1);
                b0.store(y0);
                b1.store(y1);
            }
        }
        (groups, length) = (4 * groups, quarter);
    }
    for (block, tail) in a.as_chunks_mut::<LANES>().0.iter_mut().zip(&prime.tail) {
        forward_tail::<W>(block, tail, &modulus);
    }
}

/// The last three levels of a block.
#[inline(always)]
fn forward_tail<W: Word>(block: &mut [Lanes; LANES], tail: &Tail, modulus: &Modulus<W>) {
    let mut v = W::transposed(std::array::from_fn(|i| W::load(&block[i])));
    let mut node = 0;
    for half in [4, 2, 1] {
        for first in (0..LANES).step_by(2 * half) {
            let w = load(&tail.0[node]);
            node += 1;
            for i in first..first + half {
                (v[i], v[i + half]) = modulus.butterfly(v[i], v[i + half], w);
            }
        }
    }
    for (v, place) in v.into_iter().zip(block) {
        modulus.reduced(v).store(place);
    }
}

/// Undoes [`forward`].
///
/// Proved: `inverse_correct` in formal/coq/convolutions.v.
/// Proved: `product_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn inverse<W: Word>(a: &mut [Lanes], prime: &Prime) {
    let modulus = Modulus::<W>::new(prime.q);
    for (block, tail) in a.as_chunks_mut::<LANES>().0.iter_mut().zip(&prime.inverse_tail) {
        inverse_tail::<W>(block, tail, &modulus);
    }
    let mut length = 2;
    while length <= a.len() {
        let groups = a.len() / length;
        for (i, block) in a.chunks_exact_mut(length).enumerate() {
            let w = splat(prime.inverse_roots[groups + i]);
            let (x, y) = block.split_at_mut(length / 2);
            for (x, y) in x.iter_mut().zip(y) {
                let (sum, difference) = modulus.back(W::load(x), W::load(y), w);
                sum.store(x);
                difference.store(y);
            }
        }
        length *= 2;
    }
    scale::<W>(a, prime.per_degree, prime);
}

#[inline(always)]
fn inverse_tail<W: Word>(block: &mut [Lanes; LANES], tail: &Tail, modulus: &Modulus<W>) {
    let mut v: [W; LANES] = std::array::from_fn(|i| W::load(&block[i]));
    let mut node = LANES - 1;
    for half in [1, 2, 4] {
        for first in (0..LANES).step_by(2 * half).rev() {
            node -= 1;
            let w = load(&tail.0[node]);
            for i in first..first + half {
                (v[i], v[i + half]) = modulus.back(v[i], v[i + half], w);
            }
        }
    }
    for (v, place) in W::transposed(v).into_iter().zip(block) {
        v.store(place);
    }
}

/// Montgomery multiplication. Write `a b = 2^52 high + low`, and let `m = low / q` modulo 2^52, so
/// that `m q = low` modulo 2^52. Then `(a b - m q) / 2^52` is `high` minus the upper half of `m q`,
/// between `-q` and `q`.
///
/// Proved: `multiply_add_correct` in formal/coq/lattice.v.
/// Proved: `product_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn multiply_add<W: Word>(sum: &mut [Lanes], a: &[Lanes], b: &[Lanes], prime: &Prime) {
    let modulus = Modulus::<W>::new(prime.q);
    let (zero, inverse) = (W::splat(0), W::splat(prime.inverse));
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        let (a, b) = (W::load(a), W::load(b));
        let m = zero.add_low(zero.add_low(a, b), inverse);
        let high = W::load(sum).add(modulus.q).add_high(a, b);
        modulus.reduced(high.sub(zero.add_high(m, modulus.q))).store(sum);
    }
}

/// `a c`, below `q`, for `a` of up to 52 bits.
///
/// Proved: `scale_correct` in formal/coq/convolutions.v.
/// Proved: `product_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn scale<W: Word>(a: &mut [Lanes], c: Constant, prime: &Prime) {
    let modulus = Modulus::<W>::new(prime.q);
    let c = splat(c);
    for a in a {
        Modulus::once(modulus.times(W::load(a), c), modulus.q).store(a);
    }
}

/// Adds small signed numbers. A negative number is a large word that becomes small when `q` is
/// added, so the smaller of the two words is right for either sign.
///
/// Proved: `add_small_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn add_small<W: Word>(a: &mut [Lanes], small: &[Lanes], prime: &Prime) {
    let q = W::splat(prime.q);
    for (a, small) in a.iter_mut().zip(small) {
        let small = W::load(small);
        Modulus::once(W::load(a).add(small.min(small.add(q))), q).store(a);
    }
}

/// Adds products of limbs and constants. The sum is below `8 q` before its reduction.
///
/// Proved: `add_limbs_correct` in formal/coq/lattice.v.
#[inline(always)]
pub(super) fn add_limbs<W: Word>(
    a: &mut [Lanes],
    limbs: [&[Lanes]; 3],
    constants: [Constant; 3],
    start: u64,
    prime: &Prime,
) {
    let modulus = Modulus::<W>::new(prime.q);
    let (start, four_q) = (W::splat(start), W::splat(4 * prime.q));
    let [c0, c1, c2] = constants.map(splat);
    let [l0, l1, l2] = limbs;
    for (((a, l0), l1), l2) in a.iter_mut().zip(l0).zip(l1).zip(l2) {
        let products = modulus.times(W::load(l0), c0).add(modulus.times(W::load(l1), c1));
        let sum = W::load(a).add(start).add(products).add(modulus.times(W::load(l2), c2));
        modulus.reduced(Modulus::once(sum, four_q)).store(a);
    }
}

/// Proved: `subtract_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn subtract<W: Word>(a: &mut [Lanes], b: &[Lanes], prime: &Prime) {
    let q = W::splat(prime.q);
    for (a, b) in a.iter_mut().zip(b) {
        Modulus::once(W::load(a).add(q).sub(W::load(b)), q).store(a);
    }
}

/// Proved: `add_correct` in formal/coq/convolutions.v.
#[inline(always)]
pub(super) fn add<W: Word>(a: &mut [Lanes], b: &[Lanes], prime: &Prime) {
    let q = W::splat(prime.q);
    for (a, b) in a.iter_mut().zip(b) {
        Modulus::once(W::load(a).add(W::load(b)), q).store(a);
    }
}

/// Compiles the loops for an engine with its instructions.
macro_rules! kernel {
    ($engine:ty, $word:ty, { $(#[$feature:meta])? }) => {
        $crate::kernel::loops::kernel!(@ $engine, $word, [$(#[$feature])?]
            forward(a: &mut [Lanes], prime: &Prime);
            inverse(a: &mut [Lanes], prime: &Prime);
            multiply_add(sum: &mut [Lanes], a: &[Lanes], b: &[Lanes], prime: &Prime);
            scale(a: &mut [Lanes], c: Constant, prime: &Prime);
            add_small(a: &mut [Lanes], small: &[Lanes], prime: &Prime);
            add_limbs(a: &mut [Lanes], limbs: [&[Lanes]; 3], constants: [Constant; 3], start: u64, prime: &Prime);
            subtract(a: &mut [Lanes], b: &[Lanes], prime: &Prime);
            add(a: &mut [Lanes], b: &[Lanes], prime: &Prime);
        );
    };
    (@ $engine:ty, $word:ty, $features:tt $($name:ident($($argument:ident: $kind:ty),*);)*) => {
        impl $engine {
            /// The only instance.
            pub(super) const KERNEL: &dyn Kernel = &Self;
        }

        impl Kernel for $engine {
            $($crate::kernel::loops::kernel!(# $word, $features $name($($argument: $kind),*));)*
        }
    };
    (# $word:ty, [$(#[$feature:meta])?] $name:ident($($argument:ident: $kind:ty),*)) => {
        fn $name(&self, $($argument: $kind),*) {
            $(#[$feature])?
            fn compiled($($argument: $kind),*) {
                $crate::kernel::loops::$name::<$word>($($argument),*);
            }
            // SAFETY: only `dispatch!` reaches a kernel, and it selects engines that this machine
            // can run.
            #[allow(unused_unsafe)]
            unsafe {
                compiled($($argument),*)
            }
        }
    };
}

pub(super) use kernel;
