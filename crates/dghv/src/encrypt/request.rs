//! Encryptions computed outside this crate, and the verification of their results.

use super::{Drawn, noise_shift};
use crate::number::{Residues, is_below};
use crate::{Error, PublicKey, Scheme, random};
use hearith_arith::natural::{Secret, add_assign, add_multiple};
use rayon::prelude::*;
use std::fmt;
use zeroize::Zeroizing;

/// The encryptions of a batch of messages by a key, with all their randomness:
/// `m + 2 R + 2 sum of B_i A_i` modulo `A_0`, or in CMNT `m + 2 R + 2 sum of B_ij A_i0 A_j1`.
///
/// Coefficients and noise are secret because they reveal the messages.
pub struct EncryptionRequest<'a> {
    pub(super) key: &'a PublicKey,
    pub(super) drawn: &'a Drawn,
}

/// A ciphertext's value as computed: the remainder of a sum divided by the modulus, with the
/// quotient. The quotient is as secret as the coefficients.
#[derive(Clone)]
pub struct Reduced {
    /// The remainder, in as many limbs as the modulus.
    pub value: Secret,
    /// The quotient.
    pub quotient: Secret,
}

impl EncryptionRequest<'_> {
    /// The key.
    pub fn key(&self) -> &PublicKey {
        self.key
    }

    /// The number of messages.
    pub fn messages(&self) -> usize {
        self.drawn.noise.len()
    }

    /// Number of limbs of a coefficient.
    pub fn coefficient_limbs(&self) -> usize {
        self.key.parameters().lengths().coefficient.div_ceil(64) as usize
    }

    /// The coefficients of a message, limb by limb, one after another. In CMNT they come row by
    /// row: `j` varies fastest in `B_ij`.
    pub fn coefficients(&self, message: usize) -> impl Iterator<Item = u64> {
        let each = self.key.coefficients_each();
        self.drawn.coefficients[each * message..][..each].iter().flat_map(|row| row.iter().flatten().copied())
    }

    /// The noise of a message, including the message: `m + 2 R` plus [`EncryptionRequest::shift`],
    /// which keeps it non-negative.
    pub fn noise(&self, message: usize) -> &[u64] {
        &self.drawn.noise[message]
    }

    /// The offset included in the noise of every message, in as many limbs as the noise.
    pub fn shift(&self) -> Vec<u64> {
        noise_shift(self.key.parameters().lengths().encryption_noise)
    }

    /// Computes the values on this CPU.
    ///
    /// # Errors
    /// [`ErrorKind::Ntt`](crate::ErrorKind::Ntt) for lengths that the engine's transforms do not
    /// support.
    pub fn compute(&self) -> Result<Vec<Secret>, Error> {
        self.key.encrypt_drawn(self.drawn)
    }

    /// Verifies the results.
    ///
    /// Each value must be below the modulus. Modulo a freshly drawn 64-bit prime, value and
    /// quotient must reproduce the sum, or the sum plus the modulus. Few 64-bit primes divide a
    /// given difference, so wrong values pass with a probability below `2^-44` for toy keys and
    /// below `2^-36` for large ones. The running time depends only on lengths.
    ///
    /// # Errors
    /// [`ErrorKind::Random`](crate::ErrorKind::Random).
    pub fn check(&self, answers: &[Reduced]) -> Result<bool, Error> {
        let key = self.key;
        let quotient_limbs = answers.first().map_or(0, |answer| answer.quotient.len());
        let fits = |answer: &Reduced| {
            is_below(&answer.value, key.modulus()) && answer.quotient.len() == quotient_limbs && quotient_limbs > 0
        };
        if answers.len() != self.messages() || !answers.iter().all(fits) {
            return Ok(false);
        }
        let prime = random::prime(64);
        let modulo = Modulo::new(&prime, self, quotient_limbs);
        let modulus = modulo.number(key.modulus());
        let elements = modulo.elements(key);
        let shift = modulo.noise.reduce(&self.shift())[0];
        let each = key.coefficients_each();
        let rows = self.drawn.coefficients.chunks(each).zip(&self.drawn.noise).zip(answers);
        Ok(rows.fold(true, |all, ((coefficients, noise), answer)| {
            let row = |elements: &[u64], row: &super::Coefficients| {
                let of_coefficients = row.iter().map(|coefficient| modulo.coefficient.reduce(coefficient)[0]);
                modulo.products(elements.iter().copied().zip(of_coefficients))
            };
            let sum = match key.parameters().scheme() {
                Scheme::Cnt => row(&elements, &coefficients[0]),
                Scheme::Cmnt => {
                    let (outer, inner) = elements.split_at(each);
                    modulo.products(outer.iter().copied().zip(coefficients.iter().map(|each| row(inner, each))))
                }
            };
            let mut expected = Zeroizing::new(vec![modulo.noise.reduce(noise)[0], 0, 0]);
            add_multiple(&mut expected, &[sum], 2);
            add_assign(&mut expected, &[prime[0] - shift]);
            let mut found = Zeroizing::new(vec![modulo.number(&answer.value), 0, 0]);
            add_multiple(&mut found, &[modulo.quotient.reduce(&answer.quotient)[0]], modulus);
            let found = modulo.few.reduce(&found);
            // A negative sum was lifted by one modulus.
            let is_expected = modulo.few.reduce(&expected) == found;
            add_assign(&mut expected, &[modulus]);
            let is_lifted = modulo.few.reduce(&expected) == found;
            all & (is_expected | is_lifted)
        }))
    }
}

