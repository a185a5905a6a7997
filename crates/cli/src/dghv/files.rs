//! Files of keys and encrypted bits on the command line. Errors name the file, and long reads show
//! their progress.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hearith_dghv::format::{CiphertextReader, CiphertextWriter, FormatError, Header};
use hearith_dghv::{
    Ciphertext, InsecureHistoricalParameters, KeyId, Parameters, PrivateKey, PrivateKeys, PublicKey, PublicKeys,
};

use super::offset;
use crate::failure::{CliError, eprint_line, name};
use crate::input::{Counted, open};
use crate::output::Output;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// Maximum bytes of ciphertexts in a batch, which has at least one row.
const BATCH_BYTES: usize = 64 << 20;

/// Reads a public key, and warns that it is insecure.
pub(super) fn public_key(
    session: &Session,
    path: &Path,
    insecure: InsecureHistoricalParameters,
) -> Result<PublicKeys, CliError> {
    let (file, input) = open(path)?;
    let progress = Progress::start("reading the key", length_of(path));
    let input = Counted::new(input, |read| progress.set(read, 0));
    let key = PublicKeys::read_from(input, session.engine, insecure).map_err(|error| failed(&file, error))?;
    drop(progress);
    warn(&file, key.key.parameters());
    Ok(key)
}

/// Reads a private key. Warns that it is insecure, and if others can read the file.
pub(super) fn private_key(path: &Path, insecure: InsecureHistoricalParameters) -> Result<PrivateKeys, CliError> {
    let file = name(path);
    let input = File::open(path).map_err(|error| CliError::reading(&file, error))?;
    let shared = input.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o077 != 0);
    // Unbuffered, since a buffer would keep a copy.
    let keys = PrivateKeys::read_from(input, insecure).map_err(|error| failed(&file, error))?;
    if shared {
        eprint_line(&format!("{file}: warning: other users can read this private key (chmod 600 fixes it)"));
    }
    warn(&file, keys.key.parameters());
    Ok(keys)
}

/// Warns about an insecure key.
pub(super) fn warn(file: &str, parameters: &Parameters) {
    eprint_line(&format!("{file}: warning: a key of {parameters} is INSECURE"));
}

/// The failure for an error about a file.
pub(super) fn failed(file: &str, error: FormatError) -> CliError {
    match error.into_io() {
        Ok(error) => CliError::reading(file, error),
        Err(error) => CliError::at(file, error),
    }
}

fn length_of(path: &Path) -> Length {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Length::Bytes(metadata.len()),
        _ => Length::Unknown,
    }
}

/// A reader of encrypted bits.
pub(super) struct Bits {
    /// The file as the user named it.
    pub(super) name: String,
    reader: CiphertextReader<Box<dyn Read + Send>>,
    first: u64,
}

/// A batch of rows.
pub(super) struct Batch {
    /// The rows.
    pub(super) rows: Vec<Ciphertext>,
    /// The number of the first row in its file, from 0.
    pub(super) first: u64,
}

