//! The eight primes, one per lane, and the arithmetic modulo them for set-up, one lane at a time.
//!
//! Each prime is just below 2^48 and 1 modulo 2^24. The vector engine multiplies numbers of 52
//! bits, so values up to `16 p` are allowed. Sums and differences can therefore be reduced once
//! every two levels of a transform.

use hearith_arith::natural::word::{inverse_mod, pow_mod, root_of_unity};
use std::sync::OnceLock;

/// Number of primes, and of lanes in a vector.
pub(crate) const LANES: usize = 8;
/// Length in bits of a factor of the engines' products, and of half a product.
pub(crate) const RADIX: u32 = 52;
/// The mask for the bits of a factor.
pub(crate) const MASK: u64 = (1 << RADIX) - 1;
/// The primes have roots of unity of order 2^24.
pub(crate) const LOG_ORDER: u32 = 24;

const fn prime(c: u64) -> u64 {
    (1 << 48) - (c << LOG_ORDER) + 1
}

/// The primes. Their product is above `2^384 (1 - 2^-14)`.
pub(crate) const PRIMES: [u64; LANES] =
    [prime(40), prime(45), prime(46), prime(61), prime(84), prime(88), prime(99), prime(103)];

/// A vector: one number for each prime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Lanes(pub(crate) [u64; LANES]);

impl Lanes {
    pub(crate) fn of(f: impl FnMut(usize) -> u64) -> Self {
        Lanes(std::array::from_fn(f))
    }
}

/// A constant `c` for each prime `p`, prepared for products with `x` below 2^52.
///
/// Modulo 2^52, `x (c 2^52 mod p)` equals `(x by_inverse mod 2^52) p`. The difference of the two
/// products' upper halves is therefore `c x mod p`, up to a multiple of `p`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    /// `c 2^52 mod p`.
    pub(crate) value: Lanes,
    /// `value p^-1 mod 2^52`.
    pub(crate) by_inverse: Lanes,
}

impl Constant {
    /// Creates the constant from `c mod p` for each prime.
    pub(crate) fn of(mut c: impl FnMut(usize) -> u64) -> Self {
        Self::scaled(Lanes::of(|i| mul(c(i), R[i], i)))
    }

    /// Creates the constant from `c 2^52 mod p` for each prime.
    fn scaled(value: Lanes) -> Self {
        Constant { value, by_inverse: Lanes::of(|i| value.0[i].wrapping_mul(INVERSES[i]) & MASK) }
    }

    /// The product of two constants.
    fn times(&self, other: &Constant) -> Self {
        Self::scaled(Lanes::of(|i| {
            let (x, w) = (self.value.0[i], other.value.0[i]);
            let q = x.wrapping_mul(other.by_inverse.0[i]) & MASK;
            let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> RADIX) as u64;
            let (product, multiple) = (high(x, w), high(q, PRIMES[i]));
            if product >= multiple { product - multiple } else { product + PRIMES[i] - multiple }
        }))
    }
}

/// `2^52 mod p`.
const R: [u64; LANES] = {
    let mut r = [0; LANES];
    let mut i = 0;
    while i < LANES {
        r[i] = (1 << RADIX) % PRIMES[i];
        i += 1;
    }
    r
};

/// `p^-1 mod 2^52`.
pub(crate) const INVERSES: [u64; LANES] = {
    let mut inverses = [0; LANES];
    let mut i = 0;
    while i < LANES {
        // Each step doubles the number of correct bits. The lowest bit of an odd number's inverse
        // is 1.
        let (mut x, mut step) = (1_u64, 0);
        while step < 6 {
            x = x.wrapping_mul(2_u64.wrapping_sub(PRIMES[i].wrapping_mul(x)));
            step += 1;
        }
        inverses[i] = x & MASK;
        i += 1;
    }
    inverses
};

/// `a b` modulo prime `i`.
pub(crate) fn mul(a: u64, b: u64, i: usize) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIMES[i])) as u64
}

/// `a^e` modulo prime `i`.
pub(crate) fn pow(a: u64, e: u64, i: usize) -> u64 {
    pow_mod(a, e, PRIMES[i])
}

/// `a^-1` modulo prime `i`, for `a` that is not a multiple of it.
pub(crate) fn inverse(a: u64, i: usize) -> u64 {
    inverse_mod(a, PRIMES[i]).expect("a unit")
}

/// A root of unity of order 2^24 modulo prime `i`.
pub(crate) fn root(i: usize) -> u64 {
    static ROOTS: OnceLock<[u64; LANES]> = OnceLock::new();
    ROOTS.get_or_init(|| std::array::from_fn(|i| root_of_unity(PRIMES[i], 1 << LOG_ORDER).expect("2^24 divides p - 1")))
        [i]
}

/// The first `2^log` roots of the nodes of a transform. Number `j` is the power of a root of unity
/// whose exponent, as a fraction of a turn, has the bits of `j` in reverse order, starting at a
/// quarter. Every transform of that size shares the table, which is never freed.
///
/// Proved: `table_correct` in formal/coq/ntt_transforms.v.
/// Proved: `steps_correct` in formal/coq/ntt_transforms.v.
pub(crate) fn roots(log: u32) -> &'static [Constant] {
    static TABLES: [OnceLock<Vec<Constant>>; LOG_ORDER as usize] = [const { OnceLock::new() }; LOG_ORDER as usize];
    TABLES[log as usize].get_or_init(|| {
        let mut table = Vec::with_capacity(1 << log);
        table.push(Constant::of(|_| 1));
        for level in 0..log {
            let step = Constant::of(|i| pow(root(i), 1 << (LOG_ORDER - 2 - level), i));
            for j in 0..1 << level {
                let root: &Constant = &table[j];
                table.push(root.times(&step));
            }
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::natural::word::is_prime;

    #[test]
    fn primes_are_prime_and_have_the_roots() {
        for (i, &p) in PRIMES.iter().enumerate() {
            assert!(is_prime(p) && p < 1 << 48 && (p - 1).is_multiple_of(1 << LOG_ORDER));
            assert_eq!(INVERSES[i].wrapping_mul(p) & MASK, 1);
            assert_eq!(pow(root(i), 1 << (LOG_ORDER - 1), i), p - 1);
            assert_eq!(PRIMES.iter().filter(|&&other| other == p).count(), 1);
        }
    }

    #[test]
    fn a_node_s_root_squares_to_what_its_parent_splits() {
        let table = roots(6);
        for i in 0..LANES {
            let plain = |j: usize| mul(table[j].value.0[i], inverse(R[i], i), i);
            assert_eq!(plain(0), 1);
            for j in 1..64 {
                let parent = plain(j / 2);
                let split = if j % 2 == 0 { parent } else { PRIMES[i] - parent };
                assert_eq!(mul(plain(j), plain(j), i), split, "prime {i}, node {j}");
            }
            // The inverse of a root is the negative of the root mirrored within its level.
            for j in 1_usize..64 {
                let level = 1 << j.ilog2();
                assert_eq!(mul(plain(j), plain(3 * level - 1 - j), i), PRIMES[i] - 1);
            }
        }
    }
}
