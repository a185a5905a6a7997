//! The keys of Tables 1 and 2 in \[CMOOH13\], used to compute the paper's figures and ours.

use super::encryption::Lengths;

/// Lengths of a key, in bits except for the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The paper's name for it.
    pub name: &'static str,
    /// A coefficient.
    pub coefficient: u64,
    /// The modulus.
    pub modulus: u64,
    /// The number of elements, `tau`, or of elements of each kind.
    pub elements: u64,
    /// The correction of an element, as in `hearith-dghv`.
    pub correction: u64,
}

const fn size(name: &'static str, coefficient: u64, modulus: u64, elements: u64, correction: u64) -> Size {
    Size { name, coefficient, modulus, elements, correction }
}

/// CMNT's keys, as in Table 1.
pub const CMNT: [Size; 4] = [
    size("toy", 42, 160_000, 12, 1131),
    size("small", 52, 860_000, 23, 1685),
    size("medium", 62, 4_200_000, 44, 2239),
    size("large", 72, 19_000_000, 88, 2793),
];

/// CNT's keys, as in Table 2. The table rounds the moduli. Its last number of elements, 7695, is
/// a misprint for 7659, but Table 6 was computed with it.
pub const CNT: [Size; 4] = [
    size("toy", 936, 150_000, 158, 1031),
    size("small", 1476, 830_000, 572, 1611),
    size("medium", 2016, 4_200_000, 2110, 2191),
    size("large", 2556, 19_350_000, 7695, 2771),
];

impl Size {
    /// The lengths for the encryptor, for CMNT if `quadratic` is set.
    pub fn lengths(&self, quadratic: bool) -> Lengths {
        let Size { coefficient, modulus, elements, correction, .. } = *self;
        let terms = u64::from(elements.ilog2()) + 2;
        let excess = if quadratic { modulus + coefficient + 2 * terms } else { coefficient + terms };
        Lengths { modulus, elements, coefficient, correction, excess }
    }
}
