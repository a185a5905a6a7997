//! What the paper's multiplier takes: DSP blocks, and cycles for the blocks of a long product.

use super::Parameters;

/// DSP blocks of 17 bits by 17 for a product of residues, as the paper's tool builds it.
pub fn multiplier(bits: u32) -> u32 {
    bits.div_ceil(17).pow(2)
}

/// Products of residues in a whole multiplier whose butterflies multiply by every power of the root
/// but 1: two transforms, the products of points, and an inverse whose last rank multiplies both of
/// its inputs, as `k^-1` is in its constants.
pub fn residue_products(k: u32) -> u32 {
    let ranks = k.trailing_zeros();
    let transform = k / 2 * ranks - (k - 1);
    3 * transform + k / 2 + 1 + k
}

/// How a product of `x` by `y` blocks is made: rows of blocks, and of each row its upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Blocks of the one operand.
    pub rows: u64,
    /// Blocks of the other.
    pub blocks: u64,
}

impl Blocks {
    /// For operands of so many bits.
    pub fn new(parameters: &Parameters, x_bits: u64, y_bits: u64) -> Self {
        let block = u64::from(parameters.block_bits());
        Self { rows: x_bits.div_ceil(block), blocks: y_bits.div_ceil(block) }
    }

    /// Cycles between the first word of a product and its last, that included, for a block in every
    /// `step` cycles.
    pub const fn cycles(self, step: u64) -> u64 {
        self.rows * (self.blocks + 1) * step
    }
}
