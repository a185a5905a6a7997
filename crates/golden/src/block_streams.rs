//! The election machine \[GTG24\], which processes numbers as blocks of 32 bits: the shapes of its
//! modules, and the cycles of those in `rtl/blocks`.
//!
//! Cycles are counted from the one that accepts the first block to the one that returns the last
//! block, including both, with one block in and out per cycle.

/// The shape of a product: blocks per operand, and block multipliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of blocks of an operand.
    pub blocks: u64,
    /// Number of block products per cycle.
    pub lanes: u64,
}

/// The block products that a multiplier computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// All of them.
    All,
    /// Those for the lower half of the result.
    Low,
    /// Those of a square, each pair once.
    Square,
}

impl Shape {
    /// The paper's shape for numbers of 4096 bits.
    pub const fn of_4096_bits(lanes: u64) -> Self {
        Shape { blocks: 128, lanes }
    }

    /// The cycles of column `k` of a product.
    fn column(self, products: Products, k: u64) -> u64 {
        let n = self.blocks;
        let low = (k + 1).saturating_sub(n) / self.lanes;
        let high = if products == Products::Square { k / 2 } else { k.min(n - 1) } / self.lanes;
        high + 1 - low
    }

    /// `C`: the cycles in which the multipliers of a product are busy, plus one for the highest
    /// block.
    pub fn columns(self, products: Products) -> u64 {
        let count = if products == Products::Low { self.blocks } else { 2 * self.blocks - 1 };
        (0..count).map(|k| self.column(products, k)).sum::<u64>() + u64::from(products != Products::Low)
    }

    /// `U`: the same for the lower half.
    pub fn lower(self) -> u64 {
        self.columns(Products::Low)
    }

    /// Cycles of `block_mul` and `block_square`.
    pub fn product(self, products: Products) -> u64 {
        self.columns(products) + 6
    }

    /// Cycles of `block_reduce` for a number with twice as many blocks.
    pub fn reduction(self) -> u64 {
        self.columns(Products::All) + self.blocks + 15
    }

    /// Cycles of `block_divide` for a divisor with half as many blocks.
    pub fn division(self) -> u64 {
        self.columns(Products::All) + 9
    }

    /// Cycles from one square of `block_power` to the next.
    pub fn interval(self) -> u64 {
        self.columns(Products::All) + self.blocks / self.lanes + 20
    }

    /// Cycles of `block_power` for an exponent of `bits` bits.
    pub fn power(self, bits: u64) -> u64 {
        self.interval() * (bits + 2) + self.blocks
    }

    /// `C` of `block_karatsuba`, which has one multiplier.
    pub fn karatsuba_columns(self) -> u64 {
        self.blocks * (self.blocks + 1) / 2 + 2
    }

    /// Cycles of `block_karatsuba`.
    pub fn karatsuba(self) -> u64 {
        self.karatsuba_columns() + 5
    }
}

/// The dual encryptor, with digits of 16 bits: the length of `n`, the row's delay of a quotient
/// digit, and the cycles of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dual {
    /// Length of `n` in bits.
    pub bits: u64,
    /// `D`.
    pub delay: u64,
    /// `Fold`.
    pub fold: u64,
}

impl Dual {
    /// Number of digits of a part of a number.
    pub fn digits(self) -> u64 {
        (self.bits + 18) / 16 + self.delay + 1
    }

    /// Steps of a product modulo `n`. A square of dual numbers takes two such jobs, a product
    /// three.
    pub fn job(self) -> u64 {
        self.digits() + self.delay + 2
    }

    /// Cycles from one vote's square to that of the other vote.
    pub fn square(self) -> u64 {
        2 * self.fold * self.job()
    }

    /// Cycles from one vote's product to that of the other vote.
    pub fn product(self) -> u64 {
        3 * self.fold * self.job()
    }

    /// Cycles of `count` rounds of two votes side by side, each of `squares` squares and a product.
    pub fn rounds(self, count: u64, squares: u64) -> u64 {
        2 * count * (squares * self.square() + self.product())
    }
}
