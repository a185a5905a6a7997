//! The registers of all accelerators, and each system's parameters and regions.
//!
//! Written by scripts/registers.py from rtl/registers: change those, then run it.

/// The version of the register map.
pub const KNOWN_VERSION: u32 = 3;

/// Four letters, the first on top.
pub const IDENTITY: u32 = 0x00;

/// Of this register map: 3.
pub const VERSION: u32 = 0x04;

/// What the device has.
pub const CAPABILITY: u32 = 0x08;

/// The fields of [`CAPABILITY`].
pub mod capability {
    /// Regions of constants.
    pub const REGIONS: u32 = 0xff;
    /// Branches that take every item.
    pub const BRANCHES: u32 = 0xff00;
    /// A table behind INDEX and VALUE.
    pub const TABLE: u32 = 0x1_0000;
    /// An interrupt, `irq_o`.
    pub const INTERRUPT: u32 = 0x2_0000;
}

/// The number that packets must carry: 0 after a reset, one more after every flush, wipe and change of the key (1 after 65535).
pub const EPOCH: u32 = 0x0c;

/// Each bit written as 1 does something.
pub const CONTROL: u32 = 0x10;

/// The fields of [`CONTROL`].
pub mod control {
    /// Use the constants: items are taken from now on; rejected unless every region is complete that is not optional.
    pub const READY: u32 = 0x1;
    /// Drop what is in flight, and begin a new epoch.
    pub const FLUSH: u32 = 0x2;
    /// Clear the constants, and flush.
    pub const WIPE: u32 = 0x4;
}

/// How the device is.
pub const STATUS: u32 = 0x14;

/// The fields of [`STATUS`].
pub mod status {
    /// The constants are in use.
    pub const READY: u32 = 0x1;
    /// Something is in flight.
    pub const BUSY: u32 = 0x2;
    /// What a flush cut short is still being ended on the way out.
    pub const CLOSING: u32 = 0x4;
    /// A cause stands in ERROR.
    pub const ERROR: u32 = 0x8;
}

/// What went wrong; a cause stays until 1 is written to it.
pub const ERROR: u32 = 0x18;

/// The fields of [`ERROR`].
pub mod error {
    /// No register has this address.
    pub const UNKNOWN: u32 = 0x1;
    /// An address was not a multiple of 4.
    pub const UNALIGNED: u32 = 0x2;
    /// A write did not cover its word.
    pub const PARTIAL: u32 = 0x4;
    /// A write to what can only be read.
    pub const READ_ONLY: u32 = 0x8;
    /// A read of what can only be written.
    pub const WRITE_ONLY: u32 = 0x10;
    /// A write beyond the last word of a constant, or where there is none.
    pub const BEYOND: u32 = 0x20;
    /// A write of a constant while something was in flight.
    pub const LOCKED: u32 = 0x40;
    /// Ready was written and a region was not complete.
    pub const INCOMPLETE: u32 = 0x80;
    /// A packet without the mark or of another epoch was discarded.
    pub const FOREIGN: u32 = 0x100;
    /// A packet did not end where its header said.
    pub const BROKEN: u32 = 0x200;
}

/// The causes of [`ERROR`], in words.
pub const CAUSES: [(u32, &str); 10] = [
    (0x1, "no register has this address"),
    (0x2, "an address was not a multiple of 4"),
    (0x4, "a write did not cover its word"),
    (0x8, "a write to what can only be read"),
    (0x10, "a read of what can only be written"),
    (0x20, "a write beyond the last word of a constant, or where there is none"),
    (0x40, "a write of a constant while something was in flight"),
    (0x80, "ready was written and a region was not complete"),
    (0x100, "a packet without the mark or of another epoch was discarded"),
    (0x200, "a packet did not end where its header said"),
];

/// Which bits of INTERRUPT raise `irq_o`.
pub const INTERRUPT_ENABLE: u32 = 0x1c;

/// The fields of [`INTERRUPT_ENABLE`].
pub mod interrupt_enable {
    /// As in INTERRUPT.
    pub const ERROR: u32 = 0x1;
    /// As in INTERRUPT.
    pub const ANSWER: u32 = 0x2;
    /// As in INTERRUPT.
    pub const IDLE: u32 = 0x4;
}

/// What happened; stays until 1 is written to it.
pub const INTERRUPT: u32 = 0x20;

/// The fields of [`INTERRUPT`].
pub mod interrupt {
    /// A cause was noted in ERROR.
    pub const ERROR: u32 = 0x1;
    /// The last beat of a packet was taken.
    pub const ANSWER: u32 = 0x2;
    /// Nothing is in flight any more.
    pub const IDLE: u32 = 0x4;
}

