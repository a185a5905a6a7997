//! Switching keys and the switch itself.
//!
//! A fraction has `K` bits before the point, with `K` above `eta'`. The key contains numbers `y_i`
//! in `[0, 2^K)`. A secret subset of them, with one in each block as in recryption, sums to
//! `2^(K - 1) / p` modulo `2^K`. The key also contains elements
//!
//! ```text
//! sigma_ij = p' q_ij + r_ij + floor(s_i 2^(16 j) p' / 2^K)
//! ```
//!
//! where `s_i` is 1 if `y_i` is in the subset, and 0 otherwise. For `c = p q + r` the integer parts
//! `z_i` of `c y_i` modulo `2^K` are divided into digits `z_ij` of 16 bits, and
//!
//! ```text
//! c' = 2 (sum of z_ij sigma_ij) + (c mod 2)  mod A_0'
//! ```
//!
//! # Correctness
//! Modulo `2^K`, `sum of s_i z_i` is `c 2^(K - 1) / p = 2^(K - 1) (q + r / p)` minus an error `e`.
//! Multiplied by `p' / 2^K` it is `(q mod 2) p' / 2 + r p' / (2 p)` plus a multiple of `p'`. So
//! `c'` is an odd multiple of `p'` if `q` is odd, otherwise an even one, plus a noise `r'` of about
//! `r p' / p`. As `p'` and `p` are odd, `r' = c' - q = c - q = r` modulo 2, which is the same bit.
//!
//! # Bounds
//! The noise covers the floor in `sigma_ij`: `|r_ij| < 2^rho` is an integer, and adding the
//! rounding error does not lengthen it. The fractions have `64 (limbs + 1)` bits after the point,
//! so `c` times their error is below `2^-64`. The columns of the product that are not computed
//! contribute less than `2^-40`, and each floor costs less than 1. Hence `0 <= e < 15.01`, which
//! times `p' / 2^K < 1/2` is less than 8. In total
//!
//! ```text
//! |r'| < |r| p' / p + 2 (N (2^16 - 1) 2^rho + 8) + 1 <= |r| p' / p + N 2^(rho + 17)        for N = Theta K / 16 elements
//! ```

use super::shape::{self, DIGIT};
use crate::elements::{Elements, SEED_BYTES};
use crate::number::bits_of;
use crate::reduction::Reduction;
use crate::squash::Stream;
use crate::sums::{Coefficients, sums};
use crate::{Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, KeyId, Parameters, PublicKey, RecryptionKey};
use hearith_arith::natural::{Secret, add_assign, add_multiple, mac_row, reduce_once};
use rayon::prelude::*;
use std::fmt;
use zeroize::Zeroizing;

/// Number of ciphertexts switched together.
const GROUP: usize = 16;

/// Converts ciphertexts of one key to ciphertexts of a key with a shorter secret. It is public and
/// contains the first private key encrypted under the second.
///
/// It is compressed to a seed, the first fraction `y_i` and the elements' corrections. The seed
/// regenerates the other fractions and the random parts of the elements `sigma_ij`.
pub struct SwitchingKey {
    from: KeyId,
    to: KeyId,
    parameters: Parameters,
    stream: Stream,
    elements: Elements,
    first: Vec<u64>,
    corrections: Vec<u64>,
    reduction: Reduction,
}

