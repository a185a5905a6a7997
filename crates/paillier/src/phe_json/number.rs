//! python-paillier's encoding of numbers: a mantissa, as a residue modulo `n`, times a power of 16.

use crate::ciphertexts::{check_key, check_lengths};
use crate::encoding::Signed;
use crate::{Error, ErrorKind, Plaintexts, PublicKey};
use hearith_arith::natural::{self, bits_at};

/// Bits per digit in base 16.
const BASE_BITS: i64 = 4;
/// Bits of a float's significand, and the exponents that bound floats: each is below `2^(MOST + 1)`
/// and a multiple of `2^LEAST`.
const SIGNIFICAND_BITS: i64 = f64::MANTISSA_DIGITS as i64;
const LEAST: i64 = -1074;
const MOST: i64 = 1023;
/// Maximum length of a number in bits, which is that of a key.
const WIDEST: i64 = 8192;

/// A number in python-paillier's encoding (its class `EncodedNumber`): `mantissa * 16^exponent`.
/// The exponent is public and stored next to the ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    mantissa: Signed,
    exponent: i32,
}

impl Number {
    /// Creates the number with this mantissa and exponent.
    pub fn new(mantissa: Signed, exponent: i32) -> Self {
        Number { mantissa, exponent }
    }

    /// Encodes a float exactly, with python-paillier's choice of exponent: the largest for which
    /// the lowest of the significand's 53 bits is an integer.
    ///
    /// ```
    /// use hearith_paillier::encoding::Signed;
    /// use hearith_paillier::phe_json::Number;
    /// let number = Number::from_f64(0.5)?;
    /// assert_eq!((number.mantissa(), number.exponent()), (&Signed::from(1 << 55), -14));
    /// # Ok::<(), hearith_paillier::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`NotFinite`](crate::ErrorKind::NotFinite).
    pub fn from_f64(value: f64) -> Result<Self, Error> {
        if !value.is_finite() {
            return Err(ErrorKind::NotFinite.into());
        }
        let (significand, lowest) = significand(value.abs());
        let exponent = lowest.div_euclid(BASE_BITS);
        let magnitude = i128::from(significand) << lowest.rem_euclid(BASE_BITS);
        let mantissa = Signed::from(if value < 0.0 { -magnitude } else { magnitude });
        Ok(Number { mantissa, exponent: exponent as i32 })
    }

    /// The mantissa.
    pub fn mantissa(&self) -> &Signed {
        &self.mantissa
    }

    /// The exponent of 16.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The same number with a lower exponent and a correspondingly larger mantissa. Encrypted
    /// numbers can only be added with equal exponents.
    ///
    /// # Errors
    /// [`Exponent`](crate::ErrorKind::Exponent) if the exponent would be higher, or so low that no
    /// key can hold the number.
    pub fn with_exponent(&self, exponent: i32) -> Result<Self, Error> {
        let shift = BASE_BITS * (i64::from(self.exponent) - i64::from(exponent));
        let bits = i64::from(natural::bit_length(self.mantissa.magnitude()));
        if !(0..=WIDEST).contains(&shift) || bits + shift > WIDEST {
            return Err(ErrorKind::Exponent { from: self.exponent, to: exponent }.into());
        }
        let mut power = vec![0; shift as usize / 64 + 1];
        power[shift as usize / 64] = 1 << (shift % 64);
        let magnitude = natural::product(self.mantissa.magnitude(), &power);
        Ok(Number { mantissa: Signed::new(self.mantissa.is_negative(), magnitude), exponent })
    }

    /// The nearest float, rounding ties to even.
    ///
    /// # Errors
    /// [`OutOfRange`](crate::ErrorKind::OutOfRange) if the number is beyond the range of floats.
    pub fn to_f64(&self) -> Result<f64, Error> {
        let magnitude = self.mantissa.magnitude();
        let (bits, unit) = (i64::from(natural::bit_length(magnitude)), BASE_BITS * i64::from(self.exponent));
        if bits == 0 {
            return Ok(0.0);
        }
        if bits - 1 + unit > MOST {
            return Err(ErrorKind::OutOfRange.into());
        }
        // The significand is the number in units of 2^lowest, rounded.
        let lowest = (bits + unit - SIGNIFICAND_BITS).max(LEAST);
        let significand = rounded(magnitude, bits, lowest - unit);
        let value = scaled(significand, lowest);
        if value.is_infinite() {
            return Err(ErrorKind::OutOfRange.into());
        }
        Ok(if self.mantissa.is_negative() { -value } else { value })
    }
}

