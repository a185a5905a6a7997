//! The noise source beside an encryptor board.

use zeroize::Zeroizing;

/// Bytes that are drawn together.
const DRAWN: usize = 4096;

/// A noise source: a bit a cycle, each from the operating system's generator of random numbers and
/// from nowhere else.
#[derive(Debug)]
pub struct NoiseSource {
    /// What ails it.
    pub fault: Option<NoiseFault>,
    bits: Zeroizing<Vec<u8>>,
    at: usize,
}

/// What a noise source can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseFault {
    /// All its bits are the same.
    Stuck,
    /// It gives none.
    Gone,
}

impl NoiseSource {
    /// A source that works.
    pub fn new() -> Self {
        Self { fault: None, bits: Zeroizing::new(vec![0; DRAWN]), at: 8 * DRAWN }
    }

    /// The bit of a cycle; none where there is none, as when the operating system has no more.
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
        // What was given is kept nowhere else.
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
