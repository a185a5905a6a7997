//! The constants of an election's key for a board. All of them are public.

use hearith_arith::natural;
use hearith_paillier::{ErrorKind as SchemeErrorKind, PublicKey};

use crate::mesa::constants::{one_row, power_modulo};
use crate::{Error, ErrorKind};

/// Numbers of a key in limbs, the lowest first, named after the board's ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// `n^2`.
    pub modulus: Vec<u64>,
    /// `-1 / n^2` modulo two to the power of the digit's bits.
    pub inverse: Vec<u64>,
    /// `R^2 mod n^2`, for the `R` of the board's products.
    pub enter: Vec<u64>,
    /// `R^3 mod n^2`.
    pub cube: Vec<u64>,
    /// `R mod n^2`.
    pub zero: Vec<u64>,
    /// `(1 + n) R mod n^2`.
    pub one: Vec<u64>,
    /// `1 + n`.
    pub plus: Vec<u64>,
    /// `1 - n mod n^2`.
    pub minus: Vec<u64>,
    /// `h^n mod n^2`.
    pub base: Vec<u64>,
    /// `n`.
    pub n: Vec<u64>,
    /// `h`.
    pub h: Vec<u64>,
}

impl Constants {
    /// The constants for a board with digits of `digit_bits` bits.
    ///
    /// # Errors
    /// The key is not of the variant `djn`.
    pub fn new(key: &PublicKey, digit_bits: u32) -> Result<Self, Error> {
        let limbs = key.plaintext_limbs();
        let number = |bytes: &[u8]| natural::from_be(bytes, limbs).map(|number| number.to_vec()).unwrap_or_default();
        let h = number(&key.generator_be().ok_or(ErrorKind::Scheme(SchemeErrorKind::NoGenerator))?);
        let (n, squared) = (number(&key.modulus_be()), key.squared());
        let modulus = squared.as_limbs().to_vec();
        // R = 2^(digits times their bits) > 8 n^2 (rtl/arith/digit_product.sv).
        let r_bits = (2 * key.bits() + 3).next_multiple_of(digit_bits);
        let zero = power_modulo(squared, r_bits).to_vec();
        let plus = plus_one(&n, squared.limbs());
        let minus = plus_one(&natural::difference(&modulus, &n), squared.limbs());
        let one = squared.mul(&one_row(&zero), &one_row(&plus)).row(0).to_vec();
        let base = key.generator_power(&[1])?.row(0).to_vec();
        let digit_limbs = natural::limbs_of(digit_bits);
        let mut inverse = natural::divide_exact(&vec![u64::MAX; digit_limbs], &modulus, digit_limbs);
        natural::clear_bits_from(&mut inverse, digit_bits);
        let [enter, cube] = [2, 3].map(|power| power_modulo(squared, power * r_bits).to_vec());
        Ok(Self { inverse: inverse.to_vec(), enter, cube, zero, one, plus, minus, base, n, h, modulus })
    }
}

/// A number plus 1, in `limbs` limbs.
fn plus_one(number: &[u64], limbs: usize) -> Vec<u64> {
    let mut sum = natural::resized(number, limbs);
    natural::add_assign(&mut sum, &[1]);
    sum.to_vec()
}
