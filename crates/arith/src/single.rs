//! Products of single numbers outside Montgomery form, on 64-bit words, by Barrett's reduction
//! \[Barrett86\]. The IFMA engine has a separate kernel for them, `backend/ifma/alone.rs`.
//!
//! The AVX2 kernel takes as long for one product as for four, and must first distribute its
//! constants over lanes. The portable kernel takes two Montgomery products. This method takes one
//! product and two half products, as in [`crate::barrett`], with `b = 2^64`, a modulus of `d` limbs
//! and a reciprocal `mu` of `d + 1` limbs:
//!
//! ```text
//! t = x y < b^(2 d)        q = floor(floor(t / b^(d-1)) mu / b^(d+1))        r = t - q m
//! ```
//!
//! There are no spare bits here: the factors may fill all limbs of the modulus. Four errors make
//! `q` smaller than `t / m`:
//! - the part truncated by `floor(t / b^(d-1))`, times `mu`: below `b^(d-1) / m`, at most a
//!   quarter;
//! - the rounding error of `mu`, times `t`: below `t / b^(2 d)`, less than 1;
//! - the part omitted from the product by `mu`, products of limbs below column `d - 2`: below
//!   `d b^(d-1)` of `b^(d+1)`;
//! - rounding down, less than 1.
//!
//! So `q` is at most 2 below the quotient, and `r < 3 m`.

#[cfg(target_arch = "x86_64")]
mod adx;

#[cfg(target_arch = "x86_64")]
use crate::backend::ifma::alone;
use crate::constants::MontgomeryParams;
use crate::natural::{Secret, less, mac, reduce_once, sub_assign};
use crate::{Batch, Engine};
use zeroize::Zeroizing;

/// Maximum number of rows for which the AVX2 kernel takes longer; more rows are distributed over
/// the cores.
const MAX_WORD_ROWS: usize = 2;

/// The canonical products row by row, if the engine's kernel for many rows would take longer.
pub(crate) fn mul(constants: &MontgomeryParams, a: &Batch, b: &Batch) -> Option<Batch> {
    let (rows, limbs) = (a.len(), a.limbs().max(b.limbs()));
    match constants.engine.engine() {
        #[cfg(target_arch = "x86_64")]
        Engine::Ifma => alone::digits(constants, rows, limbs).map(|digits| alone::mul(constants, a, b, digits)),
        _ => is_faster_on_words(constants, rows, limbs).then(|| on_words(constants, a, b)),
    }
}

/// Whether multiplication on words is faster for this number of rows and limbs.
fn is_faster_on_words(constants: &MontgomeryParams, rows: usize, limbs: usize) -> bool {
    let d = constants.limbs();
    rows <= MAX_WORD_ROWS && d > 1 && limbs <= d && constants.bits as usize > 64 * (d - 1) + 2
}

/// The canonical products, row by row, of numbers with at most as many limbs as the modulus.
fn on_words(constants: &MontgomeryParams, a: &Batch, b: &Batch) -> Batch {
    let d = constants.limbs();
    let mut out = Batch::zeros(a.len(), d);
    let mu: Secret = constants.reciprocal(64, d).clone();
    let mut space = Zeroizing::new(vec![0; 4 * d + 2]);
    for ((out, x), y) in out.rows_mut().zip(a.rows()).zip(b.rows()) {
        product(out, x, y, &constants.m, &mu, &mut space);
    }
    out
}

/// Calls the body compiled for the instructions that this CPU supports.
fn product(out: &mut [u64], x: &[u64], y: &[u64], m: &[u64], mu: &[u64], space: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("bmi2") {
        // SAFETY: the CPU supports the instructions.
        return unsafe {
            if std::arch::is_x86_feature_detected!("adx") {
                product_adx(out, x, y, m, mu, space)
            } else {
                product_bmi2(out, x, y, m, mu, space)
            }
        };
    }
    product_body::<false>(out, x, y, m, mu, space);
}

/// With two chains of carries in addition: rows by [`adx::add_row`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "adx,bmi2")]
fn product_adx(out: &mut [u64], x: &[u64], y: &[u64], m: &[u64], mu: &[u64], space: &mut [u64]) {
    product_body::<true>(out, x, y, m, mu, space);
}

/// With `mulx`, which preserves the carry flag and works with any registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn product_bmi2(out: &mut [u64], x: &[u64], y: &[u64], m: &[u64], mu: &[u64], space: &mut [u64]) {
    product_body::<false>(out, x, y, m, mu, space);
}

