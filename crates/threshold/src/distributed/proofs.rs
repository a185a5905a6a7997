//! The proofs about a key that its owner would make, made by all trustees together.
//!
//! Both consist of roots modulo `N` that [`hearith_proofs::roots`] and [`hearith_proofs::blum`]
//! verify. A root is a power whose exponent the trustees share as a sum, and each computes the
//! power with its summand.

use super::numbers::jacobi;
use hearith_arith::natural::{Secret, add_assign, divide_exact, product};
use hearith_arith::{Batch, Exponents};
use hearith_paillier::{Openings, PublicKey};
use hearith_proofs::blum::ROUNDS;
use hearith_proofs::roots::ROOTS;
use hearith_proofs::{blum, hashed, roots};

/// The number of integers in both proofs.
pub(crate) const NUMBERS: usize = ROOTS + ROUNDS;

/// The proofs about the key that its owner would make: that every ciphertext decrypts to only one
/// number ([`roots`]), and that `N` has two prime factors, both 3 modulo 4 ([`blum`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyProofs {
    /// `N`-th roots.
    pub roots: Openings,
    /// Square roots.
    pub square_roots: Openings,
}

/// The numbers whose roots form the proofs.
pub(crate) struct Numbers {
    /// Numbers for `N`-th roots.
    whole: Batch,
    /// Numbers for square roots. Either the number or its negative is a square.
    halves: Batch,
}

impl Numbers {
    /// The numbers for a key. `None` if no small number has Jacobi symbol -1.
    pub(crate) fn of(key: &PublicKey) -> Option<Self> {
        let [mut halves, multiples, ..] = blum::candidates(key)?;
        for row in 0..ROUNDS {
            if jacobi(halves.row(row), key.root().as_limbs()) == -1 {
                halves.row_mut(row).copy_from_slice(multiples.row(row));
            }
        }
        Some(Numbers { whole: hashed("roots", key, ROOTS), halves })
    }

    /// A trustee's factors: powers with the exponents `t D rho_i`, and half of its summand of
    /// `phi / 4`, rounded down.
    pub(crate) fn part(&self, key: &PublicKey, whole: (&Secret, u32), half: (&Secret, u32)) -> Vec<u8> {
        let power = |numbers: &Batch, (exponent, bits): (&Secret, u32)| {
            key.root().pow(numbers, Exponents::Shared(exponent, bits)).public().to_be_bytes(key.plaintext_bytes())
        };
        [power(&self.whole, whole), power(&self.halves, half)].concat()
    }

    /// Combines the parts of all trustees, in order, to the proofs. `None` if a part is wrong.
    ///
    /// `f(0) = t (N R(0) - Theta)` is a multiple of `phi`, and `t Theta = N u - 1`. So
    /// `N (t R(0) - u) = -1` modulo `phi`, and `y^(u - t R(0))` is an `N`-th root of `y`. With
    /// `M = phi / 4`, which is odd, `z^((M + 1) / 2)` is a square root of `z` or `-z`.
    pub(crate) fn combine(
        &self,
        key: &PublicKey,
        theta: &[u64],
        inverse: &[u64],
        parts: &[Vec<Batch>],
    ) -> Option<KeyProofs> {
        let n = key.root();
        let mut multiple = product(theta, inverse);
        multiple.push(0);
        add_assign(&mut multiple, &[1]);
        let u = divide_exact(&multiple, n.as_limbs(), multiple.len());
        let product_of = |parts: &[Vec<Batch>], half: usize| {
            let first = parts.first()?[half].clone();
            Some(parts[1..].iter().fold(first, |product, part| n.mul(&product, &part[half])))
        };
        let opened = |numbers: &Batch| key.openings_from_be(&numbers.to_be_bytes(key.plaintext_bytes())).ok();
        let whole = n.pow(&self.whole, Exponents::Public(&u));
        let whole = opened(&n.mul(&whole, &inverses(key, &product_of(parts, 0)?)?))?;
        roots::verify(key, &whole).ok()?;

        // The rounding error is the same for all rows: at most one half per trustee.
        let back = inverses(key, &self.halves)?;
        let mut half = n.mul(&parts.first()?[1], &inverses(key, &product_of(&parts[1..], 1)?)?);
        half = n.mul(&half, &self.halves);
        for _ in 0..=parts.len() {
            let square_roots = opened(&half)?;
            if blum::verify(key, &square_roots).is_ok() {
                return Some(KeyProofs { roots: whole, square_roots });
            }
            half = n.mul(&half, &back);
        }
        None
    }
}

/// The inverses of public rows. `None` if one has a common factor with `N`.
fn inverses(key: &PublicKey, numbers: &Batch) -> Option<Batch> {
    let inverses = numbers.rows().map(|row| key.inverse_of_residue(row)).collect::<Option<Vec<_>>>()?;
    Some(Batch::from_rows(numbers.limbs(), inverses.iter().map(|row| &row[..])).public())
}
