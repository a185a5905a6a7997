//! Arithmetic modulo `m` on batches.

use crate::backend::with_kernel_for;
use crate::barrett;
use crate::buckets::product_of_powers;
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_groups, rows_of};
use crate::kernel::{Kernel, Space};
use crate::ladder::ladder;
use crate::natural::{add_assign, mask, reduce_once, sub_assign};
use crate::pow::{self, pow, pow_by};
use crate::product::products_of_groups;
use crate::ring::{Plain, PlainRings};
use crate::single;
use crate::{ArithError, Batch, Engine, Exponents};
use std::fmt;
use std::sync::Arc;

/// An odd modulus of 2 to 16 384 bits, prepared for an engine. Cloning is cheap; the modulus is
/// wiped when the last clone is dropped.
///
/// Input and output residues are canonical: below the modulus, with [`Modulus::limbs`] limbs of 64
/// bits.
///
/// ```
/// use hearith_arith::{Batch, Engine, Exponents, Modulus};
/// let m = Modulus::new(Engine::best(), &[1_000_003])?;
/// let bases = Batch::from_rows(1, [&[2][..], &[3]]);
/// assert_eq!(m.pow(&bases, Exponents::Shared(&[10], 4)).as_limbs(), [1024, 59049]);
/// # Ok::<(), hearith_arith::ArithError>(())
/// ```
#[derive(Clone)]
pub struct Modulus(pub(crate) Arc<MontgomeryParams>);

/// A fixed factor in Montgomery form. Multiplying by it takes one Montgomery multiplication.
#[derive(Clone, Debug)]
pub struct Factor(pub(crate) Batch);

impl Modulus {
    /// Prepares a modulus, given in 64-bit limbs, least significant first.
    ///
    /// # Errors
    /// If the modulus is even or its size is out of range.
    pub fn new(engine: Engine, limbs: &[u64]) -> Result<Self, ArithError> {
        Ok(Modulus(MontgomeryParams::new(engine, limbs)?))
    }

