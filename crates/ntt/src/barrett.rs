//! Barrett's reduction of super-size numbers.

use crate::reciprocal::{add, compare, reciprocal, subtract, trimmed};
use crate::ring::check_buffer_count;
use crate::{NttError, Ring, Transformed};
use hearith_arith::Engine;
use hearith_arith::natural::divide_word;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::fmt;

/// Barrett's reduction \[Barrett86\] modulo a number of any length, with precomputed transforms of
/// the modulus and its reciprocal.
///
/// The modulus `A` has `phi` bits, and the input `x` at most `phi + gamma`. Both are cut at limbs
/// of `d = 64` bits, with the parameters of the design for encryption over the integers that this
/// project follows \[CMOOH13\], corrected:
///
/// ```text
/// beta  = d floor(phi / d) - phi, less d if that is above -3          alpha = d (floor((gamma - beta) / d) + 1) + beta
/// mu    = floor(2^(phi + alpha) / A)
/// q     = floor(floor(x / 2^(phi + beta)) mu / 2^(alpha - beta))      r = x - q A, less A if it is not below
/// ```
///
/// # Bounds
/// `phi + beta` and `alpha - beta` are multiples of `d`, so both divisions only drop limbs. Let
/// `X = x / 2^(phi + beta) - s` and `mu = 2^(phi + alpha) / A - t` with `0 <= s, t < 1`. Then
///
/// ```text
/// X mu / 2^(alpha - beta) = x / A - s 2^(phi + beta) / A - t X / 2^(alpha - beta)
/// ```
///
/// The top bit of `A` is set, so `A >= 2^(phi - 1)`. With `beta <= -3` the second term is below
/// `2^(beta + 1) <= 1/4`. The third term is below `2^(gamma - beta) / 2^(alpha - beta) = 2^(gamma -
/// alpha) <= 1/2`, since `alpha > gamma`. So `q` is `floor(x / A)` or one less, `0 <= r < 2 A`, and
/// one subtraction is enough. As `r` is below `2^(phi + 1)`, the product `q A` is computed modulo
/// `2^N - 1` with the least `N` above that. This needs a transform of the modulus' length instead
/// of `x`'s.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_ntt::Barrett;
/// let modulus = [5, 0, 7]; // 7 * 2^128 + 5
/// let barrett = Barrett::new(Engine::best(), &modulus, 200)?;
/// let mut rest = [0; 3];
/// barrett.reduce(&[11, 0, 0, 7], &mut rest)?; // 2^64 A + 11 - 5 * 2^64
/// assert_eq!(rest, [16, u64::MAX - 4, 6]);
/// # Ok::<(), hearith_ntt::NttError>(())
/// ```
pub struct Barrett {
    modulus: Vec<u64>,
    bits: usize,
    excess: usize,
    long: Option<Long>,
}

/// Values for reduction modulo more than one limb.
struct Long {
    /// Number of limbs dropped from `x`: `(phi + beta) / d`.
    below: usize,
    /// Number of limbs of the rest of `x`, of the reciprocal and of the quotient:
    /// `(alpha - beta) / d`.
    size: usize,
    quotients: Ring,
    reciprocal: Transformed,
    multiples: Ring,
    modulus: Transformed,
}

impl Barrett {
    /// Prepares for numbers with up to `excess_bits` bits more than the modulus.
    ///
    /// # Errors
    /// [`NttError::ZeroModulus`], and as [`Ring::new`].
    pub fn new(engine: Engine, modulus: &[u64], excess_bits: usize) -> Result<Self, NttError> {
        engine.available()?;
        let modulus = trimmed(modulus).to_vec();
        let Some(&top) = modulus.last() else { return Err(NttError::ZeroModulus) };
        let bits = 64 * modulus.len() - top.leading_zeros() as usize;
        let long = if modulus.len() > 1 { Some(Long::new(engine, &modulus, bits, excess_bits)?) } else { None };
        Ok(Barrett { modulus, bits, excess: excess_bits, long })
    }

