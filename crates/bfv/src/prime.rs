//! A prime modulus with the tables for transforms modulo it.

use crate::kernel::{LANES, Lanes, MASK, RADIX};
use hearith_arith::natural::inverse_word;

/// The largest primes below 2^50 that are 1 modulo 2^15, the order of the roots of unity required
/// by the largest degree.
pub(crate) const PRIMES: [u64; 8] = [
    1125899904679937,
    1125899903991809,
    1125899903827969,
    1125899903795201,
    1125899903500289,
    1125899903107073,
    1125899902124033,
    1125899901665281,
];

/// Length of a prime in bits.
pub(crate) const PRIME_BITS: u32 = 50;

/// A factor, with the quotient used to reduce its products.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Constant {
    pub(crate) value: u64,
    /// `floor(2^52 value / q)`.
    pub(crate) quotient: u64,
}

impl Constant {
    pub(crate) fn new(value: u64, q: u64) -> Self {
        Constant { value, quotient: ((u128::from(value) << RADIX) / u128::from(q)) as u64 }
    }
}

/// The roots for the last three levels in a block of 64: for each node, a vector of values and one
/// of quotients.
pub(crate) struct Tail(pub(crate) [[Lanes; 2]; LANES - 1]);

/// A prime and its tables for one degree.
pub(crate) struct Prime {
    pub(crate) q: u64,
    /// `1 / q` modulo 2^52.
    pub(crate) inverse: u64,
    /// `2^52` modulo the prime, which converts a factor to Montgomery form.
    pub(crate) radix: Constant,
    /// `1 / N`.
    pub(crate) per_degree: Constant,
    /// The roots by node: node 1 is the top, and the children of `n` are `2 n` and `2 n + 1`.
    pub(crate) roots: Vec<Constant>,
    pub(crate) inverse_roots: Vec<Constant>,
    pub(crate) tail: Vec<Tail>,
    pub(crate) inverse_tail: Vec<Tail>,
}

impl Prime {
    /// Computes the tables for polynomials modulo `X^degree + 1`.
    ///
    /// Proved: `roots_correct` in formal/coq/convolutions.v.
    pub(crate) fn new(q: u64, degree: usize) -> Self {
        let root = root(q, 2 * degree as u64);
        let bits = degree.trailing_zeros();
        let by_node = |root: u64| -> Vec<Constant> {
            let powers: Vec<u64> =
                std::iter::successors(Some(1), |&power| Some(times(power, root, q))).take(degree).collect();
            let reversed = |node: usize| node.reverse_bits() >> (usize::BITS - bits);
            (0..degree).map(|node| Constant::new(powers[reversed(node)], q)).collect()
        };
        let (roots, inverse_roots) = (by_node(root), by_node(inverse(root, q)));
        Prime {
            q,
            inverse: inverse_word(q) & MASK,
            radix: Constant::new(((1_u128 << RADIX) % u128::from(q)) as u64, q),
            per_degree: Constant::new(inverse(degree as u64, q), q),
            tail: tails(&roots),
            inverse_tail: tails(&inverse_roots),
            roots,
            inverse_roots,
        }
    }
}

/// The roots of the last three levels. Lane `r` of block `b` belongs to vector `8 b + r`, whose
/// eight coefficients span three levels of nodes.
fn tails(roots: &[Constant]) -> Vec<Tail> {
    let vectors = roots.len() / LANES;
    let tail = |block: usize| {
        let nodes = [1, 2, 4].into_iter().flat_map(|level| (0..level).map(move |i| (level, i)));
        let mut tail = Tail([[Lanes::default(); 2]; LANES - 1]);
        for (place, (level, i)) in tail.0.iter_mut().zip(nodes) {
            let root = |lane| roots[level * (vectors + block * LANES + lane) + i];
            *place = [Lanes(std::array::from_fn(|r| root(r).value)), Lanes(std::array::from_fn(|r| root(r).quotient))];
        }
        tail
    };
    (0..vectors / LANES).map(tail).collect()
}

/// `a b` modulo `q`.
pub(crate) fn times(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

/// `a^e` modulo `q`, for public inputs.
pub(crate) fn power(a: u64, mut e: u64, q: u64) -> u64 {
    let (mut result, mut square) = (1, a);
    while e > 0 {
        if e & 1 == 1 {
            result = times(result, square, q);
        }
        square = times(square, square, q);
        e >>= 1;
    }
    result
}

/// `1 / a` modulo the prime `q`.
pub(crate) fn inverse(a: u64, q: u64) -> u64 {
    power(a, q - 2, q)
}

/// The first root of unity found of this order, a power of two.
fn root(q: u64, order: u64) -> u64 {
    let candidates = (2..).map(|x| power(x, (q - 1) / order, q));
    let primitive = |&root: &u64| power(root, order / 2, q) == q - 1;
    candidates.into_iter().find(primitive).expect("half of all numbers are no squares")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::Integer;
    use rug::integer::IsPrime;

    #[test]
    fn these_are_the_largest_primes_that_suit() {
        let step = 1 << 15;
        let candidates = (1..).map(|i| (1_u64 << PRIME_BITS) - i * step + 1);
        let primes = candidates.filter(|&q| Integer::from(q).is_probably_prime(30) != IsPrime::No);
        assert_eq!(primes.take(PRIMES.len()).collect::<Vec<_>>(), PRIMES);
    }
}
