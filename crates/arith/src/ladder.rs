//! The Montgomery ladder, kept for comparison: two products per bit, compared with about 1.2 for
//! windows.

use crate::kernel::{Kernel, Space};
use crate::pow::set_index;
use crate::ring::{LanesOf, Ring, Word, Workspace};

/// `power = base^exponent` by the ladder \[JY02\]. For every bit, one product and one squaring
/// update the pair `(x, x base)`. The bit only selects, with masks, which of the two is squared.
pub(crate) fn ladder<R: Ring>(
    m: &LanesOf<R>,
    work: &mut Workspace<R>,
    power: &mut [Word<R>],
    base: &[Word<R>],
    exponents: &[&[u64]],
    bits: u32,
) {
    let width = R::width(m);
    let mut pair = Space::<R::Kernel>::new(2 * width);
    let mut next = Space::<R::Kernel>::new(2 * width);
    pair[..width].copy_from_slice(R::one(m));
    pair[width..].copy_from_slice(base);
    let (mut bit, mut other) = (Word::<R>::default(), Word::<R>::default());
    for position in (0..bits).rev() {
        set_index::<R>(&mut bit, exponents, position as usize, 1);
        for lane in 0..R::Kernel::LANES {
            R::Kernel::set_lane(&mut other, lane, 1 ^ R::Kernel::lane(&bit, lane));
        }
        // next = (the square, the product), which enter the pair in the order given by the bit.
        let (squared, product) = next.split_at_mut(width);
        R::Kernel::select(power, &pair, &bit);
        R::sqr(m, squared, power, &mut work.scratch);
        R::mul(m, product, &pair[..width], &pair[width..], &mut work.scratch);
        let (low, high) = pair.split_at_mut(width);
        R::Kernel::select(low, &next, &bit);
        R::Kernel::select(high, &next, &other);
    }
    power.copy_from_slice(&pair[..width]);
}