    /// The engine of the arithmetic.
    pub fn engine(&self) -> Engine {
        self.0.engine.engine()
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> u32 {
        self.0.bits
    }

    /// 64-bit limbs of the modulus and of every residue.
    pub fn limbs(&self) -> usize {
        self.0.limbs()
    }

    /// The limbs of the modulus.
    pub fn as_limbs(&self) -> &[u64] {
        &self.0.m
    }

    /// Reduces numbers of any width.
    pub fn reduce(&self, numbers: &Batch) -> Batch {
        with_kernel_for!(&self.0, numbers.len(), K => reduce::<K>(&self.0, numbers))
    }

    /// The products of numbers of any width, row by row. For numbers as wide as the modulus, this
    /// takes a multiplication with Barrett's reduction if the engine has enough spare bits, or else
    /// two Montgomery multiplications.
    ///
    /// # Panics
    /// If the batches differ in length.
    pub fn mul(&self, a: &Batch, b: &Batch) -> Batch {
        assert_eq!(a.len(), b.len(), "there must be one factor per row");
        if let Some(products) = single::mul(&self.0, a, b) {
            return products;
        }
        with_kernel_for!(&self.0, a.len(), K => mul::<K>(&self.0, a, b))
    }

    /// Prepares a number of any width as a factor of many products.
    pub fn factor(&self, number: &[u64]) -> Factor {
        let number = Batch::from_rows(number.len(), [number]);
        Factor(with_kernel_for!(&self.0, 1, K => montgomery::<K>(&self.0, &number)))
    }

    /// Multiplies numbers of any width by one prepared factor. For numbers as wide as the modulus,
    /// this takes one Montgomery multiplication each.
    pub fn mul_by(&self, a: &Batch, factor: &Factor) -> Batch {
        with_kernel_for!(&self.0, a.len(), K => mul_by::<K>(&self.0, a, factor))
    }

    /// The sums of residues, row by row.
    pub fn add(&self, a: &Batch, b: &Batch) -> Batch {
        self.zip(a, b, |x, y| {
            let carry = add_assign(x, y);
            reduce_once(x, carry, self.as_limbs());
        })
    }

    /// The differences of residues, row by row.
    pub fn sub(&self, a: &Batch, b: &Batch) -> Batch {
        self.zip(a, b, |x, y| {
            let borrowed = mask(sub_assign(x, y));
            let mut carry = 0;
            for (limb, &m) in x.iter_mut().zip(self.as_limbs()) {
                (*limb, carry) = crate::natural::adc(*limb, m & borrowed, carry);
            }
        })
    }

    /// The negatives of residues.
    pub fn neg(&self, a: &Batch) -> Batch {
        self.sub(&Batch::zeros(a.len(), self.limbs()), a)
    }

    /// Powers of numbers of any width, by the window method. Constant time in secret exponents and
    /// in the bases.
    pub fn pow(&self, bases: &Batch, exponents: Exponents<'_>) -> Batch {
        with_kernel_for!(&self.0, bases.len(), K => pow::<Plain<K>>(Moduli::Shared(&self.0), bases, exponents))
    }

    /// Powers as [`Modulus::pow`], by the Montgomery ladder, which takes about 1.7 times as many
    /// products.
    pub fn pow_ladder(&self, bases: &Batch, exponents: Exponents<'_>) -> Batch {
        with_kernel_for!(&self.0, bases.len(), K => pow_by::<Plain<K>>(ladder, Moduli::Shared(&self.0), bases, exponents))
    }

    /// For each group, the product of the residues with the listed row numbers, at one Montgomery
    /// multiplication per residue; 1 for an empty group.
    ///
    /// # Panics
    /// If a group lists a row that does not exist, or the residues do not have the width of the
    /// modulus.
    pub fn products<G: AsRef<[u32]> + Sync>(&self, residues: &Batch, groups: &[G]) -> Batch {
        assert_eq!(residues.limbs(), self.limbs(), "residues must have the width of the modulus");
        products_of_groups(&self.0, residues, groups)
    }

    /// The product of the powers `base^exponent` of all rows, with exponents below `2^bits`; 1 for
    /// an empty batch. For public exponents only: the running time depends on them.
    ///
    /// # Panics
    /// Unless there is one exponent per base.
    pub fn product_of_powers(&self, bases: &Batch, exponents: &Batch, bits: u32) -> Batch {
        product_of_powers::<PlainRings>(&self.0, bases, exponents, bits)
    }

    /// Applies `step` to each row of a copy of `a` and the corresponding row of `b`.
    fn zip(&self, a: &Batch, b: &Batch, step: impl Fn(&mut [u64], &[u64])) -> Batch {
        assert_eq!(
            (a.len(), a.limbs(), b.limbs()),
            (b.len(), self.limbs(), self.limbs()),
            "both batches must have the same number of residues, of the width of the modulus"
        );
        let mut out = a.clone();
        out.rows_mut().zip(b.rows()).for_each(|(x, y)| step(x, y));
        out
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({} bits, {})", self.bits(), self.engine())
    }
}

/// Powers of 2 modulo several moduli of the same width, one per row, in parallel lanes. Takes one
/// squaring per bit of the exponents and no other product, in constant time. Results are canonical.
///
/// # Panics
/// Unless there is one exponent per modulus, or if moduli differ in width or engine.
pub fn powers_of_two(moduli: &[&Modulus], exponents: Exponents<'_>) -> Batch {
    let Some(first) = moduli.first() else {
        return Batch::zeros(0, 1);
    };
    let constants: Vec<&MontgomeryParams> = moduli.iter().map(|modulus| &*modulus.0).collect();
    with_kernel_for!(&first.0, moduli.len(), K => pow::powers_of_two::<K>(&constants, exponents))
}

fn reduce<K: Kernel>(constants: &MontgomeryParams, numbers: &Batch) -> Batch {
    let mut out = Batch::zeros(numbers.len(), constants.limbs());
    for_groups::<Plain<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut residues = Space::<K>::new(m.k);
        work.reduce(m, &mut residues, &rows_of(numbers, range));
        work.mul_to_canonical(m, rows.chunks_exact_mut(m.limbs), &residues, &m.one[..m.k]);
    });
    out
}

fn mul<K: Kernel>(constants: &MontgomeryParams, a: &Batch, b: &Batch) -> Batch {
    if let Some(digits) = barrett::digits::<K>(constants, a.limbs().max(b.limbs())) {
        return barrett::mul::<K>(constants, a, b, digits);
    }
    let mut out = Batch::zeros(a.len(), constants.limbs());
    for_groups::<Plain<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let (mut x, mut y) = (Space::<K>::new(m.k), Space::<K>::new(m.k));
        work.reduce(m, &mut x, &rows_of(a, range.clone()));
        work.enter(m, &mut y, &rows_of(b, range));
        work.mul_to_canonical(m, rows.chunks_exact_mut(m.limbs), &x, &y);
    });
    out
}

/// `x R mod m`, canonical.
fn montgomery<K: Kernel>(constants: &MontgomeryParams, numbers: &Batch) -> Batch {
    let mut out = Batch::zeros(numbers.len(), constants.limbs());
    for_groups::<Plain<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut residues = Space::<K>::new(m.k);
        work.reduce(m, &mut residues, &rows_of(numbers, range));
        work.mul_to_canonical(m, rows.chunks_exact_mut(m.limbs), &residues, &m.r2[..m.k]);
    });
    out
}

fn mul_by<K: Kernel>(constants: &MontgomeryParams, a: &Batch, factor: &Factor) -> Batch {
    let mut out = Batch::zeros(a.len(), constants.limbs());
    let mut lanes = Space::<K>::new(constants.k);
    K::load(&mut lanes, &vec![factor.0.row(0); K::LANES], 0);
    for_groups::<Plain<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut x = Space::<K>::new(m.k);
        work.reduce(m, &mut x, &rows_of(a, range));
        work.mul_to_canonical(m, rows.chunks_exact_mut(m.limbs), &x, &lanes);
    });
    out
}
