//! Inverses of a batch with a single inversion.

use super::euclid::inverse_public;
use crate::PublicKey;
use hearith_arith::natural::resized;
use hearith_arith::{Batch, Modulus};

/// The inverses of public residues modulo `square = root^2`, or `None` if one is not invertible.
///
/// This is Montgomery's trick (\[Montgomery87\], section 10.3.1), arranged as a tree so that every
/// level is a batch: the inverse of a product of two numbers, times one of them, is the inverse of
/// the other.
pub(crate) fn inverses(root: &Modulus, square: &Modulus, numbers: &Batch) -> Option<Batch> {
    if numbers.len() <= 1 {
        return if numbers.is_empty() { Some(numbers.clone()) } else { inverse(root, square, numbers) };
    }
    let mut one = vec![0; numbers.limbs()];
    one[0] = 1;
    let evens = Batch::from_rows(numbers.limbs(), numbers.rows().step_by(2));
    // A number without a partner is paired with 1.
    let odds = Batch::from_rows(numbers.limbs(), numbers.rows().chain([&one[..]]).skip(1).step_by(2));
    let products = inverses(root, square, &square.mul(&evens, &odds))?;
    let (of_evens, of_odds) = (square.mul(&products, &odds), square.mul(&products, &evens));
    let pairs = of_evens.rows().zip(of_odds.rows()).flat_map(|(even, odd)| [even, odd]);
    Some(Batch::from_rows(square.limbs(), pairs.take(numbers.len())))
}

/// The inverse of one public residue: `u` modulo the root, where inversion takes a quarter of the
/// time, then one Newton step `u (2 - x u)` modulo its square.
fn inverse(root: &Modulus, square: &Modulus, number: &Batch) -> Option<Batch> {
    let inverse = inverse_public(root.reduce(number).row(0), root.as_limbs())?;
    let inverse = Batch::repeat(&resized(&inverse, square.limbs()), 1);
    let two = Batch::repeat(&resized(&[2], square.limbs()), 1);
    let correction = square.sub(&two, &square.mul(number, &inverse));
    Some(square.mul(&inverse, &correction))
}

impl PublicKey {
    /// The inverse modulo `n` of a public residue below `n`, with as many limbs as `n`; `None` if
    /// they share a factor. The running time depends on both. For protocols built on the scheme.
    ///
    /// # Panics
    /// If the residue has a different number of limbs.
    pub fn inverse_of_residue(&self, residue: &[u64]) -> Option<Vec<u64>> {
        inverse_public(residue, self.root().as_limbs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;

    #[test]
    fn batches_of_any_length_are_inverted() {
        let modulus = |number| Modulus::new(Engine::best(), &[number]).unwrap();
        let (root, square) = (modulus(1001), modulus(1001 * 1001));
        for len in 0..20 {
            let numbers: Vec<u64> =
                (1..).step_by(499).filter(|x| x % 7 != 0 && x % 11 != 0 && x % 13 != 0).take(len).collect();
            let numbers = Batch::from_rows(1, numbers.chunks(1));
            let products = square.mul(&numbers, &inverses(&root, &square, &numbers).unwrap());
            assert_eq!(products.as_limbs(), vec![1; len]);
        }
        assert_eq!(inverses(&root, &square, &Batch::from_rows(1, [&[5][..], &[14], &[3]])), None);
        assert_eq!(inverses(&root, &square, &Batch::zeros(1, 1)), None);
    }
}
