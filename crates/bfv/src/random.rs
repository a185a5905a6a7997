//! Random values: secrets, errors and masks. Seeds come from the operating system's generator and
//! are expanded by AES-256 in counter mode.

use crate::Error;
use crate::kernel::{LANES, Lanes};
use crate::noise::MAX_ERROR;
use crate::prime::PRIME_BITS;
use aes::Aes256;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use zeroize::{Zeroize, Zeroizing};

/// Size of a seed in bytes.
pub const SEED_BYTES: usize = 32;

/// A seed.
pub(crate) type Seed = [u8; SEED_BYTES];

/// Number of words drawn at a time.
const BUFFER_WORDS: usize = 512;

/// A seed from the operating system.
pub(crate) fn seed() -> Result<Zeroizing<Seed>, Error> {
    let mut seed = Zeroizing::new([0; SEED_BYTES]);
    getrandom::fill(&mut *seed)?;
    Ok(seed)
}

/// One of a seed's streams, as words.
pub(crate) struct Stream {
    cipher: Ctr128BE<Aes256>,
    words: Zeroizing<Vec<u64>>,
    next: usize,
}

impl Stream {
    /// Stream `number` of a seed. The number is the upper half of the counter.
    pub(crate) fn new(seed: &Seed, number: u64) -> Self {
        let counter = u128::from(number) << 64;
        let cipher = Ctr128BE::<Aes256>::new(seed.into(), &counter.to_be_bytes().into());
        Stream { cipher, words: Zeroizing::new(vec![0; BUFFER_WORDS]), next: BUFFER_WORDS }
    }

    /// A stream with a new seed.
    pub(crate) fn fresh() -> Result<Self, Error> {
        Ok(Stream::new(&*seed()?, 0))
    }

    /// Draws the next [`BUFFER_WORDS`] words.
    fn refill(&mut self) -> &[u64] {
        let mut bytes = [0; 8 * BUFFER_WORDS];
        self.cipher.apply_keystream(&mut bytes);
        for (word, bytes) in self.words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        bytes.zeroize();
        &self.words
    }

    pub(crate) fn word(&mut self) -> u64 {
        if self.next == BUFFER_WORDS {
            self.refill();
            self.next = 0;
        }
        self.next += 1;
        self.words[self.next - 1]
    }

    /// Draws a seed from the stream.
    pub(crate) fn seed(&mut self) -> Zeroizing<Seed> {
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        for bytes in seed.as_chunks_mut::<8>().0 {
            *bytes = self.word().to_le_bytes();
        }
        seed
    }

    /// Draws errors, one per word: the number of ones among 42 bits minus 21, which is centred
    /// binomial.
    pub(crate) fn errors(&mut self, out: &mut [Lanes]) {
        const BITS: u64 = (1 << (2 * MAX_ERROR)) - 1;
        for out in out.chunks_mut(BUFFER_WORDS / LANES) {
            let words = self.refill();
            for (lanes, words) in out.iter_mut().zip(words.as_chunks::<LANES>().0) {
                *lanes = Lanes(words.map(|word| ones(word & BITS).wrapping_sub(MAX_ERROR)));
            }
        }
        self.next = BUFFER_WORDS;
    }

    /// Draws numbers -1, 0 and 1: twenty base-3 digits of each 128-bit fraction. Their distribution
    /// differs from the uniform one by less than 2^-96 per fraction.
    pub(crate) fn ternary(&mut self, out: &mut [Lanes]) {
        let mut left = 0;
        let mut fraction = 0_u128;
        for word in out.iter_mut().flat_map(|lanes| &mut lanes.0) {
            if left == 0 {
                fraction = u128::from(self.word()) << 64 | u128::from(self.word());
                left = 20;
            }
            // 3 f in two halves, to obtain the integer part.
            let lower = u128::from(fraction as u64) * 3;
            let upper = (fraction >> 64) * 3 + (lower >> 64);
            fraction = upper << 64 | u128::from(lower as u64);
            *word = ((upper >> 64) as u64).wrapping_sub(1);
            left -= 1;
        }
        fraction.zeroize();
    }

