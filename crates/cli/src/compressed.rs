//! Inputs that are compressed as a whole, detected by their first bytes: gzip (RFC 1952) and
//! Zstandard (RFC 8878).

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

/// The compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// Returns the codec of an input with these first bytes, if it is compressed.
    pub(crate) fn of(first_bytes: &[u8]) -> Option<Self> {
        match first_bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns a reader of the decompressed input. Memory is bounded: 32 KiB for gzip, up to 128
    /// MiB for the window of Zstandard.
    pub(crate) fn decoder(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(input))),
            Self::Zstd => Box::new(zstd::Decoder::new(input)?),
        })
    }
}
