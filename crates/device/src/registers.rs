//! The registers of all accelerators, and each system's parameters and regions.
//!
//! Written by scripts/registers.py from rtl/registers: edit these files, then run the script.

/// The version of the register map.
pub const KNOWN_VERSION: u32 = 3;

/// Four ASCII letters, the first in the top byte.
pub const IDENTITY: u32 = 0x00;

/// Version of this register map: 3.
pub const VERSION: u32 = 0x04;

/// Features of the device.
pub const CAPABILITY: u32 = 0x08;

/// The fields of [`CAPABILITY`].
pub mod capability {
    /// Number of regions.
    pub const REGIONS: u32 = 0xff;
    /// Branches that receive every item.
    pub const BRANCHES: u32 = 0xff00;
    /// 1: there is a table behind INDEX and VALUE.
    pub const TABLE: u32 = 0x1_0000;
    /// 1: there is an interrupt, `irq_o`.
    pub const INTERRUPT: u32 = 0x2_0000;
}

/// The number that packets must carry: 0 after a reset, incremented by every flush, wipe and change of the key (1 follows 65535).
pub const EPOCH: u32 = 0x0c;

/// Commands, one per bit written as 1.
pub const CONTROL: u32 = 0x10;

/// The fields of [`CONTROL`].
pub mod control {
    /// Use the constants and accept items; rejected unless all required regions are complete.
    pub const READY: u32 = 0x1;
    /// Drop everything in flight and begin a new epoch.
    pub const FLUSH: u32 = 0x2;
    /// Clear the constants and flush.
    pub const WIPE: u32 = 0x4;
}

/// State of the device.
pub const STATUS: u32 = 0x14;

/// The fields of [`STATUS`].
pub mod status {
    /// The constants are in use.
    pub const READY: u32 = 0x1;
    /// Items are in flight or about to be accepted.
    pub const BUSY: u32 = 0x2;
    /// The device is ending an answer that a flush cut short.
    pub const CLOSING: u32 = 0x4;
    /// A bit of ERROR is set.
    pub const ERROR: u32 = 0x8;
}

/// Recorded errors; a bit stays set until 1 is written to it.
pub const ERROR: u32 = 0x18;

/// The fields of [`ERROR`].
pub mod error {
    /// An access to an address without a register.
    pub const UNKNOWN: u32 = 0x1;
    /// An address that is not a multiple of 4.
    pub const UNALIGNED: u32 = 0x2;
    /// A write that does not cover its word.
    pub const PARTIAL: u32 = 0x4;
    /// A write to a read-only register.
    pub const READ_ONLY: u32 = 0x8;
    /// A read of a write-only address.
    pub const WRITE_ONLY: u32 = 0x10;
    /// A write beyond the end of a region, or to a missing region.
    pub const BEYOND: u32 = 0x20;
    /// A write to a region while STATUS.busy was set.
    pub const LOCKED: u32 = 0x40;
    /// CONTROL.ready while a required region was incomplete.
    pub const INCOMPLETE: u32 = 0x80;
    /// A discarded packet: wrong mark or epoch, or cut within its header.
    pub const FOREIGN: u32 = 0x100;
    /// A packet that does not end where its header says.
    pub const BROKEN: u32 = 0x200;
}

/// The bits of [`ERROR`] and their meanings.
pub const CAUSES: [(u32, &str); 10] = [
    (0x1, "an access to an address without a register"),
    (0x2, "an address that is not a multiple of 4"),
    (0x4, "a write that does not cover its word"),
    (0x8, "a write to a read-only register"),
    (0x10, "a read of a write-only address"),
    (0x20, "a write beyond the end of a region, or to a missing region"),
    (0x40, "a write to a region while STATUS.busy was set"),
    (0x80, "CONTROL.ready while a required region was incomplete"),
    (0x100, "a discarded packet: wrong mark or epoch, or cut within its header"),
    (0x200, "a packet that does not end where its header says"),
];