    /// Draws a uniform number from `-2^bits` to `2^bits - 1`, for at most 126 bits.
    pub(crate) fn signed(&mut self, bits: u32) -> i128 {
        let word = u128::from(self.word()) << 64 | u128::from(self.word());
        (word as i128) >> (127 - bits)
    }

    /// Draws uniform public numbers below a prime by rejection: the lower 50 bits of words, except
    /// those that are not below the prime.
    pub(crate) fn uniform(&mut self, out: &mut [Lanes], q: u64) {
        for word in out.iter_mut().flat_map(|lanes| &mut lanes.0) {
            *word = std::iter::repeat_with(|| self.word() & ((1 << PRIME_BITS) - 1)).find(|&x| x < q).unwrap_or(0);
        }
    }
}

/// The number of set bits, by sums of ever wider fields. Without a CPU instruction for it, the
/// compiler can vectorise this code.
fn ones(x: u64) -> u64 {
    let pairs = x - (x >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let halves = bytes + (bytes >> 8);
    let words = halves + (halves >> 16);
    (words + (words >> 32)) & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: impl FnOnce(&mut Stream, &mut [Lanes])) -> Vec<i64> {
        let mut lanes = vec![Lanes::default(); 1 << 14];
        draw(&mut Stream::new(&[7; SEED_BYTES], 3), &mut lanes);
        lanes.iter().flat_map(|lanes| lanes.0.map(|word| word as i64)).collect()
    }

    /// The count of each of `-most ..= most`. Panics for any other number.
    fn counts(numbers: &[i64], most: i64) -> Vec<f64> {
        assert!(numbers.iter().all(|number| number.abs() <= most));
        (-most..=most).map(|x| numbers.iter().filter(|&&number| number == x).count() as f64).collect()
    }

    /// Checks that Pearson's statistic is within eight deviations for its degrees of freedom.
    fn check(counts: &[f64], expected: &[f64]) {
        let statistic: f64 = counts.iter().zip(expected).map(|(c, e)| (c - e) * (c - e) / e).sum();
        let freedom = counts.len() as f64 - 1.0;
        assert!(statistic < freedom + 8.0 * (2.0 * freedom).sqrt(), "{statistic} at {freedom}");
    }

    #[test]
    fn errors_are_binomial() {
        let numbers = drawn(Stream::errors);
        let binomial: Vec<f64> =
            (0..42).scan(1.0, |c, k| Some(std::mem::replace(c, *c * (42 - k) as f64 / (k + 1) as f64))).collect();
        let expected: Vec<f64> =
            (21 - 12..=21 + 12).map(|k| binomial[k] / 2_f64.powi(42) * numbers.len() as f64).collect();
        check(&counts(&numbers, 21)[21 - 12..=21 + 12], &expected);
    }

    #[test]
    fn ternary_numbers_are_uniform_and_independent() {
        let numbers = drawn(Stream::ternary);
        check(&counts(&numbers, 1), &[numbers.len() as f64 / 3.0; 3]);
        let pairs: Vec<i64> = numbers.windows(2).map(|pair| 3 * pair[0] + pair[1]).collect();
        check(&counts(&pairs, 4), &[pairs.len() as f64 / 9.0; 9]);
    }

    #[test]
    fn ones_are_counted() {
        let mut stream = Stream::new(&[1; SEED_BYTES], 0);
        for word in (0..1000).map(|_| stream.word()).chain([0, u64::MAX]) {
            assert_eq!(ones(word), u64::from(word.count_ones()));
        }
    }

    #[test]
    fn signed_numbers_fill_their_range() {
        let mut stream = Stream::new(&[2; SEED_BYTES], 0);
        let numbers: Vec<i128> = (0..1000).map(|_| stream.signed(3)).collect();
        assert_eq!((numbers.iter().min(), numbers.iter().max()), (Some(&-8), Some(&7)));
    }

    #[test]
    fn streams_differ_by_seed_and_number() {
        let first = |seed: u8, number| Stream::new(&[seed; SEED_BYTES], number).word();
        let words = [first(1, 0), first(1, 1), first(2, 0)];
        assert!(words[0] != words[1] && words[0] != words[2] && words[1] != words[2]);
        // AES-256 of a zero block under a zero key, as published (by FIPS 197's own program and
        // others).
        assert_eq!(first(0, 0).to_be(), 0xdc95_c078_a240_8989);
    }
}
