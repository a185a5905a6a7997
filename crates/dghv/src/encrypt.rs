//! Encryption: equations 1 and 2 of \[CMOOH13\], after \[CMNT11\] and \[CNT12\].

use crate::number::lift;
use crate::reduction::Reduction;
use crate::sums::{Coefficients, sums};
use crate::{Ciphertext, Error, Parameters, PublicKey, Scheme, random};
use hearith_arith::natural::{Secret, add_assign, add_multiple, reduce_once, resized, sub_assign};
use hearith_ntt::{Barrett, NttError, Ring, Transformed};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Messages of a batch that are encrypted together.
const TOGETHER: usize = 32;

/// What encryption needs besides the key, prepared by the first that asks.
pub(crate) enum Prepared {
    Cnt(Reduction),
    Cmnt(Box<Quadratic>),
}

/// The quadratic scheme's elements `A_{i,0}` transformed, and the reduction of sums of products.
pub(crate) struct Quadratic {
    ring: Ring,
    elements: Vec<Transformed>,
    barrett: Barrett,
}

impl Prepared {
    pub(crate) fn new(key: &PublicKey) -> Result<Self, Error> {
        let (parameters, engine, modulus) = (key.parameters(), key.engine(), key.modulus());
        let (bits, excess) = (parameters.lengths().modulus as usize, excess(parameters));
        if parameters.scheme() == Scheme::Cnt {
            return Ok(Prepared::Cnt(Reduction::new(engine, modulus, bits, excess)?));
        }
        let elements = parameters.lengths().elements as usize;
        let ring = Ring::with_terms(engine, (2 * bits + excess).div_ceil(64) + 2, elements)?;
        let transforms: Result<_, NttError> = (0..elements).map(|index| ring.transform(&key.element(index))).collect();
        let barrett = Barrett::new(engine, modulus, bits + excess)?;
        Ok(Prepared::Cmnt(Box::new(Quadratic { ring, elements: transforms?, barrett })))
    }
}

/// Bits that a sum of multiples of elements has more than an element or, in the quadratic scheme, than a product of two.
fn excess(parameters: &Parameters) -> usize {
    let lengths = parameters.lengths();
    let terms = lengths.elements.ilog2() + 1;
    (lengths.coefficient + if parameters.scheme() == Scheme::Cmnt { 2 * terms } else { terms }) as usize
}

impl PublicKey {
    /// Encrypts bits, a batch over the cores.
    ///
    /// The time depends on lengths only, except for products and reductions of super-size numbers in CMNT, which are not
    /// constant time and leave their rooms unwiped.
    ///
    /// # Errors
    /// [`ErrorKind::Random`](crate::ErrorKind::Random).
    pub fn encrypt(&self, bits: &[bool]) -> Result<Vec<Ciphertext>, Error> {
        let noise = self.parameters().fresh_noise();
        let mut ciphertexts = Vec::with_capacity(bits.len());
        for bits in bits.chunks(TOGETHER) {
            let values = match self.prepared()? {
                Prepared::Cnt(reduction) => self.linear(reduction, bits)?,
                Prepared::Cmnt(quadratic) => {
                    bits.iter().map(|&bit| self.quadratic(quadratic, bit)).collect::<Result<_, _>>()?
                }
            };
            for value in values {
                ciphertexts.push(Ciphertext::checked(self.id(), self.parameters(), value.to_vec(), noise)?);
            }
        }
        Ok(ciphertexts)
    }

    /// `m + 2 R + 2 sum of B_i A_i` modulo `A_0`.
    fn linear(&self, reduction: &Reduction, bits: &[bool]) -> Result<Vec<Secret>, Error> {
        let (lengths, limbs) = (self.parameters().lengths(), self.sum_limbs(self.parameters().limbs()));
        let draw = |_| Coefficients::random(lengths.elements as usize, lengths.coefficient);
        let coefficients: Vec<Coefficients> = (0..bits.len()).map(draw).collect::<Result<_, _>>()?;
        let engine = self.engine().available()?;
        let (sums, corrections) = rayon::join(
            || sums(engine, self.elements(), 0, &coefficients, limbs),
            || coefficients.par_iter().map(|coefficients| self.corrections_sum(0, coefficients)).collect::<Vec<_>>(),
        );
        let rows = sums.par_iter().zip(&corrections).zip(bits);
        rows.map(|((sum, correction), &bit)| {
            let mut value = reduction.reduce(sum);
            self.subtract(&mut value, correction);
            self.double(&mut value);
            self.add_noise(&mut value, bit, lengths.encryption_noise)?;
            Ok(value)
        })
        .collect()
    }

