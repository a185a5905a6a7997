//! The choice of a kernel for a modulus: `kernels/sizes.h` in Rust.

use std::fmt;

/// The arithmetic of limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// Limbs of 52 bits in double precision.
    Wide,
    /// Limbs of 28 bits on 32-bit multipliers.
    Narrow,
}

/// The limbs of a number, and the threads of a card that share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) limbs: usize,
    pub(crate) threads: usize,
}

/// The operation of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// Powers with an exponent that all rows share.
    Power,
    /// Powers with one exponent per row.
    Multiple,
    /// Powers of one base.
    Comb,
    /// Products of rows.
    Product,
    /// Conversion of words to limbs.
    Unpack,
    /// Overwriting of local memory.
    Wipe,
}

/// A kernel, with the size that it is compiled for; 0 if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub(crate) arithmetic: Arithmetic,
    pub(crate) operation: Operation,
    pub(crate) limbs: usize,
    pub(crate) threads: usize,
}

/// Least number of bits by which Montgomery's `R` exceeds the modulus. It allows multiplications
/// without subtractions (`kernels/ring.cuh` has the bounds).
const SPARE_BITS: usize = 8;

const fn sizes<const N: usize>(pairs: [(usize, usize); N]) -> [Size; N] {
    let mut all = [Size { limbs: 0, threads: 0 }; N];
    let mut at = 0;
    while at < N {
        all[at] = Size { limbs: pairs[at].0, threads: pairs[at].1 };
        at += 1;
    }
    all
}

const WIDE_MODULI: &[Size] = &sizes([(10, 1), (20, 1), (30, 1), (40, 4), (60, 4), (80, 8)]);
const WIDE_SQUARES: &[Size] = &sizes([(40, 2), (80, 4), (120, 8), (160, 8)]);
const NARROW_MODULI: &[Size] = &sizes([(19, 1), (37, 1), (56, 2), (76, 4), (112, 4), (152, 8)]);
const NARROW_SQUARES: &[Size] = &sizes([(74, 2), (148, 4), (224, 8), (296, 8)]);

impl Arithmetic {
    /// Both arithmetic.
    pub const ALL: [Arithmetic; 2] = [Arithmetic::Wide, Arithmetic::Narrow];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::Wide => "wide",
            Arithmetic::Narrow => "narrow",
        }
    }

    /// Bits of a limb.
    pub(crate) fn bits(self) -> usize {
        match self {
            Arithmetic::Wide => 52,
            Arithmetic::Narrow => 28,
        }
    }

    /// Bytes of a limb in the card's memory.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Arithmetic::Wide => 8,
            Arithmetic::Narrow => 4,
        }
    }

    /// The smallest size for dual numbers modulo the square of a modulus of `bits` bits.
    pub(crate) fn modulus(self, bits: u32) -> Option<Size> {
        self.smallest(if self == Arithmetic::Wide { WIDE_MODULI } else { NARROW_MODULI }, bits)
    }

    /// The smallest size for ordinary numbers modulo a square of `bits` bits.
    pub(crate) fn square(self, bits: u32) -> Option<Size> {
        self.smallest(if self == Arithmetic::Wide { WIDE_SQUARES } else { NARROW_SQUARES }, bits)
    }

    fn smallest(self, sizes: &[Size], bits: u32) -> Option<Size> {
        sizes.iter().find(|size| size.limbs * self.bits() >= bits as usize + SPARE_BITS).copied()
    }

    /// All kernels of this arithmetic.
    #[cfg(test)]
    pub(crate) fn kernels(self) -> Vec<Kernel> {
        let (moduli, squares) = match self {
            Arithmetic::Wide => (WIDE_MODULI, WIDE_SQUARES),
            Arithmetic::Narrow => (NARROW_MODULI, NARROW_SQUARES),
        };
        let powers = [Operation::Power, Operation::Multiple, Operation::Comb];
        let powers = moduli.iter().flat_map(|size| powers.map(|operation| self.kernel(operation, *size)));
        let products = squares.iter().map(|size| self.kernel(Operation::Product, *size));
        let others = [Operation::Unpack, Operation::Wipe];
        let others = others.map(|operation| self.kernel(operation, Size { limbs: 0, threads: 1 }));
        powers.chain(products).chain(others).collect()
    }

    /// A kernel of this arithmetic.
    pub(crate) fn kernel(self, operation: Operation, size: Size) -> Kernel {
        Kernel { arithmetic: self, operation, limbs: size.limbs, threads: size.threads }
    }
}

impl Kernel {
    /// Blocks of a multiprocessor that fit its registers: `kernels/kernels.cuh`.
    pub(crate) fn blocks(self) -> usize {
        let combs_of_few = self.operation == Operation::Comb && self.limbs / self.threads <= 10;
        if combs_of_few { 3 } else { 2 }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Kernel {
    /// The kernel's symbol.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = match self.operation {
            Operation::Power => "power",
            Operation::Multiple => "multiple",
            Operation::Comb => "comb",
            Operation::Product => "product",
            Operation::Unpack => return write!(f, "{}_unpack", self.arithmetic),
            Operation::Wipe => return write!(f, "{}_wipe", self.arithmetic),
        };
        write!(f, "{}_{operation}_{}", self.arithmetic, self.limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_from_1024_to_4096_bits_has_kernels() {
        for arithmetic in Arithmetic::ALL {
            for bits in (1024..=4096).step_by(2) {
                for size in [arithmetic.modulus(bits / 2), arithmetic.modulus(bits), arithmetic.square(2 * bits)] {
                    let size = size.expect("a size");
                    assert_eq!(size.limbs % size.threads, 0);
                    // Limits of the registers of a thread and, for narrow limbs, of a column.
                    assert!(size.limbs / size.threads <= if arithmetic == Arithmetic::Wide { 30 } else { 37 });
                }
            }
            assert_eq!((arithmetic.modulus(4500), arithmetic.square(8700)), (None, None));
        }
    }

    #[test]
    fn sizes_are_those_that_the_kernels_are_compiled_for() {
        let header = include_str!("../kernels/sizes.h");
        for (name, sizes) in
            [("Wide, wide", [WIDE_MODULI, WIDE_SQUARES]), ("Narrow, narrow", [NARROW_MODULI, NARROW_SQUARES])]
        {
            for size in sizes.concat() {
                assert!(header.contains(&format!("X({name}, {}, {})", size.limbs, size.threads)), "{name} {size:?}");
            }
        }
        assert_eq!(header.matches("X(Wide, ").count() + header.matches("X(Narrow, ").count(), 20);
    }
}