    /// The modulus, without leading zero limbs.
    pub fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// Largest number of bits of an input.
    pub fn most_bits(&self) -> usize {
        self.bits.saturating_add(self.excess)
    }

    /// `x` modulo the modulus. The buffer must have as many limbs as the modulus.
    ///
    /// # Errors
    /// [`NttError::TooLarge`], [`NttError::Place`].
    pub fn reduce(&self, x: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        let (limbs, needed) = (out.len(), self.modulus.len());
        if limbs != needed {
            return Err(NttError::Place { limbs, needed });
        }
        let x = trimmed(x);
        let bits = x.last().map_or(0, |top| 64 * x.len() - top.leading_zeros() as usize);
        if bits > self.most_bits() {
            return Err(NttError::TooLarge { bits, most: self.most_bits() });
        }
        match &self.long {
            _ if compare(x, &self.modulus) == Ordering::Less => {
                out[..x.len()].copy_from_slice(x);
                out[x.len()..].fill(0);
                Ok(())
            }
            Some(long) => long.reduce(x, &self.modulus, out),
            None => {
                out[0] = divide_word(x, self.modulus[0]).1;
                Ok(())
            }
        }
    }

    /// Reduces each number like [`Barrett::reduce`].
    ///
    /// # Errors
    /// As [`Barrett::reduce`], and [`NttError::Places`]. In this case buffers of other numbers may
    /// have been written.
    pub fn reduce_each(&self, numbers: &[&[u64]], out: &mut [&mut [u64]]) -> Result<(), NttError> {
        check_buffer_count(numbers.len(), out.len())?;
        numbers.par_iter().zip(out).try_for_each(|(x, out)| self.reduce(x, out))
    }
}

impl Long {
    fn new(engine: Engine, modulus: &[u64], bits: usize, excess: usize) -> Result<Self, NttError> {
        // There are at least 65 bits; -beta is between 3 and 66, and at most phi.
        let minus_beta = match bits % 64 {
            rest @ 0..=2 => rest + 64,
            rest => rest,
        };
        let size = (excess.checked_add(minus_beta).ok_or(NttError::Size { limbs: usize::MAX, terms: 1 })?) / 64 + 1;
        let below = (bits - minus_beta) / 64;
        let mu = reciprocal(engine, modulus, below + size)?;
        let quotients = Ring::new(engine, 2 * size)?;
        let multiples = Ring::new(engine, (modulus.len() + 1).max(size))?;
        let (reciprocal, modulus) = (quotients.transform(&mu)?, multiples.transform(modulus)?);
        Ok(Long { below, size, quotients, reciprocal, multiples, modulus })
    }

    fn reduce(&self, x: &[u64], modulus: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        let mut quotient = vec![0; self.size];
        let upper = x.get(self.below..).unwrap_or(&[]);
        self.quotients.product_with(upper, &self.reciprocal, self.size, &mut quotient)?;
        let mut multiple = self.multiples.take_buffer();
        self.multiples.product_with(&quotient, &self.modulus, 0, &mut multiple)?;
        let mut rest = self.multiples.take_buffer();
        fold(x, &mut rest);
        if subtract(&mut rest, &multiple) {
            subtract(&mut rest, &[1]);
        }
        // All ones are zero modulo 2^N - 1.
        if rest.iter().all(|&limb| limb == u64::MAX) {
            rest.fill(0);
        }
        if compare(trimmed(&rest), modulus) != Ordering::Less {
            subtract(&mut rest, modulus);
        }
        out.copy_from_slice(&rest[..out.len()]);
        self.multiples.return_buffer(multiple);
        self.multiples.return_buffer(rest);
        Ok(())
    }
}

/// `x` modulo `2^N - 1`. All ones may represent zero.
fn fold(x: &[u64], out: &mut [u64]) {
    out.fill(0);
    for piece in x.chunks(out.len()) {
        if add(out, piece) {
            // Then the sum was below 2^N - 1, so adding the carry gives no further one.
            add(out, &[1]);
        }
    }
}

impl fmt::Debug for Barrett {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Barrett({} bits, up to {} more)", self.bits, self.excess)
    }
}
