//! Files of encrypted bits. After the header comes the number of rows (8 bytes), then each row: the
//! bound on its noise in bits (8 bytes, IEEE 754), and its number, of `gamma` bits.

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
    /// Begins a file of so many rows of a key.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn new(output: W, parameters: &Parameters, key: KeyId, rows: u64) -> io::Result<Self> {
        let header = Header { kind: FileKind::Ciphertexts, parameters: parameters.clone(), key };
        let mut frame = header.write(output, false)?;
        frame.u64(rows)?;
        Ok(Self { frame, parameters: header.parameters, key, missing: rows })
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// An output that cannot be written.
    ///
    /// # Panics
    /// If there are more rows than were announced, or one of another key.
    pub fn write(&mut self, rows: &[Ciphertext]) -> io::Result<()> {
        self.missing = self.missing.checked_sub(rows.len() as u64).expect("no more rows than announced");
        rows.iter().try_for_each(|row| {
            assert_eq!(row.key_id(), self.key, "one key a file");
            self.frame.u64(row.noise().to_bits())?;
            self.frame.number(row.value(), self.parameters.lengths().modulus as usize)
        })
    }

    /// Completes the file and gives the output back.
    ///
    /// # Errors
    /// An output that cannot be written.
    ///
    /// # Panics
    /// If fewer rows were written than announced.
    pub fn finish(self) -> io::Result<W> {
        assert_eq!(self.missing, 0, "as many rows as announced");
        self.frame.finish()
    }
}

/// Reads ciphertexts batch by batch.
///
/// What was read counts when [`finish`](CiphertextReader::finish) has found the checksum right.
#[derive(Debug)]
pub struct CiphertextReader<R> {
    frame: FrameReader<R>,
    header: Header,
    rows: u64,
    read: u64,
}

impl<R: Read> CiphertextReader<R> {
    /// Begins to read a file.
    ///
    /// # Errors
    /// A file that holds something else, or cannot be read.
    pub fn new(input: R) -> Result<Self, FormatError> {
        let (header, version, mut frame) = Header::of(FileKind::Ciphertexts, input)?;
        if version > 1 && header.parameters.level() == 0 {
            return Err(FormatErrorKind::Field("the level").into());
        }
        let rows = frame.u64()?;
        Ok(Self { frame, header, rows, read: 0 })
    }

    /// What the file is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Rows of the file, as it claims.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next rows, at most so many; none at the end.
    ///
    /// # Errors
    /// With the row: a file that ends too early, noise that would not decrypt, a number that is too
    /// long.
    pub fn read(&mut self, most: usize) -> Result<Vec<Ciphertext>, FormatError> {
        let count = (self.rows - self.read).min(most as u64);
        // Not made room for beforehand: a file may claim any number of rows.
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

    /// Compares the checksum, after all rows have been read.
    ///
    /// # Errors
    /// [`FormatErrorKind::Checksum`], and [`FormatErrorKind::Trailing`] if the file does not end
    /// there.
    ///
    /// # Panics
    /// If rows are left.
    pub fn finish(self) -> Result<(), FormatError> {
        assert_eq!(self.read, self.rows, "all rows are read before the checksum");
        self.frame.finish()
    }
}

/// Bytes of a file of so many rows.
pub fn ciphertext_file_bytes(parameters: &Parameters, rows: u64) -> u64 {
    let row = 8 + u64::from(parameters.lengths().modulus.div_ceil(8));
    let header = if parameters.level() > 0 { MOST_HEADER_BYTES } else { HEADER_BYTES };
    header + 8 + rows.saturating_mul(row) + super::frame::CHECKSUM_BYTES as u64
}
