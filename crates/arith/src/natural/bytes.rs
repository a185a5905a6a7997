//! Conversion from and to big-endian bytes.

use super::Secret;
use zeroize::Zeroizing;

/// Reads a number from big-endian bytes into `limbs` limbs; `None` if it does not fit.
pub fn from_be(bytes: &[u8], limbs: usize) -> Option<Secret> {
    let (excess, kept) = bytes.split_at(bytes.len().saturating_sub(8 * limbs));
    if excess.iter().any(|&byte| byte != 0) {
        return None;
    }
    let mut number = Zeroizing::new(vec![0; limbs]);
    for (limb, piece) in number.iter_mut().zip(kept.rchunks(8)) {
        *limb = piece.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    }
    Some(number)
}

/// The lowest `width` bytes of a number, big-endian.
pub fn to_be(number: &[u64], width: usize) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; width]);
    for (piece, limb) in bytes.rchunks_mut(8).zip(number) {
        let whole = limb.to_be_bytes();
        piece.copy_from_slice(&whole[8 - piece.len()..]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let number = from_be(&[0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 2).unwrap();
        assert_eq!(number[..], [0x0203_0405_0607_0809, 1]);
        assert_eq!(to_be(&number, 9)[..], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(from_be(&[0, 0, 0, 0, 0, 0, 0, 0, 7], 1).unwrap()[..], [7]);
        assert_eq!(from_be(&[1, 0, 0, 0, 0, 0, 0, 0, 7], 1), None);
    }
}
