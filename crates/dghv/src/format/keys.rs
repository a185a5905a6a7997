//! Files of keys.
//!
//! The header of a public key is followed by:
//!
//! - the seed (16 bytes), the modulus `A_0` (`gamma` bits) and the corrections (`eta + lambda + 1`
//!   bits each);
//! - a byte that is 1 if a recryption key follows, and its seed, first fraction (whole limbs) and
//!   corrections;
//! - in version 2, a byte with the number of rungs of the ladder. Each rung has its seed, modulus
//!   and corrections, and the seed, first fraction (whole limbs) and corrections of the switching
//!   key to it.
//!
//! The header of a private key is followed by:
//!
//! - the secret prime (`eta` bits);
//! - in version 2, a byte with the number of rungs, and for each rung the ID of its key and its
//!   prime.
//!
//! The parameters of a rung follow from those of the rung above.

use std::io::{self, Read, Write};

use hearith_arith::Engine;

use super::error::{FormatError, FormatErrorKind};
use super::frame::{FrameReader, FrameWriter};
use super::header::{FileKind, Header};
use crate::{
    InsecureHistoricalParameters, KeyId, Ladder, Parameters, PrivateKey, PrivateKeys, PublicKey, PublicKeys,
    RecryptionKey, Rung, SwitchingKey,
};

impl PublicKeys {
    /// Reads public keys from a file.
    ///
    /// # Errors
    /// If the file holds no public key or is damaged, or this machine cannot run the engine.
    pub fn read_from<R: Read>(
        input: R,
        engine: Engine,
        insecure: InsecureHistoricalParameters,
    ) -> Result<Self, FormatError> {
        let (Header { parameters, key: id, .. }, version, mut frame) = Header::of(FileKind::PublicKey, input)?;
        let key = KeyParts::read(&mut frame, parameters.clone())?;
        let recryption = match frame.u8()? {
            0 => None,
            1 => {
                let fraction = RecryptionKey::fraction_limbs(&parameters);
                Some(Fractions::read(&mut frame, &parameters, fraction, RecryptionKey::set_size(&parameters))?)
            }
            _ => return Err(FormatErrorKind::Field("the mark of a recryption key").into()),
        };
        let mut above = parameters.clone();
        let rungs = read_rungs(&mut frame, version, &parameters, |frame, below| {
            Ladder::check_size(&std::mem::replace(&mut above, below.clone())).map_err(FormatErrorKind::Key)?;
            let key = KeyParts::read(frame, below.clone())?;
            let fraction = SwitchingKey::fraction_limbs(&below);
            Ok((key, Fractions::read(frame, &below, fraction, SwitchingKey::elements(&below))?))
        })?;
        frame.finish()?;
        let key = key.key(engine, insecure)?;
        if key.id() != id {
            return Err(FormatErrorKind::OtherId.into());
        }
        let recryption = recryption.map(|Fractions { seed, first, corrections }| {
            RecryptionKey::from_parts(&key, seed, first, corrections, insecure).map_err(FormatErrorKind::Key)
        });
        let (recryption, ladder) = (recryption.transpose()?, ladder(&key, rungs, engine, insecure)?);
        Ok(Self { key, recryption, ladder })
    }

    /// Writes public keys to a file.
    ///
    /// # Errors
    /// If the output cannot be written.
    ///
    /// # Panics
    /// If the recryption key or the ladder belongs to another key.
    pub fn write_to<W: Write>(&self, output: W) -> io::Result<()> {
        let Self { key, recryption, ladder } = self;
        let parameters = key.parameters();
        let header = Header { kind: FileKind::PublicKey, parameters: parameters.clone(), key: key.id() };
        let mut frame = header.write(output, ladder.is_some())?;
        write_key(&mut frame, key)?;
        frame.u8(u8::from(recryption.is_some()))?;
        if let Some(recryption) = recryption {
            assert_eq!(recryption.key_id(), key.id(), "the recryption key of this key");
            let (seed, first) = (recryption.seed(), recryption.first());
            write_fractions(&mut frame, parameters, seed, first, recryption.corrections())?;
        }
        let rungs = ladder.as_ref().map_or(&[][..], Ladder::rungs);
        if ladder.is_some() || parameters.level() > 0 {
            frame.u8(u8::try_from(rungs.len()).expect("levels are counted in a byte"))?;
        }
        let mut above = key;
        for Rung { key, switching } in rungs {
            assert_eq!(switching.from(), above.id(), "the ladder of this key");
            write_key(&mut frame, key)?;
            let (seed, first) = (switching.seed(), switching.first());
            write_fractions(&mut frame, key.parameters(), seed, first, switching.corrections())?;
            above = key;
        }
        frame.finish().map(drop)
    }
}

/// The parts of a public key as read.
struct KeyParts {
    parameters: Parameters,
    seed: [u8; 16],
    modulus: Vec<u64>,
    corrections: Vec<u64>,
}

impl KeyParts {
    fn read<R: Read>(frame: &mut FrameReader<R>, parameters: Parameters) -> Result<Self, FormatError> {
        let seed = frame.array()?;
        let modulus = frame.number(parameters.lengths().modulus as usize)?.to_vec();
        let corrections = read_corrections(frame, &parameters, parameters.key_elements())?;
        Ok(KeyParts { parameters, seed, modulus, corrections })
    }

    fn key(self, engine: Engine, insecure: InsecureHistoricalParameters) -> Result<PublicKey, FormatError> {
        let KeyParts { parameters, seed, modulus, corrections } = self;
        let key = PublicKey::from_parts(parameters, engine, seed, modulus, corrections, insecure);
        key.map_err(|error| FormatErrorKind::Key(error).into())
    }
}