/// Items taken and not yet answered.
pub const IN_FLIGHT: u32 = 0x24;

/// CRC-32 of the words written into regions since word 0 of one; 0 after ready and wipe.
pub const KEY_CHECK: u32 = 0x28;

/// Which entry of the device's table VALUE shows.
pub const INDEX: u32 = 0x2c;

/// The entry; 0 beyond the last.
pub const VALUE: u32 = 0x30;

/// Cycles with anything in flight.
pub const BUSY: u32 = 0x40;

/// Items taken.
pub const ACCEPTED: u32 = 0x48;

/// Items answered.
pub const DELIVERED: u32 = 0x50;

/// Products started, in the system's unit.
pub const PRODUCTS: u32 = 0x58;

/// Packets discarded whole.
pub const DISCARDED: u32 = 0x60;

/// The system's eight parameters, a word each.
pub const PARAMETERS: u32 = 0x80;

/// The first region.
pub const REGIONS: u32 = 0x1_0000;

/// Bytes of address between two regions.
pub const REGION_BYTES: u32 = 0x800;

/// A region that a constant of a key is written into.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its number: where it is, see [`Region::address`].
    pub number: u32,
    /// Bits of the constant, from the system's `N`, `W` and `D`.
    pub bits: fn(n: u32, w: u32, d: u32) -> u32,
}

impl Region {
    /// Byte address of word 0 of the region with this number.
    pub const fn address(number: u32) -> u32 {
        REGIONS + number * REGION_BYTES
    }
}

/// Of the system `mesa`.
pub mod mesa {
    use super::Region;

    /// What IDENTITY reads.
    pub const IDENTITY: [u8; 4] = *b"MESA"; // 0x4d45_5341
    /// Parameter: bits of n.
    pub const PARAMETER_N: usize = 0;
    /// Parameter: ladders a branch.
    pub const PARAMETER_STAGES: usize = 1;
    /// Parameter: the arithmetic.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: R = 2^R_BITS.
    pub const PARAMETER_R_BITS: usize = 4;
    /// Parameter: bits that the radix-2 multipliers scan.
    pub const PARAMETER_X_BITS: usize = 5;
    /// Parameter: cycles between plaintexts, once the pipeline is full, with exponents of N / 2 bits.
    pub const PARAMETER_INTERVAL: usize = 6;
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u p^2`.
    pub const P_MT: Region = Region { number: 0, bits: |n, w, _d| n.next_multiple_of(w) };
    /// `p^2`.
    pub const P_SQUARE: Region = Region { number: 1, bits: |n, _w, _d| n };
    /// `R 2^XBits mod p^2`.
    pub const P_ENTER: Region = Region { number: 2, bits: |n, _w, _d| n };
    /// `R mod p^2`.
    pub const P_ONE: Region = Region { number: 3, bits: |n, _w, _d| n };
    /// `p - 1`, or `2 p'` of a subgroup key: each stage's bits at the top of its segment, and the next bit below them.
    pub const P_EXPONENT: Region = Region { number: 4, bits: |n, _w, _d| n / 2 };
    /// `p`.
    pub const P_PRIME: Region = Region { number: 5, bits: |n, _w, _d| n / 2 };
    /// `t_p 2^XBits mod n`.
    pub const P_MERGED: Region = Region { number: 6, bits: |n, _w, _d| n };
    /// `n`.
    pub const MODULUS: Region = Region { number: 7, bits: |n, _w, _d| n };
    /// as P_MT, of q.
    pub const Q_MT: Region = Region { number: 8, bits: |n, w, _d| n.next_multiple_of(w) };
    /// `q^2`.
    pub const Q_SQUARE: Region = Region { number: 9, bits: |n, _w, _d| n };
    /// as P_ENTER, of q.
    pub const Q_ENTER: Region = Region { number: 10, bits: |n, _w, _d| n };
    /// as P_ONE, of q.
    pub const Q_ONE: Region = Region { number: 11, bits: |n, _w, _d| n };
    /// as P_EXPONENT, of q.
    pub const Q_EXPONENT: Region = Region { number: 12, bits: |n, _w, _d| n / 2 };
    /// `q`.
    pub const Q_PRIME: Region = Region { number: 13, bits: |n, _w, _d| n / 2 };
    /// `t_q 2^XBits mod n`.
    pub const Q_MERGED: Region = Region { number: 14, bits: |n, _w, _d| n };
    /// steps of the exponents after the first: of a stage in bits 15:0; of the last one, its exit counted, in bits 31:16.
    pub const STEPS: Region = Region { number: 15, bits: |_n, _w, _d| 32 };
}