    /// `m + 2 R + 2 sum of B_ij A_i0 A_j1` modulo `A_0`.
    fn quadratic(&self, prepared: &Quadratic, bit: bool) -> Result<Secret, Error> {
        let Quadratic { ring, elements, barrett } = prepared;
        let (lengths, limbs) = (self.parameters().lengths(), self.sum_limbs(self.parameters().limbs()));
        let draw = |_| Coefficients::random(elements.len(), lengths.coefficient);
        let coefficients: Vec<Coefficients> = (0..elements.len()).map(draw).collect::<Result<_, _>>()?;
        let mut inner = sums(self.engine().available()?, self.elements(), elements.len(), &coefficients, limbs);
        let (mut total, mut transform) = (ring.sum(), ring.transform(&[])?);
        for ((inner, coefficients), element) in inner.iter_mut().zip(&coefficients).zip(elements) {
            // An inner sum below zero has a probability of 2^-(gamma - eta - lambda).
            sub_assign(inner, &self.corrections_sum(elements.len(), coefficients));
            ring.transform_into(inner, &mut transform)?;
            ring.add_product(&mut total, &transform, element)?;
        }
        let mut sum = Zeroizing::new(vec![0; ring.limbs()]);
        ring.number(total, &mut sum)?;
        let mut value = Zeroizing::new(vec![0; self.parameters().limbs()]);
        barrett.reduce(&sum, &mut value)?;
        self.double(&mut value);
        self.add_noise(&mut value, bit, lengths.encryption_noise)?;
        Ok(value)
    }

    /// `sum of b_i delta_(first + i)`.
    fn corrections_sum(&self, first: usize, coefficients: &Coefficients) -> Secret {
        let mut sum = Zeroizing::new(vec![0; self.sum_limbs(self.parameters().correction_limbs())]);
        for (index, coefficient) in coefficients.iter().enumerate() {
            for (limb, &digit) in coefficient.iter().enumerate() {
                add_multiple(&mut sum[limb..], self.correction(first + index), digit);
            }
        }
        sum
    }

    /// Limbs of a sum of multiples of numbers of so many limbs.
    fn sum_limbs(&self, limbs: usize) -> usize {
        limbs + excess(self.parameters()).div_ceil(64) + 1
    }

    /// Adds `m + 2 R`, with `R` uniform in `[-2^length, 2^length)`.
    pub(crate) fn add_noise(&self, value: &mut Secret, bit: bool, length: u32) -> Result<(), Error> {
        let limbs = (length as usize + 3).div_ceil(64);
        let mut noise = random::bits(limbs, length + 1)?;
        double(&mut noise);
        noise[0] |= u64::from(bit);
        let mut shift = vec![0; limbs];
        shift[(length as usize + 1) / 64] = 1 << ((length + 1) % 64);
        let noise = resized(&noise, value.len());
        let carry = add_assign(value, &noise);
        reduce_once(value, carry, self.modulus());
        self.subtract(value, &shift);
        Ok(())
    }

    /// Doubles modulo `A_0`.
    pub(crate) fn double(&self, value: &mut Secret) {
        let carry = double(value);
        reduce_once(value, carry, self.modulus());
    }

    /// Subtracts a number below `A_0` modulo `A_0`.
    pub(crate) fn subtract(&self, value: &mut Secret, less: &[u64]) {
        let borrow = sub_assign(value, less);
        lift(value, borrow, self.modulus());
    }
}

/// Doubles in place; returns the bit carried out.
fn double(number: &mut [u64]) -> u64 {
    number.iter_mut().fold(0, |carry, limb| {
        let out = *limb >> 63;
        *limb = *limb << 1 | carry;
        out
    })
}
