//! Conversion of the oracle's numbers (GMP) from and to bytes and limbs, and random numbers.

use rug::Integer;
use rug::integer::Order;

/// The number with these big-endian bytes.
pub fn from_be(bytes: &[u8]) -> Integer {
    Integer::from_digits(bytes, Order::Msf)
}

/// The number with these little-endian limbs.
pub fn from_limbs(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

/// Big-endian bytes, zero-padded to `width`.
pub fn to_be(number: &Integer, width: usize) -> Vec<u8> {
    let digits = number.to_digits::<u8>(Order::Msf);
    let mut bytes = vec![0; width - digits.len()];
    bytes.extend(digits);
    bytes
}

/// A random number of at most `bits` bits.
pub fn random_bits(bits: u32) -> Integer {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    getrandom::fill(&mut bytes).expect("the operating system's random generator");
    from_be(&bytes).keep_bits(bits)
}

/// A random number below `bound`, by rejection.
pub fn random_below(bound: &Integer) -> Integer {
    loop {
        let number = random_bits(bound.significant_bits());
        if number < *bound {
            return number;
        }
    }
}
