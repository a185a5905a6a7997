//! The frame of every file: the content is followed by a checksum.
//!
//! All integers are little-endian. A natural number of `bits` bits occupies `ceil(bits / 8)` bytes,
//! and unused top bits are 0. The checksum is the SHA-256 of all bytes before it and ends the file.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::error::{FormatError, FormatErrorKind};

/// Size of the checksum in bytes.
pub(super) const CHECKSUM_BYTES: usize = 32;

/// Writes a file piece by piece and computes its checksum.
#[derive(Debug)]
pub(super) struct FrameWriter<W> {
    output: W,
    checksum: Sha256,
}

impl<W: Write> FrameWriter<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output, checksum: Sha256::new() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.output.write_all(bytes)
    }

    pub(super) fn u8(&mut self, value: u8) -> io::Result<()> {
        self.bytes(&[value])
    }

    pub(super) fn u16(&mut self, value: u16) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u64(&mut self, value: u64) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a natural number of at most `bits` bits, given in limbs, least significant first.
    ///
    /// # Panics
    /// If it is longer.
    pub(super) fn number(&mut self, limbs: &[u64], bits: usize) -> io::Result<()> {
        let length = bits.div_ceil(8);
        let mut bytes = Zeroizing::new(Vec::with_capacity(8 * limbs.len().max(length.div_ceil(8))));
        limbs.iter().for_each(|limb| bytes.extend_from_slice(&limb.to_le_bytes()));
        assert!(bytes.iter().skip(length).all(|&byte| byte == 0), "the number must not be longer than stated");
        bytes.resize(length, 0);
        self.bytes(&bytes)
    }

    /// Writes the checksum, which ends the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.output.write_all(&self.checksum.finalize())?;
        Ok(self.output)
    }
}

/// Reads a file piece by piece and verifies its checksum.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    input: R,
    checksum: Sha256,
}

impl<R: Read> FrameReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, checksum: Sha256::new() }
    }

    pub(super) fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.input.read_exact(bytes)?;
        self.checksum.update(bytes);
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let mut bytes = [0; N];
        self.bytes(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8, FormatError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, FormatError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a natural number of at most `bits` bits into `ceil(bits / 64)` limbs, least
    /// significant first.
    pub(super) fn number(&mut self, bits: usize) -> Result<Zeroizing<Vec<u64>>, FormatError> {
        let mut bytes = Zeroizing::new(vec![0; 8 * bits.div_ceil(64)]);
        self.bytes(&mut bytes[..bits.div_ceil(8)])?;
        let words = bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes);
        let limbs = Zeroizing::new(words.collect::<Vec<u64>>());
        let spare = 64 * limbs.len() - bits;
        match limbs.last() {
            Some(top) if top.leading_zeros() < spare as u32 => Err(FormatErrorKind::TooLong.into()),
            _ => Ok(limbs),
        }
    }

    /// Verifies the checksum, and that the file ends after it.
    pub(super) fn finish(mut self) -> Result<(), FormatError> {
        let mut expected = [0; CHECKSUM_BYTES];
        self.input.read_exact(&mut expected)?;
        if self.checksum.finalize()[..] != expected {
            return Err(FormatErrorKind::Checksum.into());
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(FormatErrorKind::Trailing.into()),
            Err(error) => Err(error.into()),
        }
    }
}
