//! Montgomery multiplication without the final comparison and subtraction, and separate
//! comparisons: the operations counted for the algorithms of \[HDSST25\].

use crate::count;
use hearith_arith::natural::{self, Secret, product_in, resized};
use hearith_arith::{ArithError, Batch, Engine, Modulus};
use zeroize::Zeroizing;

/// A modulus `m` of the paper's post-processing, with `R = 2^(64 k) > 4 m`.
pub(super) struct LazyModulus {
    m: Secret,
    /// `-m^-1 mod 2^64`.
    neg_inverse: Zeroizing<u64>,
    modulus: Modulus,
    /// Quarters of `2 N` bits that a comparison counts as.
    quarters: u32,
}

impl LazyModulus {
    /// Prepares a modulus whose comparisons count as `quarters` quarters of `2 N` bits.
    pub(super) fn new(engine: Engine, m: &[u64], quarters: u32) -> Result<Self, ArithError> {
        let modulus = Modulus::new(engine, m)?;
        let k = (modulus.bits() + 2).div_ceil(64) as usize;
        Ok(LazyModulus {
            m: resized(m, k),
            neg_inverse: Zeroizing::new(natural::inverse_word(m[0]).wrapping_neg()),
            modulus,
            quarters,
        })
    }

    /// Converts a constant factor to `a R mod m`.
    pub(super) fn enter(&self, a: &[u64]) -> Secret {
        let mut r = vec![0; self.m.len() + 1];
        r[self.m.len()] = 1;
        let product = self.modulus.mul(&Batch::from_rows(a.len(), [a]), &Batch::from_rows(r.len(), [&r[..]]));
        resized(product.row(0), self.m.len())
    }

    /// `a b / R mod m`, below `2 m` if `a b < R m`: the paper's MM. Its multiplier is `N` bits wide
    /// whatever the modulus.
    pub(super) fn multiply(&self, a: &[u64], b: &[u64]) -> Secret {
        count::multiplication(2);
        let k = self.m.len();
        let mut sum = product_in(a, b, 2 * k + 1);
        for i in 0..k {
            let digit = [sum[i].wrapping_mul(*self.neg_inverse)];
            natural::add_assign(&mut sum[i..], &product_in(&self.m, &digit, k + 1));
        }
        resized(&sum[k..], k)
    }

    /// Reduces a value below `2 m` to below `m`.
    pub(super) fn final_subtraction(&self, value: &mut [u64]) {
        count::comparison(self.quarters);
        natural::reduce_once(value, 0, &self.m);
    }

    /// `a + b mod m` for residues: the paper's ModAdd, which the paper does not count.
    pub(super) fn add(&self, a: &[u64], b: &[u64]) -> Secret {
        let mut sum = resized(a, self.m.len());
        natural::add_assign(&mut sum, b);
        natural::reduce_once(&mut sum, 0, &self.m);
        sum
    }

    /// A number below `2 m`, in as many limbs as this modulus.
    pub(super) fn load(&self, number: &[u64]) -> Secret {
        resized(number, self.m.len())
    }
}

/// `L(u) = (u - 1) / p` for `u < 2 p^2`, by exact division. Also returns 1 if `u` is 1 modulo `p`,
/// otherwise 0.
pub(super) fn quotient(u: &[u64], p: &[u64]) -> (Secret, u64) {
    let whole = u.len().max(2 * p.len() + 1);
    let mut rest = resized(u, whole);
    let borrow = natural::sub_assign(&mut rest, &[1]);
    let quotient = natural::divide_exact(&rest, p, p.len() + 1);
    natural::sub_assign(&mut rest, &product_in(&quotient, p, whole));
    (quotient, natural::is_zero(&rest) & (1 ^ borrow))
}

// GMP is a C library and does not run in Miri.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    proptest! {
        #[test]
        fn products_stay_below_twice_the_modulus(mut m in any::<[u64; 3]>(), a in any::<[u64; 3]>(), b in any::<[u64; 3]>()) {
            m[0] |= 1;
            m[2] |= 1;
            let modulus = LazyModulus::new(Engine::best(), &m, 2).unwrap();
            let reduced = |x: &[u64; 3]| (integer(x) % integer(&m)).to_digits::<u64>(Order::Lsf);
            let mut product = modulus.multiply(&modulus.load(&a), &modulus.enter(&b));
            prop_assert!(integer(&product) < integer(&m) * 2u32);
            modulus.final_subtraction(&mut product);
            prop_assert_eq!(integer(&product), integer(&reduced(&a)) * integer(&reduced(&b)) % integer(&m));
        }

        #[test]
        fn quotients_are_exact(mut p in any::<[u64; 2]>(), l in any::<[u64; 2]>(), off in 0u64..3) {
            p[0] |= 1;
            p[1] |= 1 << 63;
            let u = integer(&l) * integer(&p) + 1u32 + off;
            let (found, exact) = quotient(&u.to_digits::<u64>(Order::Lsf), &p);
            prop_assert_eq!(exact == 1, off == 0);
            prop_assert!(off != 0 || integer(&found) == integer(&l));
        }
    }

    #[test]
    fn zero_has_no_quotient() {
        assert_eq!(quotient(&[0, 0], &[7]).1, 0);
        assert_eq!(quotient(&[1, 0], &[7]), (Secret::new(vec![0, 0]), 1));
    }
}