/// Residues modulo the prime of a check, for each length of number that occurs.
struct Modulo<'a> {
    prime: &'a [u64],
    long: Residues,
    correction: Residues,
    coefficient: Residues,
    noise: Residues,
    quotient: Residues,
    few: Residues,
}

impl<'a> Modulo<'a> {
    fn new(prime: &'a [u64], request: &EncryptionRequest<'_>, quotient_limbs: usize) -> Self {
        let parameters = request.key.parameters();
        let of = |limbs: usize| Residues::new(prime, limbs);
        Modulo {
            prime,
            long: of(parameters.limbs()),
            correction: of(parameters.correction_limbs()),
            coefficient: of(request.coefficient_limbs()),
            noise: of(request.shift().len()),
            quotient: of(quotient_limbs),
            few: of(3),
        }
    }

    /// The residue of a number as long as the modulus.
    fn number(&self, number: &[u64]) -> u64 {
        self.long.reduce(number)[0]
    }

    /// The residues of the key's elements.
    fn elements(&self, key: &PublicKey) -> Vec<u64> {
        let element = |index: usize| {
            let mut element = vec![self.number(&key.elements().number(index)), 0, 0];
            add_assign(&mut element, &[self.prime[0] - self.correction.reduce(key.correction(index))[0]]);
            self.few.reduce(&element)[0]
        };
        (0..key.parameters().key_elements()).into_par_iter().map(element).collect()
    }

    /// The residue of a sum of products of residues.
    fn products(&self, pairs: impl Iterator<Item = (u64, u64)>) -> u64 {
        let mut sum = Zeroizing::new(vec![0; 3]);
        pairs.for_each(|(a, b)| _ = add_multiple(&mut sum, &[a], b));
        self.few.reduce(&sum)[0]
    }
}

impl fmt::Debug for EncryptionRequest<'_> {
    /// Omits coefficients and noise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncryptionRequest({:?}, {} messages)", self.key, self.messages())
    }
}

impl fmt::Debug for Reduced {
    /// Omits the quotient's value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reduced({} and {} limbs)", self.value.len(), self.quotient.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InsecureHistoricalParameters, KeyPair, Lengths, Parameters};
    use hearith_arith::Engine;
    use rug::{Integer, integer::Order};

