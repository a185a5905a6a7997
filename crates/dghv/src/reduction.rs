//! Reduction modulo the public `A_0` of slightly longer secret numbers. Its time depends only on
//! lengths.

use crate::Error;
use hearith_arith::Engine;
use hearith_arith::natural::{Secret, add_assign, bits_at, product, reduce_once, resized, sub_assign, sub_row};
use hearith_ntt::reciprocal;
use zeroize::Zeroizing;

/// Barrett's reduction \[Barrett86\] for numbers with at most `excess` bits more than the modulus,
/// so that the quotient is short.
///
/// With `w > excess + 65` and `t` the upper `w` bits of the `phi`-bit modulus,
///
/// ```text
/// mu = floor(2^(2 w) / (t + 1))      q = floor(floor(x / 2^(phi - w)) mu / 2^(2 w))      r = x - q A, less A if it is not below
/// ```
///
/// # Bounds
/// `1 / (t + 1)` is less than `2^(phi - w) / A` by under `1 / t^2 <= 2^(2 - 2 w)`. Multiplied by
/// `X = floor(x / 2^(phi - w)) < 2^(w + excess)`, this error is below `2^(2 + excess - w) < 2^-63`.
/// The floor in `mu` adds an error below `X / 2^(2 w)`, which is smaller still, and the floor in
/// `X` one below `1 / t <= 2^(1 - w)`. So `q` is `floor(x / A)` or one less.
pub(crate) struct Reduction {
    modulus: Vec<u64>,
    bits: usize,
    width: usize,
    mu: Vec<u64>,
}

impl Reduction {
    pub(crate) fn new(engine: Engine, modulus: &[u64], bits: usize, excess: usize) -> Result<Self, Error> {
        let width = (excess + 66).next_multiple_of(64);
        let mut upper = upper(modulus, bits - width, width / 64 + 1);
        add_assign(&mut upper, &[1]);
        let mu = reciprocal(engine, &upper, 2 * width / 64)?;
        Ok(Reduction { modulus: modulus.to_vec(), bits, width, mu })
    }

    pub(crate) fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// `x` modulo the modulus, in as many limbs as the modulus.
    pub(crate) fn reduce(&self, x: &[u64]) -> Secret {
        let limbs = self.modulus.len();
        let above = upper(x, self.bits - self.width, x.len() - (self.bits - self.width) / 64);
        let estimate = Zeroizing::new(product(&above, &self.mu));
        let quotient = &estimate[2 * self.width / 64..];
        let mut rest = resized(x, limbs + 1);
        for (row, &digit) in quotient.iter().enumerate().take(limbs + 1) {
            let (with, above) = rest[row..].split_at_mut(limbs.min(limbs + 1 - row));
            let borrow = sub_row(with, &self.modulus, digit);
            if !above.is_empty() {
                sub_assign(above, &[borrow]);
            }
        }
        let top = rest[limbs];
        let mut rest = resized(&rest, limbs);
        reduce_once(&mut rest, top, &self.modulus);
        rest
    }
}

/// `floor(number / 2^position)`, in `limbs` limbs.
fn upper(number: &[u64], position: usize, limbs: usize) -> Secret {
    Zeroizing::new((0..limbs).map(|limb| bits_at(number, position + 64 * limb, 64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::{Integer, integer::Order};

    #[test]
    fn rests_are_those_of_gmp() {
        let mut state = rug::rand::RandState::new();
        for (bits, excess) in [(1000_u32, 40_usize), (4001, 970), (6464, 128), (147_456, 950)] {
            let top = Integer::from(1) << (bits - 1);
            let moduli = [
                top.clone(),
                (Integer::from(1) << bits) - 1u32,
                top + Integer::from(Integer::random_bits(bits - 1, &mut state)),
            ];
            for modulus in moduli {
                let limbs = modulus.to_digits::<u64>(Order::Lsf);
                let reduction = Reduction::new(Engine::Serial, &limbs, bits as usize, excess).unwrap();
                let most: Integer = (Integer::from(1) << (bits + excess as u32)) - 1u32;
                let multiple = Integer::from(&most / &modulus) * &modulus;
                let random = Integer::from(Integer::random_bits(bits + excess as u32, &mut state));
                for x in [
                    most,
                    Integer::from(&multiple - 1u32),
                    multiple,
                    random,
                    Integer::new(),
                    Integer::from(&modulus - 1u32),
                    modulus.clone(),
                ] {
                    let mut given = x.to_digits::<u64>(Order::Lsf);
                    given.resize((bits as usize + excess).div_ceil(64) + 1, 0);
                    let rest = Integer::from_digits(&reduction.reduce(&given), Order::Lsf);
                    assert_eq!(rest, x % &modulus, "{bits} bits");
                }
            }
        }
    }
}
