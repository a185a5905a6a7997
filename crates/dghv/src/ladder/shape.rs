//! What a ladder's lengths are, and how much noise a switch leaves.

use super::switch::SwitchingKey;
use crate::{Error, ErrorKind, Lengths, Parameters, RecryptionKey, noise};

/// Bits of a digit of what is switched. \[CNT12\] takes single bits: sixteen times as many
/// elements, for 12 bits less noise.
pub(super) const DIGIT: u32 = 16;
/// Bits that a rung is lower than the least noise that switching leaves: room for some sums before
/// a product.
const MARGIN: u32 = 4;
/// Bits of a rung's secret, at least: as many as the primes of `q_0` have, beyond what elliptic
/// curves find.
const LEAST_SECRET: u32 = 256;
/// MiB of a switching key, at most. One of the medium sets would have some 70, and a switch would
/// go through 150 GB of elements.
const MOST_MEBIBYTES: u64 = 32;

/// Bits of the noise that a switch adds, at most.
pub(super) fn floor(to: &Parameters) -> f64 {
    1.0 + f64::from(to.lengths().key_noise + DIGIT) + (SwitchingKey::elements(to) as f64).log2()
}

/// Bits of noise after a switch: those before, less what the secret is shorter, and what the switch
/// adds.
pub(super) fn noise(from: &Parameters, to: &Parameters, before: f64) -> f64 {
    // p' is below 2^eta', p above 2^(eta - 1).
    let shorter = f64::from(from.lengths().secret - to.lengths().secret) - 1.0;
    noise::sum(before - shorter, floor(to))
}

/// The parameters one rung below: a secret that is shorter by as much as a switch's noise, the
/// modulus as before. `None` where the secret would be too short, or without room for a product of
/// two switched ciphertexts, or for a fresh one.
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

/// Makes sure that a switching key from these parameters on can be made.
pub(super) fn check_size(parameters: &Parameters) -> Result<(), Error> {
    let to = next_level(parameters).ok_or(ErrorKind::NoLadder)?;
    let mebibytes = (SwitchingKey::bytes(&to) >> 20) + 1;
    if mebibytes > MOST_MEBIBYTES {
        return Err(ErrorKind::LadderTooLarge { mebibytes, most: MOST_MEBIBYTES }.into());
    }
    Ok(())
}

impl SwitchingKey {
    /// 64-bit limbs before the point of a fraction: at least a bit more than the lower secret has.
    pub(super) fn whole_limbs(to: &Parameters) -> usize {
        (to.lengths().secret + 1).div_ceil(64) as usize
    }

    /// 64-bit limbs of a fraction: those before the point, and one more than a ciphertext has after
    /// it.
    pub fn fraction_limbs(to: &Parameters) -> usize {
        Self::whole_limbs(to) + to.limbs() + 1
    }

    /// Digits of the whole part of a ciphertext's product with a fraction.
    pub(super) fn digits(to: &Parameters) -> usize {
        Self::whole_limbs(to) * (64 / DIGIT) as usize
    }

    /// Elements of a key to these parameters: one for each digit of each fraction's product.
    pub fn elements(to: &Parameters) -> usize {
        RecryptionKey::set_size(to) * Self::digits(to)
    }

    /// Bytes of a key to these parameters in a file.
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
            // What a product of two switched ciphertexts has is down again after one rung.
            let switched = floor(&below) + 1.0;
            assert!(noise(&set, &below, 2.0 * switched) <= switched + 0.01);
            set = below;
        }
        assert_eq!(*check_size(&set).unwrap_err().kind(), ErrorKind::NoLadder);
    }
}
