//! Transforms of blocks of words modulo a prime, eight at a time. Each lane holds a block, and all
//! lanes have the same roots.
//!
//! # Bounds
//! Primes `p` are just below 2^49, so IFMA's 52-bit factors can hold values up to `8 p`. Using
//! `2^49 = fold (mod p)`, any word below 2^64 is folded to below `p + 2^34`. The forward transform
//! keeps values between 0 and `8 p` and processes two levels at a time: it reduces two of four
//! values below `4 p`, and products with roots lie between `-p` and `p`. The inverse transform
//! keeps values below `2 p`.

use super::GROUP;
use super::primes::{BITS, Constant, Prime, Primes};
use crate::elements::Row;
use hearith_arith::ifma::Octet;
use std::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi64, _mm512_and_si512, _mm512_load_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_min_epu64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
    _mm512_store_si512, _mm512_sub_epi64,
};
use std::array::from_fn;

/// Maximum number of terms of a sum of products between calls of [`normalise`].
pub(super) const TERMS: usize = 4095;
/// Maximum number of terms of a sum: upper halves are below 2^49 and their sum below 2^64.
pub(super) const MOST_TERMS: usize = 1 << 15;

/// Number of nodes by which factors are prefetched.
const AHEAD: usize = 2;

/// A prime in registers.
#[derive(Clone, Copy)]
struct Modulus {
    zero: __m512i,
    p: __m512i,
    p2: __m512i,
    p3: __m512i,
    p4: __m512i,
    fold: __m512i,
    low: __m512i,
    inverse: __m512i,
}

/// A constant in registers.
#[derive(Clone, Copy)]
struct Factor {
    value: __m512i,
    by_inverse: __m512i,
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi64(a, b)
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn sub(a: __m512i, b: __m512i) -> __m512i {
    _mm512_sub_epi64(a, b)
}

/// `x - bound` if that is not negative, otherwise `x`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn reduce(x: __m512i, bound: __m512i) -> __m512i {
    _mm512_min_epu64(x, sub(x, bound))
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn load(from: &Octet) -> __m512i {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const *from).cast()) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn load_row(from: &Row) -> __m512i {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const *from).cast()) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn store(to: &mut Octet, value: __m512i) {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_store_si512((&raw mut *to).cast(), value) }
}

impl Modulus {
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn new(prime: &Prime) -> Self {
        let p = prime.p;
        Modulus {
            zero: _mm512_setzero_si512(),
            p: splat(p),
            p2: splat(2 * p),
            p3: splat(3 * p),
            p4: splat(4 * p),
            fold: splat(prime.fold),
            low: splat((1 << BITS) - 1),
            inverse: splat(prime.inverse),
        }
    }

    /// Folds any word to below `p + 2^34`.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn folded(&self, x: __m512i) -> __m512i {
        _mm512_madd52lo_epu64(_mm512_and_si512(x, self.low), _mm512_srli_epi64::<BITS>(x), self.fold)
    }

    /// `high + low / 2^52` modulo `p`, below `2 p + 2^34`, for `low` below 2^52.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn reduced(&self, low: __m512i, high: __m512i) -> __m512i {
        let q = _mm512_madd52lo_epu64(self.zero, low, self.inverse);
        sub(add(self.folded(high), self.p), _mm512_madd52hi_epu64(self.zero, q, self.p))
    }
}

impl Factor {
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn new(constant: &Constant) -> Self {
        Factor { value: splat(constant.value), by_inverse: splat(constant.by_inverse) }
    }

    /// `c x` between `-p` and `p`, for `x` below 2^52.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn times(&self, x: __m512i, m: &Modulus) -> __m512i {
        let q = _mm512_madd52lo_epu64(m.zero, x, self.by_inverse);
        sub(_mm512_madd52hi_epu64(m.zero, x, self.value), _mm512_madd52hi_epu64(m.zero, q, m.p))
    }

    /// `c x` between `0` and `2 p`.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn times_positive(&self, x: __m512i, m: &Modulus) -> __m512i {
        add(self.times(x, m), m.p)
    }
}

fn quarters(block: &mut [Octet]) -> [&mut [Octet]; 4] {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    [a, b, c, d]
}

/// All levels of a transform of words except the last two, with values below `8 p`. There are as
/// many words as values: a power of four, at least 16.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn forward(words: &[Row], values: &mut [Octet], prime: &Prime) {
    let m = Modulus::new(prime);
    first(words, values, prime, &m);
    let mut size = values.len() / 4;
    while size > 4 {
        for (node, block) in values.chunks_exact_mut(size).enumerate() {
            let w = node_factors(prime, node);
            let [q0, q1, q2, q3] = quarters(block);
            for (((x0, x1), x2), x3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
                let values = forward4([load(x0), load(x1), load(x2), load(x3)], &w, &m);
                [x0, x1, x2, x3].into_iter().zip(values).for_each(|(x, value)| store(x, value));
            }
        }
        size /= 4;
    }
}

