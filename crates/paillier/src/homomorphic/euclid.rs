//! Inverses of public numbers by Euclid's algorithm.

use hearith_arith::natural::{
    add_assign, bit_length, bits_at, inverse_word, is_one, is_zero, less, limbs_of, sub_assign,
};

/// Number of steps of the binary algorithm that use only the leading and last bits of both numbers,
/// before the full numbers are updated.
const STEPS: u32 = 31;

/// The inverse of a public number modulo an odd public modulus with the same number of limbs;
/// `None` if they share a factor. The number must be below the modulus. The running time depends on
/// both.
///
/// This is the binary Euclidean algorithm as arranged in \[Pornin20\]. A round of 31 steps looks at
/// one word per number, made of the leading 33 bits and the last 31 bits. It accumulates its effect
/// in four small factors, which are then applied to the full numbers.
///
/// # Panics
/// If the lengths differ or the modulus is even.
pub(super) fn inverse_public(number: &[u64], modulus: &[u64]) -> Option<Vec<u64>> {
    assert!(
        number.len() == modulus.len() && modulus[0] & 1 == 1,
        "the modulus must be odd and have as many limbs as the number"
    );
    let len = modulus.len();
    // `a = number u` and `b = number v` modulo the modulus; b is always odd.
    let (mut a, mut b) = (number.to_vec(), modulus.to_vec());
    let (mut u, mut v) = (vec![0; len], vec![0; len]);
    u[0] = 1;
    let (mut next, mut after) = (vec![0; len], vec![0; len]);
    let divisor = Divisor { modulus, inverse: inverse_word(modulus[0]) };
    while is_zero(&a) == 0 {
        let bits = bit_length(&a).max(bit_length(&b));
        let [mut of_a, mut of_b] = steps(leading_and_last(&a, bits), leading_and_last(&b, bits));
        // The limbs above are zero in both numbers.
        let used = limbs_of(bits);
        combine(&mut next[..used], &a, &b, &mut of_a);
        combine(&mut after[..used], &a, &b, &mut of_b);
        for (number, made) in [(&mut a, &next), (&mut b, &after)] {
            number.truncate(used);
            number.copy_from_slice(&made[..used]);
        }
        divisor.combine(&mut next, &u, &v, of_a);
        divisor.combine(&mut after, &u, &v, of_b);
        std::mem::swap(&mut u, &mut next);
        std::mem::swap(&mut v, &mut after);
    }
    (is_one(&b) == 1).then_some(v)
}

/// A number of at most `bits` bits, if these fit 64 bits; else the leading 33 of them and the
/// last 31.
fn leading_and_last(number: &[u64], bits: u32) -> u64 {
    if bits <= 64 {
        return number[0];
    }
    let leading = bits_at(number, bits as usize - 33, 33);
    leading << STEPS | bits_at(number, 0, STEPS)
}

/// Runs the steps on two words, the second of which is odd. Returns the factors of both numbers for
/// `2^31` times the new first number, and for the new second number.
fn steps(mut x: u64, mut y: u64) -> [[i64; 2]; 2] {
    let ([mut f, mut g], [mut h, mut k]) = ([1, 0], [0, 1]);
    for _ in 0..STEPS {
        // Masks instead of unpredictable branches.
        let odd = (x & 1).wrapping_neg();
        let swapped = odd & u64::from(x < y).wrapping_neg();
        let other = (x ^ y) & swapped;
        (x, y) = (x ^ other, y ^ other);
        let (other, another) = ((f ^ h) & swapped as i64, (g ^ k) & swapped as i64);
        (f, h, g, k) = (f ^ other, h ^ other, g ^ another, k ^ another);
        x = (x - (y & odd)) >> 1;
        (f, g) = (f - (h & odd as i64), g - (k & odd as i64));
        (h, k) = (2 * h, 2 * k);
    }
    [[f, g], [h, k]]
}

/// `|f a + g b| / 2^31`, which is exact. Both factors change sign if the sum is negative.
fn combine(out: &mut [u64], a: &[u64], b: &[u64], factors: &mut [i64; 2]) {
    let [f, g] = *factors;
    if shifted_sum(out, [(a, f), (b, g)]) < 0 {
        *factors = factors.map(|factor| -factor);
        out.iter_mut().for_each(|limb| *limb = !*limb);
        add_assign(out, &[1]);
    }
}