/// Bits of INTERRUPT that raise `irq_o`.
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

/// Events; a bit stays set until 1 is written to it.
pub const INTERRUPT: u32 = 0x20;

/// The fields of [`INTERRUPT`].
pub mod interrupt {
    /// An error was recorded in ERROR.
    pub const ERROR: u32 = 0x1;
    /// The last beat of an answer packet was accepted.
    pub const ANSWER: u32 = 0x2;
    /// STATUS.busy fell to 0.
    pub const IDLE: u32 = 0x4;
}

/// Items accepted and not yet answered.
pub const IN_FLIGHT: u32 = 0x24;

/// CRC-32 of the words written since the last word 0 of a region; 0 after a reset, ready or wipe.
pub const KEY_CHECK: u32 = 0x28;

/// Index of the table entry in VALUE.
pub const INDEX: u32 = 0x2c;

/// The table entry; 0 beyond the last one.
pub const VALUE: u32 = 0x30;

/// Cycles with STATUS.busy set.
pub const BUSY: u32 = 0x40;

/// Items accepted.
pub const ACCEPTED: u32 = 0x48;

/// Items answered.
pub const DELIVERED: u32 = 0x50;

/// Products started, in the system's unit.
pub const PRODUCTS: u32 = 0x58;

/// Packets discarded entirely.
pub const DISCARDED: u32 = 0x60;

/// The system's eight parameters, a word each.
pub const PARAMETERS: u32 = 0x80;

/// The first region.
pub const REGIONS: u32 = 0x1_0000;

/// Bytes of address between two regions.
pub const REGION_BYTES: u32 = 0x800;

/// A region, which holds a constant of a key.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The number of the region; [`Region::address`] returns its address.
    pub number: u32,
    /// Bits of the constant, from the system's `N`, `W` and `D`.
    pub bits: fn(n: u32, w: u32, d: u32) -> u32,
}

impl Region {
    /// Returns the byte address of word 0 of the region with this number.
    pub const fn address(number: u32) -> u32 {
        REGIONS + number * REGION_BYTES
    }
}

/// The parameters and regions of the system `mesa`.
pub mod mesa {
    use super::Region;

    /// The letters in IDENTITY.
    pub const IDENTITY: [u8; 4] = *b"MESA"; // 0x4d45_5341
    /// Parameter: bits of n.
    pub const PARAMETER_N: usize = 0;
    /// Parameter: ladders per branch.
    pub const PARAMETER_STAGES: usize = 1;
    /// Parameter: the arithmetic.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: R = 2^R_BITS.
    pub const PARAMETER_R_BITS: usize = 4;
    /// Parameter: bits scanned by the radix-2 multipliers.
    pub const PARAMETER_X_BITS: usize = 5;
    /// Parameter: cycles between plaintexts for a full pipeline and exponents of N / 2 bits.
    pub const PARAMETER_INTERVAL: usize = 6;
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u p^2`.
    pub const P_MT: Region = Region { number: 0, bits: |n, w, _d| n.next_multiple_of(w) };
    /// `p^2`.
    pub const P_SQUARE: Region = Region { number: 1, bits: |n, _w, _d| n };
    /// `R 2^XBits mod p^2`.
    pub const P_ENTER: Region = Region { number: 2, bits: |n, _w, _d| n };
    /// `R mod p^2`.
    pub const P_ONE: Region = Region { number: 3, bits: |n, _w, _d| n };
    /// `p - 1`, or `2 p'` for a subgroup key: each stage's bits at the top of its segment, then the next bit.
    pub const P_EXPONENT: Region = Region { number: 4, bits: |n, _w, _d| n / 2 };
    /// `p`.
    pub const P_PRIME: Region = Region { number: 5, bits: |n, _w, _d| n / 2 };
    /// `t_p 2^XBits mod n`.
    pub const P_MERGED: Region = Region { number: 6, bits: |n, _w, _d| n };
    /// `n`.
    pub const MODULUS: Region = Region { number: 7, bits: |n, _w, _d| n };
    /// P_MT for q.
    pub const Q_MT: Region = Region { number: 8, bits: |n, w, _d| n.next_multiple_of(w) };
    /// `q^2`.
    pub const Q_SQUARE: Region = Region { number: 9, bits: |n, _w, _d| n };
    /// P_ENTER for q.
    pub const Q_ENTER: Region = Region { number: 10, bits: |n, _w, _d| n };
    /// P_ONE for q.
    pub const Q_ONE: Region = Region { number: 11, bits: |n, _w, _d| n };
    /// P_EXPONENT for q.
    pub const Q_EXPONENT: Region = Region { number: 12, bits: |n, _w, _d| n / 2 };
    /// `q`.
    pub const Q_PRIME: Region = Region { number: 13, bits: |n, _w, _d| n / 2 };
    /// `t_q 2^XBits mod n`.
    pub const Q_MERGED: Region = Region { number: 14, bits: |n, _w, _d| n };
    /// exponent steps after the first: of each stage in bits 15:0; of the last stage, including its exit, in bits 31:16.
    pub const STEPS: Region = Region { number: 15, bits: |_n, _w, _d| 32 };
}