/// Of the system `mesa_dual`.
pub mod mesa_dual {
    use super::Region;

    /// What IDENTITY reads.
    pub const IDENTITY: [u8; 4] = *b"DUAL"; // 0x4455_414c
    /// Parameter: bits of n.
    pub const PARAMETER_N: usize = 0;
    /// Parameter: exponentiators a branch.
    pub const PARAMETER_LANES: usize = 1;
    /// Parameter: the arithmetic.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: R = 2^R_BITS.
    pub const PARAMETER_R_BITS: usize = 4;
    /// Parameter: bits that the radix-2 multipliers scan.
    pub const PARAMETER_X_BITS: usize = 5;
    /// Parameter: cycles in which all lanes together take LANES ciphertexts, once they are full, with exponents of N / 2 bits.
    pub const PARAMETER_INTERVAL: usize = 6;
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u p`.
    pub const P_MT: Region = Region { number: 0, bits: |n, w, _d| (n / 2).next_multiple_of(w) };
    /// `p - 1`, or `2 p'` of a subgroup key.
    pub const P_EXPONENT: Region = Region { number: 1, bits: |n, _w, _d| n / 2 };
    /// `u = -p^-1 mod 2^(W (D+1))`.
    pub const P_UNIT: Region = Region { number: 2, bits: |_n, w, d| w * (d + 1) };
    /// low part of `2^(N/2) R` as `low + high M'` modulo `p^2`.
    pub const P_SHIFT_LOW: Region = Region { number: 3, bits: |n, _w, _d| n / 2 };
    /// its high part.
    pub const P_SHIFT_HIGH: Region = Region { number: 4, bits: |n, _w, _d| n / 2 };
    /// low part of `R^3`.
    pub const P_ENTER_LOW: Region = Region { number: 5, bits: |n, _w, _d| n / 2 };
    /// its high part.
    pub const P_ENTER_HIGH: Region = Region { number: 6, bits: |n, _w, _d| n / 2 };
    /// low part of `R^2`.
    pub const P_ONE_LOW: Region = Region { number: 7, bits: |n, _w, _d| n / 2 };
    /// its high part.
    pub const P_ONE_HIGH: Region = Region { number: 8, bits: |n, _w, _d| n / 2 };
    /// `t_p 2^XBits mod n`.
    pub const P_MERGED: Region = Region { number: 9, bits: |n, _w, _d| n };
    /// windows of 4 bits of the exponents after the first.
    pub const WINDOWS: Region = Region { number: 14, bits: |_n, _w, _d| 32 };
    /// `n`.
    pub const MODULUS: Region = Region { number: 15, bits: |n, _w, _d| n };
    /// as P_MT, of q.
    pub const Q_MT: Region = Region { number: 16, bits: |n, w, _d| (n / 2).next_multiple_of(w) };
    /// as P_EXPONENT, of q.
    pub const Q_EXPONENT: Region = Region { number: 17, bits: |n, _w, _d| n / 2 };
    /// as P_UNIT, of q.
    pub const Q_UNIT: Region = Region { number: 18, bits: |_n, w, d| w * (d + 1) };
    /// as P_SHIFT_LOW, of q.
    pub const Q_SHIFT_LOW: Region = Region { number: 19, bits: |n, _w, _d| n / 2 };
    /// as P_SHIFT_HIGH, of q.
    pub const Q_SHIFT_HIGH: Region = Region { number: 20, bits: |n, _w, _d| n / 2 };
    /// as P_ENTER_LOW, of q.
    pub const Q_ENTER_LOW: Region = Region { number: 21, bits: |n, _w, _d| n / 2 };
    /// as P_ENTER_HIGH, of q.
    pub const Q_ENTER_HIGH: Region = Region { number: 22, bits: |n, _w, _d| n / 2 };
    /// as P_ONE_LOW, of q.
    pub const Q_ONE_LOW: Region = Region { number: 23, bits: |n, _w, _d| n / 2 };
    /// as P_ONE_HIGH, of q.
    pub const Q_ONE_HIGH: Region = Region { number: 24, bits: |n, _w, _d| n / 2 };
    /// `t_q 2^XBits mod n`.
    pub const Q_MERGED: Region = Region { number: 25, bits: |n, _w, _d| n };
}

