//! Columns exchanged with python-paillier (`phe`), as its JSON ciphertexts.
//!
//! `phe` represents a number as an integer times a power of 16, and stores the power in the clear
//! with each ciphertext. A column has a single power, the lowest: ciphertexts with higher powers
//! are multiplied to match it. Without powers below 0, the column is an ordinary integer column.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Schema, SchemaRef};
use hearith_paillier::ErrorKind as PaillierKind;
use hearith_paillier::{Ciphertexts, PublicKey, phe_json};

use crate::ciphers::{self, NonNullCiphertexts};
use crate::contents;
use crate::error::{Error, ErrorKind};
use crate::metadata::{
    self, DEFAULT_MAX_ADDITIONS, DEFAULT_RANGE, Encoding, EncryptedColumn, MIN_EXPONENT, SourceColumn,
};
use crate::numbers::{check_scale, scaled_range};

/// The largest power of 16 that one multiplication by a 128-bit scalar covers.
const STEP: u32 = 30;

/// Exports the ciphertexts of a column as `phe` writes them, `None` for nulls.
///
/// Numbers of a column with a decimal scale are exported as scaled integers, because `phe` has no
/// powers of ten.
///
/// # Errors
/// When the column is packed, which `phe` does not support, is under another key, or has a
/// malformed ciphertext.
pub fn export(key: &PublicKey, column: &EncryptedColumn, batch: &RecordBatch) -> Result<Vec<Option<String>>, Error> {
    column.check_key(key)?;
    let exponent = match column.encoding {
        Encoding::Integer | Encoding::Fixed => 0,
        Encoding::Base16(exponent) => exponent,
        Encoding::Slots => return Err(ErrorKind::SlotsInPhe.in_column(&column.name)),
    };
    let present = NonNullCiphertexts::read(key, column, batch)?;
    present.check_coprime(key, column)?;
    let exponents = vec![exponent; present.rows.len()];
    let texts = phe_json::export(&present.ciphertexts, &exponents)
        .map_err(|error| ciphers::to_column_error(column, &present.rows, error))?;
    let mut cells = vec![None; batch.num_rows()];
    for (text, &row) in texts.into_iter().zip(&present.rows) {
        cells[row] = Some(text);
    }
    Ok(cells)
}

/// Properties of ciphertexts to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Name of the new column.
    pub column: String,
    /// The lowest power of 16 among the ciphertexts.
    pub exponent: i32,
    /// The integers are numbers times 10 to this power, 0 to 38. Only for exponents of 0 and above.
    pub scale: u32,
    /// Largest magnitude of one number, as decimal text. By default 2^63 - 1 after scaling.
    pub range: Option<String>,
    /// Additions to leave headroom for, at least 1.
    pub max_additions: u64,
    /// Numbers that each ciphertext already sums, at least 1.
    pub additions: u64,
}

impl ImportOptions {
    /// A column of single integers with the default range and headroom.
    pub fn new(column: &str) -> Self {
        Self {
            column: column.to_owned(),
            exponent: 0,
            scale: 0,
            range: None,
            max_additions: DEFAULT_MAX_ADDITIONS,
            additions: 1,
        }
    }
}

/// Converts `phe` ciphertexts to a column.
#[derive(Clone, Debug)]
pub struct Importer {
    key: PublicKey,
    column: EncryptedColumn,
    additions: u64,
    schema: SchemaRef,
}

