//! The parameters that a co-processor was built with.

use crate::accelerator::Shape;

/// The multipliers of a co-processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Multiplies a digit by a word, with the quotient delayed by some digits: `mont_mul_cios`.
    Cios,
    /// Multiplies by large digits, on one array: `mont_mul_digit`.
    Digit,
    /// Multiplies modulo `n` in dual numbers `low + high M'`, where `M'` is a multiple of `n`:
    /// `dual_mul`.
    Dual,
}

/// The parameters that a co-processor was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoprocParameters {
    /// Bits that a key's modulus `n` must have.
    pub bits: u32,
    /// The type of its multipliers.
    pub core: Core,
    /// Number of parallel multipliers.
    pub cores: u32,
    /// Number of commands in progress at a time.
    pub contexts: u32,
    /// Bits of a digit of its multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits; 0 for large digits.
    pub delay: u32,
    /// Bits of a word: a digit is multiplied by a word at a time.
    pub word_bits: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Results are divided by `2^leave_bits` on output; for dual numbers, their high parts are.
    pub leave_bits: u32,
    /// Number of running products that it keeps.
    pub groups: u32,
    /// Teeth of its comb.
    pub teeth: u32,
    /// Clock cycles between two products of a multiplier. Two squares of dual numbers take two
    /// thirds.
    pub interval: u32,
}

impl CoprocParameters {
    pub(super) fn read(
        [bits, cores, shape, stream_bits, r_bits, leave_bits, memory, interval]: [u32; 8],
    ) -> Option<Self> {
        if !(64..=4096).contains(&bits) {
            return None;
        }
        let [core, cores, contexts, _] = cores.to_le_bytes().map(u32::from);
        let (digit_bits, delay, word_bits) = (shape & 0xfff, shape >> 12 & 0xf, shape >> 16 & 0xfff);
        let (groups, teeth) = (memory & 0xffff, memory >> 16);
        let scale_bits = digit_bits * (delay + 1);
        let digits = (4..=32).contains(&digit_bits) && scale_bits <= 64;
        // The multipliers, whether their parameters are valid, and the bits of their modulus.
        let (core, arithmetic, modulus_bits) = match core {
            0 => (Core::Cios, digits && leave_bits == scale_bits, 2 * bits),
            1 => (Core::Digit, digit_bits > 0 && leave_bits == 0, 2 * bits),
            2 => (Core::Dual, digits && leave_bits == bits + scale_bits + 3, bits),
            _ => return None,
        };
        let known = arithmetic
            && bits.is_multiple_of(32)
            && (1..=16).contains(&cores)
            && (2..=16).contains(&contexts)
            && (32..=1 << 16).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (modulus_bits + 2..=modulus_bits + 2 + 4096).contains(&r_bits)
            && groups.is_power_of_two()
            && (teeth == 4 || teeth == 8)
            && (1..1 << 16).contains(&interval);
        let read = Self {
            bits,
            core,
            cores,
            contexts,
            digit_bits,
            delay,
            word_bits,
            stream_bits,
            r_bits,
            leave_bits,
            groups,
            teeth,
            interval,
        };
        known.then_some(read)
    }

    /// Limbs of an operand, a number modulo `n^2`.
    pub(super) fn limbs(&self) -> usize {
        (2 * self.bits / 64) as usize
    }

    /// Number of commands from which the first and the last are negligible.
    pub(super) fn batch_size(&self) -> usize {
        8 * self.contexts as usize
    }

    pub(super) fn shape(&self) -> Shape {
        let Self { bits, stream_bits, contexts, interval, .. } = *self;
        // Several times the duration of the longest powers, one in every context and all on one
        // multiplier.
        let products = u64::from(contexts) * u64::from(3 * bits + 100);
        let quiet_cycles = 4 * products * u64::from(interval + 64) + 20_000;
        Shape { stream_bits, input_bits: 4 * bits + 64, output_bits: 2 * bits + 64, quiet_cycles }
    }
}