/// Of the system `residue_bank`.
pub mod residue_bank {
    /// What IDENTITY reads.
    pub const IDENTITY: [u8; 4] = *b"RESB"; // 0x5245_5342
    /// Parameter: bits of a coefficient, `Words V`.
    pub const PARAMETER_BITS: usize = 0;
    /// Parameter: primes.
    pub const PARAMETER_COUNT: usize = 1;
    /// Parameter: the units.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: cycles between two coefficients of a packet.
    pub const PARAMETER_INTERVAL: usize = 4;
    /// Parameter: cycles from the last beat of a coefficient to the first beat of its residues.
    pub const PARAMETER_LATENCY: usize = 5;
}

/// Of the system `coproc`.
pub mod coproc {
    use super::Region;

    /// What IDENTITY reads.
    pub const IDENTITY: [u8; 4] = *b"COPR"; // 0x434f_5052
    /// Parameter: bits of n.
    pub const PARAMETER_N: usize = 0;
    /// Parameter: the multipliers.
    pub const PARAMETER_CORES: usize = 1;
    /// Parameter: the arithmetic.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: R = 2^R_BITS.
    pub const PARAMETER_R_BITS: usize = 4;
    /// Parameter: S = 2^LEAVE_BITS, by which results are divided on the way out.
    pub const PARAMETER_LEAVE_BITS: usize = 5;
    /// Parameter: the memory of numbers.
    pub const PARAMETER_MEMORY: usize = 6;
    /// Parameter: cycles between two products of a multiplier; between squares of core 2 two thirds.
    pub const PARAMETER_INTERVAL: usize = 7;
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u n^2` (core 0).
    pub const MT: Region = Region { number: 0, bits: |n, w, _d| (2 * n).next_multiple_of(w) };
    /// `n^2`.
    pub const SQUARE: Region = Region { number: 1, bits: |n, _w, _d| 2 * n };
    /// `n`.
    pub const MODULUS: Region = Region { number: 2, bits: |n, _w, _d| n };
    /// `lambda`, for decryption (optional).
    pub const LAMBDA: Region = Region { number: 3, bits: |n, _w, _d| n };
    /// `-1 / n^2 mod 2^W` (core 1).
    pub const INVERSE: Region = Region { number: 4, bits: |_n, w, _d| w };
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u n` (core 2).
    pub const DUAL_MT: Region = Region { number: 5, bits: |n, w, _d| n.next_multiple_of(w) };
    /// `u = -1 / n mod 2^(W (D+1))` (core 2).
    pub const UNIT: Region = Region { number: 6, bits: |_n, w, d| w * (d + 1) };
    /// `n S mod n^2` (core 2).
    pub const EXIT: Region = Region { number: 7, bits: |n, _w, _d| 2 * n };
    /// `R mod n^2`; as a dual number in core 2, `low + high M'`, N bits of low below N of high.
    pub const ONE: Region = Region { number: 8, bits: |n, _w, _d| 2 * n };
    /// `R^2 mod n^2`; `R^3` as a dual number in core 2.
    pub const ENTER: Region = Region { number: 9, bits: |n, _w, _d| 2 * n };
    /// `R^2 S mod n^2` (cores 0 and 1).
    pub const PASS: Region = Region { number: 10, bits: |n, _w, _d| 2 * n };
    /// `S` (cores 0 and 1).
    pub const LEAVE: Region = Region { number: 11, bits: |n, _w, _d| 2 * n };
    /// `n R^2 mod n^2` (cores 0 and 1).
    pub const FACTOR: Region = Region { number: 12, bits: |n, _w, _d| 2 * n };
    /// `2^N mod n^2` as a dual number (core 2).
    pub const SHIFT: Region = Region { number: 13, bits: |n, _w, _d| 2 * n };
}

/// Of the system `dghv`.
pub mod dghv {
    use super::Region;

    /// What IDENTITY reads.
    pub const IDENTITY: [u8; 4] = *b"DGHV"; // 0x4447_4856
    /// Parameter: words of 64 bits of a block.
    pub const PARAMETER_BLOCK: usize = 0;
    /// Parameter: cycles of a product of blocks.
    pub const PARAMETER_POINTS: usize = 1;
    /// Parameter: words of 64 bits in the memory.
    pub const PARAMETER_MEMORY_WORDS: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: circuits for a round of AES.
    pub const PARAMETER_ROUNDS: usize = 4;
    /// Parameter: cycles after which the memory is silent.
    pub const PARAMETER_TIMEOUT: usize = 5;
    /// Parameter: words that both factors of a reduction's product have at least where transforms make it; 0: none do.
    pub const PARAMETER_LONG_WORDS: usize = 6;
    /// what the key's elements are made from, its first byte at the low end.
    pub const SEED: Region = Region { number: 0, bits: |_n, _w, _d| 128 };
}
