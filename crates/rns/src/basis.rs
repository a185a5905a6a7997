//! A residue number system: its moduli, and conversion to residues and back.

use crate::convert::{self, Numbers, ResidueKernel};
use crate::{Error, ErrorKind, Residues};
use hearith_arith::natural::word::{gcd, inverse_mod};
use hearith_arith::natural::{bit_length, divide_word, product};
use hearith_arith::{Batch, Engine};
use rayon::prelude::*;
use std::sync::Arc;

/// How many numbers one core converts at a time: enough to justify a task, and few enough to stay
/// in its cache.
const CHUNK: usize = 512;

/// Pairwise coprime moduli `q_0 ... q_(t-1)`, prepared for an engine. It converts integers below
/// `Q = q_0 ... q_(t-1)` to their `t` residues and back.
///
/// Moduli can be any integers of 2 to 60 bits, special primes or not. Numbers are rows of
/// [`Basis::limbs`] 64-bit limbs, or slices that hold the same limb of all numbers
/// ([`Basis::residues_of_slices`]). All engines give the same results. No branch and no address
/// depends on a number.
///
/// ```
/// use hearith_arith::{Batch, Engine};
/// use hearith_rns::Basis;
/// let basis = Basis::new(Engine::best(), &[1_073_692_673, 1_073_479_681])?;
/// let numbers = Batch::from_rows(1, [&[7 * 1_073_692_673 + 5][..], &[12]]);
/// let residues = basis.residues(&numbers)?;
/// assert_eq!(residues.column(0), [5, 12]);
/// assert_eq!(basis.numbers(&residues)?, numbers);
/// # Ok::<(), hearith_rns::Error>(())
/// ```
pub struct Basis {
    engine: Engine,
    system: System,
    kernel: Box<dyn ResidueKernel>,
}

/// The moduli and their constants of the Chinese remainder theorem, from which engines prepare
/// their tables.
pub(crate) struct System {
    pub(crate) moduli: Arc<[u64]>,
    /// `Q`, in 64-bit limbs without leading zeros.
    pub(crate) product: Vec<u64>,
    /// `Q / q_i`, in as many limbs as `Q`.
    pub(crate) cofactors: Vec<Vec<u64>>,
    /// `(Q / q_i)^-1 mod q_i`.
    pub(crate) inverses: Vec<u64>,
}

impl Basis {
    /// Maximum number of moduli of a basis.
    pub const MOST_MODULI: usize = 512;
    /// Maximum length of a modulus in bits.
    pub const MOST_BITS: u32 = 60;

    /// Prepares a basis for an engine.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for no moduli or more than 512, or for a modulus below 2 or of more
    /// than 60 bits, [`ErrorKind::NotCoprime`], and
    /// [`ArithError::EngineUnavailable`](hearith_arith::ArithError::EngineUnavailable).
    pub fn new(engine: Engine, moduli: &[u64]) -> Result<Self, Error> {
        let available = engine.available()?;
        let system = System::new(moduli)?;
        let kernel = convert::kernel(available, &system);
        Ok(Self { engine, system, kernel })
    }

    /// The engine that converts.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The moduli.
    pub fn moduli(&self) -> &[u64] {
        &self.system.moduli
    }

    /// `Q`, the product of the moduli.
    pub fn product(&self) -> &[u64] {
        &self.system.product
    }

    /// Length of `Q` in bits.
    pub fn bits(&self) -> u32 {
        bit_length(&self.system.product)
    }

    /// Number of 64-bit limbs of `Q` and of every number.
    pub fn limbs(&self) -> usize {
        self.system.product.len()
    }

    /// The number of IFMA instructions for eight numbers, to residues and back.
    ///
    /// `None` if the engine uses none. Divided by [`peak_rate`](hearith_arith::cost::peak_rate),
    /// they give the physical limit of the conversions.
    pub fn instructions(&self) -> Option<[u64; 2]> {
        self.kernel.instructions()
    }

    /// Computes the residues of numbers with at most [`Basis::bits`] bits.
    ///
    /// # Errors
    /// [`ErrorKind::TooLong`] with the first number that is longer.
    pub fn residues(&self, numbers: &Batch) -> Result<Residues, Error> {
        let mut residues = Residues::zeros(self.system.moduli.clone(), numbers.len());
        self.residues_into(numbers, &mut residues)?;
        Ok(residues)
    }

    /// Computes residues like [`Basis::residues`], into existing residues, which change to the
    /// required basis and length.
    ///
    /// # Errors
    /// As [`Basis::residues`]. In this case some of the residues may already have been overwritten.
    pub fn residues_into(&self, numbers: &Batch, residues: &mut Residues) -> Result<(), Error> {
        self.convert(Numbers::rows(numbers), residues)
    }

    /// Computes the residues of numbers that are given limb by limb: `slices[j][i]` is limb `j` of
    /// number `i`.
    ///
    /// # Errors
    /// As [`Basis::residues`].
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn residues_of_slices(&self, slices: &[&[u64]]) -> Result<Residues, Error> {
        let len = slices.first().map_or(0, |slice| slice.len());
        let mut residues = Residues::zeros(self.system.moduli.clone(), len);
        self.residues_of_slices_into(slices, &mut residues)?;
        Ok(residues)
    }

    /// Computes residues like [`Basis::residues_of_slices`], into existing residues like
    /// [`Basis::residues_into`].
    ///
    /// # Errors
    /// As [`Basis::residues_into`].
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn residues_of_slices_into(&self, slices: &[&[u64]], residues: &mut Residues) -> Result<(), Error> {
        let same = slices.windows(2).all(|pair| pair[0].len() == pair[1].len());
        assert!(same, "the slices must have the same length");
        self.convert(Numbers::Slices(slices.to_vec()), residues)
    }

