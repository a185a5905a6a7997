//! Arithmetic modulo `m^2` on batches, computed modulo `m` (dual Montgomery).

use crate::backend::with_kernel_for;
use crate::buckets::{product_of_powers, shares_squarings};
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_groups, rows_of};
use crate::kernel::{Kernel, Space};
use crate::multi_pow::multi_pow;
use crate::natural::{add_assign, product};
use crate::pow::pow;
use crate::ring::{Dual, DualRings, Ring};
use crate::{ArithError, Batch, Engine, Exponents, Modulus};
use rayon::prelude::*;
use std::fmt;

/// Maximum number of rows that are joined on the current thread, because another thread would start
/// later.
const MAX_SERIAL_ROWS: usize = 8;

/// The square `m^2` of an odd modulus, as a modulus. Results modulo `m^2` are [`Pairs`].
///
/// ```
/// use hearith_arith::{Batch, Engine, Exponents, Square};
/// let square = Square::new(Engine::best(), &[10007])?;
/// let power = square.pow(&Batch::from_rows(1, [&[3][..]]), Exponents::Shared(&[20], 5));
/// assert_eq!(power.low.row(0)[0] + 10007 * power.high.row(0)[0], 3486784401 % (10007 * 10007));
/// # Ok::<(), hearith_arith::ArithError>(())
/// ```
#[derive(Clone)]
pub struct Square(Modulus);

/// Numbers `low + high m` modulo `m^2`, where both parts are canonical residues modulo `m`.
///
/// For a power `x^(m-1)` with `m` prime, `low` is 1 and `high` is Paillier's `L`, without a
/// division.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The residues modulo `m`.
    pub low: Batch,
    /// The multiples of `m`.
    pub high: Batch,
}

impl Square {
    /// Prepares the square of a modulus, given in 64-bit limbs, least significant first.
    ///
    /// # Errors
    /// As [`Modulus::new`].
    pub fn new(engine: Engine, m: &[u64]) -> Result<Self, ArithError> {
        Ok(Square(Modulus::new(engine, m)?))
    }

    /// The modulus `m` that is squared.
    pub fn root(&self) -> &Modulus {
        &self.0
    }

    /// Reduces numbers of any width modulo `m^2` and splits them by `m`, into remainders (low) and
    /// quotients (high), without a division.
    pub fn split(&self, numbers: &Batch) -> Pairs {
        Pairs::from_rows(with_kernel_for!(self.constants(), numbers.len(), K => split::<K>(self.constants(), numbers)))
    }

    /// The numbers `low + high m`, with twice as many limbs as `m`.
    pub fn join(&self, pairs: &Pairs) -> Batch {
        let limbs = self.0.limbs();
        let mut out = Batch::zeros(pairs.low.len(), 2 * limbs);
        let join = |(row, number): (usize, &mut [u64])| {
            let above = zeroize::Zeroizing::new(product(pairs.high.row(row), self.0.as_limbs()));
            number.copy_from_slice(&above);
            add_assign(number, pairs.low.row(row));
        };
        if out.len() <= MAX_SERIAL_ROWS {
            out.as_limbs_mut().chunks_exact_mut(2 * limbs).enumerate().for_each(join);
        } else {
            out.as_limbs_mut().par_chunks_exact_mut(2 * limbs).enumerate().for_each(join);
        }
        out
    }

    /// Powers of numbers of any width, by the window method. Constant time in secret exponents and
    /// in the bases.
    pub fn pow(&self, bases: &Batch, exponents: Exponents<'_>) -> Pairs {
        let moduli = Moduli::Shared(self.constants());
        Pairs::from_rows(with_kernel_for!(self.constants(), bases.len(), K => pow::<Dual<K>>(moduli, bases, exponents)))
    }

    /// For each group, the product of the powers `base^exponent` of the listed rows, with secret
    /// exponents below `2^bits`; 1 for an empty group. The squarings of a group are shared
    /// (Straus).
    ///
    /// # Panics
    /// Unless there is one exponent per base, or if a group lists a row that does not exist.
    pub fn multi_pow<G: AsRef<[u32]> + Sync>(
        &self,
        bases: &Batch,
        exponents: &Batch,
        bits: u32,
        groups: &[G],
    ) -> Pairs {
        assert_eq!(bases.len(), exponents.len(), "there must be one exponent per base");
        let rows = with_kernel_for!(self.constants(), groups.len(), K => multi_pow::<Dual<K>>(self.constants(), bases, exponents, bits, groups));
        Pairs::from_rows(rows)
    }

    /// The product of the powers `base^exponent` of all rows, with bases of any width and exponents
    /// below `2^bits`; 1 for an empty batch. For public exponents only: the running time depends on
    /// them.
    ///
    /// # Panics
    /// Unless there is one exponent per base.
    pub fn product_of_powers(&self, bases: &Batch, exponents: &Batch, bits: u32) -> Pairs {
        let rows = product_of_powers::<DualRings>(self.constants(), bases, exponents, bits);
        Pairs::from_rows(rows)
    }

    /// Whether [`Square::product_of_powers`] of this number of bases shares all squarings, on a
    /// kernel for one number. The product is then faster than its powers in parallel.
    pub fn shares_squarings(&self, bases: usize) -> bool {
        shares_squarings(self.constants(), bases)
    }

    pub(crate) fn constants(&self) -> &MontgomeryParams {
        &self.0.0
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Square({:?})", self.0)
    }
}

impl Pairs {
    /// Splits rows that consist of a low part and a high part.
    pub(crate) fn from_rows(rows: Batch) -> Self {
        let limbs = rows.limbs() / 2;
        let half = |part: usize| Batch::from_rows(limbs, rows.rows().map(|row| &row[part * limbs..][..limbs]));
        Pairs { low: half(0), high: half(1) }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }
}

/// Powers modulo the squares of several moduli of the same width, one per row, in parallel lanes,
/// as for the two halves of a decryption.
///
/// # Panics
/// Unless there is one modulus per row, or if moduli differ in width or engine.
pub fn pow_pairs(squares: &[&Square], bases: &Batch, exponents: Exponents<'_>) -> Pairs {
    assert_eq!(squares.len(), bases.len(), "there must be one modulus per row");
    let Some(first) = squares.first() else {
        return Pairs::from_rows(Batch::zeros(0, 2));
    };
    let constants: Vec<&MontgomeryParams> = squares.iter().map(|square| square.constants()).collect();
    let moduli = Moduli::Each(&constants);
    Pairs::from_rows(with_kernel_for!(first.constants(), bases.len(), K => pow::<Dual<K>>(moduli, bases, exponents)))
}

fn split<K: Kernel>(constants: &MontgomeryParams, numbers: &Batch) -> Batch {
    let mut out = Batch::zeros(numbers.len(), 2 * constants.limbs());
    for_groups::<Dual<K>>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut residues = Space::<K>::new(Dual::<K>::width(m));
        work.enter(m, &mut residues, &rows_of(numbers, range));
        work.exit(m, rows.chunks_exact_mut(2 * m.limbs), &residues);
    });
    out
}