    fn key(scheme: Scheme, elements: u32, coefficient: u32) -> KeyPair {
        let lengths = Lengths {
            security: 8,
            key_noise: 4,
            secret: 640,
            modulus: 1500,
            elements,
            coefficient,
            encryption_noise: 100,
        };
        let parameters = Parameters::custom(scheme, lengths).unwrap();
        KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters).unwrap()
    }

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn digits(number: &Integer, limbs: usize) -> Secret {
        let mut digits = number.to_digits::<u64>(Order::Lsf);
        digits.resize(limbs, 0);
        Zeroizing::new(digits)
    }

    /// The expected results, computed with GMP from the definition: the sum, plus the modulus if it
    /// is negative, divided by the modulus.
    fn reduced(request: &EncryptionRequest<'_>) -> Vec<Reduced> {
        let key = request.key();
        let a_0 = integer(key.modulus());
        let elements: Vec<Integer> = (0..key.parameters().key_elements()).map(|at| integer(&key.element(at))).collect();
        let of_message = |message: usize| {
            let limbs: Vec<u64> = request.coefficients(message).collect();
            let coefficients: Vec<Integer> = limbs.chunks(request.coefficient_limbs()).map(integer).collect();
            let each = key.parameters().lengths().elements as usize;
            let sum: Integer = match key.parameters().scheme() {
                Scheme::Cnt => coefficients.iter().zip(&elements).map(|(b, a)| Integer::from(b * a)).sum(),
                Scheme::Cmnt => coefficients
                    .iter()
                    .enumerate()
                    .map(|(at, b)| Integer::from(b * &elements[at / each]) * &elements[each + at % each])
                    .sum(),
            };
            let mut sum = sum * 2u32 + integer(request.noise(message)) - integer(&request.shift());
            if sum < 0 {
                sum += &a_0;
            }
            let (quotient, value) = sum.div_rem(a_0.clone());
            Reduced { value: digits(&value, key.modulus().len()), quotient: digits(&quotient, 40) }
        };
        (0..request.messages()).map(of_message).collect()
    }

    /// The CPU's results match the definition and pass the check. The check rejects a wrong bit in
    /// a value or quotient, a missing value, a value that is not below the modulus, and a value or
    /// quotient that is a limb short.
    #[test]
    fn wrong_numbers_do_not_pass() {
        for (scheme, elements, coefficient) in
            [(Scheme::Cnt, 5, 100), (Scheme::Cmnt, 3, 100), (Scheme::Cnt, 1, 1), (Scheme::Cmnt, 1, 1)]
        {
            let key = key(scheme, elements, coefficient).public;
            let bits = [true, false, true, true, false, true, false, false];
            let encrypted = key.encrypt_with(&bits, &mut |request| {
                let right = reduced(request);
                assert_eq!(
                    request.compute()?,
                    right.iter().map(|answer| answer.value.clone()).collect::<Vec<_>>(),
                    "{scheme} {coefficient}"
                );
                assert!(request.check(&right)?);
                for bit in (0..1500).step_by(37) {
                    let mut wrong = right.clone();
                    wrong[1].value[bit / 64] ^= 1 << (bit % 64);
                    assert!(!request.check(&wrong)?, "bit {bit}");
                    // A difference of 1 in the quotient looks like a negative sum.
                    let mut wrong = right.clone();
                    wrong[2].quotient[bit / 64] ^= 2 << (bit % 63);
                    assert!(!request.check(&wrong)?, "bit {bit} of the quotient");
                }
                assert!(!request.check(&right[..7])?);
                let mut short = right.clone();
                short[3].value.truncate(23);
                assert!(!request.check(&short)?);
                let mut without = right.clone();
                without[3].quotient.truncate(39);
                assert!(!request.check(&without)?);
                // The sum is the same, but the number is not below the modulus.
                let mut large = right.clone();
                let more = integer(&large[0].value) + integer(key.modulus());
                if integer(&large[0].quotient) > 0 && more.significant_bits() <= 24 * 64 {
                    large[0].value = digits(&more, 24);
                    large[0].quotient = digits(&(integer(&large[0].quotient) - 1u32), 40);
                    assert!(!request.check(&large)?);
                }
                Ok::<_, Error>(right.into_iter().map(|answer| answer.value).collect())
            });
            assert_eq!(encrypted.unwrap().len(), bits.len());
        }
    }

    /// A device that returns too few values, or one that is not below the modulus, is rejected even
    /// without a check.
    #[test]
    fn what_is_no_ciphertext_is_refused() {
        let key = key(Scheme::Cnt, 5, 100).public;
        let modulus = Zeroizing::new(key.modulus().to_vec());
        for wrong in [vec![modulus], Vec::new(), vec![Zeroizing::new(vec![1; 23])]] {
            let refused = key.encrypt_with(&[true], &mut |_| Ok::<_, Error>(wrong.clone())).unwrap_err();
            assert_eq!(*refused.kind(), crate::ErrorKind::OutOfRange);
        }
    }

    #[test]
    fn a_request_shows_nothing_secret() {
        let key = key(Scheme::Cnt, 5, 100).public;
        let encrypted = key.encrypt_with(&[true], &mut |request| {
            assert_eq!(format!("{request:?}"), format!("EncryptionRequest({key:?}, 1 messages)"));
            assert_eq!(format!("{:?}", reduced(request)), "[Reduced(24 and 40 limbs)]");
            request.compute()
        });
        assert_eq!(encrypted.unwrap().len(), 1);
    }
}
