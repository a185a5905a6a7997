//! The election machine \[GTG24\], whose numbers move as blocks of 32 bits: what its modules
//! compute, and in how many cycles those of `rtl/blocks` do.
//!
//! Cycles are counted from that of the first block's being taken to that of the last one's being
//! given, both of them included, where blocks come and go one a cycle.

/// The shape of a product: blocks of an operand, and multipliers of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks of an operand.
    pub blocks: u64,
    /// Products of blocks a cycle.
    pub lanes: u64,
}

/// Which products of blocks a multiplier makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// All.
    All,
    /// Those of the lower half of the result.
    Low,
    /// Those of a square, each pair once.
    Square,
}

impl Shape {
    /// What a paper's number of 4096 bits is.
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

    /// `C`: the cycles in which the multipliers of a product are busy, and one for the highest
    /// block.
    pub fn columns(self, products: Products) -> u64 {
        let count = if products == Products::Low { self.blocks } else { 2 * self.blocks - 1 };
        (0..count).map(|k| self.column(products, k)).sum::<u64>() + u64::from(products != Products::Low)
    }

    /// `U`: those of the lower half.
    pub fn lower(self) -> u64 {
        self.columns(Products::Low)
    }

    /// `block_mul` and `block_square`.
    pub fn product(self, products: Products) -> u64 {
        self.columns(products) + 6
    }

    /// `block_reduce`, of a number of twice as many blocks.
    pub fn reduction(self) -> u64 {
        self.columns(Products::All) + self.blocks + 15
    }

    /// `block_divide`, by a divisor of half as many blocks.
    pub fn division(self) -> u64 {
        self.columns(Products::All) + 9
    }

    /// Cycles from one square of `block_power` to the next.
    pub fn interval(self) -> u64 {
        self.columns(Products::All) + self.blocks / self.lanes + 20
    }

    /// `block_power`, with so many bits of the exponent.
    pub fn power(self, bits: u64) -> u64 {
        self.interval() * (bits + 2) + self.blocks
    }

    /// `block_karatsuba`, which has one multiplier: `C`.
    pub fn karatsuba_columns(self) -> u64 {
        self.blocks * (self.blocks + 1) / 2 + 2
    }

    /// `block_karatsuba`.
    pub fn karatsuba(self) -> u64 {
        self.karatsuba_columns() + 5
    }
}

/// The dual encryptor: bits of `n`, the row's delay of a quotient digit, cycles of a step. Its
/// digits have 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dual {
    /// Bits of `n`.
    pub bits: u64,
    /// `D`.
    pub delay: u64,
    /// `Fold`.
    pub fold: u64,
}

impl Dual {
    /// Digits of a part of a number.
    pub fn digits(self) -> u64 {
        (self.bits + 18) / 16 + self.delay + 1
    }

    /// Steps of a product modulo `n`: a square of dual numbers takes two such jobs, a product
    /// three.
    pub fn job(self) -> u64 {
        self.digits() + self.delay + 2
    }

    /// Cycles from one vote's square to the other one's.
    pub fn square(self) -> u64 {
        2 * self.fold * self.job()
    }

    /// The same of products.
    pub fn product(self) -> u64 {
        3 * self.fold * self.job()
    }

    /// Cycles of so many rounds of two votes side by side, each of so many squares and a product.
    pub fn rounds(self, count: u64, squares: u64) -> u64 {
        2 * count * (squares * self.square() + self.product())
    }
}
