//! Encryption: equations 1 and 2 of \[CMOOH13\], after \[CMNT11\] and \[CNT12\].

mod request;

pub use request::{EncryptionRequest, Reduced};

use crate::number::add_modulus_if_borrowed;
use crate::reduction::Reduction;
use crate::sums::{Coefficients, sums};
use crate::{Ciphertext, Error, ErrorKind, Parameters, PublicKey, Scheme, random};
use hearith_arith::natural::{Secret, add_assign, add_multiple, reduce_once, resized, sub_assign};
use hearith_ntt::{Barrett, NttError, Ring, Transformed};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Number of messages encrypted together.
const BATCH: usize = 32;

/// Values that encryption needs besides the key, prepared on first use.
pub(crate) enum Prepared {
    Cnt(Reduction),
    Cmnt(Box<Quadratic>),
}

/// The transforms of the quadratic scheme's elements `A_{i,0}`, and the reduction for sums of
/// products.
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

/// The number of bits by which a sum of multiples of elements exceeds an element or, in the
/// quadratic scheme, a product of two elements.
fn excess(parameters: &Parameters) -> usize {
    let lengths = parameters.lengths();
    let terms = lengths.elements.ilog2() + 1;
    (lengths.coefficient + if parameters.scheme() == Scheme::Cmnt { 2 * terms } else { terms }) as usize
}

impl Parameters {
    /// The largest number of bits by which `m + 2 R + 2 sum of B_i A_i` exceeds the modulus. In
    /// CMNT the sum has products `A_i0 A_j1` in place of `A_i`.
    pub fn encryption_excess(&self) -> u32 {
        let products = if self.scheme() == Scheme::Cmnt { self.lengths().modulus } else { 0 };
        products + excess(self) as u32 + 1
    }
}

/// The random values used to encrypt a batch of messages.
pub(crate) struct Drawn {
    /// One per message in CNT. In CMNT one per message and element `A_i0`, whose entries belong to
    /// the elements `A_j1`.
    coefficients: Vec<Coefficients>,
    /// `m + 2 R + 2^(length + 1)` of each message.
    noise: Vec<Secret>,
}

impl PublicKey {
    /// Encrypts a batch of bits, spread over the cores.
    ///
    /// The running time depends only on lengths, except for products and reductions of super-size
    /// numbers in CMNT. These are not constant time and leave their buffers unwiped.
    ///
    /// # Errors
    /// [`ErrorKind::Random`](crate::ErrorKind::Random).
    pub fn encrypt(&self, bits: &[bool]) -> Result<Vec<Ciphertext>, Error> {
        self.encrypt_with(bits, &mut |request| request.compute())
    }

