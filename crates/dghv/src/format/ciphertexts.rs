//! Files of encrypted bits. After the header comes the number of rows (8 bytes). Each row consists
//! of the bound on its noise in bits (8 bytes, IEEE 754) and its value of `gamma` bits.

use std::io::{self, Read, Write};

use super::error::{FormatError, FormatErrorKind};
use super::frame::{FrameReader, FrameWriter};
use super::header::{FileKind, HEADER_BYTES, Header, MOST_HEADER_BYTES};
use crate::{Ciphertext, ErrorKind, KeyId, Parameters};

/// Writes ciphertexts batch by batch.
#[derive(Debug)]
pub struct CiphertextWriter<W> {
    frame: FrameWriter<W>,
    parameters: Parameters,
    key: KeyId,
    missing: u64,
}

impl<W: Write> CiphertextWriter<W> {
    /// Starts a file with `rows` rows of a key.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn new(output: W, parameters: &Parameters, key: KeyId, rows: u64) -> io::Result<Self> {
        let header = Header { kind: FileKind::Ciphertexts, parameters: parameters.clone(), key };
        let mut frame = header.write(output, false)?;
        frame.u64(rows)?;
        Ok(Self { frame, parameters: header.parameters, key, missing: rows })
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// If the output cannot be written.
    ///
    /// # Panics
    /// If there are more rows than announced, or a row belongs to another key.
    pub fn write(&mut self, rows: &[Ciphertext]) -> io::Result<()> {
        self.missing = self.missing.checked_sub(rows.len() as u64).expect("there must be no more rows than announced");
        rows.iter().try_for_each(|row| {
            assert_eq!(row.key_id(), self.key, "all rows of a file must have the same key");
            self.frame.u64(row.noise().to_bits())?;
            self.frame.number(row.value(), self.parameters.lengths().modulus as usize)
        })
    }

    /// Completes the file and returns the output.
    ///
    /// # Errors
    /// If the output cannot be written.
    ///
    /// # Panics
    /// If fewer rows were written than announced.
    pub fn finish(self) -> io::Result<W> {
        assert_eq!(self.missing, 0, "there must be as many rows as announced");
        self.frame.finish()
    }
}

/// Reads ciphertexts batch by batch.
///
/// Trust the rows only after [`finish`](CiphertextReader::finish) has verified the checksum.
#[derive(Debug)]
pub struct CiphertextReader<R> {
    frame: FrameReader<R>,
    header: Header,
    rows: u64,
    read: u64,
}

impl<R: Read> CiphertextReader<R> {
    /// Starts reading a file.
    ///
    /// # Errors
    /// If the file is of another kind, malformed or cannot be read.
    pub fn new(input: R) -> Result<Self, FormatError> {
        let (header, version, mut frame) = Header::of(FileKind::Ciphertexts, input)?;
        if version > 1 && header.parameters.level() == 0 {
            return Err(FormatErrorKind::Field("the level").into());
        }
        let rows = frame.u64()?;
        Ok(Self { frame, header, rows, read: 0 })
    }

    /// The header of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of rows stated in the file.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the next rows, at most `most` of them, and none at the end.
    ///
    /// # Errors
    /// With the row: a file that ends too early, noise too large to decrypt, or a value that is too
    /// long.
    pub fn read(&mut self, most: usize) -> Result<Vec<Ciphertext>, FormatError> {
        let count = (self.rows - self.read).min(most as u64);
        // No allocation in advance, because a file may state any number of rows.
        (0..count).map(|_| self.row().map_err(|error| error.at_row(self.read))).collect()
    }

    fn row(&mut self) -> Result<Ciphertext, FormatError> {
        let parameters = &self.header.parameters;
        let noise = f64::from_bits(self.frame.u64()?);
        let value = self.frame.number(parameters.lengths().modulus as usize)?;
        let row = Ciphertext::from_parts(self.header.key, parameters, value.to_vec(), noise);
        let row = row.map_err(|error| match error.kind() {
            ErrorKind::NoiseExhausted { .. } => FormatErrorKind::Field("the noise").into(),
            _ => FormatError::from(FormatErrorKind::TooLong),
        })?;
        self.read += 1;
        Ok(row)
    }

    /// Verifies the checksum after all rows have been read.
    ///
    /// # Errors
    /// [`FormatErrorKind::Checksum`], and [`FormatErrorKind::Trailing`] if data follows the
    /// checksum.
    ///
    /// # Panics
    /// If rows are left.
    pub fn finish(self) -> Result<(), FormatError> {
        assert_eq!(self.read, self.rows, "all rows must be read before the checksum");
        self.frame.finish()
    }
}

/// Size in bytes of a file with `rows` rows.
pub fn ciphertext_file_bytes(parameters: &Parameters, rows: u64) -> u64 {
    let row = 8 + u64::from(parameters.lengths().modulus.div_ceil(8));
    let header = if parameters.level() > 0 { MOST_HEADER_BYTES } else { HEADER_BYTES };
    header + 8 + rows.saturating_mul(row) + super::frame::CHECKSUM_BYTES as u64
}