impl Importer {
    /// Prepares a column.
    ///
    /// # Errors
    /// When a scale, range, exponent or headroom does not fit the key, or `additions` is 0.
    pub fn new(key: &PublicKey, options: &ImportOptions) -> Result<Self, Error> {
        let name = &options.column;
        let scale = check_scale(name, options.scale)?;
        let range = match &options.range {
            None => DEFAULT_RANGE,
            Some(text) => scaled_range(name, text, scale)?,
        };
        let encoding = match (options.exponent, scale) {
            (0.., 0) => Encoding::Integer,
            (0.., _) => Encoding::Fixed,
            (exponent @ MIN_EXPONENT..0, 0) => Encoding::Base16(exponent),
            (MIN_EXPONENT..0, _) => return Err(ErrorKind::ScaleOfFractions.in_column(name)),
            (exponent, _) => {
                return Err(ErrorKind::ExponentTooLow { exponent, lowest: MIN_EXPONENT }.in_column(name));
            }
        };
        let column = EncryptedColumn {
            name: name.clone(),
            key: key.id(),
            bits: key.bits(),
            encoding,
            sources: vec![SourceColumn::new(name, scale, range)],
            max_additions: options.max_additions,
        };
        column.layout()?;
        let additions = options.additions;
        if additions == 0 {
            return Err(ErrorKind::NoAdditions.in_column(name));
        }
        if additions > column.max_additions {
            let max_additions = column.max_additions;
            return Err(ErrorKind::Headroom { additions, max_additions }.in_column(name));
        }
        let field = metadata::of_table(column.field(), &contents::hex(&contents::new_id()?));
        let fields: Vec<_> = std::iter::once(field).chain(column.companion_fields()).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { key: key.clone(), column, additions, schema })
    }

    /// The schema with the ciphertexts and their companion.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Imports a batch of the column from `phe`'s JSON objects, `None` for nulls.
    ///
    /// # Errors
    /// Reports the first object that is malformed, is not a ciphertext of the key, or has an
    /// exponent lower than announced.
    pub fn import(&self, cells: &[Option<&str>]) -> Result<RecordBatch, Error> {
        let rows: Vec<usize> = (0..cells.len()).filter(|&row| cells[row].is_some()).collect();
        // One object per line, so that an error's line identifies the object.
        let lines = cells.iter().flatten().map(|cell| cell.replace(['\n', '\r'], " "));
        let text = lines.collect::<Vec<_>>().join("\n");
        let (ciphertexts, exponents) = match rows.is_empty() {
            true => (self.key.zeros(0), Vec::new()),
            false => phe_json::import(&self.key, &text).map_err(|error| self.to_row_error(&rows, error))?,
        };
        let ciphertexts = self.align(ciphertexts, &exponents, &rows)?;
        let nulls = NullBuffer::from_iter(cells.iter().map(Option::is_some));
        let ciphertexts = ciphers::write(&self.column, &ciphertexts, Some(&nulls))?;
        let additions = cells.iter().map(|cell| cell.map_or(0, |_| self.additions));
        let additions: ArrayRef = Arc::new(UInt64Array::from_iter_values(additions));
        Ok(RecordBatch::try_new(self.schema.clone(), vec![ciphertexts, additions])?)
    }

    /// Multiplies all ciphertexts to the column's power of 16.
    fn align(&self, mut ciphertexts: Ciphertexts, exponents: &[i32], rows: &[usize]) -> Result<Ciphertexts, Error> {
        let target = match self.column.encoding {
            Encoding::Base16(exponent) => exponent,
            _ => 0,
        };
        let too_far = |row, exponent: i32| ErrorKind::ExponentBeyond { exponent }.at(row, &self.column.name);
        let mut missing = Vec::with_capacity(exponents.len());
        for (&exponent, &row) in exponents.iter().zip(rows) {
            let up = exponent.checked_sub(target).and_then(|up| u32::try_from(up).ok());
            let fits = up.filter(|up| *up < self.column.bits / 4);
            missing.push(fits.ok_or_else(|| too_far(row, exponent))?);
        }
        while missing.iter().any(|&up| up > 0) {
            let scalars: Vec<i128> = missing.iter().map(|&up| 1 << (4 * up.min(STEP))).collect();
            // Powers of 16 are public.
            let scaled = self.key.multiply_deterministic(&ciphertexts, &scalars, i128::BITS);
            ciphertexts = scaled.map_err(|error| ciphers::to_column_error(&self.column, rows, error))?;
            missing.iter_mut().for_each(|up| *up -= (*up).min(STEP));
        }
        Ok(ciphertexts)
    }

    /// Converts an error in `phe`'s JSON to an error at its row.
    fn to_row_error(&self, rows: &[usize], error: hearith_paillier::Error) -> Error {
        let row = match error.kind() {
            PaillierKind::PheJson { line, .. } => Some(line.saturating_sub(1)),
            _ => error.row(),
        };
        let row = row.and_then(|row| rows.get(row)).copied().unwrap_or_default();
        ErrorKind::Paillier(error.kind().clone()).at(row, &self.column.name)
    }
}
