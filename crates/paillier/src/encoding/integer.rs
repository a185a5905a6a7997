//! Signed integers: the residue of a negative number `-x` is `n - x`.

use crate::ciphertexts::check_key;
use crate::{Error, ErrorKind, Plaintexts, PublicKey};
use hearith_arith::Batch;
use hearith_arith::natural::{self, difference, has_bits_from, to_decimal};
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An integer of any size. Wiped when dropped; `Debug` shows only its length.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Signed {
    negative: bool,
    magnitude: Vec<u64>,
}

impl Signed {
    /// Creates the integer with this sign and this magnitude, least significant limb first. Zero
    /// has no sign. The integer takes over the vector and wipes it when dropped.
    pub fn new(negative: bool, magnitude: Vec<u64>) -> Self {
        let zero = natural::is_zero(&magnitude) == 1;
        Signed { negative: negative && !zero, magnitude }
    }

    /// Whether the integer is negative.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether the integer is zero.
    pub fn is_zero(&self) -> bool {
        natural::is_zero(&self.magnitude) == 1
    }

    /// The magnitude in 64-bit limbs, least significant first. The highest limb may be zero.
    pub fn magnitude(&self) -> &[u64] {
        &self.magnitude
    }

    /// Whether the magnitude exceeds `range * additions`, the bound for a sum of `additions`
    /// numbers of magnitude up to `range`.
    ///
    /// ```
    /// use hearith_paillier::encoding::Signed;
    /// assert!(!Signed::from(-600).exceeds(200, 3));
    /// assert!(Signed::from(-601).exceeds(200, 3));
    /// ```
    pub fn exceeds(&self, range: u128, additions: u64) -> bool {
        let bound = natural::product(&[range as u64, (range >> 64) as u64], &[additions]);
        let (low, high) = self.magnitude.split_at(self.magnitude.len().min(bound.len()));
        let (bound, above) = bound.split_at(low.len());
        natural::is_zero(high) == 0 || (natural::is_zero(above) & natural::less(bound, low)) == 1
    }

    /// Formats the number in units of `10^-scale` as a decimal with exactly `scale` places. The
    /// caller must wipe the text.
    ///
    /// ```
    /// use hearith_paillier::encoding::Signed;
    /// assert_eq!(Signed::from(-5).to_decimal_string(2), "-0.05");
    /// assert_eq!(Signed::from(1250).to_decimal_string(0), "1250");
    /// ```
    pub fn to_decimal_string(&self, scale: u32) -> String {
        with_point(self.negative, &Zeroizing::new(to_decimal(&self.magnitude)), scale)
    }

    /// The number as `i128`, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        if has_bits_from(&self.magnitude, 128) {
            return None;
        }
        let limb = |index: usize| u128::from(self.magnitude.get(index).copied().unwrap_or(0));
        let magnitude = limb(1) << 64 | limb(0);
        if self.negative { 0i128.checked_sub_unsigned(magnitude) } else { magnitude.try_into().ok() }
    }
}

/// Inserts the sign and the decimal point. The text has its full capacity from the start, because
/// growing would leave copies behind.
pub(super) fn with_point(negative: bool, digits: &str, scale: u32) -> String {
    let scale = scale as usize;
    let padding = (scale + 1).saturating_sub(digits.len());
    let (whole, places) = digits.split_at(digits.len().saturating_sub(scale));
    let mut text = String::with_capacity(digits.len() + padding + 2);
    text.extend(negative.then_some('-'));
    let zeros_before = usize::from(padding > 0);
    text.extend(std::iter::repeat_n('0', zeros_before));
    text.push_str(whole);
    if scale > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', padding - zeros_before));
        text.push_str(places);
    }
    text
}

impl From<i128> for Signed {
    fn from(value: i128) -> Self {
        let magnitude = value.unsigned_abs();
        Signed::new(value < 0, vec![magnitude as u64, (magnitude >> 64) as u64])
    }
}

impl TryFrom<&Signed> for i128 {
    type Error = Error;

    fn try_from(value: &Signed) -> Result<i128, Error> {
        Ok(value.to_i128().ok_or(ErrorKind::OutOfRange)?)
    }
}

impl PartialEq for Signed {
    fn eq(&self, other: &Self) -> bool {
        let limb = |number: &Signed, index: usize| number.magnitude.get(index).copied().unwrap_or(0);
        let width = self.magnitude.len().max(other.magnitude.len());
        self.negative == other.negative && (0..width).all(|index| limb(self, index) == limb(other, index))
    }
}

impl Eq for Signed {}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(!self.negative, "", &Zeroizing::new(to_decimal(&self.magnitude)))
    }
}

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signed({} limbs)", self.magnitude.len())
    }
}

