//! The measured tasks, and the numbers that all contestants use for them.

/// Approximate nanoseconds per limb of a task.
pub const LIMB: usize = 60;
/// Nanoseconds above which tasks get few rounds, or one.
pub const LONG: usize = 50_000_000;
pub const LONGEST: usize = 100_000_000;

/// A measured task, in 64-bit limbs.
#[derive(Clone, Copy)]
pub enum Task {
    /// A product of two numbers of this many limbs.
    Product(usize),
    /// The remainder of a number by a modulus, with these numbers of limbs.
    Remainder(usize, usize),
    /// Transforms of 2 to this power residues modulo each of the eight primes.
    Transform(u32),
}

impl Task {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Task::Product(limbs) => format!("{} bits by as many", bits(limbs)),
            Task::Remainder(x, m) => format!("{} bits modulo {}", bits(x), bits(m)),
            Task::Transform(log) => format!("8 transforms of 2^{log} residues"),
        }
    }

    /// Its approximate duration in nanoseconds.
    pub fn nanoseconds(self) -> usize {
        match self {
            Task::Product(limbs) => LIMB * limbs,
            Task::Remainder(x, _) => LIMB * x,
            Task::Transform(log) => LIMB << log,
        }
    }
}

/// The bits of this many limbs, as text.
pub fn bits(limbs: usize) -> String {
    let bits = 64 * limbs as u64;
    match bits {
        1_000_000.. => format!("{:.0} million", bits as f64 / 1e6),
        _ => format!("{:.0} thousand", bits as f64 / 1e3),
    }
}

/// The numbers that all contestants generate: splitmix64 from a seed.
pub fn number(limbs: usize, mut seed: u64) -> Vec<u64> {
    let mut next = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..limbs).map(|_| next()).collect()
}

/// A modulus whose top bit is set.
pub fn modulus(limbs: usize) -> Vec<u64> {
    let mut modulus = number(limbs, 2);
    modulus[limbs - 1] |= 1 << 63;
    modulus
}

/// A hash to compare results.
pub fn hash(limbs: &[u64]) -> u64 {
    limbs.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &limb| (hash ^ limb).wrapping_mul(0x0100_0000_01b3))
}
