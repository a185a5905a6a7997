//! Bounds on noise, tracked in every ciphertext.
//!
//! The phase of a ciphertext is `(q / t) m + e`, and `m` decrypts correctly while
//! `|e| < q / (2 t)`. A fresh ciphertext's `e` has a fixed bound. Sums add the bounds, multiplied
//! by the magnitudes of the weights. So a total is correct unless one of its addends exceeds its
//! own bound, which has a probability below 2^-102. For all totals of fewer than 2^38 addends the
//! probability is below 2^-64.

use crate::parameters::Set;
use crate::{Error, ErrorKind};

/// Largest magnitude of an error: half of the number of bits that it is drawn from.
pub(crate) const MAX_ERROR: u64 = 21;

/// Bits by which the hiding noise of a result exceeds the noise to hide: the minimum, and the
/// number used if the budget allows.
pub(crate) const HIDING: [u32; 2] = [40, 64];

/// Bits of budget left for adding results, if possible.
const SPARE_BITS: u32 = 16;

/// Bound on the noise of encryption with the private key: the error, plus 1 for rounding `q m / t`.
pub(crate) const FRESH_PRIVATE: u128 = MAX_ERROR as u128 + 1;

/// Bound on the noise of encryption with the public key, `e u + e_1 - e_2 s`.
///
/// An error is a sum of 42 halves with random signs, so it is subgaussian with variance 10.5. The
/// coefficients of `u` and `s` have magnitude 0 or 1, so the sum has a variance of at most
/// `10.5 (2 N + 1)` whatever they are. It exceeds twelve deviations with a probability below
/// `2 exp(-72)`.
///
/// Proved: `public_noise` in formal/coq/noise.v.
pub(crate) fn fresh_public(set: Set) -> u128 {
    let square = 144 * 21 * (2 * set.degree() as u128 + 1) / 2;
    square.isqrt() + 2
}

/// Upper limit of the noise: `q / (2 t)` minus the rounding error of decryption. Every prime is
/// above `2^50 (1 - 2^-27)`.
///
/// Proved: `limit_correct` in formal/coq/noise.v.
pub(crate) fn limit(set: Set, bits: u32) -> u128 {
    let half = set.modulus_bits() - bits - 1;
    if half > 126 { 1 << 126 } else { (1_u128 << half) - (1 << (half - 16)) }
}

/// Checks that a plaintext decrypts correctly with this bound on the noise.
pub(crate) fn check(noise: Option<u128>, set: Set, bits: u32) -> Result<u128, Error> {
    noise.filter(|&noise| noise < limit(set, bits)).ok_or_else(|| ErrorKind::Noise.into())
}

/// Bits by which noise within its limit may still grow.
pub(crate) fn budget(noise: u128, set: Set, bits: u32) -> u32 {
    ((limit(set, bits) - 1) / noise.max(1)).checked_ilog2().unwrap_or(0)
}

/// Reads the bound stated in 16 bytes, least significant first. A bound below that of every
/// encryption is an error.
pub(crate) fn stated(bytes: &[u8], set: Set, bits: u32) -> Result<u128, Error> {
    let noise = bytes.iter().rev().fold(0, |noise, &byte| noise << 8 | u128::from(byte));
    if noise < FRESH_PRIVATE {
        return Err(ErrorKind::Malformed("the bound on the noise is below that of any encryption").into());
    }
    check(Some(noise), set, bits)
}

/// Length in bits of the uniform noise that hides noise bounded by `open`. `noise` bounds all of
/// the result's noise.
pub(crate) fn hiding_bits(open: u128, noise: u128, set: Set, bits: u32) -> Result<u32, Error> {
    let own = u128::BITS - open.leading_zeros();
    let headroom = limit(set, bits)
        .checked_sub(noise)
        .and_then(u128::checked_ilog2)
        .map_or(0, |headroom| headroom.saturating_sub(1));
    let [least, wanted] = HIDING.map(|by| own + by);
    match wanted.min(headroom.saturating_sub(SPARE_BITS)).max(least) {
        hiding if hiding <= headroom => Ok(hiding),
        _ => Err(ErrorKind::NoRoom.into()),
    }
}

/// Number of additions of ciphertexts with this noise after which a total can still be released,
/// with its noise hidden by the minimum number of bits. Two bits stay for adding partial totals and
/// releasing the sum again.
pub(crate) fn additions(fresh: u128, set: Set, bits: u32) -> u64 {
    let [least, _] = HIDING;
    // The budget left within the limit can have one bit less than the limit itself, and the sign of
    // the hiding noise takes another.
    let headroom = limit(set, bits).ilog2().saturating_sub(least + 4);
    let all = (1_u128 << headroom).saturating_sub(fresh_public(set)) / fresh;
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::MAX_BITS;

    /// Bound on the noise of a released total after `additions` additions.
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
                // Each part also has noise of the public key.
                let parts = [1, 2, 3, 64, 1 << 12].into_iter().filter(|parts| parts * public <= most * fresh);
                for parts in parts {
                    let sum = released(most.div_ceil(parts), fresh, set, bits).unwrap().checked_mul(parts);
                    let sum = check(sum, set, bits).unwrap();
                    assert!(hiding_bits(public, sum + public, set, bits).is_ok(), "{set} {bits} {parts}");
                }
                // The promise is at most a few bits too low.
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
        // The noise of 2^32 64-bit addends, encrypted with the public key, is hidden by at least 40
        // bits.
        let noise = check(fresh_public(set).checked_mul(1 << 32), set, bits).unwrap();
        assert_eq!(hiding_bits(noise, noise, set, bits).unwrap(), 45 + 40);
        assert_eq!(hiding_bits(fresh_public(set), fresh_public(set), set, bits).unwrap(), 13 + 64);
        assert!(check(None, set, bits).is_err() && check(Some(limit(set, bits)), set, bits).is_err());
        // Read from a file: a bound below the noise of every encryption is rejected.
        let read = |noise: u128| stated(&noise.to_le_bytes(), set, bits);
        assert_eq!(read(FRESH_PRIVATE).unwrap(), FRESH_PRIVATE);
        assert!(read(0).is_err() && read(FRESH_PRIVATE - 1).is_err() && read(limit(set, bits)).is_err());
        // Noise that is hidden already takes up budget, but requires no proportional hiding noise.
        assert_eq!(hiding_bits(4979, 1 << 98, set, bits).unwrap(), 13 + 64);
        assert!(hiding_bits(1 << 61, 1 << 61, set, bits).is_err());
    }
}