/// Encodes integers as plaintexts, one per row. Constant time in the values.
///
/// # Errors
/// [`OutOfRange`](crate::ErrorKind::OutOfRange) if a magnitude exceeds `(n - 1) / 2`, which can
/// only happen for keys of less than 130 bits.
// Proved: `signed_correct` in formal/coq/encodings.v.
// Proved: `signed_sum_correct` in formal/coq/encodings.v.
pub fn encode_signed(key: &PublicKey, values: &[i128]) -> Result<Plaintexts, Error> {
    let limbs = key.plaintext_limbs();
    let mut magnitudes = Batch::zeros(values.len(), limbs);
    let half = half(key);
    for (row, (&value, residue)) in values.iter().zip(magnitudes.rows_mut()).enumerate() {
        let sign = (value >> 127) as u128;
        let magnitude = (value as u128 ^ sign).wrapping_sub(sign);
        let parts = [magnitude as u64, (magnitude >> 64) as u64];
        let kept = limbs.min(2);
        residue[..kept].copy_from_slice(&parts[..kept]);
        if natural::is_zero(&parts[kept..]) == 0 || natural::less(&half, residue) == 1 {
            return Err(ErrorKind::OutOfRange.at_row(row));
        }
    }
    let mut residues = key.root().neg(&magnitudes);
    for ((residue, magnitude), value) in residues.rows_mut().zip(magnitudes.rows()).zip(values) {
        natural::assign_if(residue, magnitude, !(value >> 127) as u64 & 1);
    }
    Ok(Plaintexts::new(key.id(), key.plaintext_bytes(), residues))
}

/// Decodes plaintexts as integers: residues up to `(n - 1) / 2` are positive, larger ones negative.
/// Constant time in the values.
///
/// # Errors
/// [`WrongKey`](crate::ErrorKind::WrongKey).
// Proved: `signed_correct` in formal/coq/encodings.v.
// Proved: `signed_sum_correct` in formal/coq/encodings.v.
pub fn decode_signed(key: &PublicKey, plaintexts: &Plaintexts) -> Result<Vec<Signed>, Error> {
    check_key(key.id(), plaintexts.key_id())?;
    let residues = plaintexts.batch();
    let negatives = key.root().neg(residues);
    let half = half(key);
    let decode = |(residue, negative): (&[u64], &[u64])| {
        let below_zero = natural::less(&half, residue);
        let mut magnitude = residue.to_vec();
        natural::assign_if(&mut magnitude, negative, below_zero);
        Signed { negative: below_zero == 1, magnitude }
    };
    Ok(residues.rows().zip(negatives.rows()).map(decode).collect())
}

/// `(n - 1) / 2`.
fn half(key: &PublicKey) -> Vec<u64> {
    let n = key.modulus();
    let limb = |index: usize| n[index] >> 1 | n.get(index + 1).map_or(0, |above| above << 63);
    (0..n.len()).map(limb).collect()
}

/// Encodes integers of any size with a magnitude of at most `most`.
///
/// # Errors
/// [`OutOfRange`](ErrorKind::OutOfRange) for the first integer that is larger.
pub(crate) fn encode_wide(key: &PublicKey, values: &[&Signed], most: &[u64]) -> Result<Plaintexts, Error> {
    let limbs = key.plaintext_limbs();
    let mut residues = Batch::zeros(values.len(), limbs);
    for (row, (value, residue)) in values.iter().zip(residues.rows_mut()).enumerate() {
        let kept = limbs.min(value.magnitude.len());
        residue[..kept].copy_from_slice(&value.magnitude[..kept]);
        if natural::is_zero(&value.magnitude[kept..]) == 0 || natural::less(most, residue) == 1 {
            return Err(ErrorKind::OutOfRange.at_row(row));
        }
        if value.negative {
            let negative = difference(key.modulus(), residue);
            residue.copy_from_slice(&negative);
        }
    }
    Ok(Plaintexts::new(key.id(), key.plaintext_bytes(), residues))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_survive(value: i128, other: i128, scale in 0u32..45) {
            let signed = Signed::from(value);
            prop_assert_eq!(signed.to_i128(), Some(value));
            prop_assert_eq!(signed.to_string(), value.to_string());
            prop_assert_eq!(signed == Signed::from(other), value == other);
            let digits = signed.to_decimal_string(scale).replacen('.', "", 1);
            prop_assert_eq!(digits.parse::<i128>().ok(), Some(value));
        }

        #[test]
        fn bounds_are_products(value: i128, range in 0u128..1 << 90, additions in 0u64..1 << 30) {
            prop_assert_eq!(Signed::from(value).exceeds(range, additions), value.unsigned_abs() > range * u128::from(additions));
        }
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!(Signed::new(true, vec![0, 1 << 63, 0]).to_i128(), Some(i128::MIN));
        assert_eq!(Signed::new(false, vec![0, 1 << 63]).to_i128(), None);
        assert_eq!(Signed::new(true, vec![1, 1 << 63]).to_i128(), None);
        assert_eq!(Signed::new(false, vec![0, 0, 1]).to_i128(), None);
        assert_eq!(Signed::new(false, vec![0, 0, 1]).to_string(), "340282366920938463463374607431768211456");
        assert!(!Signed::new(false, vec![0, 0, 1]).exceeds(u128::MAX, u64::MAX));
        assert!(Signed::new(false, vec![0, 0, 0, 1]).exceeds(u128::MAX, u64::MAX));
        assert!(!Signed::new(true, vec![0, 0]).is_negative());
        assert!(!Signed::new(true, vec![]).exceeds(0, 0));
        assert_eq!(format!("{:?}", Signed::from(-12)), "Signed(2 limbs)");
        assert_eq!(format!("{:>6}|{:+}", Signed::from(-12), Signed::from(7)), "   -12|+7");
    }
}
