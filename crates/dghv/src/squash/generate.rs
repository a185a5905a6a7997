//! Generation of recryption keys: the secret subset, and the set that hides it.

use super::stream::Stream;
use super::{RecryptionKey, SUBSET};
use crate::elements::SEED_BYTES;
use crate::key::correction;
use crate::number::Residues;
use crate::{Error, ErrorKind, InsecureHistoricalParameters, PrivateKey, PublicKey, random};
use hearith_arith::natural::{Secret, clear_bits_from, inverse_word, mac_row, sub_assign};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use zeroize::Zeroizing;

impl RecryptionKey {
    /// Generates a recryption key.
    ///
    /// The time spent on the private key and the subset depends only on lengths.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`](crate::ErrorKind::KeysDiffer) if the keys are not a pair,
    /// [`ErrorKind::Random`](crate::ErrorKind::Random), and
    /// [`ErrorKind::MalformedKey`](crate::ErrorKind::MalformedKey) if the parameters do not allow
    /// recryption.
    pub fn generate(
        private: &PrivateKey,
        public: &PublicKey,
        known: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        Self::generate_with_progress(private, public, known, &|_, _| ())
    }

    /// Generates a recryption key and reports, after every element, the number of elements done and
    /// their total.
    ///
    /// # Errors
    /// As [`RecryptionKey::generate`].
    pub fn generate_with_progress(
        private: &PrivateKey,
        public: &PublicKey,
        known: InsecureHistoricalParameters,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Self, Error> {
        private.check(public)?;
        let parameters = public.parameters();
        if parameters.lengths().key_noise == 0 {
            return Err(ErrorKind::MalformedKey { what: "elements without noise have no parity" }.into());
        }
        let size = Self::set_size(parameters);
        let mut seed = [0; SEED_BYTES];
        getrandom::fill(&mut seed)?;
        let stream = Stream::new(&seed);
        let subset = subset(size / SUBSET)?;
        let first = first(&stream, private.expose_prime(), &subset, Self::fraction_limbs(parameters), size / SUBSET);
        let residues = Residues::new(private.expose_prime(), parameters.limbs());
        let done = AtomicUsize::new(0);
        let element = |index: usize| -> Result<Vec<u64>, Error> {
            let mut number = vec![0; parameters.limbs()];
            stream.number(size + index, &mut number);
            clear_bits_from(&mut number, parameters.lengths().modulus);
            let chosen = u64::from(subset[index / (size / SUBSET)] == index as u64 % (size / SUBSET) as u64);
            let correction = correction(parameters, &residues.reduce(&number), private.expose_prime(), Some(chosen))?;
            progress(done.fetch_add(1, Ordering::Relaxed) as u64 + 1, size as u64);
            Ok(correction)
        };
        let corrections: Result<Vec<Vec<u64>>, Error> = (0..size).into_par_iter().map(element).collect();
        Self::from_parts(public, seed, first, corrections?.concat(), known)
    }
}

/// The position of the chosen element in each block. In the first block it is the public first
/// element, whose fraction completes the sum \[CNT12\].
pub(crate) fn subset(block: usize) -> Result<Secret, Error> {
    let mut positions = Zeroizing::new(vec![0; SUBSET]);
    // The draw has 64 bits more than the block's size, so the remainder is uniform up to 2^-64.
    for position in positions.iter_mut().skip(1) {
        let drawn = random::bits(2, 128)?;
        *position = ((u128::from(drawn[1]) << 64 | u128::from(drawn[0])) % block as u128) as u64;
    }
    Ok(positions)
}

/// `floor(2^kappa / p)` minus the other chosen fractions, modulo `2^(kappa + 1)`.
pub(crate) fn first(stream: &Stream, prime: &[u64], subset: &[u64], limbs: usize, block: usize) -> Vec<u64> {
    let mut first = reciprocal(prime, limbs);
    let mut fraction = Zeroizing::new(vec![0; limbs]);
    for (number, &position) in subset.iter().enumerate().skip(1) {
        stream.number(number * block + position as usize, &mut fraction);
        fraction.reverse();
        sub_assign(&mut first, &fraction);
    }
    first.to_vec()
}

/// `floor(2^(64 limbs - 1) / p)` for an odd `p`: exact division of `2^kappa - r`, with `r` the
/// residue of `2^kappa`, from the low end \[Jebelean93\].
fn reciprocal(prime: &[u64], limbs: usize) -> Secret {
    let mut power = vec![0; limbs];
    power[limbs - 1] = 1 << 63;
    let mut window = Residues::new(prime, limbs).reduce(&power);
    let inverse = inverse_word(prime[0]).wrapping_neg();
    let mut quotient = Zeroizing::new(vec![0; limbs]);
    for digit in quotient.iter_mut() {
        *digit = window[0].wrapping_mul(inverse);
        // window + digit p < 2^64 p, and its low limb is zero.
        let top = mac_row(&mut window, prime, *digit);
        window.copy_within(1.., 0);
        *window.last_mut().expect("a prime has limbs") = top;
    }
    // -r / p modulo 2^(64 limbs) exceeds the quotient by 2^kappa.
    clear_bits_from(&mut quotient, 64 * limbs as u32 - 1);
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::{Integer, integer::Order};

    #[test]
    fn reciprocals_are_those_of_gmp() {
        let mut state = rug::rand::RandState::new();
        for (bits, limbs) in [(64_u32, 3_usize), (300, 32), (1088, 100), (130, 40)] {
            let mut prime = Integer::from(Integer::random_bits(bits, &mut state));
            prime.set_bit(bits - 1, true);
            prime.set_bit(0, true);
            let expected = (Integer::from(1) << (64 * limbs as u32 - 1)) / &prime;
            let found = reciprocal(&prime.to_digits(Order::Lsf), limbs);
            assert_eq!(Integer::from_digits(&found, Order::Lsf), expected, "{bits} bits");
        }
    }

    #[test]
    fn subsets_have_one_of_each_block() {
        let subset = subset(10).unwrap();
        assert_eq!((subset.len(), subset[0]), (SUBSET, 0));
        assert!(subset.iter().all(|&position| position < 10));
    }
}