impl SwitchingKey {
    /// Assembles a switching key from its parts: [`Self::fraction_limbs`] limbs of the first `y_i`,
    /// and [`Self::elements`] corrections of [`Parameters::correction_limbs`] limbs each, one after
    /// another.
    ///
    /// All lengths are those of the lower key's parameters.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`], [`ErrorKind::LadderTooLarge`].
    pub fn from_parts(
        from: &PublicKey,
        to: &PublicKey,
        seed: [u8; SEED_BYTES],
        first: Vec<u64>,
        corrections: Vec<u64>,
        _: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        let parameters = to.parameters().clone();
        let refuse = |what| Err(ErrorKind::MalformedKey { what }.into());
        shape::check_size(from.parameters())?;
        if shape::next_level(from.parameters()).as_ref() != Some(&parameters) {
            return refuse("a rung's parameters do not follow from those of the rung above");
        }
        if first.len() != Self::fraction_limbs(&parameters) {
            return refuse("the switching key's fraction does not have the length that the parameters state");
        }
        if corrections.len() != Self::elements(&parameters) * parameters.correction_limbs() {
            return refuse("the number of the switching key's corrections differs from the parameters");
        }
        let most = u64::from(parameters.lengths().secret + parameters.lengths().security) + 1;
        if corrections.chunks(parameters.correction_limbs()).any(|correction| bits_of(correction) > most) {
            return refuse("a correction of the switching key is too long");
        }
        let bits = parameters.lengths().modulus;
        let reduction = Reduction::new(to.engine(), to.modulus(), bits as usize, excess(&parameters))?;
        let (stream, elements) = (Stream::new(&seed), Elements::new(&seed, bits));
        Ok(SwitchingKey { from: from.id(), to: to.id(), parameters, stream, elements, first, corrections, reduction })
    }

    /// The key of the input ciphertexts.
    pub fn from(&self) -> KeyId {
        self.from
    }

    /// The key of the output ciphertexts.
    pub fn to(&self) -> KeyId {
        self.to
    }

    /// The seed of the fractions and elements.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.stream.seed()
    }

    /// The first fraction in limbs, least significant first.
    pub fn first(&self) -> &[u64] {
        &self.first
    }

    /// The corrections, one after another.
    pub fn corrections(&self) -> &[u64] {
        &self.corrections
    }

    /// Switches a batch of ciphertexts to the other key, spread over the cores. Public constants
    /// stay without noise.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`] for other public keys than this key's. With the row:
    /// [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`], and [`ErrorKind::NoiseExhausted`] if the
    /// noise would be too large.
    pub fn switch(
        &self,
        from: &PublicKey,
        to: &PublicKey,
        ciphertexts: &[&Ciphertext],
    ) -> Result<Vec<Ciphertext>, Error> {
        if (from.id(), to.id()) != (self.from, self.to) {
            return Err(ErrorKind::KeysDiffer.into());
        }
        let mut switched = Vec::with_capacity(ciphertexts.len());
        for group in ciphertexts.chunks(GROUP) {
            let at_row = |row: usize| move |error: Error| error.at_row(row);
            let first = switched.len();
            let mut noise = Vec::with_capacity(group.len());
            for (row, ciphertext) in group.iter().enumerate() {
                from.check(ciphertext).map_err(at_row(first + row))?;
                let bits = shape::noise(from.parameters(), &self.parameters, ciphertext.noise());
                crate::ciphertext::check_noise(bits, &self.parameters).map_err(at_row(first + row))?;
                noise.push(bits);
            }
            let values = self.values(to, group)?;
            for ((ciphertext, value), noise) in group.iter().zip(values).zip(noise) {
                switched.push(match constant(ciphertext) {
                    Some(bit) => to.constants(&[bit]).remove(0),
                    None => Ciphertext::checked(self.to, &self.parameters, value.to_vec(), noise)?,
                });
            }
        }
        Ok(switched)
    }

    fn values(&self, to: &PublicKey, group: &[&Ciphertext]) -> Result<Vec<Secret>, Error> {
        let coefficients = self.digits_of(group);
        let set = RecryptionKey::set_size(&self.parameters);
        let limbs = self.parameters.limbs() + excess(&self.parameters).div_ceil(64) + 1;
        let sums = sums(to.engine().available()?, &self.elements, set, &coefficients, limbs);
        let rows = sums.par_iter().zip(&coefficients).zip(group);
        let rows = rows.map(|((sum, coefficients), ciphertext)| {
            let mut value = self.reduction.reduce(sum);
            to.subtract(&mut value, &self.corrections_sum(coefficients));
            to.double(&mut value);
            let carry = add_assign(&mut value, &[ciphertext.value()[0] & 1]);
            reduce_once(&mut value, carry, to.modulus());
            value
        });
        Ok(rows.collect())
    }

    /// The digits `z_ij` of each ciphertext.
    fn digits_of(&self, group: &[&Ciphertext]) -> Vec<Coefficients> {
        let set = RecryptionKey::set_size(&self.parameters);
        let whole = Self::whole_limbs(&self.parameters);
        let products = (0..set).into_par_iter().map(|index| {
            let fraction = self.fraction(index);
            group.iter().map(|c| whole_part(c.value(), &fraction, whole)).collect::<Vec<_>>()
        });
        let products: Vec<Vec<Vec<u64>>> = products.collect();
        let digits = |limb: u64| (0..64 / DIGIT).map(move |position| limb >> (DIGIT * position) & ((1 << DIGIT) - 1));
        let row = |row: usize| products.iter().flat_map(move |products| &products[row]).flat_map(|&limb| digits(limb));
        (0..group.len()).map(|at| Coefficients::of_words(row(at).collect(), DIGIT)).collect()
    }

    /// `y_i` in limbs, least significant first.
    fn fraction(&self, index: usize) -> Vec<u64> {
        if index == 0 {
            return self.first.clone();
        }
        let mut fraction = vec![0; self.first.len()];
        self.stream.number(index, &mut fraction);
        fraction.reverse();
        fraction
    }

    fn corrections_sum(&self, digits: &Coefficients) -> Secret {
        let limbs = self.parameters.correction_limbs();
        let mut sum = Zeroizing::new(vec![0; limbs + 2]);
        for (digit, correction) in digits.iter().zip(self.corrections.chunks(limbs)) {
            add_multiple(&mut sum, correction, digit[0]);
        }
        sum
    }
}

