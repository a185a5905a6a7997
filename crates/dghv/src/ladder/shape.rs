//! The lengths of a ladder's keys, and the noise after a switch.

use super::switch::SwitchingKey;
use crate::{Error, ErrorKind, Lengths, Parameters, RecryptionKey, noise};

/// Length in bits of the digits in a switch. \[CNT12\] uses single bits, which needs sixteen times
/// as many elements and saves 12 bits of noise.
pub(super) const DIGIT: u32 = 16;
/// Bits by which each rung's secret is shortened beyond the noise that switching adds. They allow
/// some additions before a product.
const MARGIN: u32 = 4;
/// Minimum length in bits of a rung's secret: that of the prime factors of `q_0`, too long for
/// elliptic-curve factoring.
const LEAST_SECRET: u32 = 256;
/// Maximum size of a switching key in MiB. A key for the medium sets would have about 70 MiB, and a
/// switch would process 150 GB of elements.
const MOST_MEBIBYTES: u64 = 32;

/// Largest noise in bits that a switch adds.
pub(super) fn floor(to: &Parameters) -> f64 {
    1.0 + f64::from(to.lengths().key_noise + DIGIT) + (SwitchingKey::elements(to) as f64).log2()
}

/// Noise in bits after a switch: the noise before it, reduced by the difference in the secrets'
/// lengths, plus the noise that the switch adds.
pub(super) fn noise(from: &Parameters, to: &Parameters, before: f64) -> f64 {
    // p' is below 2^eta', p above 2^(eta - 1).
    let shorter = f64::from(from.lengths().secret - to.lengths().secret) - 1.0;
    noise::sum(before - shorter, floor(to))
}

/// The parameters one rung below: the modulus stays the same, and the secret is shorter by the
/// noise of a switch plus a margin. `None` if the secret would be too short, or the noise budget
/// too small for a product of two switched ciphertexts or for a fresh ciphertext.
pub(super) fn next_level(parameters: &Parameters) -> Option<Parameters> {
    let step = floor(parameters).ceil() as u32 + MARGIN;
    let level = parameters.level().checked_add(1)?;
    let lengths = Lengths { secret: parameters.lengths().secret.checked_sub(step)?, ..*parameters.lengths() };
    if lengths.secret < LEAST_SECRET {
        return None;
    }
    let lengths = Lengths {
        coefficient: lengths.coefficient.min(lengths.security),
        encryption_noise: lengths.encryption_noise.min(4 * lengths.security),
        ..lengths
    };
    let next_level = Parameters::custom(parameters.scheme(), lengths).ok()?.at_level(level);
    (2.0 * (floor(&next_level) + 1.0) <= next_level.noise_limit()).then_some(next_level)
}

/// Checks that a switching key below these parameters has an allowed size.
pub(super) fn check_size(parameters: &Parameters) -> Result<(), Error> {
    let to = next_level(parameters).ok_or(ErrorKind::NoLadder)?;
    let mebibytes = (SwitchingKey::bytes(&to) >> 20) + 1;
    if mebibytes > MOST_MEBIBYTES {
        return Err(ErrorKind::LadderTooLarge { mebibytes, most: MOST_MEBIBYTES }.into());
    }
    Ok(())
}

impl SwitchingKey {
    /// Number of 64-bit limbs before the point of a fraction: enough for one bit more than the
    /// lower secret.
    pub(super) fn whole_limbs(to: &Parameters) -> usize {
        (to.lengths().secret + 1).div_ceil(64) as usize
    }

    /// Number of 64-bit limbs of a fraction: those before the point, and after it one more than a
    /// ciphertext has.
    pub fn fraction_limbs(to: &Parameters) -> usize {
        Self::whole_limbs(to) + to.limbs() + 1
    }

    /// Number of digits in the integer part of a ciphertext's product with a fraction.
    pub(super) fn digits(to: &Parameters) -> usize {
        Self::whole_limbs(to) * (64 / DIGIT) as usize
    }

    /// Number of elements of a switching key to these parameters: one for each digit of each
    /// fraction's product.
    pub fn elements(to: &Parameters) -> usize {
        RecryptionKey::set_size(to) * Self::digits(to)
    }

    /// Size in bytes of a switching key to these parameters in a file.
    pub(super) fn bytes(to: &Parameters) -> u64 {
        let correction = (to.lengths().secret + to.lengths().security + 1).div_ceil(8);
        Self::elements(to) as u64 * u64::from(correction) + 8 * Self::fraction_limbs(to) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ladder, Scheme, Size};

    fn sets(size: Size) -> [Parameters; 2] {
        [Scheme::Cmnt, Scheme::Cnt].map(|scheme| Parameters::historical(scheme, size).with_short_coefficients())
    }

    #[test]
    fn ladders_are_as_long_as_the_page_says() {
        let rungs = |size| sets(size).map(|set| Ladder::most_rungs(&set));
        assert_eq!((rungs(Size::Toy), rungs(Size::Small)), ([16, 12], [22, 16]));
        let ends = |size| {
            sets(size).map(|set| {
                let rungs: Vec<Parameters> = std::iter::successors(next_level(&set), next_level).collect();
                let [first, .., last] = &rungs[..] else { unreachable!("some rungs") };
                let bytes: u64 = rungs.iter().map(SwitchingKey::bytes).sum();
                (first.lengths().secret, last.lengths().secret, (bytes as f64 / 1e5).round() / 10.0)
            })
        };
        assert_eq!(ends(Size::Toy), [(1037, 284, 10.5), (927, 266, 6.4)]);
        assert_eq!(ends(Size::Small), [(1571, 301, 107.1), (1480, 318, 72.0)]);
    }

    #[test]
    fn only_reasonable_ladders_are_made() {
        for size in [Size::Toy, Size::Small] {
            sets(size).iter().for_each(|set| check_size(set).unwrap());
        }
        for size in [Size::Medium, Size::Large] {
            for set in sets(size) {
                let error = check_size(&set).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::LadderTooLarge { .. }), "{error}");
            }
        }
    }

    #[test]
    fn rungs_go_down_to_a_last_one() {
        let mut set = sets(Size::Toy)[1].clone();
        while let Some(below) = next_level(&set) {
            assert!(below.lengths().secret < set.lengths().secret && below.level() == set.level() + 1);
            assert_eq!(below.lengths().modulus, set.lengths().modulus);
            // One rung brings the noise of a product of two switched ciphertexts back down.
            let switched = floor(&below) + 1.0;
            assert!(noise(&set, &below, 2.0 * switched) <= switched + 0.01);
            set = below;
        }
        assert_eq!(*check_size(&set).unwrap_err().kind(), ErrorKind::NoLadder);
    }
}