/// The last two levels of the forward transform.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn last(values: &mut [Octet], prime: &Prime) {
    let m = Modulus::new(prime);
    for (node, block) in values.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let values = forward4(from_fn(|i| load(&block[i])), &node_factors(prime, node), &m);
        block.iter_mut().zip(values).for_each(|(x, value)| store(x, value));
    }
}

/// The roots for the two levels at a node.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn node_factors(prime: &Prime, node: usize) -> [Factor; 3] {
    [node, 2 * node, 2 * node + 1].map(|node| Factor::new(&prime.roots[node]))
}

/// The first two levels, with the roots 1, 1 and a square root of -1.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn first(words: &[Row], values: &mut [Octet], prime: &Prime, m: &Modulus) {
    let i = Factor::new(&prime.roots[1]);
    let quarter = values.len() / 4;
    let (low, high) = words[..4 * quarter].split_at(2 * quarter);
    let ((w0, w1), (w2, w3)) = (low.split_at(quarter), high.split_at(quarter));
    let [q0, q1, q2, q3] = quarters(values);
    let words = w0.iter().zip(w1).zip(w2).zip(w3);
    for ((((y0, y1), y2), y3), (((x0, x1), x2), x3)) in q0.iter_mut().zip(q1).zip(q2).zip(q3).zip(words) {
        let [x0, x1, x2, x3] = [x0, x1, x2, x3].map(|x| m.folded(load_row(x)));
        let (a0, a2) = (add(x0, x2), sub(add(x0, m.p3), x2));
        let (a1, a3) = (add(x1, x3), i.times(sub(add(x1, m.p2), x3), m));
        store(y0, add(a0, a1));
        store(y1, sub(add(a0, m.p3), a1));
        store(y2, add(a2, a3));
        store(y3, sub(a2, a3));
    }
}

/// Two levels at once.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn forward4([x0, x1, x2, x3]: [__m512i; 4], w: &[Factor; 3], m: &Modulus) -> [__m512i; 4] {
    let (t2, t3) = (w[0].times(x2, m), w[0].times(x3, m));
    let (x0, x1) = (add(reduce(x0, m.p4), m.p2), add(reduce(x1, m.p4), m.p));
    let (a0, a2) = (add(x0, t2), sub(x0, t2));
    let (a1, a3) = (w[1].times(add(x1, t3), m), w[2].times(sub(x1, t3), m));
    [add(a0, a1), sub(a0, a1), add(a2, a3), sub(a2, a3)]
}

/// Undoes [`forward`] and [`last`], except for a factor equal to the number of values. Values below
/// `2 p` stay below `2 p`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inverse(values: &mut [Octet], prime: &Prime) {
    let m = Modulus::new(prime);
    let mut size = 4;
    while size <= values.len() {
        for (node, block) in values.chunks_exact_mut(size).enumerate() {
            let w = [node, 2 * node, 2 * node + 1].map(|node| Factor::new(&prime.back[node]));
            let [q0, q1, q2, q3] = quarters(block);
            for (((x0, x1), x2), x3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
                let (u0, u1, u2, u3) = (load(x0), load(x1), load(x2), load(x3));
                let (a0, a1) = (add(u0, u1), w[1].times_positive(sub(add(u0, m.p2), u1), &m));
                let (a2, a3) = (add(u2, u3), w[2].times_positive(sub(add(u2, m.p2), u3), &m));
                store(x0, reduce(reduce(add(a0, a2), m.p4), m.p2));
                store(x1, reduce(add(a1, a3), m.p2));
                store(x2, w[0].times_positive(sub(add(a0, m.p4), a2), &m));
                store(x3, w[0].times_positive(sub(add(a1, m.p2), a3), &m));
            }
        }
        size *= 4;
    }
}

/// Multiplies values below `8 p` by the prime's `scale`. The results are below `p`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn scale(values: &mut [Octet], prime: &Prime) {
    let (m, scale) = (Modulus::new(prime), Factor::new(&prime.scale));
    values.iter_mut().for_each(|value| store(value, reduce(scale.times_positive(load(value), &m), m.p)));
}

/// The terms of sums, modulo a prime.
pub(super) struct Terms<'a> {
    /// The output of [`forward`] for each element of a group, `stride` values apart.
    pub(super) values: &'a [Octet],
    pub(super) stride: usize,
    /// Number of elements present, at most [`GROUP`].
    pub(super) elements: usize,
    /// The transformed and scaled coefficients: for each four places of a transform, element of the
    /// group, place, and message.
    pub(super) factors: &'a [u64],
    pub(super) prime: &'a Prime,
}

