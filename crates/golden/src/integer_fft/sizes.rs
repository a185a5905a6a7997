//! The keys of \[CMOOH13\]'s Tables 1 and 2, as its figures and ours are computed for.

use super::encryption::Lengths;

/// Lengths of a key; bits, but for the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The paper's word for it.
    pub name: &'static str,
    /// Of a coefficient.
    pub coefficient: u64,
    /// Of the modulus.
    pub modulus: u64,
    /// `tau`, or the elements of each kind.
    pub elements: u64,
    /// Of the correction of an element, as `hearith-dghv` has it.
    pub correction: u64,
}

const fn size(name: &'static str, coefficient: u64, modulus: u64, elements: u64, correction: u64) -> Size {
    Size { name, coefficient, modulus, elements, correction }
}

/// CMNT's, as in Table 1.
pub const CMNT: [Size; 4] = [
    size("toy", 42, 160_000, 12, 1131),
    size("small", 52, 860_000, 23, 1685),
    size("medium", 62, 4_200_000, 44, 2239),
    size("large", 72, 19_000_000, 88, 2793),
];

/// CNT's, as in Table 2: moduli are rounded there, and the last number of elements is a misprint
/// for 7659 that its Table 6 was run with.
pub const CNT: [Size; 4] = [
    size("toy", 936, 150_000, 158, 1031),
    size("small", 1476, 830_000, 572, 1611),
    size("medium", 2016, 4_200_000, 2110, 2191),
    size("large", 2556, 19_350_000, 7695, 2771),
];

impl Size {
    /// What the encryptor is told, for CMNT if that is `quadratic`.
    pub fn lengths(&self, quadratic: bool) -> Lengths {
        let Size { coefficient, modulus, elements, correction, .. } = *self;
        let terms = u64::from(elements.ilog2()) + 2;
        let excess = if quadratic { modulus + coefficient + 2 * terms } else { coefficient + terms };
        Lengths { modulus, elements, coefficient, correction, excess }
    }
}