impl From<i128> for Number {
    /// Encodes an integer with exponent 0, like python-paillier.
    fn from(value: i128) -> Self {
        Number { mantissa: value.into(), exponent: 0 }
    }
}

/// Splits a non-negative float into an integer whose highest bit is the 53rd (0 for 0) and
/// `lowest`, so that the float is the integer times `2^lowest`. For 0, `lowest` is that of a float
/// between one half and one, following C's `frexp`.
fn significand(value: f64) -> (u64, i64) {
    if value == 0.0 {
        return (0, -SIGNIFICAND_BITS);
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let (whole, lowest) = if exponent == 0 { (fraction, LEAST) } else { (fraction | 1 << 52, exponent + LEAST - 1) };
    let missing = i64::from(whole.leading_zeros()) - (64 - SIGNIFICAND_BITS);
    (whole << missing, lowest - missing)
}

/// `magnitude / 2^shift`, rounded to the nearest integer with ties to even. The quotient has at
/// most 53 bits before rounding.
fn rounded(magnitude: &[u64], bits: i64, shift: i64) -> u64 {
    let bit_range = |from: i64, width: i64| bits_at(magnitude, from as usize, width as u32);
    if shift <= 0 {
        return bit_range(0, bits) << -shift;
    }
    if shift > bits {
        return 0;
    }
    let kept = bit_range(shift, (bits - shift).max(0));
    let half = bit_range(shift - 1, 1);
    let below = (0..shift - 1).any(|at| bit_range(at, 1) == 1);
    kept + (half & (u64::from(below) | kept & 1))
}

/// `significand * 2^exponent`, exact if a float can hold it; infinity if it is too large.
fn scaled(significand: u64, exponent: i64) -> f64 {
    // Two steps, each by a power of two that is a normal float. The second step does not round.
    let first = exponent.clamp(-1000, 900);
    significand as f64 * 2f64.powi(first as i32) * 2f64.powi((exponent - first) as i32)
}

/// Encodes numbers as plaintexts and returns their exponents. python-paillier limits the magnitude
/// of mantissas to `n/3`, so a result in the middle third indicates an overflow.
///
/// # Errors
/// [`OutOfRange`](crate::ErrorKind::OutOfRange) for the first number whose mantissa is larger.
pub fn encode(key: &PublicKey, numbers: &[Number]) -> Result<(Plaintexts, Vec<i32>), Error> {
    let mantissas: Vec<&Signed> = numbers.iter().map(Number::mantissa).collect();
    let plaintexts = crate::encoding::encode_wide(key, &mantissas, &largest_mantissa(key))?;
    Ok((plaintexts, numbers.iter().map(Number::exponent).collect()))
}

/// Decodes plaintexts as numbers with the given exponents; `None` for plaintexts that have
/// overflowed.
///
/// # Errors
/// [`WrongKey`](crate::ErrorKind::WrongKey), or [`Lengths`](crate::ErrorKind::Lengths) unless there
/// is one exponent per plaintext.
pub fn decode(key: &PublicKey, plaintexts: &Plaintexts, exponents: &[i32]) -> Result<Vec<Option<Number>>, Error> {
    check_key(key.id(), plaintexts.key_id())?;
    check_lengths(plaintexts.len(), exponents.len())?;
    let most = largest_mantissa(key);
    let number = |(mantissa, &exponent): (Signed, &i32)| {
        let inside = natural::less(&most, mantissa.magnitude()) == 0;
        inside.then_some(Number { mantissa, exponent })
    };
    let mantissas = crate::encoding::decode_signed(key, plaintexts)?;
    Ok(mantissas.into_iter().zip(exponents).map(number).collect())
}

/// `floor(n / 3) - 1`, with the limbs of `n`.
fn largest_mantissa(key: &PublicKey) -> Vec<u64> {
    let (mut most, _) = natural::divide_word(key.modulus(), 3);
    natural::sub_assign(&mut most, &[1]);
    most
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, Rational, integer::Order};

    fn rational(number: &Number) -> Rational {
        let magnitude = Integer::from_digits(number.mantissa.magnitude(), Order::Lsf);
        let mantissa = if number.mantissa.is_negative() { -magnitude } else { magnitude };
        Rational::from(mantissa) * (Rational::from(1) << (4 * number.exponent))
    }

    proptest! {
        #[test]
        fn floats_survive_exactly(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let number = Number::from_f64(value).unwrap();
            prop_assert_eq!(rational(&number), Rational::from_f64(value).unwrap());
            prop_assert_eq!(number.to_f64(), Ok(value));
        }

        #[test]
        fn lower_exponents_keep_the_number(value: i128, exponent in -40i32..40, lower in 0i32..100) {
            let number = Number::new(value.into(), exponent);
            let lowered = number.with_exponent(exponent - lower).unwrap();
            prop_assert_eq!(lowered.exponent(), exponent - lower);
            prop_assert_eq!(rational(&lowered), rational(&number));
        }

        #[test]
        fn rounding_is_to_the_nearest_float(
            limbs in proptest::collection::vec(any::<u64>(), 1..6), negative: bool, exponent in -300i32..300,
        ) {
            let number = Number::new(Signed::new(negative, limbs), exponent);
            // GMP's own conversion truncates, so compare with the neighbouring floats.
            let exact = rational(&number);
            match number.to_f64() {
                Ok(found) => {
                    let distance = |float: f64| (Rational::from_f64(float).unwrap() - &exact).abs();
                    for neighbour in [found.next_up(), found.next_down()].into_iter().filter(|float| float.is_finite()) {
                        let (ours, theirs) = (distance(found), distance(neighbour));
                        prop_assert!(ours < theirs || (ours == theirs && found.to_bits() & 1 == 0));
                    }
                }
                Err(_) => prop_assert!(exact.abs() > Rational::from_f64(f64::MAX).unwrap()),
            }
        }
    }

    #[test]
    fn extreme_floats_survive() {
        let halves = [f64::MIN_POSITIVE, f64::MIN_POSITIVE.next_down(), 5e-324, f64::MAX, 1.0, 0.1, 0.0];
        for value in halves.into_iter().flat_map(|value| [value, -value]) {
            assert_eq!(Number::from_f64(value).unwrap().to_f64(), Ok(value));
        }
        assert_eq!(Number::from_f64(0.0).unwrap(), Number::new(0.into(), -14));
        assert_eq!(Number::from_f64(f64::NAN), Err(ErrorKind::NotFinite.into()));
        assert_eq!(Number::from_f64(f64::INFINITY), Err(ErrorKind::NotFinite.into()));
    }

    #[test]
    fn numbers_beyond_floats_are_told() {
        let number = |mantissa: i128, exponent| Number::new(mantissa.into(), exponent).to_f64();
        assert_eq!(number(1, 256), Err(ErrorKind::OutOfRange.into()));
        // Rounds up to 2^1026.
        assert_eq!(number((1 << 54) - 1, 243), Err(ErrorKind::OutOfRange.into()));
        assert_eq!(number((1 << 53) - 1, 242), Ok(((1u64 << 53) - 1) as f64 * 2f64.powi(968)));
        assert_eq!(number(1, i32::MAX), Err(ErrorKind::OutOfRange.into()));
        assert_eq!(number(i128::MAX, i32::MIN), Ok(0.0));
        assert_eq!(number(0, i32::MAX), Ok(0.0));
        // Half of the smallest float rounds to even, more than half rounds up.
        assert_eq!((number(2, -269), number(3, -269)), (Ok(0.0), Ok(5e-324)));
    }

    #[test]
    fn exponents_only_fall_within_reason() {
        let number = Number::from(1);
        assert_eq!(number.with_exponent(1), Err(ErrorKind::Exponent { from: 0, to: 1 }.into()));
        assert_eq!(number.with_exponent(i32::MIN), Err(ErrorKind::Exponent { from: 0, to: i32::MIN }.into()));
        assert_eq!(number.with_exponent(0), Ok(number.clone()));
    }
}
