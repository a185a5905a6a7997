//! Powers of one base by the comb method, with almost no squarings.

use crate::backend::{with_kernel, with_kernel_for};
use crate::constants::MontgomeryParams;
use crate::groups::{Moduli, for_long_groups};
use crate::kernel::{Kernel, Lanes, SHARED_ENTRIES, Space};
use crate::natural::bit_at;
use crate::ring::{Dual, Ring, Word, Workspace};
use crate::{Batch, Pairs, Square};

/// Tables of powers of one public base modulo `m^2`, for secret exponents of a fixed length.
///
/// This is the comb of Lim and Lee \[LL94\]. The exponent is written in `teeth` rows of bits, which
/// are cut into `blocks` blocks of `block` columns each. Each block has a table of the `2^teeth`
/// products of its rows' weights. A power with `teeth * blocks * block` bits takes one
/// multiplication per column and `block - 1` squarings. Tables are read entirely, with masks.
#[derive(Clone)]
pub struct FixedBase {
    square: Square,
    shape: Comb,
    /// All tables, in the radix of the engine's kernel: limb `j` of entry `e` is at
    /// `SHARED_ENTRIES j + e`.
    tables: Vec<u64>,
}

/// The layout of an exponent's bits.
#[derive(Clone, Copy)]
struct Comb {
    blocks: usize,
    block: usize,
}

/// Rows of a comb. Reading a table of 64 entries costs a tenth to a fifth of the multiplication on
/// either engine. One more row would save a seventh of the multiplications and double the tables.
const TEETH: u32 = SHARED_ENTRIES.trailing_zeros();
/// Columns of a block. Squarings are then a tenth of the multiplications.
const BLOCK: usize = 16;

impl Comb {
    fn new(bits: u32) -> Self {
        let columns = bits.div_ceil(TEETH).max(1) as usize;
        let blocks = columns.div_ceil(BLOCK);
        Comb { blocks, block: columns.div_ceil(blocks) }
    }

    fn columns(self) -> usize {
        self.blocks * self.block
    }

    /// The index of an exponent's table entry for a column of a block.
    fn digit(self, exponent: &[u64], block: usize, column: usize) -> u64 {
        let bit = |tooth| bit_at(exponent, tooth as usize * self.columns() + block * self.block + column) << tooth;
        (0..TEETH).fold(0, |digit, tooth| digit | bit(tooth))
    }
}

/// Numbers of multiplications and squarings of a power.
pub(crate) fn shape_of(exponent_bits: u32) -> (u64, u64) {
    let shape = Comb::new(exponent_bits);
    (shape.columns() as u64, shape.block as u64 - 1)
}

impl FixedBase {
    /// Prepares powers of `base`, a number modulo `m^2` of any width, with exponents below
    /// `2^exponent_bits`.
    pub fn new(square: &Square, base: &[u64], exponent_bits: u32) -> Self {
        let shape = Comb::new(exponent_bits);
        let base = Batch::from_rows(base.len(), [base]);
        let tables = with_kernel!(square.constants().engine, K => tables::<Dual<K>>(square.constants(), &base, shape));
        FixedBase { square: square.clone(), shape, tables }
    }

    /// The powers of the base, one per exponent. Constant time in the exponents.
    ///
    /// Bits at and above the length passed to [`FixedBase::new`], rounded up to the comb, are
    /// ignored.
    pub fn pow(&self, exponents: &Batch) -> Pairs {
        let constants = self.square.constants();
        Pairs::from_rows(with_kernel_for!(constants, exponents.len(), K => {
            comb::<Dual<K>>(constants, &self.tables, self.shape, exponents)
        }))
    }
}

impl std::fmt::Debug for FixedBase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FixedBase({:?}, {} tables)", self.square, self.shape.blocks)
    }
}

fn tables<R: Ring>(constants: &MontgomeryParams, base: &Batch, shape: Comb) -> Vec<u64> {
    let m = Lanes::<R::Kernel>::new(&[constants]);
    let width = R::width(&m);
    let mut work = Workspace::<R>::new(m.k);
    let mut weight = Space::<R::Kernel>::new(width);
    work.enter(&m, &mut weight, &vec![base.row(0); R::Kernel::LANES]);
    // weights[b teeth + t] = base^(2^(t columns + b block)), computed in the order of their
    // exponents.
    let mut weights = Space::<R::Kernel>::new(shape.blocks * TEETH as usize * width);
    for tooth in 0..TEETH as usize {
        for block in 0..shape.blocks {
            let at = (block * TEETH as usize + tooth) * width;
            weights[at..at + width].copy_from_slice(&weight);
            work.sqr_assign(&m, &mut weight, shape.block);
        }
    }
    let mut out = Vec::with_capacity(shape.blocks * SHARED_ENTRIES * width);
    for teeth in weights.chunks_exact(TEETH as usize * width) {
        let table = subset_products::<R>(&m, &mut work, teeth, SHARED_ENTRIES);
        for word in 0..width {
            out.extend((0..SHARED_ENTRIES).map(|entry| R::Kernel::lane(&table[entry * width + word], 0)));
        }
    }
    out
}

/// The products of all subsets of the weights, where entry `e` contains the weights of its set
/// bits.
fn subset_products<R: Ring>(
    m: &Lanes<R::Kernel>,
    work: &mut Workspace<R>,
    weights: &[Word<R>],
    entries: usize,
) -> Space<R::Kernel> {
    let width = R::width(m);
    let mut table = Space::<R::Kernel>::new(entries * width);
    table[..width].copy_from_slice(R::one(m));
    for entry in 1..entries {
        let (done, next) = table.split_at_mut(entry * width);
        let without = &done[(entry & (entry - 1)) * width..][..width];
        let weight = &weights[entry.trailing_zeros() as usize * width..][..width];
        R::mul(m, &mut next[..width], without, weight, &mut work.scratch);
    }
    table
}

fn comb<R: Ring>(constants: &MontgomeryParams, tables: &[u64], shape: Comb, exponents: &Batch) -> Batch {
    let limbs = R::PARTS * constants.limbs();
    let mut out = Batch::zeros(exponents.len(), limbs);
    for_long_groups::<R>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let width = R::width(m);
        let (mut power, mut entry) = (Space::<R::Kernel>::new(width), Space::<R::Kernel>::new(width));
        let mut index = Word::<R>::default();
        power.copy_from_slice(R::one(m));
        for column in (0..shape.block).rev() {
            if column + 1 < shape.block {
                work.sqr_assign(m, &mut power, 1);
            }
            for (block, table) in tables.chunks_exact(SHARED_ENTRIES * width).enumerate() {
                for (lane, row) in range.clone().enumerate() {
                    R::Kernel::set_lane(&mut index, lane, shape.digit(exponents.row(row), block, column));
                }
                R::Kernel::select_shared(&mut entry, table, &index);
                work.mul_assign(m, &mut power, &entry);
            }
        }
        work.exit(m, rows.chunks_exact_mut(limbs), &power);
    });
    out
}
