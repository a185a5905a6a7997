//! Inverses of a batch with one inversion.

use crate::natural::{boxed, resized};
use crypto_bigint::Odd;
use hearith_arith::{Batch, Modulus};

/// The inverses of public residues, or `None` if one has none.
///
/// Montgomery's trick (Speeding the Pollard and elliptic curve methods of factorization, 1987, section 10.3.1), as a tree
/// so that every level is a batch: the inverse of a product of two, times the one, is the inverse of the other.
pub(crate) fn inverses(modulus: &Modulus, numbers: &Batch) -> Option<Batch> {
    if numbers.len() <= 1 {
        return numbers.rows().next().map_or(Some(numbers.clone()), |number| inverse(modulus, number));
    }
    let mut one = vec![0; numbers.limbs()];
    one[0] = 1;
    let evens = Batch::from_rows(numbers.limbs(), numbers.rows().step_by(2));
    // A number without a partner gets 1 for one.
    let odds = Batch::from_rows(numbers.limbs(), numbers.rows().chain([&one[..]]).skip(1).step_by(2));
    let products = inverses(modulus, &modulus.mul(&evens, &odds))?;
    let (of_evens, of_odds) = (modulus.mul(&products, &odds), modulus.mul(&products, &evens));
    let pairs = of_evens.rows().zip(of_odds.rows()).flat_map(|(even, odd)| [even, odd]);
    Some(Batch::from_rows(modulus.limbs(), pairs.take(numbers.len())))
}

/// The inverse of one public residue.
fn inverse(modulus: &Modulus, number: &[u64]) -> Option<Batch> {
    let m: Odd<_> = Option::from(Odd::new(boxed(modulus.as_limbs())))?;
    let inverse: crypto_bigint::BoxedUint = Option::from(boxed(number).invert_odd_mod_vartime(&m))?;
    Some(Batch::repeat(&resized(inverse.as_words(), modulus.limbs()), 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;

    #[test]
    fn batches_of_any_length_are_inverted() {
        let modulus = Modulus::new(Engine::best(), &[1001]).unwrap();
        for len in 0..20 {
            let numbers: Vec<u64> = (1..1001).filter(|x| x % 7 != 0 && x % 11 != 0 && x % 13 != 0).take(len).collect();
            let numbers = Batch::from_rows(1, numbers.chunks(1));
            let products = modulus.mul(&numbers, &inverses(&modulus, &numbers).unwrap());
            assert_eq!(products.as_limbs(), vec![1; len]);
        }
        assert_eq!(inverses(&modulus, &Batch::from_rows(1, [&[5][..], &[14], &[3]])), None);
        assert_eq!(inverses(&modulus, &Batch::zeros(1, 1)), None);
    }
}