/// Finishes the transforms of the elements and adds their products to the sums of `M` messages.
/// Each place and message has a sum of lower and one of upper halves.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn accumulate<const M: usize>(sums: &mut [Octet], terms: &Terms<'_>) {
    let m = Modulus::new(terms.prime);
    let nodes = sums.chunks_exact_mut(8 * M).zip(terms.factors.chunks_exact(4 * GROUP * M));
    for (node, (sums, factors)) in nodes.enumerate() {
        ask_for(factors, AHEAD);
        let w = node_factors(terms.prime, node);
        let finished = |g: usize| {
            let values: &[Octet; 4] =
                terms.values[g * terms.stride + 4 * node..].first_chunk().expect("a value for each place");
            forward4(from_fn(|i| load(&values[i])), &w, &m)
        };
        // For few messages, the sums of all four places stay in registers.
        if M <= 2 {
            let mut totals: [[Halves; M]; 4] = from_fn(|i| from_fn(|k| Halves::load(&sums[2 * (i * M + k)..])));
            for (g, factors) in factors.chunks_exact(4 * M).enumerate().take(terms.elements) {
                let values = finished(g);
                for i in 0..4 {
                    (0..M).for_each(|k| totals[i][k].add(values[i], factors[i * M + k]));
                }
            }
            totals.iter().flatten().zip(sums.chunks_exact_mut(2)).for_each(|(total, sums)| total.store(sums));
        } else {
            let mut values = [[Octet::default(); 4]; GROUP];
            for (g, values) in values.iter_mut().enumerate().take(terms.elements) {
                values.iter_mut().zip(finished(g)).for_each(|(to, value)| store(to, value));
            }
            for (i, sums) in sums.chunks_exact_mut(2 * M).enumerate() {
                let mut totals: [Halves; M] = from_fn(|k| Halves::load(&sums[2 * k..]));
                for (factors, values) in factors.chunks_exact(4 * M).zip(&values[..terms.elements]) {
                    let (value, factors) = (load(&values[i]), &factors[i * M..][..M]);
                    (0..M).for_each(|k| totals[k].add(value, factors[k]));
                }
                totals.iter().zip(sums.chunks_exact_mut(2)).for_each(|(total, sums)| total.store(sums));
            }
        }
    }
}

/// Prefetches the factors at a distance of `times` times the length of these.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn ask_for(factors: &[u64], times: usize) {
    for line in factors.chunks(8) {
        let ahead = line.as_ptr().wrapping_add(times * factors.len());
        // A prefetch may have any address.
        _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
    }
}

/// A sum of lower and a sum of upper halves of products.
#[derive(Clone, Copy)]
struct Halves {
    low: __m512i,
    high: __m512i,
}

impl Halves {
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn load(from: &[Octet]) -> Self {
        Halves { low: load(&from[0]), high: load(&from[1]) }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn store(&self, to: &mut [Octet]) {
        store(&mut to[0], self.low);
        store(&mut to[1], self.high);
    }

    /// Adds the product of values below 2^52 and a factor below 2^49.
    ///
    /// Proved: `term_sums_fit` in formal/coq/sums.v.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn add(&mut self, values: __m512i, factor: u64) {
        let factor = splat(factor);
        self.low = _mm512_madd52lo_epu64(self.low, values, factor);
        self.high = _mm512_madd52hi_epu64(self.high, values, factor);
    }
}

/// Moves the bits of lower halves above the lowest 52 to the upper halves.
///
/// Proved: `term_sums_fit` in formal/coq/sums.v.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn normalise(sums: &mut [Octet]) {
    let mask = splat((1 << 52) - 1);
    for [low, high] in sums.as_chunks_mut().0 {
        let sum = load(low);
        store(high, add(load(high), _mm512_srli_epi64::<52>(sum)));
        store(low, _mm512_and_si512(sum, mask));
    }
}

/// The residues of one message's sums modulo a prime, below `2 p`. The message is the given one of
/// `messages`, and `sums` must be normalised.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn residues(values: &mut [Octet], sums: &[Octet], message: usize, messages: usize, prime: &Prime) {
    let m = Modulus::new(prime);
    for (value, sums) in values.iter_mut().zip(sums.chunks_exact(2 * messages)) {
        let sum = m.reduced(load(&sums[2 * message]), load(&sums[2 * message + 1]));
        store(value, reduce(sum, m.p2));
    }
}

/// Converts residues below `2 p` to digits `v` such that the number is
/// `v_0 + p_0 v_1 + p_0 p_1 v_2`. Each digit is below its prime (Garner's algorithm).
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn digits(residues: [&mut [Octet]; 3], primes: &Primes) {
    let m: [Modulus; 3] = from_fn(|k| Modulus::new(&primes.each[k]));
    let [first, second, third] = primes.inverses.each_ref().map(|c| Factor::new(c));
    let [r0, r1, r2] = residues;
    for ((r0, r1), r2) in r0.iter_mut().zip(r1).zip(r2) {
        let v0 = reduce(load(r0), m[0].p);
        // A number below 2 p minus one below 2^49 is above -2 p for each of the primes.
        let less = |x: __m512i, y: __m512i, m: &Modulus| sub(add(x, m.p2), y);
        let v1 = reduce(first.times_positive(less(load(r1), v0, &m[1]), &m[1]), m[1].p);
        let rest = second.times_positive(less(load(r2), v0, &m[2]), &m[2]);
        let v2 = reduce(third.times_positive(less(rest, v1, &m[2]), &m[2]), m[2].p);
        store(r0, v0);
        store(r1, v1);
        store(r2, v2);
    }
}
