//! The cost of the paper's multiplier: DSP blocks, and cycles for the blocks of a long product.

use super::Parameters;

/// Number of 17-by-17-bit DSP blocks for a product of residues, as the paper's tool builds it.
pub fn multiplier(bits: u32) -> u32 {
    bits.div_ceil(17).pow(2)
}

/// Number of residue products in a multiplier whose butterflies multiply by every power of the root
/// except 1.
///
/// It has two transforms, the pointwise products, and an inverse. The last rank of the inverse
/// multiplies both of its inputs, as its constants include `k^-1`.
pub fn residue_products(k: u32) -> u32 {
    let ranks = k.trailing_zeros();
    let transform = k / 2 * ranks - (k - 1);
    3 * transform + k / 2 + 1 + k
}

/// The schedule of a product of `x` by `y` blocks: rows of blocks, each followed by its upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Number of blocks of the first operand.
    pub rows: u64,
    /// Number of blocks of the second operand.
    pub blocks: u64,
}

impl Blocks {
    /// The schedule for operands of these lengths in bits.
    pub fn new(parameters: &Parameters, x_bits: u64, y_bits: u64) -> Self {
        let block = u64::from(parameters.block_bits());
        Self { rows: x_bits.div_ceil(block), blocks: y_bits.div_ceil(block) }
    }

    /// Cycles from the first word of a product to its last, including the last, with one block
    /// every `step` cycles.
    pub const fn cycles(self, step: u64) -> u64 {
        self.rows * (self.blocks + 1) * step
    }
}
