//! Powers of two modulo a number, many doublings at a time, for the Montgomery constants.

use crate::natural::{bits_at, double, mask, reduce_once};
use zeroize::Zeroizing;

/// Maximum number of doublings at a time, for which the quotient of the leading 32 bits of both
/// numbers is correct or too small by 1.
const STEP: u32 = 24;
/// Minimum length in bits of a modulus for using its leading bits. Shorter ones are doubled bit by
/// bit.
const LEAST_BITS: u32 = 128;

/// A modulus, prepared for doubling residues. Constant time in both.
pub(crate) struct Doubling<'a> {
    m: &'a [u64],
    bits: u32,
    /// `floor(2^63 / (d + 1))` for the leading 32 bits `d` of the modulus.
    reciprocal: Zeroizing<u64>,
}

impl<'a> Doubling<'a> {
    /// Prepares a modulus of `bits` bits.
    ///
    /// Proved: `doubling_correct` in formal/coq/doubling.v.
    pub(crate) fn new(m: &'a [u64], bits: u32) -> Self {
        let leading = if bits < LEAST_BITS { u64::MAX >> 32 } else { bits_at(m, bits as usize - 32, 32) };
        Doubling { m, bits, reciprocal: Zeroizing::new(reciprocal(leading.wrapping_add(1))) }
    }

    /// Calls `step` for a total of `times` doublings, several at a time.
    pub(crate) fn steps(&self, times: u32, mut step: impl FnMut(u32)) {
        for done in (0..times).step_by(STEP as usize) {
            step(STEP.min(times - done));
        }
    }

    /// Computes `a = 2^times a + added mod m` for `a < m` and `added < 2^times`, for at most
    /// [`STEP`] doublings. Returns the quotient.
    ///
    /// Proved: `doubling_correct` in formal/coq/doubling.v.
    pub(crate) fn double(&self, a: &mut [u64], times: u32, added: u64) -> u64 {
        if self.bits < LEAST_BITS {
            return (0..times).rev().fold(0, |quotient, bit| quotient << 1 | double(a, added >> bit & 1, self.m));
        }
        // Too small by less than 3 / 128 before it is rounded down. Nothing here overflows: a check
        // for it would be a branch.
        let quotient = bits_at(a, self.bits as usize - 32, 32).wrapping_mul(*self.reciprocal) >> (63 - times);
        let (mut shifted_out, mut carry) = (0, i128::from(added));
        for (a, &m) in a.iter_mut().zip(self.m) {
            let shifted = *a << times | shifted_out;
            shifted_out = *a >> (64 - times);
            let taken = i128::from(quotient).wrapping_mul(i128::from(m));
            carry = carry.wrapping_add(i128::from(shifted)).wrapping_sub(taken);
            *a = carry as u64;
            carry >>= 64;
        }
        quotient.wrapping_add(reduce_once(a, carry.wrapping_add(i128::from(shifted_out)) as u64, self.m))
    }
}

/// `floor(2^63 / divisor)` for a divisor above 2^31 and at most 2^32. Computed bit by bit, because
/// the running time of a division may reveal its operands.
///
/// Proved: `reciprocal_correct` in formal/coq/doubling.v.
fn reciprocal(divisor: u64) -> u64 {
    let (mut rest, mut quotient) = (1u64 << 31, 0);
    for _ in 0..32 {
        let twice = rest << 1;
        let fits = 1 ^ (twice.wrapping_sub(divisor) >> 63);
        rest = twice.wrapping_sub(divisor & mask(fits));
        quotient = quotient << 1 | fits;
    }
    quotient
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::natural::bit_length;
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};

    #[test]
    fn reciprocals_are_quotients() {
        for divisor in [(1 << 31) + 1, (1 << 31) + 2, 0xc000_0000, 0xdead_beef, (1 << 32) - 1, 1 << 32] {
            assert_eq!(reciprocal(divisor), (1 << 63) / divisor, "{divisor}");
        }
    }

    proptest! {
        #[test]
        fn residues_and_quotients_are_those_of_gmp(
            m in proptest::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 1..9),
            part in any::<u64>(),
            end in prop_oneof![Just(0u32), Just(1), any::<u32>()],
            times in 1..=STEP,
            added in any::<u64>(),
        ) {
            let bits = bit_length(&m);
            prop_assume!(bits > 1);
            let m = &m[..bits.div_ceil(64) as usize];
            let integer = |limbs: &[u64]| Integer::from_digits(limbs, Order::Lsf);
            // Anywhere below the modulus, and just below it.
            let below = match end {
                0 => integer(m) - 1,
                1 => Integer::from(0),
                _ => (integer(m) * part) >> 64,
            };
            let mut a = below.to_digits(Order::Lsf);
            a.resize(m.len(), 0);
            let added = added & ((1 << times) - 1);
            let (quotient, rest) = ((below << times) + added).div_rem(integer(m));
            prop_assert_eq!(Doubling::new(m, bits).double(&mut a, times, added), quotient);
            prop_assert_eq!(integer(&a), rest);
        }
    }
}
