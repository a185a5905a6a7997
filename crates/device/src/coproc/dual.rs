//! Constants of a key as dual numbers: `low + high M'` modulo `n^2`, with the scaled modulus
//! `M' = u n` of the device's multipliers.

use hearith_arith::{Modulus, Square, natural};

use crate::mesa::Secret;
use crate::mesa::constants::{first_row, one_row, scale};
use crate::{Error, ErrorKind};

/// Converts numbers to dual numbers. Constant time in the modulus and the numbers.
pub(super) struct Duals {
    square: Square,
    /// `u^-1 mod n`.
    inverse: Secret,
}

impl Duals {
    /// Creates the converter for a modulus and the bits of its scale `u`, at most 64.
    ///
    /// # Errors
    /// [`ErrorKind::UnsuitableModulus`] if `u` and the modulus share a factor, which then has no
    /// more bits than `u`.
    pub(super) fn new(squared: &Modulus, n: &[u64], scale_bits: u32) -> Result<Self, Error> {
        let square = Square::new(squared.engine(), n).map_err(hearith_paillier::Error::from)?;
        let unit = scale(n, scale_bits)[0];
        let (inverse, common) = inverse(remainder(n, unit), unit);
        if common != 1 {
            return Err(ErrorKind::UnsuitableModulus.into());
        }
        // 1 + n k is a multiple of u for k = -n^-1 mod u.
        let mut multiple = Secret::new(natural::product(n, &[unit.wrapping_sub(inverse)]));
        natural::add_assign(&mut multiple, &[1]);
        let quotient = natural::divide_exact(&multiple, &[unit], multiple.len());
        let inverse = first_row(&square.root().reduce(&one_row(&quotient)));
        Ok(Self { square, inverse })
    }

    /// The dual form of a number below `n^2`: its low part, and its high part from bit `bits` on,
    /// both below `n`.
    pub(super) fn dual(&self, number: &[u64], bits: u32) -> Secret {
        let parts = self.square.split(&one_row(number));
        let high = first_row(&self.square.root().mul(&parts.high, &one_row(&self.inverse)));
        let mut power_of_two = vec![0; bits as usize / 64 + 1];
        power_of_two[bits as usize / 64] = 1 << (bits % 64);
        let mut dual = Secret::new(natural::product(&high, &power_of_two));
        natural::add_assign(&mut dual, parts.low.row(0));
        dual
    }
}

/// A number modulo an odd word, bit by bit: constant time in both.
fn remainder(number: &[u64], word: u64) -> u64 {
    let bits = number.iter().rev().flat_map(|limb| (0..64).rev().map(move |index| limb >> index & 1));
    bits.fold(0, |rest, bit| {
        let doubled = u128::from(rest) << 1 | u128::from(bit);
        let (less, borrow) = doubled.overflowing_sub(u128::from(word));
        less.wrapping_add(u128::from(word) & mask(borrow)) as u64
    })
}

/// `a^-1` modulo an odd word above `a`, and their greatest common divisor.
///
/// If the divisor is not 1, the first result is no inverse. Constant time in both: each step
/// removes at least one of the pair's 128 bits (the binary form of Euclid's algorithm).
fn inverse(a: u64, word: u64) -> (u64, u64) {
    // a = x a_0 and b = y a_0 modulo the word, b odd.
    let (mut a, mut b, mut x, mut y) = (a, word, 1, 0);
    for _ in 0..128 {
        let odd = 0_u64.wrapping_sub(a & 1);
        let swap = odd & mask(a.overflowing_sub(b).1) as u64;
        let (differ, apart) = ((a ^ b) & swap, (x ^ y) & swap);
        (a, b, x, y) = (a ^ differ, b ^ differ, x ^ apart, y ^ apart);
        let (less, borrow) = x.overflowing_sub(y & odd);
        x = less.wrapping_add(word & mask(borrow) as u64);
        // Half of x, or of x plus the word.
        let half = ((word >> 1) + 1) & 0_u64.wrapping_sub(x & 1);
        (a, x) = ((a - (b & odd)) >> 1, (x >> 1) + half);
    }
    (y, b)
}

/// All ones if a difference was negative.
fn mask(borrow: bool) -> u128 {
    0_u128.wrapping_sub(u128::from(borrow))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::natural::word;
    use hearith_arith::{Batch, Engine};

    fn generator() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        }
    }

    #[test]
    fn words_have_inverses_or_common_factors() {
        let mut random = generator();
        for shift in (0..64).cycle().take(5000) {
            let modulus = random() >> shift | 1;
            let a = random() % modulus;
            let (found, common) = inverse(a, modulus);
            assert_eq!(common, word::gcd(a, modulus), "{a} modulo {modulus}");
            if common == 1 && modulus > 1 {
                assert_eq!(Some(found), word::inverse_mod(a, modulus), "{a} modulo {modulus}");
            }
            let limbs = [random(), random(), random()];
            assert_eq!(remainder(&limbs, modulus), natural::divide_word(&limbs, modulus).1);
        }
        assert_eq!(inverse(0, 1).1, 1);
        assert_eq!(inverse(u64::MAX - 1, u64::MAX), (u64::MAX - 1, 1));
    }

    /// Some moduli with small factors share one with their scale, and are refused.
    #[test]
    fn dual_numbers_are_what_they_are_made_of() {
        let (mut random, mut refused) = (generator(), 0);
        for bits in [12, 51, 64].repeat(20) {
            let n = natural::product(&[random() | 1, random() >> 20], &[15])[..2].to_vec();
            let squared = Modulus::new(Engine::best(), &natural::product(&n, &n)).unwrap();
            let unit = scale(&n, bits)[0];
            let common = word::gcd(natural::divide_word(&n, unit).1, unit);
            let duals = match Duals::new(&squared, &n, bits) {
                Ok(duals) => duals,
                Err(error) => {
                    assert!(common != 1 && matches!(error.kind(), ErrorKind::UnsuitableModulus), "{error}");
                    refused += 1;
                    continue;
                }
            };
            assert_eq!(common, 1);
            let number = squared.reduce(&one_row(&[random(), random(), random(), random()]));
            let dual = duals.dual(number.row(0), 128);
            let scaled = natural::product(&n, &[unit]);
            let mut value = natural::product(&dual[2..4], &scaled);
            natural::add_assign(&mut value, &dual[..2]);
            let value: Batch = squared.reduce(&one_row(&value));
            assert!(value == number && natural::less(&dual[..2], &n) == 1 && natural::less(&dual[2..4], &n) == 1);
        }
        assert!(refused > 0);
    }
}