/// The sum of multiples by factors of at most 32 bits, shifted right by 31 bits, in as many limbs
/// as `out`. Returns the part above.
fn shifted_sum<const N: usize>(out: &mut [u64], terms: [(&[u64], i64); N]) -> i128 {
    let len = out.len();
    // A negative multiple of a number is a multiple of its complement:
    // `-f x = f (2^(64 len) - 1 - x) + f - f 2^(64 len)`.
    let terms = terms.map(|(number, factor)| (&number[..len], factor.unsigned_abs(), (factor >> 63) as u64));
    let negative: u64 = terms.iter().map(|&(_, factor, mask)| factor & mask).sum();
    let (mut carry, mut below) = (u128::from(negative), 0);
    for index in 0..len {
        for (number, factor, mask) in terms {
            carry += u128::from(number[index] ^ mask) * u128::from(factor);
        }
        let limb = carry as u64;
        carry >>= 64;
        if index > 0 {
            out[index - 1] = below >> STEPS | limb << (64 - STEPS);
        }
        below = limb;
    }
    let top = carry as i128 - i128::from(negative);
    out[len - 1] = below >> STEPS | (top as u64) << (64 - STEPS);
    top >> STEPS
}

/// A modulus and its inverse modulo 2^64.
struct Divisor<'a> {
    modulus: &'a [u64],
    inverse: u64,
}

impl Divisor<'_> {
    /// `(f u + g v) / 2^31` modulo the modulus, below it like `u` and `v`. First adds the multiple
    /// of the modulus that clears the last 31 bits.
    fn combine(&self, out: &mut [u64], u: &[u64], v: &[u64], [f, g]: [i64; 2]) {
        let low = u[0].wrapping_mul(f as u64).wrapping_add(v[0].wrapping_mul(g as u64));
        let times = low.wrapping_mul(self.inverse).wrapping_neg() & ((1 << STEPS) - 1);
        // Between minus the modulus and twice the modulus.
        let top = shifted_sum(out, [(u, f), (v, g), (self.modulus, times as i64)]);
        if top < 0 {
            add_assign(out, self.modulus);
        } else if top > 0 || less(out, self.modulus) == 0 {
            sub_assign(out, self.modulus);
        }
    }
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};

    /// The inverse by GMP.
    fn expected(number: &[u64], modulus: &[u64]) -> Option<Integer> {
        let integer = |limbs| Integer::from_digits(limbs, Order::Lsf);
        integer(number).invert(&integer(modulus)).ok()
    }

    fn check(number: &[u64], modulus: &[u64]) {
        let number = Integer::from_digits(number, Order::Lsf) % Integer::from_digits(modulus, Order::Lsf);
        let mut limbs = number.to_digits(Order::Lsf);
        limbs.resize(modulus.len(), 0);
        let found = inverse_public(&limbs, modulus).map(|found| Integer::from_digits(&found, Order::Lsf));
        assert_eq!(found, expected(&limbs, modulus), "{limbs:x?} modulo {modulus:x?}");
    }

    /// Limbs with extreme and random values.
    fn numbers(limbs: usize) -> impl Strategy<Value = Vec<u64>> {
        let limb = prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 63), any::<u64>()];
        proptest::collection::vec(limb, limbs)
    }

    proptest! {
        #[test]
        fn gmp_agrees((number, mut modulus) in (1usize..40).prop_flat_map(|limbs| (numbers(limbs), numbers(limbs)))) {
            modulus[0] |= 1;
            check(&number, &modulus);
        }

        #[test]
        fn common_factors_are_found(number in numbers(4), modulus in numbers(4), factor in numbers(2)) {
            let odd = |mut limbs: Vec<u64>| { limbs[0] |= 1; limbs };
            let (factor, modulus) = (odd(factor), odd(modulus));
            let product = |limbs: &[u64]| hearith_arith::natural::product(limbs, &factor);
            check(&product(&number), &product(&modulus));
        }
    }

    #[test]
    fn small_numbers_are_all_right() {
        for modulus in (1..200u64).step_by(2) {
            (0..modulus).for_each(|number| check(&[number], &[modulus]));
        }
    }
}
