//! Products of numbers outside Montgomery form, by Barrett's reduction \[Barrett86\].
//!
//! A Montgomery product of two plain numbers needs a second one, by `R^2`: `4 k^2` products of
//! limbs. Barrett's reduction computes the quotient from the upper half of the product and a
//! reciprocal of the modulus. Half a product is enough for this, and for the product of quotient
//! and modulus: slightly over `2 k^2` in total. With `b = 2^RADIX_BITS`, a modulus of `d` limbs and
//! `mu = floor(b^(2 d) / m)` (Handbook of Applied Cryptography, algorithm 14.42):
//!
//! ```text
//! t = x y < b^(2 d)        q = floor(floor(t / b^(d-1)) mu / b^(d+1))        r = t - q m
//! ```
//!
//! Three errors make `q` smaller than `t / m`, each by less than a quarter here, and rounding down
//! makes it smaller by less than 1:
//! - the part truncated by `floor(t / b^(d-1))`, times `mu`: below `b^(d-1) / m`, and the modulus
//!   has at least three bits in its highest limb;
//! - the rounding error of `mu`, times `t`: below `t / b^(2 d)`, and the factors are slightly
//!   shorter than `d` limbs;
//! - the part omitted from the product by `mu`, all products of limbs below column `d - 1`: less
//!   than `2 k b^d` of `b^(d+1)`.
//!
//! So `q` is at most 1 below the quotient, and `r < 2 m`.

use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_groups, rows_of};
use crate::kernel::{Kernel, Space};
use crate::ring::Plain;

/// The number of limbs `d` of the modulus, if this method can multiply numbers of `limbs` 64-bit
/// limbs.
pub(crate) fn digits<K: Kernel>(constants: &MontgomeryParams, limbs: usize) -> Option<usize> {
    let digits = constants.bits.div_ceil(K::RADIX_BITS);
    let highest = constants.bits - K::RADIX_BITS * (digits - 1);
    let fits =
        digits > 1 && highest > 2 && (digits as usize) < constants.k && 64 * limbs < (K::RADIX_BITS * digits) as usize;
    (K::TRUNCATES && fits).then_some(digits as usize)
}

/// The canonical products row by row, where `d` is the result of [`digits`].
///
/// Proved: `barrett_quotient` in formal/coq/barrett.v.
/// Proved: `barrett_dropped` in formal/coq/barrett.v.
pub(crate) fn mul<K: Kernel>(constants: &MontgomeryParams, a: &Batch, b: &Batch, d: usize) -> Batch {
    let mut out = Batch::zeros(a.len(), constants.limbs());
    let mut mu = Space::<K>::new(constants.k);
    K::load(&mut mu, &vec![&constants.reciprocal(K::RADIX_BITS, d)[..]; K::LANES], 0);
    for_groups::<Plain<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let k = m.k;
        let (mut x, mut y) = (Space::<K>::new(k), Space::<K>::new(k));
        K::load(&mut x, &rows_of(a, range.clone()), 0);
        K::load(&mut y, &rows_of(b, range), 0);
        let (t, rest) = work.scratch.split_at_mut(2 * k);
        let u = &mut rest[..2 * k];
        K::product_from(t, &x, &y, 0);
        K::carry(t);
        K::product_from(u, &t[d - 1..][..k], &mu, d - 1);
        K::carry(&mut u[d - 1..]);
        let quotient = &mut x;
        quotient.copy_from_slice(&u[d + 1..][..k]);
        K::product_below(u, quotient, &m.m);
        K::carry(&mut u[..k]);
        K::remainder(m, &mut t[..k], &u[..k]);
        let mut rows: Vec<&mut [u64]> = rows.chunks_exact_mut(m.limbs).collect();
        K::store(&t[..k], &mut rows);
    });
    out
}