/// With `ADX`, the CPU must support `adx` and `bmi2`.
///
/// Proved: `single_quotient` in formal/coq/single.v.
/// Proved: `product_body_correct` in formal/coq/single.v.
#[inline(always)]
fn product_body<const ADX: bool>(out: &mut [u64], x: &[u64], y: &[u64], m: &[u64], mu: &[u64], space: &mut [u64]) {
    let d = m.len();
    let (t, u) = space.split_at_mut(2 * d);
    t.fill(0);
    for (i, &limb) in y.iter().enumerate() {
        t[i + x.len()] = row::<ADX>(&mut t[i..i + x.len()], x, limb);
    }
    // Columns from d - 2 on of the product of the upper half and the reciprocal.
    u.fill(0);
    let upper = &t[d - 1..];
    for (i, &limb) in mu.iter().enumerate() {
        let first = (d - 2).saturating_sub(i);
        u[i + d + 1] = row::<ADX>(&mut u[i + first..i + d + 1], &upper[first..], limb);
    }
    // Columns up to d of the product of the quotient and the modulus.
    let (low, quotient) = u.split_at_mut(d + 1);
    low.fill(0);
    low[d] = row::<ADX>(&mut low[..d], m, quotient[0]);
    for (i, &limb) in quotient.iter().enumerate().skip(1) {
        row::<ADX>(&mut low[i..], &m[..d + 1 - i], limb);
    }
    sub_assign(&mut t[..=d], low);
    let (rest, top) = t.split_at_mut(d);
    for _ in 0..2 {
        let borrowed = less(rest, m);
        let subtracted = reduce_once(rest, top[0], m);
        top[0] = top[0].wrapping_sub(borrowed & subtracted);
    }
    out.copy_from_slice(rest);
}

/// [`add_row`], or [`adx::add_row`] if the CPU supports its instructions.
#[inline(always)]
fn row<const ADX: bool>(t: &mut [u64], a: &[u64], y: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if ADX {
        // SAFETY: the CPU supports the instructions, as `product_body` requires.
        return unsafe { adx::add_row(t, a, y) };
    }
    add_row(t, a, y)
}

/// Adds `a y` to `t`, which is as long as `a`, and returns the limb carried out.
///
/// Proved: `add_row_correct` in formal/coq/single.v.
// No closures or calls of generic functions: they may be compiled separately, without `mulx`.
#[inline(always)]
fn add_row(t: &mut [u64], a: &[u64], y: u64) -> u64 {
    let (blocks, rest) = t.as_chunks_mut::<4>();
    let (factors, last) = a.as_chunks::<4>();
    let mut carry = 0;
    for (t, a) in blocks.iter_mut().zip(factors) {
        let (low0, high0) = wide(a[0], y);
        let (low1, high1) = wide(a[1], y);
        let (low2, high2) = wide(a[2], y);
        let (low3, high3) = wide(a[3], y);
        let (low0, over) = low0.carrying_add(carry, false);
        let (low1, over) = low1.carrying_add(high0, over);
        let (low2, over) = low2.carrying_add(high1, over);
        let (low3, over) = low3.carrying_add(high2, over);
        // Cannot overflow, here and below: it is the highest limb of a result that fits.
        carry = high3.wrapping_add(u64::from(over));
        let (sum0, over) = t[0].carrying_add(low0, false);
        let (sum1, over) = t[1].carrying_add(low1, over);
        let (sum2, over) = t[2].carrying_add(low2, over);
        let (sum3, over) = t[3].carrying_add(low3, over);
        *t = [sum0, sum1, sum2, sum3];
        carry = carry.wrapping_add(u64::from(over));
    }
    for (t, &limb) in rest.iter_mut().zip(last) {
        (*t, carry) = mac(*t, limb, y, carry);
    }
    carry
}

/// `a b` as (low, high).
#[inline(always)]
fn wide(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::natural::words;

    type Product = fn(&mut [u64], &[u64], &[u64], &[u64], &[u64], &mut [u64]);

    /// Compares with the values that Coq computes from the proved function, for portable rows and
    /// for the rows of this CPU: every limb of the results and of the scratch memory.
    #[test]
    fn products_are_those_of_the_proofs() {
        let mut calls = 0;
        for line in include_str!("single_steps.txt").lines().filter(|line| !line.starts_with('#')) {
            let (_, lists) = line.split_once(": ").unwrap();
            let lists: Vec<Vec<u64>> = lists.split(", ").map(words).collect();
            let [x, y, m, mu, expected, left] = &lists[..] else { panic!("six numbers: {line}") };
            for multiply in [product as Product, product_body::<false>] {
                let (mut out, mut space) = (vec![0; expected.len()], vec![0; left.len()]);
                multiply(&mut out, x, y, m, mu, &mut space);
                assert_eq!((&out, &space), (expected, left), "{line}");
            }
            calls += 1;
        }
        assert_eq!(calls, 80);
    }
}