impl Bits {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let (name, input) = open(path)?;
        Self::new(name, Box::new(input))
    }

    /// Begins to read an input. Errors call it `name`.
    pub(super) fn new(name: String, input: Box<dyn Read + Send>) -> Result<Self, CliError> {
        let reader = CiphertextReader::new(input).map_err(|error| failed(&name, error))?;
        Ok(Self { name, reader, first: 0 })
    }

    /// Opens a file of bits under a key or a rung of its ladder. Returns the level too.
    pub(super) fn of(path: &Path, keys: &PublicKeys) -> Result<(Self, usize), CliError> {
        let rungs = keys.ladder.iter().flat_map(|ladder| ladder.rungs()).map(|rung| &rung.key);
        let levels = std::iter::once(&keys.key).chain(rungs).map(|key| (key.id(), key.parameters()));
        Self::under(path, levels)
    }

    /// Opens a file of bits that a private key, or that of a rung, decrypts.
    pub(super) fn of_private(path: &Path, keys: &PrivateKeys) -> Result<Self, CliError> {
        let levels = std::iter::once(&keys.key).chain(&keys.rungs);
        Self::under(path, levels.map(|key: &PrivateKey| (key.id(), key.parameters()))).map(|(bits, _)| bits)
    }

    /// Opens a file of bits under one of several keys, and returns that key's index. Errors name
    /// the first key.
    fn under<'a>(path: &Path, keys: impl Iterator<Item = (KeyId, &'a Parameters)>) -> Result<(Self, usize), CliError> {
        let bits = Self::open(path)?;
        let header = bits.header();
        let keys: Vec<(KeyId, &Parameters)> = keys.collect();
        match keys.iter().position(|(key, _)| *key == header.key) {
            Some(level) if header.parameters == *keys[level].1 => Ok((bits, level)),
            Some(_) => {
                Err(CliError::at(&bits.name, "its parameters differ from those of its key: the file was tampered with"))
            }
            None => {
                let key = keys[0].0;
                Err(CliError::at(&bits.name, format!("encrypted under key {}, but the key given is {key}", header.key)))
            }
        }
    }

    /// The header of the file.
    pub(super) fn header(&self) -> &Header {
        self.reader.header()
    }

    /// The number of rows in the file.
    pub(super) fn rows(&self) -> u64 {
        self.reader.rows()
    }

    /// Returns the next rows, or none at the end.
    pub(super) fn batch(&mut self, rows: usize) -> Result<Batch, CliError> {
        let first = self.first;
        let rows = self.reader.read(rows).map_err(|error| failed(&self.name, error))?;
        self.first += rows.len() as u64;
        Ok(Batch { rows, first })
    }

    /// Reads all rows and verifies the checksum.
    pub(super) fn all(mut self) -> Result<Vec<Ciphertext>, CliError> {
        let batch = self.batch(usize::MAX)?;
        self.finish()?;
        Ok(batch.rows)
    }

    /// Verifies the checksum, after all rows.
    pub(super) fn finish(self) -> Result<(), CliError> {
        self.reader.finish().map_err(|error| failed(&self.name, error))
    }

    /// The failure of an operation on a batch of this file.
    pub(super) fn failed(&self, error: &hearith_dghv::Error, first: u64) -> CliError {
        CliError::at(&self.name, offset(error, first))
    }
}

/// A writer of encrypted bits.
pub(super) struct BitsSink {
    name: String,
    writer: CiphertextWriter<Output>,
}

impl BitsSink {
    /// Begins a file of `rows` rows under a key; `-` is standard output.
    pub(super) fn create(path: &Path, inputs: &[&Path], key: &PublicKey, rows: u64) -> Result<Self, CliError> {
        let output = Output::create(path, inputs)?;
        let name = output.name().to_owned();
        if output.is_terminal() {
            return Err(CliError::at(&name, "a terminal cannot show encrypted bits: name a file with --out"));
        }
        match CiphertextWriter::new(output, key.parameters(), key.id(), rows) {
            Ok(writer) => Ok(Self { name, writer }),
            Err(error) => Err(CliError::writing(&name, error)),
        }
    }

    /// Writes the next rows.
    pub(super) fn write(&mut self, rows: &[Ciphertext]) -> Result<(), CliError> {
        self.writer.write(rows).map_err(|error| CliError::writing(&self.name, error))
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<(), CliError> {
        match self.writer.finish() {
            Ok(output) => output.commit(),
            Err(error) => Err(CliError::writing(&self.name, error)),
        }
    }
}

/// The number of rows to process at a time: few enough for smooth progress and little memory.
pub(super) fn rows_at_a_time(session: &Session, parameters: &Parameters) -> usize {
    let bytes = 8 * parameters.limbs();
    (16 * session.threads).min(BATCH_BYTES / bytes).max(1)
}
