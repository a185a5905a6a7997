//! The three primes of the blocks' transforms, and their roots of unity.

use hearith_arith::natural::word::{inverse_mod, mul_mod, pow_mod, root_of_unity};
use std::array::from_fn;

/// Length of a prime in bits.
pub(super) const BITS: u32 = 49;
/// Length in bits of a factor of IFMA's products, and of half a product.
const RADIX: u32 = 52;
const MASK: u64 = (1 << RADIX) - 1;

/// `2^49 - p + 1` for each prime `p`. The primes are the three largest ones below 2^49 that are 1
/// modulo 2^12.
const LACKS: [u64; 3] = [7 << 12, 25 << 12, 41 << 12];

/// A constant `c` modulo a prime `p`, prepared for products with `x` below 2^52.
///
/// The products `x value`, with `value = c 2^52 mod p`, and `(x by_inverse mod 2^52) p` have the
/// same lower halves. The difference of their upper halves is therefore `c x mod p`, between `-p`
/// and `p`.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    pub(super) value: u64,
    pub(super) by_inverse: u64,
}

/// A prime and the constants of transforms modulo it.
pub(super) struct Prime {
    pub(super) p: u64,
    /// `p^-1 mod 2^52`.
    pub(super) inverse: u64,
    /// `2^49 mod p`.
    pub(super) fold: u64,
    /// The root `w` of each node of a transform: node `j` splits `x^(2 m) - w^2` into `x^m - w` and
    /// `x^m + w`.
    pub(super) roots: Vec<Constant>,
    /// The inverses of the roots.
    pub(super) back: Vec<Constant>,
    /// `2^52 / length`. Sums of products with coefficients scaled by it need no further scaling
    /// after Montgomery reduction.
    pub(super) scale: Constant,
}

impl Prime {
    fn new(lack: u64, length: usize) -> Self {
        let p = (1 << BITS) - lack + 1;
        let inverse = hearith_arith::natural::inverse_word(p) & MASK;
        let constant = |c: u64| {
            let value = mul_mod(c, (1 << RADIX) % p, p);
            Constant { value, by_inverse: value.wrapping_mul(inverse) & MASK }
        };
        let root = root_of_unity(p, 2 * length as u64).expect("the length divides (p - 1) / 2");
        let roots: Vec<u64> = (0..length / 2).map(|node| pow_mod(root, turn(node, 2 * length), p)).collect();
        let inverse_of = |x: u64| inverse_mod(x, p).expect("a unit");
        Prime {
            p,
            inverse,
            fold: lack - 1,
            roots: roots.iter().map(|&w| constant(w)).collect(),
            back: roots.iter().map(|&w| constant(inverse_of(w))).collect(),
            scale: constant(mul_mod((1 << RADIX) % p, inverse_of(length as u64), p)),
        }
    }

    /// A constant modulo this prime.
    fn constant(&self, c: u64) -> Constant {
        let value = mul_mod(c, (1 << RADIX) % self.p, self.p);
        Constant { value, by_inverse: value.wrapping_mul(self.inverse) & MASK }
    }
}

/// The exponent of node `j`'s root, as a power of a root of unity of order `order`. As a fraction
/// of a turn it has the bits of `j` in reverse order, starting at a quarter.
fn turn(node: usize, order: usize) -> u64 {
    let bits = usize::BITS - node.leading_zeros();
    (0..bits).map(|bit| (node >> bit & 1) * (order >> (bit + 2))).sum::<usize>() as u64
}

/// The primes of transforms of one length.
pub(super) struct Primes {
    pub(super) each: [Prime; 3],
    /// `p_0^-1 mod p_1`, `p_0^-1 mod p_2` and `p_1^-1 mod p_2`.
    pub(super) inverses: [Constant; 3],
}

impl Primes {
    /// Prepares transforms of `length` values, a power of two between 4 and 2^11.
    pub(super) fn new(length: usize) -> Self {
        let each = LACKS.map(|lack| Prime::new(lack, length));
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let inverses = from_fn(|i| {
            let (of, modulo): (usize, usize) = pairs[i];
            each[modulo].constant(inverse_mod(each[of].p, each[modulo].p).expect("other primes"))
        });
        Primes { each, inverses }
    }

    /// `v_0 + p_0 v_1 + p_0 p_1 v_2` for `v` below 2^62, in three limbs: a double limb and the top
    /// one.
    pub(super) fn number(&self, [v0, v1, v2]: [u64; 3]) -> (u128, u64) {
        let [p0, p1, _] = from_fn(|k| u128::from(self.each[k].p));
        let pair = p0 * p1;
        let middle = u128::from(v0) + p0 * u128::from(v1);
        let low = u128::from(pair as u64) * u128::from(v2);
        let high = (pair >> 64) * u128::from(v2) + (low >> 64);
        let (sum, carry) = ((high << 64) | u128::from(low as u64)).overflowing_add(middle);
        (sum, (high >> 64) as u64 + u64::from(carry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::natural::word::is_prime;

    #[test]
    fn primes_are_prime_and_roots_split_what_their_nodes_have() {
        let primes = Primes::new(64);
        for prime in &primes.each {
            assert!(is_prime(prime.p) && prime.p < 1 << BITS && prime.p > (1 << BITS) - (1 << 20));
            assert_eq!(prime.p.wrapping_mul(prime.inverse) & MASK, 1);
            assert_eq!(prime.fold, (1 << BITS) % prime.p);
            let unit = inverse_mod((1 << RADIX) % prime.p, prime.p).unwrap();
            let plain = |constants: &[Constant], j: usize| mul_mod(constants[j].value, unit, prime.p);
            assert_eq!(plain(&prime.roots, 0), 1);
            for j in 1..32 {
                let (root, parent) = (plain(&prime.roots, j), plain(&prime.roots, j / 2));
                let split = if j % 2 == 0 { parent } else { prime.p - parent };
                assert_eq!(mul_mod(root, root, prime.p), split, "node {j}");
                assert_eq!(mul_mod(root, plain(&prime.back, j), prime.p), 1);
            }
        }
    }

    #[test]
    fn digits_are_put_together() {
        use rug::Integer;
        let primes = Primes::new(4);
        let [p0, p1, p2] = from_fn(|k| primes.each[k].p);
        for digits in [[0, 0, 0], [1, 2, 3], [p0 - 1, p1 - 1, p2 - 1], [(1 << 62) - 1; 3]] {
            let (low, high) = primes.number(digits);
            let expected = digits[0] + Integer::from(p0) * (digits[1] + Integer::from(p1) * digits[2]);
            assert_eq!((Integer::from(high) << 128) + low, expected);
        }
    }
}
