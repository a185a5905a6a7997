//! Files of keys.
//!
//! After the header of a public key come the seed (16 bytes), the modulus `A_0` (`gamma` bits) and the corrections
//! (`eta + lambda + 1` bits each); then a byte, 1 if a recryption key follows: its seed, its first fraction (whole limbs) and its
//! corrections. After the header of a private key comes the secret prime (`eta` bits).

use std::io::{self, Read, Write};

use hearith_arith::Engine;

use super::error::{FormatError, FormatErrorKind};
use super::frame::{FrameReader, FrameWriter};
use super::header::{FileKind, Header};
use crate::{InsecureHistoricalParameters, Parameters, PrivateKey, PublicKey, PublicKeys, RecryptionKey};

impl PublicKeys {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that holds no public key, or is damaged; an engine that this machine cannot run.
    pub fn read_from<R: Read>(
        input: R,
        engine: Engine,
        insecure: InsecureHistoricalParameters,
    ) -> Result<Self, FormatError> {
        let (Header { parameters, key: id, .. }, mut frame) = Header::of(FileKind::PublicKey, input)?;
        let seed = frame.array()?;
        let modulus = frame.number(parameters.lengths().modulus as usize)?.to_vec();
        let corrections = read_corrections(&mut frame, &parameters, parameters.key_elements())?;
        let recryption = match frame.u8()? {
            0 => None,
            1 => {
                let seed = frame.array()?;
                let first = frame.number(64 * RecryptionKey::fraction_limbs(&parameters))?.to_vec();
                let size = RecryptionKey::set_size(&parameters);
                Some((seed, first, read_corrections(&mut frame, &parameters, size)?))
            }
            _ => return Err(FormatErrorKind::Field("the mark of a recryption key").into()),
        };
        frame.finish()?;
        let key = PublicKey::from_parts(parameters, engine, seed, modulus, corrections, insecure);
        let key = key.map_err(FormatErrorKind::Key)?;
        if key.id() != id {
            return Err(FormatErrorKind::OtherId.into());
        }
        let recryption = recryption
            .map(|(seed, first, corrections)| RecryptionKey::from_parts(&key, seed, first, corrections, insecure));
        let recryption = recryption.transpose().map_err(FormatErrorKind::Key)?;
        Ok(Self { key, recryption })
    }

    /// Writes a file.
    ///
    /// # Errors
    /// An output that cannot be written.
    ///
    /// # Panics
    /// If the recryption key belongs to another key.
    pub fn write_to<W: Write>(&self, output: W) -> io::Result<()> {
        let Self { key, recryption } = self;
        let parameters = key.parameters();
        let header = Header { kind: FileKind::PublicKey, parameters: parameters.clone(), key: key.id() };
        let mut frame = header.write(output)?;
        frame.bytes(key.seed())?;
        frame.number(key.modulus(), parameters.lengths().modulus as usize)?;
        write_corrections(&mut frame, parameters, key.corrections())?;
        frame.u8(u8::from(recryption.is_some()))?;
        if let Some(recryption) = recryption {
            assert_eq!(recryption.key_id(), key.id(), "the recryption key of this key");
            frame.bytes(recryption.seed())?;
            frame.number(recryption.first(), 64 * recryption.first().len())?;
            write_corrections(&mut frame, parameters, recryption.corrections())?;
        }
        frame.finish().map(drop)
    }
}

/// Bits of a correction.
fn correction_bits(parameters: &Parameters) -> usize {
    let lengths = parameters.lengths();
    lengths.secret as usize + lengths.security as usize + 1
}

fn write_corrections<W: Write>(frame: &mut FrameWriter<W>, parameters: &Parameters, all: &[u64]) -> io::Result<()> {
    let mut each = all.chunks_exact(parameters.correction_limbs());
    each.try_for_each(|correction| frame.number(correction, correction_bits(parameters)))
}

fn read_corrections<R: Read>(
    frame: &mut FrameReader<R>,
    parameters: &Parameters,
    count: usize,
) -> Result<Vec<u64>, FormatError> {
    let mut corrections = Vec::new();
    for _ in 0..count {
        corrections.extend_from_slice(&frame.number(correction_bits(parameters))?);
    }
    Ok(corrections)
}

impl PrivateKey {
    /// Writes the key, secret as it is, to a file.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn write_to<W: Write>(&self, output: W) -> io::Result<()> {
        let header = Header { kind: FileKind::PrivateKey, parameters: self.parameters().clone(), key: self.id() };
        let mut frame = header.write(output)?;
        frame.number(self.expose_prime(), self.parameters().lengths().secret as usize)?;
        frame.finish().map(drop)
    }

    /// Reads the key in a file. An input without a buffer leaves no copy of it in memory.
    ///
    /// # Errors
    /// A file that holds no private key, or is damaged.
    pub fn read_from<R: Read>(input: R, insecure: InsecureHistoricalParameters) -> Result<Self, FormatError> {
        let (Header { parameters, key: id, .. }, mut frame) = Header::of(FileKind::PrivateKey, input)?;
        let prime = frame.number(parameters.lengths().secret as usize)?;
        frame.finish()?;
        let key = Self::from_parts(parameters, id, &prime, insecure);
        key.map_err(|error| FormatErrorKind::Key(error).into())
    }
}
