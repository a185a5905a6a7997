//! Bounds on noise, counted in every ciphertext.
//!
//! The phase of a ciphertext is `(q / t) m + e`, and `m` comes out right while `|e| < q / (2 t)`. A
//! fresh ciphertext's `e` is bounded once; sums add the bounds up, times the magnitudes of weights.
//! So a total is right unless one of its addends was beyond its own bound, which has a probability
//! below 2^-102: below 2^-64 for all totals of fewer than 2^38 addends.

use crate::parameters::Set;
use crate::{Error, ErrorKind};

/// Largest magnitude of an error: half of the bits that it is drawn from.
pub(crate) const MAX_ERROR: u64 = 21;

/// Bits by which what hides the noise of a result exceeds that noise, at least and if there is
/// room.
pub(crate) const HIDING: [u32; 2] = [40, 64];

/// Bits that a result's noise leaves for results to be added up, if there is room.
const SPARE_BITS: u32 = 16;

/// A bound on the noise of encryption with the private key: an error, and what rounding `q m / t`
/// adds.
pub(crate) const FRESH_PRIVATE: u128 = MAX_ERROR as u128 + 1;

/// A bound on the noise of encryption with the public key, `e u + e_1 - e_2 s`.
///
/// An error is a sum of 42 halves with random signs, so it is subgaussian with variance 10.5; `u`
/// and `s` have coefficients of magnitude 0 and 1, so the sum has a variance of at most
/// `10.5 (2 N + 1)` whatever they are. It exceeds twelve deviations with a probability below
/// `2 exp(-72)`.
///
/// Proved: `public_noise` in formal/coq/noise.v.
pub(crate) fn fresh_public(set: Set) -> u128 {
    let square = 144 * 21 * (2 * set.degree() as u128 + 1) / 2;
    square.isqrt() + 2
}

/// What noise may not exceed: `q / (2 t)`, less what decryption itself rounds. Every prime is above
/// `2^50 (1 - 2^-27)`.
///
/// Proved: `limit_correct` in formal/coq/noise.v.
pub(crate) fn limit(set: Set, bits: u32) -> u128 {
    let half = set.modulus_bits() - bits - 1;
    if half > 126 { 1 << 126 } else { (1_u128 << half) - (1 << (half - 16)) }
}

/// Checks that a plaintext is right despite so much noise.
pub(crate) fn check(noise: Option<u128>, set: Set, bits: u32) -> Result<u128, Error> {
    noise.filter(|&noise| noise < limit(set, bits)).ok_or_else(|| ErrorKind::Noise.into())
}

/// The bits by which noise that is within its limit may still grow.
pub(crate) fn budget(noise: u128, set: Set, bits: u32) -> u32 {
    ((limit(set, bits) - 1) / noise.max(1)).checked_ilog2().unwrap_or(0)
}

/// The bound that a file states in 16 bytes, little end first. What is below the bound of any
/// encryption is none.
pub(crate) fn stated(bytes: &[u8], set: Set, bits: u32) -> Result<u128, Error> {
    let noise = bytes.iter().rev().fold(0, |noise, &byte| noise << 8 | u128::from(byte));
    if noise < FRESH_PRIVATE {
        return Err(ErrorKind::Malformed("the bound on the noise is below that of any encryption").into());
    }
    check(Some(noise), set, bits)
}

/// The bits of noise, uniform, that hide noise bounded by `open`; all of a result's is bounded by
/// `noise`.
pub(crate) fn hiding_bits(open: u128, noise: u128, set: Set, bits: u32) -> Result<u32, Error> {
    let own = u128::BITS - open.leading_zeros();
    let room =
        limit(set, bits).checked_sub(noise).and_then(u128::checked_ilog2).map_or(0, |room| room.saturating_sub(1));
    let [least, wanted] = HIDING.map(|by| own + by);
    match wanted.min(room.saturating_sub(SPARE_BITS)).max(least) {
        hiding if hiding <= room => Ok(hiding),
        _ => Err(ErrorKind::NoRoom.into()),
    }
}

/// Additions of ciphertexts with this noise after which a total can still be released: its noise
/// hidden by the fewest bits, and two bits left for totals of parts of them to be added up and
/// released in their turn.
pub(crate) fn additions(fresh: u128, set: Set, bits: u32) -> u64 {
    let [least, _] = HIDING;
    // What is left of the limit takes one bit less than it, and hiding noise has a sign.
    let room = limit(set, bits).ilog2().saturating_sub(least + 4);
    let all = (1_u128 << room).saturating_sub(fresh_public(set)) / fresh;
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::MAX_BITS;

    /// The bound on the noise of a released total of so many additions.
    fn released(additions: u128, fresh: u128, set: Set, bits: u32) -> Result<u128, Error> {
        let noise = check(fresh.checked_mul(additions), set, bits)? + fresh_public(set);
        Ok(noise + (1 << hiding_bits(noise, noise, set, bits)?))
    }

    #[test]
    fn additions_that_are_promised_can_be_released_whole_and_in_parts() {
        for set in Set::ALL {
            let every = (2..=MAX_BITS.min(set.modulus_bits() - 60)).flat_map(|bits| [(bits, true), (bits, false)]);
            for (bits, owner) in every {
                let (public, fresh) = (fresh_public(set), if owner { FRESH_PRIVATE } else { fresh_public(set) });
                let most = u128::from(additions(fresh, set, bits));
                // Each part has noise of the public key as well.
                let parts = [1, 2, 3, 64, 1 << 12].into_iter().filter(|parts| parts * public <= most * fresh);
                for parts in parts {
                    let sum = released(most.div_ceil(parts), fresh, set, bits).unwrap().checked_mul(parts);
                    let sum = check(sum, set, bits).unwrap();
                    assert!(hiding_bits(public, sum + public, set, bits).is_ok(), "{set} {bits} {parts}");
                }
                // No more than a few bits are given away.
                let more = 32 * (most + 1 + public / fresh);
                assert!(most == u128::from(u64::MAX) || released(more, fresh, set, bits).is_err(), "{set} {bits}");
            }
        }
        let set = Set::Degree4096;
        assert_eq!([2, 25, 40].map(|bits| additions(fresh_public(set), set, bits)), [1279068340632, 152475, 3]);
    }

    #[test]
    fn bounds_are_as_documented() {
        assert_eq!(Set::ALL.map(fresh_public), [3521, 4979, 7040]);
        let (set, bits) = (Set::Degree8192, 97);
        // 2^32 addends of 64 bits, encrypted by anybody, are hidden by 40 bits and more.
        let noise = check(fresh_public(set).checked_mul(1 << 32), set, bits).unwrap();
        assert_eq!(hiding_bits(noise, noise, set, bits).unwrap(), 45 + 40);
        assert_eq!(hiding_bits(fresh_public(set), fresh_public(set), set, bits).unwrap(), 13 + 64);
        assert!(check(None, set, bits).is_err() && check(Some(limit(set, bits)), set, bits).is_err());
        // As a file states it: what leaves the noise of every encryption out is no bound.
        let read = |noise: u128| stated(&noise.to_le_bytes(), set, bits);
        assert_eq!(read(FRESH_PRIVATE).unwrap(), FRESH_PRIVATE);
        assert!(read(0).is_err() && read(FRESH_PRIVATE - 1).is_err() && read(limit(set, bits)).is_err());
        // What is hidden already needs room, but no noise in proportion.
        assert_eq!(hiding_bits(4979, 1 << 98, set, bits).unwrap(), 13 + 64);
        assert!(hiding_bits(1 << 61, 1 << 61, set, bits).is_err());
    }
}