/// The parameters and regions of the system `mesa_dual`.
pub mod mesa_dual {
    use super::Region;

    /// The letters in IDENTITY.
    pub const IDENTITY: [u8; 4] = *b"DUAL"; // 0x4455_414c
    /// Parameter: bits of n.
    pub const PARAMETER_N: usize = 0;
    /// Parameter: exponentiators per branch.
    pub const PARAMETER_LANES: usize = 1;
    /// Parameter: the arithmetic.
    pub const PARAMETER_SHAPE: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: R = 2^R_BITS.
    pub const PARAMETER_R_BITS: usize = 4;
    /// Parameter: bits scanned by the radix-2 multipliers.
    pub const PARAMETER_X_BITS: usize = 5;
    /// Parameter: cycles per LANES ciphertexts for full lanes and exponents of N / 2 bits.
    pub const PARAMETER_INTERVAL: usize = 6;
    /// `(M' + 1) / 2^(W (D+1))`, `M' = u p`.
    pub const P_MT: Region = Region { number: 0, bits: |n, w, _d| (n / 2).next_multiple_of(w) };
    /// `p - 1`, or `2 p'` for a subgroup key.
    pub const P_EXPONENT: Region = Region { number: 1, bits: |n, _w, _d| n / 2 };
    /// `u = -p^-1 mod 2^(W (D+1))`.
    pub const P_UNIT: Region = Region { number: 2, bits: |_n, w, d| w * (d + 1) };
    /// low part of `2^(N/2) R = low + high M'` modulo `p^2`.
    pub const P_SHIFT_LOW: Region = Region { number: 3, bits: |n, _w, _d| n / 2 };
    /// high part of `2^(N/2) R`.
    pub const P_SHIFT_HIGH: Region = Region { number: 4, bits: |n, _w, _d| n / 2 };
    /// low part of `R^3`.
    pub const P_ENTER_LOW: Region = Region { number: 5, bits: |n, _w, _d| n / 2 };
    /// high part of `R^3`.
    pub const P_ENTER_HIGH: Region = Region { number: 6, bits: |n, _w, _d| n / 2 };
    /// low part of `R^2`.
    pub const P_ONE_LOW: Region = Region { number: 7, bits: |n, _w, _d| n / 2 };
    /// high part of `R^2`.
    pub const P_ONE_HIGH: Region = Region { number: 8, bits: |n, _w, _d| n / 2 };
    /// `t_p 2^XBits mod n`.
    pub const P_MERGED: Region = Region { number: 9, bits: |n, _w, _d| n };
    /// 4-bit windows of the exponents after the first window.
    pub const WINDOWS: Region = Region { number: 14, bits: |_n, _w, _d| 32 };
    /// `n`.
    pub const MODULUS: Region = Region { number: 15, bits: |n, _w, _d| n };
    /// P_MT for q.
    pub const Q_MT: Region = Region { number: 16, bits: |n, w, _d| (n / 2).next_multiple_of(w) };
    /// P_EXPONENT for q.
    pub const Q_EXPONENT: Region = Region { number: 17, bits: |n, _w, _d| n / 2 };
    /// P_UNIT for q.
    pub const Q_UNIT: Region = Region { number: 18, bits: |_n, w, d| w * (d + 1) };
    /// P_SHIFT_LOW for q.
    pub const Q_SHIFT_LOW: Region = Region { number: 19, bits: |n, _w, _d| n / 2 };
    /// P_SHIFT_HIGH for q.
    pub const Q_SHIFT_HIGH: Region = Region { number: 20, bits: |n, _w, _d| n / 2 };
    /// P_ENTER_LOW for q.
    pub const Q_ENTER_LOW: Region = Region { number: 21, bits: |n, _w, _d| n / 2 };
    /// P_ENTER_HIGH for q.
    pub const Q_ENTER_HIGH: Region = Region { number: 22, bits: |n, _w, _d| n / 2 };
    /// P_ONE_LOW for q.
    pub const Q_ONE_LOW: Region = Region { number: 23, bits: |n, _w, _d| n / 2 };
    /// P_ONE_HIGH for q.
    pub const Q_ONE_HIGH: Region = Region { number: 24, bits: |n, _w, _d| n / 2 };
    /// `t_q 2^XBits mod n`.
    pub const Q_MERGED: Region = Region { number: 25, bits: |n, _w, _d| n };
}

