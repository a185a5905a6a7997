//! The random parts `chi` of a compressed public key's elements, regenerated from its seed whenever
//! they are needed.
//!
//! `chi_i` has `gamma` bits in `w` words of 64 bits. It is divided into eight segments of `w / 8`
//! words, rounded up. The last segments may be shorter or empty. The stream of `chi_i` is AES-128
//! in counter mode under the seed, with the big-endian first counter block `2^64 i`. FrodoKEM
//! expands its public matrix in this way; \[CNT12\] leaves the generator open. Word `8 t + s` of
//! the stream, least significant byte first, is word `t` of segment `s`. Bits beyond the number's
//! length are dropped. With this layout eight lanes can process one segment each and read their
//! words from adjacent addresses.

#[cfg(target_arch = "x86_64")]
mod vaes;

use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use zeroize::DefaultIsZeroes;

/// Number of segments of a number.
pub(crate) const SEGMENTS: usize = 8;

/// Size of a seed in bytes.
pub const SEED_BYTES: usize = 16;

/// One word of each segment, aligned like a 512-bit vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u64; SEGMENTS]);

impl DefaultIsZeroes for Row {}

/// Regenerates the elements of a key.
#[derive(Clone)]
pub(crate) struct Elements {
    seed: [u8; SEED_BYTES],
    /// Bits of an element.
    bits: u32,
}

impl Elements {
    pub(crate) fn new(seed: &[u8; SEED_BYTES], bits: u32) -> Self {
        Elements { seed: *seed, bits }
    }

    pub(crate) fn seed(&self) -> &[u8; SEED_BYTES] {
        &self.seed
    }

    /// Number of words of an element.
    pub(crate) fn words(&self) -> usize {
        self.bits.div_ceil(64) as usize
    }

    /// Number of words of a segment.
    pub(crate) fn segment(&self) -> usize {
        self.words().div_ceil(SEGMENTS)
    }

    /// Writes words `from..` of all segments of element `index`, one row per word. Rows beyond the
    /// end of the segments are zero.
    pub(crate) fn rows(&self, index: usize, from: usize, out: &mut [Row]) {
        let there = self.segment().saturating_sub(from).min(out.len());
        let (drawn, beyond) = out.split_at_mut(there);
        self.stream(index as u64, from as u64, drawn);
        beyond.fill(Row::default());
        self.cut(from, drawn);
    }

    #[cfg(target_arch = "x86_64")]
    fn stream(&self, index: u64, from: u64, out: &mut [Row]) {
        if vaes::is_available() {
            // SAFETY: the required instructions are available.
            unsafe { vaes::stream(&self.seed, index, from, out) }
        } else {
            self.portable_stream(index, from, out);
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn stream(&self, index: u64, from: u64, out: &mut [Row]) {
        self.portable_stream(index, from, out);
    }

    fn portable_stream(&self, index: u64, from: u64, out: &mut [Row]) {
        let mut counter = [0; 16];
        counter[..8].copy_from_slice(&index.to_be_bytes());
        let mut stream = Ctr128BE::<Aes128>::new(&self.seed.into(), &counter.into());
        stream.seek(8 * SEGMENTS as u64 * from);
        let mut bytes = [0; 64 * 8 * SEGMENTS];
        for part in out.chunks_mut(64) {
            let bytes = &mut bytes[..8 * SEGMENTS * part.len()];
            stream.write_keystream(bytes);
            for (word, piece) in part.iter_mut().flat_map(|row| &mut row.0).zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(*piece);
            }
        }
    }

    /// Clears the bits beyond the end of the number.
    fn cut(&self, from: usize, rows: &mut [Row]) {
        let unused = (64 * self.words() as u32 - self.bits) as u64;
        for s in 0..SEGMENTS {
            // The number of words left in this segment from row `from` on.
            let words = (self.words().saturating_sub(s * self.segment())).saturating_sub(from);
            rows.iter_mut().skip(words).for_each(|row| row.0[s] = 0);
            let is_top = (s * self.segment()..(s + 1) * self.segment()).contains(&(self.words() - 1));
            if let Some(row) = words.checked_sub(1).and_then(|top| rows.get_mut(top)).filter(|_| is_top) {
                row.0[s] &= u64::MAX >> unused;
            }
        }
    }

    /// Element `index`, in 64-bit limbs.
    pub(crate) fn number(&self, index: usize) -> Vec<u64> {
        let mut rows = vec![Row::default(); self.segment()];
        self.rows(index, 0, &mut rows);
        let mut number: Vec<u64> = (0..SEGMENTS).flat_map(|s| rows.iter().map(move |row| row.0[s])).collect();
        number.truncate(self.words());
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    /// Block `counter` of the stream of element `index`, straight from the definition.
    fn block(seed: &[u8; 16], index: u64, counter: u64) -> [u64; 2] {
        let mut block = (u128::from(index) << 64 | u128::from(counter)).to_be_bytes().into();
        Aes128::new(seed.into()).encrypt_block(&mut block);
        let number = u128::from_le_bytes(block.into());
        [number as u64, (number >> 64) as u64]
    }

    #[test]
    fn streams_are_the_same_with_and_without_vectors() {
        let elements = Elements::new(&[9; 16], 1 << 20);
        for (from, length) in [(0, 1), (5, 7), (3, 8), (1, 200)] {
            let [mut found, mut expected] = [(); 2].map(|()| vec![Row::default(); length]);
            elements.stream(77, from, &mut found);
            elements.portable_stream(77, from, &mut expected);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn elements_are_what_is_defined() {
        let seed = std::array::from_fn(|i| i as u8);
        for bits in [1, 63, 64, 511, 512, 513, 2000, 4096, 70_001] {
            let elements = Elements::new(&seed, bits);
            let (words, segment) = (elements.words(), elements.segment());
            for index in [0, 5] {
                let number = elements.number(index);
                assert_eq!(number.len(), words);
                for (position, &word) in number.iter().enumerate() {
                    let slot = 8 * (position % segment) + position / segment;
                    let drawn = block(&seed, index as u64, slot as u64 / 2)[slot % 2];
                    let kept = (bits - 64 * position as u32).min(64);
                    assert_eq!(word, drawn & (u64::MAX >> (64 - kept)), "word {position} of {bits} bits");
                }
                // Rows from the middle on, and beyond the end.
                let from = segment / 2;
                let mut rows = vec![Row([1; SEGMENTS]); segment + 3 - from];
                elements.rows(index, from, &mut rows);
                for (t, row) in (from..).zip(&rows) {
                    let expected = std::array::from_fn(|s| {
                        if t < segment { number.get(s * segment + t).copied().unwrap_or(0) } else { 0 }
                    });
                    assert_eq!(row.0, expected, "row {t} of {bits} bits");
                }
            }
        }
    }
}
