//! What a co-processor was built for.

use crate::accelerator::Shape;

/// The multipliers of a co-processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// A digit by a word, the quotient some digits late: `mont_mul_cios`.
    Cios,
    /// By large digits, on one array: `mont_mul_digit`.
    Digit,
}

/// What a co-processor was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoprocParameters {
    /// Bits that a key's modulus `n` must have.
    pub bits: u32,
    /// Which multipliers it has.
    pub core: Core,
    /// How many of them, side by side.
    pub cores: u32,
    /// Commands at work at a time.
    pub contexts: u32,
    /// Bits of a digit of its multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits; 0 for large digits, which have none.
    pub delay: u32,
    /// Bits of a word: a digit is multiplied by a word at a time.
    pub word_bits: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Results are divided by `2^leave_bits` on the way out.
    pub leave_bits: u32,
    /// Running products that it keeps.
    pub groups: u32,
    /// Teeth of its comb.
    pub teeth: u32,
    /// Clock cycles between two products of a multiplier.
    pub interval: u32,
}

impl CoprocParameters {
    pub(super) fn read(
        [bits, cores, shape, stream_bits, r_bits, leave_bits, memory, interval]: [u32; 8],
    ) -> Option<Self> {
        let [core, cores, contexts, _] = cores.to_le_bytes().map(u32::from);
        let (digit_bits, delay, word_bits) = (shape & 0xfff, shape >> 12 & 0xf, shape >> 16 & 0xfff);
        let (groups, teeth) = (memory & 0xffff, memory >> 16);
        let (core, arithmetic) = match core {
            0 => {
                let digits = (4..=32).contains(&digit_bits) && digit_bits * (delay + 1) <= 64;
                (Core::Cios, digits && leave_bits == digit_bits * (delay + 1))
            }
            1 => (Core::Digit, digit_bits > 0 && leave_bits == 0),
            _ => return None,
        };
        let known = arithmetic
            && (64..=4096).contains(&bits)
            && bits.is_multiple_of(32)
            && (1..=16).contains(&cores)
            && (2..=16).contains(&contexts)
            && (32..=1 << 16).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (2 * bits + 2..=2 * bits + 2 + 4096).contains(&r_bits)
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

    /// Limbs of a number modulo `n^2`, which is what an operand has.
    pub(super) fn limbs(&self) -> usize {
        (2 * self.bits / 64) as usize
    }

    /// Commands that a batch should have for the first and the last not to matter.
    pub(super) fn batch_size(&self) -> usize {
        8 * self.contexts as usize
    }

    pub(super) fn shape(&self) -> Shape {
        let Self { bits, stream_bits, contexts, interval, .. } = *self;
        // Several times what the longest powers take, one in every context and all on one multiplier.
        let products = u64::from(contexts) * u64::from(3 * bits + 100);
        let quiet_cycles = 4 * products * u64::from(interval + 64) + 20_000;
        Shape { stream_bits, input_bits: 4 * bits + 64, output_bits: 2 * bits + 64, quiet_cycles }
    }
}
