//! The noise source next to an encryptor board.

use zeroize::Zeroizing;

/// Bytes drawn at a time.
const DRAWN: usize = 4096;

/// A noise source: a bit per cycle, each from the operating system's random number generator and
/// from nowhere else.
#[derive(Debug)]
pub struct NoiseSource {
    /// Its fault, if any.
    pub fault: Option<NoiseFault>,
    bits: Zeroizing<Vec<u8>>,
    at: usize,
}

/// A fault of a noise source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseFault {
    /// All bits are the same.
    Stuck,
    /// There are no bits.
    Gone,
}

impl NoiseSource {
    /// Creates a source without a fault.
    pub fn new() -> Self {
        Self { fault: None, bits: Zeroizing::new(vec![0; DRAWN]), at: 8 * DRAWN }
    }

    /// The bit of a cycle; `None` if there is none, for instance if the operating system's
    /// generator fails.
    pub fn bit(&mut self) -> Option<bool> {
        match self.fault {
            Some(NoiseFault::Stuck) => return Some(false),
            Some(NoiseFault::Gone) => return None,
            None => (),
        }
        if self.at == 8 * DRAWN {
            getrandom::fill(&mut self.bits).ok()?;
            self.at = 0;
        }
        let byte = &mut self.bits[self.at / 8];
        let bit = *byte & 1 == 1;
        // Used bits are not kept.
        *byte >>= 1;
        self.at += 1;
        Some(bit)
    }
}

impl Default for NoiseSource {
    fn default() -> Self {
        Self::new()
    }
}
