//! Products of long integers by transforms over a finite ring, as in the hardware of the design for
//! FHE over the integers \[CMOOH13\].
//!
//! Blocks have `k / 2` digits of `b` bits, and transforms have length `k` modulo `p`. The module
//! also models the cost of a long product's blocks ([`cost`]) and of whole encryptions
//! ([`encryption`]).
//!
//! Transforms are computed from their definition, with `k^2` products, so that they are independent
//! of the designs compared with them.

pub mod cost;
pub mod encryption;
pub mod four_step;
pub mod sizes;

/// Integers modulo `2^a + 1` (`b` = 0) or `2^a - 2^b + 1`, with `a` at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    a: u32,
    b: u32,
}

impl Modulus {
    /// Creates a modulus.
    ///
    /// # Panics
    /// If `a` is not 2 to 64, or `b` is neither 0 nor 2 to `a - 2`.
    pub const fn new(a: u32, b: u32) -> Self {
        assert!(2 <= a && a <= 64 && (b == 0 || (2 <= b && b + 2 <= a)), "a modulus of the hardware");
        Self { a, b }
    }

    /// The exponents `a` and `b`.
    pub const fn exponents(self) -> (u32, u32) {
        (self.a, self.b)
    }

    /// `p`.
    pub const fn value(self) -> u128 {
        (1 << self.a) + 1 - if self.b == 0 { 0 } else { 1 << self.b }
    }

    /// The sum of two residues.
    pub fn add(self, x: u128, y: u128) -> u128 {
        (x + y) % self.value()
    }

    /// `-x`.
    pub fn negate(self, x: u128) -> u128 {
        (self.value() - x) % self.value()
    }

    /// The product of two residues.
    pub fn multiply(self, x: u128, y: u128) -> u128 {
        match (x >> 64, y >> 64) {
            (0, 0) => x * y % self.value(),
            // Only one modulus has a residue of 2^64, and 2^64 is -1 modulo it.
            (0, _) => self.negate(x),
            _ => self.negate(y),
        }
    }

    /// `x^exponent`.
    pub fn power(self, x: u128, exponent: u64) -> u128 {
        let bits = (0..u64::BITS - exponent.leading_zeros()).rev();
        bits.fold(1, |power, bit| {
            let square = self.multiply(power, power);
            if exponent >> bit & 1 == 1 { self.multiply(square, x) } else { square }
        })
    }
}

/// The parameters of a block multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The modulus of coefficients.
    pub modulus: Modulus,
    /// Length of the transforms, a power of two.
    pub k: u32,
    /// A root of unity of order `k`.
    pub root: u128,
    /// Length of a digit in bits, `b`.
    pub base: u32,
    /// Number of digits in a word of the bus, `d / b`.
    pub group: u32,
}

/// The paper's Table 3, corrected: two of its roots are not roots of order `k`, and digits have the
/// largest possible even number of bits.
pub const CORRECTED: [Parameters; 4] = [
    Parameters { modulus: Modulus::new(32, 0), k: 64, root: 2, base: 12, group: 4 },
    Parameters { modulus: Modulus::new(64, 0), k: 128, root: 2, base: 28, group: 8 },
    Parameters { modulus: Modulus::new(64, 32), k: 128, root: 18_446_741_870_424_883_713, base: 28, group: 8 },
    Parameters { modulus: Modulus::new(32, 20), k: 64, root: 903_718_526, base: 12, group: 4 },
];

/// Table 3 as it is printed.
pub const PRINTED: [Parameters; 4] = [
    Parameters { base: 8, ..CORRECTED[0] },
    Parameters { base: 24, ..CORRECTED[1] },
    Parameters { root: 7, ..CORRECTED[2] },
    Parameters { root: 17, ..CORRECTED[3] },
];

impl Parameters {
    /// Whether the root's powers form an invertible transform: `w^(k/2) = -1`, as `k` is a power of
    /// two.
    pub fn has_root(&self) -> bool {
        self.modulus.power(self.root, u64::from(self.k) / 2) == self.modulus.value() - 1
    }

    /// Whether all coefficients of a product are below the modulus.
    pub fn fits(&self) -> bool {
        let digit = (1_u128 << self.base) - 1;
        digit * digit <= (self.modulus.value() - 1) / u128::from(self.k / 2)
    }

    /// Length of a block in bits.
    pub const fn block_bits(&self) -> u32 {
        self.k * self.base / 2
    }

    /// Length of a bus word in bits.
    pub const fn bus_bits(&self) -> u32 {
        self.group * self.base
    }

    fn sums(&self, x: &[u128], root: u128) -> Vec<u128> {
        assert_eq!(x.len(), self.k as usize, "a transform's length");
        let powers: Vec<u128> =
            std::iter::successors(Some(1), |&power| Some(self.modulus.multiply(power, root))).take(x.len()).collect();
        let term = |at: usize, t: usize| self.modulus.multiply(x[t], powers[at * t % x.len()]);
        (0..x.len()).map(|at| (0..x.len()).fold(0, |sum, t| self.modulus.add(sum, term(at, t)))).collect()
    }

    /// `X_T = sum over t of x_t w^(T t)`.
    pub fn transform(&self, x: &[u128]) -> Vec<u128> {
        self.sums(x, self.root)
    }

    /// `x_t = k^-1 sum over T of X_T w^(-T t)`.
    pub fn inverse(&self, x: &[u128]) -> Vec<u128> {
        // (p + 1) / 2 is one half.
        let scale = self.modulus.power(self.modulus.value().div_ceil(2), self.k.trailing_zeros().into());
        let sums = self.sums(x, self.modulus.power(self.root, u64::from(self.k) - 1));
        sums.into_iter().map(|sum| self.modulus.multiply(sum, scale)).collect()
    }

    /// The product of two polynomials of `k / 2` digits, lowest first.
    pub fn product(&self, x: &[u64], y: &[u64]) -> Vec<u128> {
        let padded = |digits: &[u64]| {
            assert_eq!(digits.len(), self.k as usize / 2, "half a transform's length");
            let zeros = std::iter::repeat_n(0, digits.len());
            digits.iter().map(|&digit| digit.into()).chain(zeros).collect::<Vec<u128>>()
        };
        let (x, y) = (self.transform(&padded(x)), self.transform(&padded(y)));
        let points: Vec<u128> = x.iter().zip(&y).map(|(&x, &y)| self.modulus.multiply(x, y)).collect();
        self.inverse(&points)
    }
}
