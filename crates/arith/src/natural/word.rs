//! Arithmetic modulo one machine word, for set-up with public numbers: primality, inverses, roots
//! of unity.

/// `a b mod m`.
pub fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// `base^exponent mod m`, for `m > 1`.
pub fn pow_mod(base: u64, mut exponent: u64, m: u64) -> u64 {
    let (mut power, mut square) = (1, base % m);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul_mod(power, square, m);
        }
        square = mul_mod(square, square, m);
        exponent >>= 1;
    }
    power
}

/// The greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `a^-1 mod m` for `m > 1`, if `a` is coprime to `m` (Euclid's algorithm).
pub fn inverse_mod(a: u64, m: u64) -> Option<u64> {
    // For every pair (r, x), r = a x mod m.
    let (mut above, mut below) = ((i128::from(m), 0), (i128::from(a % m), 1));
    while below.0 != 0 {
        let quotient = above.0 / below.0;
        (above, below) = (below, (above.0 - quotient * below.0, above.1 - quotient * below.1));
    }
    (above.0 == 1).then(|| above.1.rem_euclid(i128::from(m)) as u64)
}

/// Whether `n` is prime: a strong probable prime to the first twelve prime bases, which is a proof
/// below 2^64 (Sorenson and Webster, Strong pseudoprimes to twelve prime bases, 2017).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if let Some(&factor) = BASES.iter().find(|&&base| n.is_multiple_of(base)) {
        return n == factor;
    }
    n > 1 && BASES.iter().all(|&base| is_strong_probable_prime(n, base))
}

/// Whether, for odd `n > base` with `n - 1 = d 2^s`, `base^d` is 1 or one of its squarings up to
/// `base^((n - 1) / 2)` is -1.
fn is_strong_probable_prime(n: u64, base: u64) -> bool {
    let s = (n - 1).trailing_zeros();
    let mut power = pow_mod(base, (n - 1) >> s, n);
    if power == 1 {
        return true;
    }
    for _ in 1..s {
        if power == n - 1 {
            return true;
        }
        power = mul_mod(power, power, n);
    }
    power == n - 1
}

/// A primitive `order`-th root of unity modulo the prime `q`, derived from the smallest suitable
/// base. `None` unless `order` is a power of two that divides `q - 1`.
///
/// ```
/// # use hearith_arith::natural::word::root_of_unity;
/// assert_eq!(root_of_unity(17, 4), Some(13)); // 3^4, and 13^2 = -1
/// assert_eq!(root_of_unity(17, 32), None);
/// ```
pub fn root_of_unity(q: u64, order: u64) -> Option<u64> {
    if !order.is_power_of_two() || q < 2 || !(q - 1).is_multiple_of(order) {
        return None;
    }
    if order == 1 {
        return Some(1);
    }
    // The order of base^((q-1)/order) divides `order`. It is `order` itself if half of it gives -1,
    // which holds for a non-residue.
    let roots = (2..q).map(|base| pow_mod(base, (q - 1) / order, q));
    roots.into_iter().find(|&root| pow_mod(root, order / 2, q) == q - 1)
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, integer::IsPrime};

    proptest! {
        #[test]
        fn primality_agrees_with_gmp(n in 0..=u64::MAX, shift in 0..64_u32) {
            let n = n >> shift;
            prop_assert_eq!(is_prime(n), Integer::from(n).is_probably_prime(40) != IsPrime::No);
        }
    }

    #[test]
    fn small_numbers_and_strong_pseudoprimes() {
        let primes: Vec<u64> = (0..50).filter(|&n| is_prime(n)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]);
        // Strong pseudoprimes to the first 1, 4, 8, 9 and 11 prime bases, and a Carmichael number.
        for n in [2047, 3_215_031_751, 341_550_071_728_321, 3_825_123_056_546_413_051, 561] {
            assert!(!is_prime(n), "{n}");
        }
        assert!(is_prime(u64::MAX - 58));
    }

    #[test]
    fn roots_have_their_order() {
        for (q, order) in [(1_073_692_673, 16384), (1_073_479_681, 65536), (257, 256), (3, 2), (5, 1)] {
            let root = root_of_unity(q, order).unwrap();
            assert_eq!(pow_mod(root, order, q), 1);
            assert!(order == 1 || pow_mod(root, order / 2, q) != 1);
        }
        assert_eq!(root_of_unity(1_073_692_673, 3), None);
        assert_eq!(root_of_unity(1_073_692_673, 1 << 20), None);
    }
}
