//! Encryption: equations 1 and 2 of \[CMOOH13\], after \[CMNT11\] and \[CNT12\].

use crate::number::lift;
use crate::reduction::Reduction;
use crate::sums::{Coefficients, SumRequest};
use crate::{Ciphertext, Error, Parameters, PublicKey, Scheme, random};
use hearith_arith::natural::{Secret, add_assign, add_multiple, reduce_once, resized, sub_assign};
use hearith_ntt::{Barrett, NttError, Ring, Transformed};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Computes sums, and does what it is given besides, which may be done at the same time.
type Summing<'a, E> = &'a mut dyn for<'r> FnMut(&SumRequest<'r>, &mut (dyn FnMut() + Send)) -> Result<Vec<Secret>, E>;

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
        self.encrypt_by(bits, &mut |request, corrections: &mut (dyn FnMut() + Send)| {
            rayon::join(|| request.compute(self.engine()), corrections).0
        })
    }

    /// The same with the sums of multiples of the key's elements from elsewhere: an accelerator, which may be checked
    /// ([`SumRequest::check`]). All else is done here.
    ///
    /// # Errors
    /// As [`PublicKey::encrypt`], and whatever befalls the sums.
    pub fn encrypt_with<E: From<Error>>(
        &self,
        bits: &[bool],
        sums: &mut dyn FnMut(&SumRequest<'_>) -> Result<Vec<Secret>, E>,
    ) -> Result<Vec<Ciphertext>, E> {
        self.encrypt_by(bits, &mut |request, corrections: &mut (dyn FnMut() + Send)| {
            corrections();
            sums(request)
        })
    }

    /// Encrypts with sums from a function, which also does what it is given besides.
    fn encrypt_by<E: From<Error>>(&self, bits: &[bool], sums: Summing<'_, E>) -> Result<Vec<Ciphertext>, E> {
        let noise = self.parameters().fresh_noise();
        let mut ciphertexts = Vec::with_capacity(bits.len());
        for bits in bits.chunks(TOGETHER) {
            let values = match self.prepared()? {
                Prepared::Cnt(reduction) => self.linear(reduction, bits, sums)?,
                Prepared::Cmnt(quadratic) => {
                    bits.iter().map(|&bit| self.quadratic(quadratic, bit, sums)).collect::<Result<_, _>>()?
                }
            };
            for value in values {
                ciphertexts.push(Ciphertext::checked(self.id(), self.parameters(), value.to_vec(), noise)?);
            }
        }
        Ok(ciphertexts)
    }

    /// `m + 2 R + 2 sum of B_i A_i` modulo `A_0`.
    fn linear<E: From<Error>>(
        &self,
        reduction: &Reduction,
        bits: &[bool],
        sums: Summing<'_, E>,
    ) -> Result<Vec<Secret>, E> {
        let lengths = self.parameters().lengths();
        let draw = |_| Coefficients::random(lengths.elements as usize, lengths.coefficient);
        let coefficients: Vec<Coefficients> = (0..bits.len()).map(draw).collect::<Result<_, _>>()?;
        let mut corrections: Vec<Secret> = Vec::new();
        let sums = sums(&self.request(0, &coefficients), &mut || {
            corrections = coefficients.par_iter().map(|coefficients| self.corrections_sum(0, coefficients)).collect();
        })?;
        let rows = sums.par_iter().zip(&corrections).zip(bits);
        let values: Result<_, Error> = rows
            .map(|((sum, correction), &bit)| {
                let mut value = reduction.reduce(sum);
                self.subtract(&mut value, correction);
                self.double(&mut value);
                self.add_noise(&mut value, bit, lengths.encryption_noise)?;
                Ok(value)
            })
            .collect();
        Ok(values?)
    }

    /// `m + 2 R + 2 sum of B_ij A_i0 A_j1` modulo `A_0`.
    fn quadratic<E: From<Error>>(&self, prepared: &Quadratic, bit: bool, sums: Summing<'_, E>) -> Result<Secret, E> {
        let Quadratic { ring, elements, .. } = prepared;
        let lengths = self.parameters().lengths();
        let draw = |_| Coefficients::random(elements.len(), lengths.coefficient);
        let coefficients: Vec<Coefficients> = (0..elements.len()).map(draw).collect::<Result<_, _>>()?;
        let mut inner = sums(&self.request(elements.len(), &coefficients), &mut || ())?;
        let mut sum = Zeroizing::new(vec![0; ring.limbs()]);
        self.outer_sum(prepared, &mut inner, &coefficients, &mut sum).map_err(Error::from)?;
        let mut value = Zeroizing::new(vec![0; self.parameters().limbs()]);
        prepared.barrett.reduce(&sum, &mut value).map_err(Error::from)?;
        self.double(&mut value);
        self.add_noise(&mut value, bit, lengths.encryption_noise)?;
        Ok(value)
    }

    /// The sum of the products of `A_i0` and the inner sums, less the corrections of these.
    fn outer_sum(
        &self,
        prepared: &Quadratic,
        inner: &mut [Secret],
        coefficients: &[Coefficients],
        sum: &mut [u64],
    ) -> Result<(), NttError> {
        let Quadratic { ring, elements, .. } = prepared;
        let (mut total, mut transform) = (ring.sum(), ring.transform(&[])?);
        for ((inner, coefficients), element) in inner.iter_mut().zip(coefficients).zip(elements) {
            // An inner sum below zero has a probability of 2^-(gamma - eta - lambda).
            sub_assign(inner, &self.corrections_sum(elements.len(), coefficients));
            ring.transform_into(inner, &mut transform)?;
            ring.add_product(&mut total, &transform, element)?;
        }
        ring.number(total, sum)
    }

    /// What is asked for: sums of multiples of the elements from one on.
    fn request<'a>(&'a self, first: usize, coefficients: &'a [Coefficients]) -> SumRequest<'a> {
        let limbs = self.sum_limbs(self.parameters().limbs());
        SumRequest { elements: self.elements(), first, coefficients, limbs }
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