    fn convert(&self, numbers: Numbers<'_>, residues: &mut Residues) -> Result<(), Error> {
        let (len, bits) = (numbers.len(), self.bits());
        if residues.len() != len || residues.moduli() != self.moduli() {
            *residues = Residues::zeros(self.system.moduli.clone(), len);
        }
        let mut columns: Vec<_> = residues.columns_mut().map(|column| column.chunks_mut(CHUNK)).collect();
        let chunks = (0..len).step_by(CHUNK).map(|start| {
            let columns: Vec<&mut [u64]> = columns.iter_mut().filter_map(Iterator::next).collect();
            (start, numbers.range(start..(start + CHUNK).min(len)), columns)
        });
        // Returns the first number of a chunk that is too long, if any.
        let convert = |(start, numbers, mut columns): (usize, Numbers<'_>, Vec<&mut [u64]>)| {
            let too_long = numbers.longer_than(bits);
            if too_long.is_none() {
                self.kernel.residues(&numbers, &mut columns);
            }
            too_long.map(|row| start + row)
        };
        let too_long = match alone(len) {
            true => chunks.filter_map(convert).min(),
            false => chunks.collect::<Vec<_>>().into_par_iter().filter_map(convert).min(),
        };
        too_long.map_or(Ok(()), |row| Err(ErrorKind::TooLong { bits }.at_row(row)))
    }

    /// Computes the numbers below `Q` with these residues, one row of [`Basis::limbs`] limbs each,
    /// as a public batch.
    ///
    /// # Errors
    /// [`ErrorKind::OtherBasis`] if the residues belong to other moduli.
    pub fn numbers(&self, residues: &Residues) -> Result<Batch, Error> {
        let mut numbers = Batch::zeros(residues.len(), self.limbs()).public();
        self.numbers_into(residues, &mut numbers)?;
        Ok(numbers)
    }

    /// Computes numbers like [`Basis::numbers`], into an existing batch. The batch changes to the
    /// required shape and keeps its secrecy.
    ///
    /// # Errors
    /// As [`Basis::numbers`]. In this case the batch stays unchanged.
    pub fn numbers_into(&self, residues: &Residues, numbers: &mut Batch) -> Result<(), Error> {
        if residues.moduli() != self.moduli() {
            return Err(ErrorKind::OtherBasis.into());
        }
        let (len, limbs) = (residues.len(), self.limbs());
        if numbers.len() != len || numbers.limbs() != limbs {
            *numbers = if numbers.is_secret() { Batch::zeros(len, limbs) } else { Batch::zeros(len, limbs).public() };
        }
        let convert = |(chunk, rows): (usize, &mut [u64])| {
            let range = chunk * CHUNK..chunk * CHUNK + rows.len() / limbs;
            let columns: Vec<&[u64]> = residues.columns().map(|column| &column[range.clone()]).collect();
            self.kernel.numbers(&columns, rows);
        };
        if alone(len) {
            numbers.as_limbs_mut().chunks_mut(CHUNK * limbs).enumerate().for_each(convert);
        } else {
            numbers.as_limbs_mut().par_chunks_mut(CHUNK * limbs).enumerate().for_each(convert);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Basis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Basis({} moduli, {} bits, {})", self.moduli().len(), self.bits(), self.engine)
    }
}

/// Whether there is no work to share among cores.
fn alone(len: usize) -> bool {
    len <= CHUNK || rayon::current_num_threads() == 1
}

impl System {
    pub(crate) fn new(moduli: &[u64]) -> Result<Self, Error> {
        let wrong = |name, value: u64, allowed| Err(Error::parameter(name, value, allowed));
        if !(1..=Basis::MOST_MODULI).contains(&moduli.len()) {
            return wrong("the number of moduli", moduli.len() as u64, "1 to 512 are supported");
        }
        if let Some(&modulus) = moduli.iter().find(|&&modulus| !(2..1 << Basis::MOST_BITS).contains(&modulus)) {
            return wrong("a modulus", modulus, "2 to 2^60 - 1 are supported");
        }
        let mut whole = moduli.iter().fold(vec![1], |whole, &modulus| product(&whole, &[modulus]));
        whole.truncate(bit_length(&whole).div_ceil(64) as usize);
        let cofactors: Vec<Vec<u64>> = moduli.iter().map(|&modulus| divide_word(&whole, modulus).0).collect();
        let inverse = |(cofactor, &modulus): (&Vec<u64>, &u64)| {
            inverse_mod(divide_word(cofactor, modulus).1, modulus).ok_or_else(|| not_coprime(moduli, modulus))
        };
        let inverses = cofactors.iter().zip(moduli).map(inverse).collect::<Result<_, _>>()?;
        Ok(Self { moduli: moduli.into(), product: whole, cofactors, inverses })
    }
}

/// Finds the pair with a common factor.
fn not_coprime(moduli: &[u64], modulus: u64) -> Error {
    let at = moduli.iter().position(|&one| one == modulus).unwrap_or_default();
    let others = moduli.iter().enumerate().filter(|&(index, _)| index != at);
    let other = others.map(|(_, &other)| other).find(|&other| gcd(modulus, other) != 1);
    ErrorKind::NotCoprime { first: modulus, second: other.unwrap_or(modulus) }.into()
}
