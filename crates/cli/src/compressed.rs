//! Inputs that were compressed as a whole, told by their first bytes: gzip (RFC 1952) and Zstandard
//! (RFC 8878).

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// The codec of an input that begins like this, if it is compressed.
    pub(crate) fn of(beginning: &[u8]) -> Option<Self> {
        match beginning {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What the input holds. Memory is bounded: 32 KiB for gzip, up to 128 MiB for what Zstandard
    /// looks back at.
    pub(crate) fn decoder(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(input))),
            Self::Zstd => Box::new(zstd::Decoder::new(input)?),
        })
    }
}