    /// Encrypts like [`PublicKey::encrypt`], but leaves everything except the randomness to
    /// `compute`, for example to an accelerator.
    ///
    /// [`EncryptionRequest::check`] can verify its results.
    ///
    /// # Errors
    /// [`ErrorKind::Random`](crate::ErrorKind::Random),
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `compute` returns a wrong number
    /// of values or one that is not below the modulus, and the errors of `compute`.
    pub fn encrypt_with<E: From<Error>>(
        &self,
        bits: &[bool],
        compute: &mut dyn FnMut(&EncryptionRequest<'_>) -> Result<Vec<Secret>, E>,
    ) -> Result<Vec<Ciphertext>, E> {
        let noise = self.parameters().fresh_noise();
        let mut ciphertexts = Vec::with_capacity(bits.len());
        for bits in bits.chunks(BATCH) {
            let drawn = self.draw(bits)?;
            let values = compute(&EncryptionRequest { key: self, drawn: &drawn })?;
            if values.len() != bits.len() {
                return Err(Error::from(ErrorKind::OutOfRange).into());
            }
            for value in values {
                let ciphertext = Ciphertext::checked(self.id(), self.parameters(), value.to_vec(), noise)?;
                self.check(&ciphertext)?;
                ciphertexts.push(ciphertext);
            }
        }
        Ok(ciphertexts)
    }

    /// Draws the random values for encrypting these bits.
    fn draw(&self, bits: &[bool]) -> Result<Drawn, Error> {
        let lengths = self.parameters().lengths();
        let each = self.coefficients_each();
        let draw = |_| Coefficients::random(lengths.elements as usize, lengths.coefficient);
        let coefficients = (0..each * bits.len()).map(draw).collect::<Result<_, _>>()?;
        let noise = bits.iter().map(|&bit| draw_noise(bit, lengths.encryption_noise)).collect::<Result<_, _>>()?;
        Ok(Drawn { coefficients, noise })
    }

    /// Number of coefficient rows per message.
    fn coefficients_each(&self) -> usize {
        if self.parameters().scheme() == Scheme::Cmnt { self.parameters().lengths().elements as usize } else { 1 }
    }

    /// Computes the ciphertexts' values from the drawn randomness.
    fn encrypt_drawn(&self, drawn: &Drawn) -> Result<Vec<Secret>, Error> {
        match self.prepared()? {
            Prepared::Cnt(reduction) => self.linear(reduction, drawn),
            Prepared::Cmnt(quadratic) => {
                let messages = drawn.coefficients.chunks(quadratic.elements.len()).zip(&drawn.noise);
                messages.map(|(coefficients, noise)| self.quadratic(quadratic, coefficients, noise)).collect()
            }
        }
    }

    /// `m + 2 R + 2 sum of B_i A_i` modulo `A_0`.
    fn linear(&self, reduction: &Reduction, drawn: &Drawn) -> Result<Vec<Secret>, Error> {
        let engine = self.engine().available()?;
        let limbs = self.sum_limbs(self.parameters().limbs());
        let coefficients = &drawn.coefficients;
        let (sums, corrections): (_, Vec<Secret>) = rayon::join(
            || sums(engine, self.elements(), 0, coefficients, limbs),
            || coefficients.par_iter().map(|coefficients| self.corrections_sum(0, coefficients)).collect(),
        );
        let rows = sums.par_iter().zip(&corrections).zip(&drawn.noise);
        Ok(rows
            .map(|((sum, correction), noise)| {
                let mut value = reduction.reduce(sum);
                self.subtract(&mut value, correction);
                self.double(&mut value);
                self.add_drawn(&mut value, noise, self.parameters().lengths().encryption_noise);
                value
            })
            .collect())
    }

    /// `m + 2 R + 2 sum of B_ij A_i0 A_j1` modulo `A_0`.
    fn quadratic(&self, prepared: &Quadratic, coefficients: &[Coefficients], noise: &[u64]) -> Result<Secret, Error> {
        let Quadratic { ring, elements, .. } = prepared;
        let limbs = self.sum_limbs(self.parameters().limbs());
        let mut inner = sums(self.engine().available()?, self.elements(), elements.len(), coefficients, limbs);
        let mut sum = Zeroizing::new(vec![0; ring.limbs()]);
        self.outer_sum(prepared, &mut inner, coefficients, &mut sum)?;
        let mut value = Zeroizing::new(vec![0; self.parameters().limbs()]);
        prepared.barrett.reduce(&sum, &mut value)?;
        self.double(&mut value);
        self.add_drawn(&mut value, noise, self.parameters().lengths().encryption_noise);
        Ok(value)
    }

    /// The sum of the products of `A_i0` and the inner sums, after subtracting the inner sums'
    /// corrections.
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
            // The probability that an inner sum is negative is 2^-(gamma - eta - lambda).
            sub_assign(inner, &self.corrections_sum(elements.len(), coefficients));
            ring.transform_into(inner, &mut transform)?;
            ring.add_product(&mut total, &transform, element)?;
        }
        ring.number(total, sum)
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

    /// Limbs of a sum of multiples of numbers with `limbs` limbs.
    fn sum_limbs(&self, limbs: usize) -> usize {
        limbs + excess(self.parameters()).div_ceil(64) + 1
    }

    /// Adds `m + 2 R`, with `R` uniform in `[-2^length, 2^length)`.
    pub(crate) fn add_noise(&self, value: &mut Secret, bit: bool, length: u32) -> Result<(), Error> {
        self.add_drawn(value, &draw_noise(bit, length)?, length);
        Ok(())
    }

    /// Adds the output of [`draw_noise`].
    fn add_drawn(&self, value: &mut Secret, noise: &[u64], length: u32) {
        let noise = resized(noise, value.len());
        let carry = add_assign(value, &noise);
        reduce_once(value, carry, self.modulus());
        self.subtract(value, &noise_shift(length));
    }

    /// Doubles modulo `A_0`.
    pub(crate) fn double(&self, value: &mut Secret) {
        let carry = double(value);
        reduce_once(value, carry, self.modulus());
    }

    /// Subtracts a number below `A_0` modulo `A_0`.
    pub(crate) fn subtract(&self, value: &mut Secret, less: &[u64]) {
        let borrow = sub_assign(value, less);
        add_modulus_if_borrowed(value, borrow, self.modulus());
    }
}

/// `m + 2 R + 2^(length + 1)`, with `R` uniform in `[-2^length, 2^length)`.
fn draw_noise(bit: bool, length: u32) -> Result<Secret, Error> {
    let mut noise = random::bits((length as usize + 3).div_ceil(64), length + 1)?;
    double(&mut noise);
    noise[0] |= u64::from(bit);
    Ok(noise)
}

/// The offset `2^(length + 1)` that keeps this noise non-negative, in the same number of limbs.
fn noise_shift(length: u32) -> Vec<u64> {
    let mut shift = vec![0; (length as usize + 3).div_ceil(64)];
    shift[(length as usize + 1) / 64] = 1 << ((length + 1) % 64);
    shift
}

/// Doubles in place and returns the carry bit.
fn double(number: &mut [u64]) -> u64 {
    number.iter_mut().fold(0, |carry, limb| {
        let out = *limb >> 63;
        *limb = *limb << 1 | carry;
        out
    })
}
