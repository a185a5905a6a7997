//! The random numbers of a recryption key, regenerated from its seed whenever they are needed.
//!
//! The stream is AES-128 in counter mode under the seed. The first counter block of number `i` is
//! `2^64 i`, big-endian. Each eight bytes are a word, least significant byte first.

use crate::elements::SEED_BYTES;
use aes::Aes128;
use aes::cipher::KeyInit;
use ctr::Ctr128BE;
use ctr::cipher::{InnerIvInit, StreamCipher, StreamCipherSeek};

/// Number of words generated at a time.
pub(super) const PIECE: usize = 1024;

#[derive(Clone)]
pub(crate) struct Stream {
    seed: [u8; SEED_BYTES],
    cipher: Aes128,
}

impl Stream {
    pub(crate) fn new(seed: &[u8; SEED_BYTES]) -> Self {
        Stream { seed: *seed, cipher: Aes128::new(&(*seed).into()) }
    }

    pub(crate) fn seed(&self) -> &[u8; SEED_BYTES] {
        &self.seed
    }

    /// Writes words `from..` of number `index`, at most [`PIECE`] of them.
    pub(super) fn words(&self, index: usize, from: usize, out: &mut [u64]) {
        let mut counter = [0; 16];
        counter[..8].copy_from_slice(&(index as u64).to_be_bytes());
        let core = ctr::CtrCore::inner_iv_init(self.cipher.clone(), &counter.into());
        let mut stream = Ctr128BE::<Aes128>::from_core(core);
        stream.seek(8 * from as u64);
        let mut bytes = [0; 8 * PIECE];
        let drawn = &mut bytes[..8 * out.len()];
        stream.apply_keystream(drawn);
        for (word, piece) in out.iter_mut().zip(drawn.as_chunks().0) {
            *word = u64::from_le_bytes(*piece);
        }
    }

    /// Writes all words of number `index`.
    pub(crate) fn number(&self, index: usize, out: &mut [u64]) {
        for (piece, words) in out.chunks_mut(PIECE).enumerate() {
            self.words(index, piece * PIECE, words);
        }
    }
}