/// The limbs before the point of a ciphertext's product with a fraction, modulo a power of 2.
/// Computes only the columns kept, and two columns below the point for their carries.
fn whole_part(c: &[u64], fraction: &[u64], whole: usize) -> Vec<u64> {
    let kept = whole + 2;
    let mut columns = vec![0; kept];
    for (position, &limb) in c.iter().enumerate() {
        mac_row(&mut columns, &fraction[c.len() - 1 - position..][..kept], limb);
    }
    columns.split_off(2)
}

/// The number of bits by which a sum of multiples of elements exceeds an element.
fn excess(to: &Parameters) -> usize {
    (DIGIT + SwitchingKey::elements(to).ilog2() + 1) as usize
}

/// The bit of a public constant, a ciphertext without noise. `None` for other ciphertexts.
fn constant(ciphertext: &Ciphertext) -> Option<bool> {
    let (low, high) = ciphertext.value().split_first()?;
    (ciphertext.noise() == 0.0 && *low <= 1 && high.iter().all(|&limb| limb == 0)).then_some(*low == 1)
}

impl fmt::Debug for SwitchingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SwitchingKey({} to {}, {} elements)", self.from, self.to, Self::elements(&self.parameters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::{Integer, integer::Order, rand::RandState};

    #[test]
    fn whole_parts_are_those_of_gmp() {
        let mut state = RandState::new();
        for (limbs, whole) in [(1_usize, 1_usize), (5, 2), (40, 7), (33, 16)] {
            for round in 0..20 {
                let mut number = |limbs: usize| -> Vec<u64> {
                    if round == 0 {
                        return vec![u64::MAX; limbs];
                    }
                    let drawn = Integer::from(Integer::random_bits(64 * limbs as u32, &mut state));
                    let mut digits = drawn.to_digits::<u64>(Order::Lsf);
                    digits.resize(limbs, 0);
                    digits
                };
                let (c, y) = (number(limbs), number(limbs + 1 + whole));
                let integer = |digits: &[u64]| Integer::from_digits(digits, Order::Lsf);
                let exact = (integer(&c) * integer(&y)) >> (64 * (limbs as u32 + 1));
                let off = (exact - integer(&whole_part(&c, &y, whole))).keep_bits(64 * whole as u32);
                assert!(off <= 1, "{limbs} and {whole} limbs: off by {off}");
            }
        }
    }
}
