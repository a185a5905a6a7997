//! Reproducible random numbers.

/// Reproducible random numbers for tests (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait, reason = "an endless generator, not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of `width` random bits, in limbs.
    pub fn bits(&mut self, width: usize) -> Vec<u64> {
        let mut limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| self.next()).collect();
        if !width.is_multiple_of(64) {
            let top = limbs.len() - 1;
            limbs[top] &= (1 << (width % 64)) - 1;
        }
        limbs
    }
}
