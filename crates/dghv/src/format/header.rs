//! The header of every file: its kind, parameters and key.

use std::fmt;
use std::io::{self, Read, Write};

use super::error::{FormatError, FormatErrorKind};
use super::frame::{FrameReader, FrameWriter};
use crate::{KeyId, Lengths, Parameters, Scheme};

/// The newest version of the format. Version 1 has no ladders, and files without a ladder still use
/// it.
pub const VERSION: u16 = 2;
/// Size of a version 1 header in bytes.
pub const HEADER_BYTES: u64 = 8 + 2 + 1 + 1 + 7 * 4 + 16;
/// Size of a header of the newest version in bytes.
pub const MOST_HEADER_BYTES: u64 = HEADER_BYTES + 1;

const MAGIC: [u8; 8] = *b"HEARDGHV";

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A key for encryption and computation.
    PublicKey,
    /// A key for decryption.
    PrivateKey,
    /// Encrypted bits.
    Ciphertexts,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PublicKey => "a public key",
            Self::PrivateKey => "a private key",
            Self::Ciphertexts => "encrypted bits",
        })
    }
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the file.
    pub kind: FileKind,
    /// The scheme and its lengths.
    pub parameters: Parameters,
    /// The ID of the key.
    pub key: KeyId,
}

impl Header {
    /// Writes the header. The version is 1 unless the file has a ladder or belongs to a rung.
    pub(super) fn write<W: Write>(&self, output: W, has_ladder: bool) -> io::Result<FrameWriter<W>> {
        let mut frame = FrameWriter::new(output);
        let version = if has_ladder || self.parameters.level() > 0 { VERSION } else { 1 };
        frame.bytes(&MAGIC)?;
        frame.u16(version)?;
        frame.u8(match self.kind {
            FileKind::PublicKey => 1,
            FileKind::PrivateKey => 2,
            FileKind::Ciphertexts => 3,
        })?;
        frame.u8(match self.parameters.scheme() {
            Scheme::Cmnt => 1,
            Scheme::Cnt => 2,
        })?;
        let Lengths { security, key_noise, secret, modulus, elements, coefficient, encryption_noise } =
            *self.parameters.lengths();
        for length in [security, key_noise, secret, modulus, elements, coefficient, encryption_noise] {
            frame.u32(length)?;
        }
        frame.bytes(&self.key.to_bytes())?;
        if version > 1 {
            frame.u8(self.parameters.level())?;
        }
        Ok(frame)
    }

    /// Reads the header of a file of any kind.
    ///
    /// # Errors
    /// If the file is not of this format, has an unsupported version or invalid parameters, or
    /// cannot be read.
    pub fn read<R: Read>(input: R) -> Result<Self, FormatError> {
        Self::begin(input).map(|(header, _, _)| header)
    }

    /// Reads the header of a file of the wanted kind, and returns it with the version.
    pub(super) fn of<R: Read>(wanted: FileKind, input: R) -> Result<(Self, u16, FrameReader<R>), FormatError> {
        match Self::begin(input)? {
            (Self { kind: found, .. }, _, _) if found != wanted => Err(FormatErrorKind::Kind { wanted, found }.into()),
            read => Ok(read),
        }
    }

    fn begin<R: Read>(input: R) -> Result<(Self, u16, FrameReader<R>), FormatError> {
        let mut frame = FrameReader::new(input);
        // A file too short for the magic bytes is not of this format either.
        let magic: [u8; 8] = frame.array().map_err(|error| match error.kind() {
            FormatErrorKind::Truncated => FormatErrorKind::NotOurs.into(),
            _ => error,
        })?;
        if magic != MAGIC {
            return Err(FormatErrorKind::NotOurs.into());
        }
        let version = match frame.u16()? {
            known @ 1..=VERSION => known,
            found => return Err(FormatErrorKind::Version { found }.into()),
        };
        let kind = match frame.u8()? {
            1 => FileKind::PublicKey,
            2 => FileKind::PrivateKey,
            3 => FileKind::Ciphertexts,
            _ => return Err(FormatErrorKind::Field("the kind of file").into()),
        };
        let scheme = match frame.u8()? {
            1 => Scheme::Cmnt,
            2 => Scheme::Cnt,
            _ => return Err(FormatErrorKind::Field("the scheme").into()),
        };
        let lengths = Lengths {
            security: frame.u32()?,
            key_noise: frame.u32()?,
            secret: frame.u32()?,
            modulus: frame.u32()?,
            elements: frame.u32()?,
            coefficient: frame.u32()?,
            encryption_noise: frame.u32()?,
        };
        let parameters = Parameters::custom(scheme, lengths).map_err(FormatErrorKind::Parameters)?;
        let key = KeyId::from_bytes(frame.array()?);
        let level = if version > 1 { frame.u8()? } else { 0 };
        Ok((Self { kind, parameters: parameters.at_level(level), key }, version, frame))
    }
}
