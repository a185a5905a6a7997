//! Residues as bytes: 50 bits each, eight of them in 50 bytes, least significant bits first.

use crate::kernel::{LANES, Lanes};
use crate::prime::{PRIME_BITS, Prime};
use crate::ring::Poly;
use crate::{Error, ErrorKind};

/// Number of bytes of a packed vector.
const VECTOR_BYTES: usize = LANES * PRIME_BITS as usize / 8;

/// Number of bytes of a packed polynomial.
pub(crate) fn packed_bytes(primes: usize, vectors: usize) -> usize {
    primes * vectors * VECTOR_BYTES
}

/// Packs a polynomial, prime after prime.
pub(crate) fn pack(a: &Poly) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack_into(&mut bytes, a);
    bytes
}

/// Appends a packed polynomial to `bytes`.
pub(crate) fn pack_into(bytes: &mut Vec<u8>, a: &Poly) {
    let start = bytes.len();
    bytes.resize(start + a.lanes().len() * VECTOR_BYTES, 0);
    for (lanes, bytes) in a.lanes().iter().zip(bytes[start..].as_chunks_mut::<VECTOR_BYTES>().0) {
        *bytes = packed(lanes);
    }
}

/// Packs a vector: four residues of 50 bits fill 25 bytes.
fn packed(lanes: &Lanes) -> [u8; VECTOR_BYTES] {
    let mut bytes = [0; VECTOR_BYTES];
    for (half, words) in lanes.0.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = words.map(u128::from);
        let low = a | b << 50 | c << 100;
        let high = c >> 28 | d << 22;
        bytes[25 * half..][..16].copy_from_slice(&low.to_le_bytes());
        bytes[25 * half + 16..][..9].copy_from_slice(&high.to_le_bytes()[..9]);
    }
    bytes
}

fn unpacked(bytes: &[u8; VECTOR_BYTES]) -> Lanes {
    const MASK: u128 = (1 << PRIME_BITS) - 1;
    let mut lanes = Lanes::default();
    for (words, bytes) in lanes.0.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks::<25>().0) {
        let (mut low, mut high) = ([0; 16], [0; 16]);
        low.copy_from_slice(&bytes[..16]);
        high[..9].copy_from_slice(&bytes[16..]);
        let (low, high) = (u128::from_le_bytes(low), u128::from_le_bytes(high));
        let all = [low, low >> 50, low >> 100 | high << 28, high >> 22];
        *words = all.map(|word| (word & MASK) as u64);
    }
    lanes
}

/// Unpacks a polynomial. `bytes` must have the right length.
///
/// # Errors
/// A residue that is not below its prime.
pub(crate) fn unpack(bytes: &[u8], primes: &[Prime], vectors: usize) -> Result<Poly, Error> {
    let mut a = Poly::zeros(primes.len(), vectors);
    let mut excess = 0;
    for ((i, prime), bytes) in primes.iter().enumerate().zip(bytes.chunks_exact(vectors * VECTOR_BYTES)) {
        for (lanes, bytes) in a.of_mut(i).iter_mut().zip(bytes.as_chunks::<VECTOR_BYTES>().0) {
            *lanes = unpacked(bytes);
            excess |= lanes.0.iter().fold(0, |any, &word| any | (prime.q - 1).wrapping_sub(word));
        }
    }
    match excess >> 63 {
        0 => Ok(a),
        _ => Err(ErrorKind::Malformed("a number is not below its modulus").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_follow_each_other() {
        let lanes = Lanes([1, 2, 3 << 48, (1 << 50) - 1, 5, 0, 7, 1 << 49]);
        let bytes = packed(&lanes);
        assert_eq!(unpacked(&bytes), lanes);
        for (i, word) in lanes.0.into_iter().enumerate() {
            let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
            assert_eq!((0..50).fold(0, |sum, at| sum | bit(50 * i + at) << at), word);
        }
    }
}