fn write_key<W: Write>(frame: &mut FrameWriter<W>, key: &PublicKey) -> io::Result<()> {
    frame.bytes(key.seed())?;
    frame.number(key.modulus(), key.parameters().lengths().modulus as usize)?;
    write_corrections(frame, key.parameters(), key.corrections())
}

/// The parts of a recryption or switching key as read.
struct Fractions {
    seed: [u8; 16],
    first: Vec<u64>,
    corrections: Vec<u64>,
}

impl Fractions {
    fn read<R: Read>(
        frame: &mut FrameReader<R>,
        parameters: &Parameters,
        limbs: usize,
        elements: usize,
    ) -> Result<Self, FormatError> {
        let seed = frame.array()?;
        let first = frame.number(64 * limbs)?.to_vec();
        Ok(Fractions { seed, first, corrections: read_corrections(frame, parameters, elements)? })
    }
}

fn write_fractions<W: Write>(
    frame: &mut FrameWriter<W>,
    parameters: &Parameters,
    seed: &[u8],
    first: &[u64],
    corrections: &[u64],
) -> io::Result<()> {
    frame.bytes(seed)?;
    frame.number(first, 64 * first.len())?;
    write_corrections(frame, parameters, corrections)
}

/// Reads a byte with the number of rungs, then the rungs with their parameters. Version 1 has none.
fn read_rungs<R: Read, T>(
    frame: &mut FrameReader<R>,
    version: u16,
    parameters: &Parameters,
    mut rung: impl FnMut(&mut FrameReader<R>, Parameters) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let count = if version > 1 { frame.u8()? } else { 0 };
    let none = || FormatError::from(FormatErrorKind::Field("the number of rungs"));
    // A key without a ladder is always written in version 1.
    if version > 1 && count == 0 && parameters.level() == 0 {
        return Err(none());
    }
    let mut rungs = Vec::new();
    let mut above = parameters.clone();
    for _ in 0..count {
        above = Ladder::next_parameters(&above).ok_or_else(none)?;
        rungs.push(rung(frame, above.clone())?);
    }
    Ok(rungs)
}

/// Assembles the ladder from its rungs, if there are any.
fn ladder(
    top: &PublicKey,
    rungs: Vec<(KeyParts, Fractions)>,
    engine: Engine,
    insecure: InsecureHistoricalParameters,
) -> Result<Option<Ladder>, FormatError> {
    if rungs.is_empty() {
        return Ok(None);
    }
    let mut made: Vec<Rung> = Vec::with_capacity(rungs.len());
    for (key, Fractions { seed, first, corrections }) in rungs {
        let key = key.key(engine, insecure)?;
        let above = made.last().map_or(top, |rung| &rung.key);
        let switching = SwitchingKey::from_parts(above, &key, seed, first, corrections, insecure);
        made.push(Rung { switching: switching.map_err(FormatErrorKind::Key)?, key });
    }
    let ladder = Ladder::from_rungs(top, made, insecure).map_err(FormatErrorKind::Key)?;
    Ok(Some(ladder))
}

/// Length of a correction in bits.
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

impl PrivateKeys {
    /// Writes the secret keys, unencrypted, to a file.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write_to<W: Write>(&self, output: W) -> io::Result<()> {
        let Self { key, rungs } = self;
        let header = Header { kind: FileKind::PrivateKey, parameters: key.parameters().clone(), key: key.id() };
        let mut frame = header.write(output, !rungs.is_empty())?;
        write_prime(&mut frame, key)?;
        if !rungs.is_empty() || key.parameters().level() > 0 {
            frame.u8(u8::try_from(rungs.len()).expect("levels are counted in a byte"))?;
        }
        for rung in rungs {
            frame.bytes(&rung.id().to_bytes())?;
            write_prime(&mut frame, rung)?;
        }
        frame.finish().map(drop)
    }

    /// Reads the keys from a file. An unbuffered input leaves no copy of the keys in memory.
    ///
    /// # Errors
    /// If the file holds no private key or is damaged.
    pub fn read_from<R: Read>(input: R, insecure: InsecureHistoricalParameters) -> Result<Self, FormatError> {
        let (Header { parameters, key: id, .. }, version, mut frame) = Header::of(FileKind::PrivateKey, input)?;
        let key = read_prime(&mut frame, parameters.clone(), id, insecure)?;
        let rungs = read_rungs(&mut frame, version, &parameters, |frame, below| {
            let id = KeyId::from_bytes(frame.array()?);
            read_prime(frame, below, id, insecure)
        })?;
        frame.finish()?;
        Ok(Self { key: key?, rungs: rungs.into_iter().collect::<Result<_, _>>()? })
    }
}

fn write_prime<W: Write>(frame: &mut FrameWriter<W>, key: &PrivateKey) -> io::Result<()> {
    frame.number(key.expose_prime(), key.parameters().lengths().secret as usize)
}

/// Reads a private key. An invalid key is returned as the inner error, which callers report only
/// after verifying the checksum.
fn read_prime<R: Read>(
    frame: &mut FrameReader<R>,
    parameters: Parameters,
    id: KeyId,
    insecure: InsecureHistoricalParameters,
) -> Result<Result<PrivateKey, FormatErrorKind>, FormatError> {
    let prime = frame.number(parameters.lengths().secret as usize)?;
    Ok(PrivateKey::from_parts(parameters, id, &prime, insecure).map_err(FormatErrorKind::Key))
}