/// The parameters and regions of the system `residue_bank`.
pub mod residue_bank {
    /// The letters in IDENTITY.
    pub const IDENTITY: [u8; 4] = *b"RESB"; // 0x5245_5342
    /// Parameter: bits of a coefficient, `Words V`.
    pub const PARAMETER_BITS: usize = 0;
    /// Parameter: number of primes.
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

/// The parameters and regions of the system `coproc`.
pub mod coproc {
    use super::Region;

    /// The letters in IDENTITY.
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
    /// Parameter: S = 2^LEAVE_BITS, the divisor of results on output.
    pub const PARAMETER_LEAVE_BITS: usize = 5;
    /// Parameter: the memory of whole numbers.
    pub const PARAMETER_MEMORY: usize = 6;
    /// Parameter: cycles between products of a multiplier; two thirds of it between squares of core 2.
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
    /// `R mod n^2`; in core 2 the dual number `low + high M'`, with low in the lower N bits and high above.
    pub const ONE: Region = Region { number: 8, bits: |n, _w, _d| 2 * n };
    /// `R^2 mod n^2`; in core 2 `R^3` as a dual number.
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

/// The parameters and regions of the system `dghv`.
pub mod dghv {
    use super::Region;

    /// The letters in IDENTITY.
    pub const IDENTITY: [u8; 4] = *b"DGHV"; // 0x4447_4856
    /// Parameter: 64-bit words in a block.
    pub const PARAMETER_BLOCK: usize = 0;
    /// Parameter: cycles of a block product.
    pub const PARAMETER_POINTS: usize = 1;
    /// Parameter: 64-bit words in the memory.
    pub const PARAMETER_MEMORY_WORDS: usize = 2;
    /// Parameter: bits of a beat.
    pub const PARAMETER_STREAM_BITS: usize = 3;
    /// Parameter: AES round circuits.
    pub const PARAMETER_ROUNDS: usize = 4;
    /// Parameter: cycles without response after which the memory counts as failed.
    pub const PARAMETER_TIMEOUT: usize = 5;
    /// Parameter: least words in both factors of a reduction's product for which transforms compute it; 0: never.
    pub const PARAMETER_LONG_WORDS: usize = 6;
    /// seed of the key's elements, its first byte in the lowest bits.
    pub const SEED: Region = Region { number: 0, bits: |_n, _w, _d| 128 };
}
