//! Decrypts columns: from a batch of ciphertexts to exact numbers, never wrong ones.
//!
//! A total is accepted only if its recorded number of additions is within the declared headroom and
//! its magnitude is within that number times the declared range. Otherwise the cell is an overflow,
//! and so are the other cells of the same ciphertext, because the total may have carried into them.
//!
//! Intermediate numbers and texts are wiped from memory. The arrays of [`Decrypted::to_batch`] and
//! [`Decrypted::to_text`] hold the numbers for the caller, in memory that Arrow does not wipe.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, DecimalType};
use arrow_array::{ArrayRef, Decimal128Array, Decimal256Array, Float64Array, RecordBatch, UInt64Array};
use arrow_buffer::i256;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use hearith_paillier::encoding::{Signed, decode_signed};
use hearith_paillier::phe_json::Number;
use hearith_paillier::{DecryptError, DecryptionBackend, Plaintexts, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::ciphers::{self, NonNullCiphertexts};
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::metadata::{self, Encoding, EncryptedColumn, SourceColumn, encrypted_columns};

/// Text that replaces a total that overflowed its headroom.
pub const OVERFLOW: &str = "#OVERFLOW";

/// Decrypts the batches of one table.
#[derive(Debug)]
pub struct Decryptor<'a> {
    key: &'a dyn DecryptionBackend,
    reader: TableReader,
}

/// Converts the batches of one table to numbers, independent of the decryption backend.
#[derive(Debug)]
pub(crate) struct TableReader {
    columns: Vec<EncryptedColumn>,
    plan: Vec<Step>,
    input: SchemaRef,
    schema: SchemaRef,
}

/// The source of an output column.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The input column of this number, unchanged.
    Pass(usize),
    /// The source columns of the encrypted column of this number.
    Decrypt(usize),
}

/// A decrypted batch.
#[derive(Debug)]
pub struct Decrypted {
    schema: SchemaRef,
    columns: Vec<Decoded>,
}

#[derive(Debug)]
enum Decoded {
    Plain(ArrayRef),
    Numbers { encoding: Encoding, scale: u32, cells: Vec<Cell> },
}

#[derive(Clone, Debug)]
enum Cell {
    /// No number was added.
    Null,
    /// The encoded integer.
    Value(Signed),
    /// The total is not reliable.
    Overflow,
}

impl<'a> Decryptor<'a> {
    /// Prepares to decrypt tables with this schema. All of their encrypted columns must be under
    /// this key.
    ///
    /// # Errors
    /// When there is no encrypted column, or one is under another key or has a damaged description.
    /// When two columns share a name.
    pub fn new(key: &'a PrivateKey, schema: &Schema) -> Result<Self, Error> {
        Self::with(key, schema)
    }

    /// Like [`Decryptor::new`], with any decryption backend.
    ///
    /// # Errors
    /// As [`Decryptor::new`].
    pub fn with(key: &'a dyn DecryptionBackend, schema: &Schema) -> Result<Self, Error> {
        Ok(Self { key, reader: TableReader::new(key.public(), schema)? })
    }

    /// The schema of the decrypted table, without companions. Numbers are `Decimal128(38, scale)`,
    /// or `Decimal256(76, scale)` if the declared range and additions may need it. Numbers from
    /// python-paillier are `Float64`.
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema.clone()
    }

    /// The indices of the columns that hold numbers as `Decimal256`. [`narrowed`] determines which
    /// of them need it.
    pub fn wide(&self) -> Vec<usize> {
        self.reader.wide()
    }

    /// Decrypts a batch of the prepared table.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] for a batch of another table. Reports the first row whose ciphertext
    /// is malformed or shares a factor with n. An overflowed total is not an error here: see
    /// [`Decrypted::overflow`].
    pub fn decrypt(&self, batch: &RecordBatch) -> Result<Decrypted, Error> {
        self.reader.decrypt(self.key.public(), batch, |column, present| {
            self.key.decrypt(&present.ciphertexts).map_err(|error| match error {
                DecryptError::Ciphertexts(error) => ciphers::to_column_error(column, &present.rows, error),
                DecryptError::Device(error) => ErrorKind::Device(error).into(),
            })
        })
    }
}

impl TableReader {
    /// Prepares to read tables with this schema. All of their encrypted columns must be under this
    /// key.
    pub(crate) fn new(key: &PublicKey, schema: &Schema) -> Result<Self, Error> {
        let columns = encrypted_columns(schema)?;
        if columns.is_empty() {
            return Err(ErrorKind::NothingEncrypted.into());
        }
        columns.iter().try_for_each(|column| column.check_key(key))?;
        let plan = plan(schema, &columns);
        let output = output_schema(schema, &columns, &plan);
        metadata::check_names(&output)?;
        Ok(Self { columns, plan, input: Arc::new(schema.clone()), schema: Arc::new(output) })
    }

    /// The schema of the decrypted table.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The indices of the columns that hold numbers as `Decimal256`.
    pub(crate) fn wide(&self) -> Vec<usize> {
        let numbers = self.columns.iter().flat_map(|column| &column.sources);
        let indices = numbers.filter_map(|source| self.schema.index_of(&source.name).ok());
        indices.filter(|&index| matches!(self.schema.field(index).data_type(), DataType::Decimal256(..))).collect()
    }

    /// The encrypted columns.
    pub(crate) fn columns(&self) -> &[EncryptedColumn] {
        &self.columns
    }

    /// Checks that a batch belongs to the prepared table.
    pub(crate) fn check(&self, batch: &RecordBatch) -> Result<(), Error> {
        metadata::check_batch(&self.input, batch.schema_ref())
    }

    /// The numbers of a batch. `decrypt` returns the plaintexts of a column's ciphertexts.
    pub(crate) fn decrypt(
        &self,
        key: &PublicKey,
        batch: &RecordBatch,
        decrypt: impl Fn(&EncryptedColumn, &NonNullCiphertexts) -> Result<Plaintexts, Error>,
    ) -> Result<Decrypted, Error> {
        self.check(batch)?;
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for step in &self.plan {
            match *step {
                Step::Pass(index) => columns.push(Decoded::Plain(batch.column(index).clone())),
                Step::Decrypt(index) => columns.extend(decrypt_column(key, &self.columns[index], batch, &decrypt)?),
            }
        }
        Ok(Decrypted { schema: self.schema.clone(), columns })
    }
}

fn decrypt_column(
    key: &PublicKey,
    column: &EncryptedColumn,
    batch: &RecordBatch,
    decrypt: impl Fn(&EncryptedColumn, &NonNullCiphertexts) -> Result<Plaintexts, Error>,
) -> Result<Vec<Decoded>, Error> {
    let companions = ciphers::companions(column, batch)?;
    ciphers::check_counts(column, batch)?;
    let present = NonNullCiphertexts::read(key, column, batch)?;
    present.check_coprime(key, column)?;
    let sources = column.sources.len();
    let values = decode(key, column, &present, &decrypt(column, &present)?, &companions)?;
    let mut cells = vec![vec![Cell::Null; batch.num_rows()]; sources];
    for (values, &row) in values.chunks_exact(sources).zip(&present.rows) {
        for (source, cell) in to_cells(column, values, &companions, row).into_iter().enumerate() {
            cells[source][row] = cell;
        }
    }
    let encoding = column.encoding;
    let decoded = |(source, cells): (&SourceColumn, _)| Decoded::Numbers { encoding, scale: source.scale, cells };
    Ok(column.sources.iter().zip(cells).map(decoded).collect())
}

/// Decodes the integers in the plaintexts, row by row; `None` if a row exceeds its layout.
fn decode(
    key: &PublicKey,
    column: &EncryptedColumn,
    present: &NonNullCiphertexts,
    plaintexts: &Plaintexts,
    companions: &[&UInt64Array],
) -> Result<Vec<Option<Signed>>, Error> {
    let fault = |error| ciphers::to_column_error(column, &present.rows, error);
    match column.encoding {
        Encoding::Slots => {
            let most = |&row: &usize| companions.iter().map(|added| added.value(row)).max().unwrap_or(0);
            let additions: Vec<u64> = present.rows.iter().map(most).collect();
            column.layout()?.unpack(key, plaintexts, &additions).map_err(fault)
        }
        _ => {
            let values = decode_signed(key, plaintexts).map_err(fault)?;
            Ok(values.into_iter().map(Some).collect())
        }
    }
}

/// The cells of one ciphertext. Either all of them overflowed or none.
fn to_cells(column: &EncryptedColumn, values: &[Option<Signed>], companions: &[&UInt64Array], row: usize) -> Vec<Cell> {
    let cell = |((source, value), added): ((&SourceColumn, &Option<Signed>), &&UInt64Array)| {
        let additions = added.value(row);
        let value = value.as_ref().filter(|_| additions <= column.max_additions)?;
        match (exceeds(value, source.range, additions, column.encoding), additions) {
            (true, _) => None,
            (false, 0) => Some(Cell::Null),
            (false, _) => Some(Cell::Value(value.clone())),
        }
    };
    let cells: Option<Vec<Cell>> = column.sources.iter().zip(values).zip(companions).map(cell).collect();
    cells.unwrap_or_else(|| vec![Cell::Overflow; values.len()])
}

/// Whether a total exceeds the largest sum of `additions` numbers of magnitude up to `range`.
fn exceeds(value: &Signed, range: u128, additions: u64, encoding: Encoding) -> bool {
    match encoding {
        Encoding::Base16(exponent) => {
            let bound = shifted_product(range, additions, 4 * exponent.unsigned_abs());
            greater(value.magnitude(), &bound)
        }
        _ => value.exceeds(range, additions),
    }
}

/// `range * additions * 2^shift` in 64-bit limbs, least significant first.
fn shifted_product(range: u128, additions: u64, shift: u32) -> Vec<u64> {
    let (limbs, bits) = ((shift / 64) as usize, shift % 64);
    let low = u128::from(range as u64) * u128::from(additions);
    let high = (range >> 64) * u128::from(additions) + (low >> 64);
    let product = [low as u64, high as u64, (high >> 64) as u64];
    let mut shifted = vec![0; limbs + 4];
    for (index, limb) in product.into_iter().enumerate() {
        let wide = u128::from(limb) << bits;
        shifted[limbs + index] |= wide as u64;
        shifted[limbs + index + 1] |= (wide >> 64) as u64;
    }
    shifted
}

/// Whether `a > b`, both with the least significant limb first.
fn greater(a: &[u64], b: &[u64]) -> bool {
    let limb = |number: &[u64], index: usize| number.get(index).copied().unwrap_or(0);
    let top = (0..a.len().max(b.len())).rev().find(|&i| limb(a, i) != limb(b, i));
    top.is_some_and(|index| limb(a, index) > limb(b, index))
}

impl Decrypted {
    /// The number of overflowed cells.
    pub fn overflows(&self) -> usize {
        let cells = self.columns.iter().filter_map(|column| match column {
            Decoded::Numbers { cells, .. } => Some(cells),
            Decoded::Plain(_) => None,
        });
        cells.flatten().filter(|cell| matches!(cell, Cell::Overflow)).count()
    }

    /// The first overflowed cell, as an error.
    pub fn overflow(&self) -> Option<Error> {
        let first = |column: &Decoded| match column {
            Decoded::Numbers { cells, .. } => cells.iter().position(|cell| matches!(cell, Cell::Overflow)),
            Decoded::Plain(_) => None,
        };
        let found = self.columns.iter().enumerate();
        let (row, index) = found.filter_map(|(index, column)| Some((first(column)?, index))).min()?;
        Some(ErrorKind::Overflow.at(row, self.schema.field(index).name()))
    }

    /// Returns the batch with its numbers as Arrow decimals ([`Decryptor::schema`]).
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`] at the first overflowed cell.
    pub fn to_batch(&self) -> Result<RecordBatch, Error> {
        if let Some(error) = self.overflow() {
            return Err(error);
        }
        let arrays = self.columns.iter().zip(self.schema.fields()).map(|(column, field)| {
            column.to_array(field.data_type()).map_err(|error| Error::from(error).in_column(field.name()))
        });
        batch_of(&self.schema, arrays.collect::<Result<Vec<_>, _>>()?)
    }

    /// Returns the batch with its numbers as exact decimal text, and [`OVERFLOW`] for overflowed
    /// cells. Other columns keep their types.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_text(&self) -> Result<RecordBatch, Error> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .map(|(column, field)| match column {
                Decoded::Plain(array) => (Field::clone(field), array.clone()),
                Decoded::Numbers { encoding, scale, cells } => {
                    let mut texts = StringBuilder::with_capacity(cells.len(), 16 * cells.len());
                    cells.iter().for_each(|cell| {
                        texts.append_option(cell.text(*encoding, *scale).as_ref().map(|text| text.as_str()))
                    });
                    (Field::new(field.name(), DataType::Utf8, true), Arc::new(texts.finish()) as ArrayRef)
                }
            })
            .unzip();
        batch_of(&Arc::new(Schema::new(fields)), arrays)
    }
}

impl Cell {
    fn text(&self, encoding: Encoding, scale: u32) -> Option<Zeroizing<String>> {
        Some(Zeroizing::new(match (self, encoding) {
            (Self::Null, _) => return None,
            (Self::Overflow, _) => OVERFLOW.to_owned(),
            (Self::Value(value), Encoding::Base16(exponent)) => base16_text(value, exponent),
            (Self::Value(value), _) => value.to_decimal_string(scale),
        }))
    }

    fn value(&self) -> Option<&Signed> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }
}

impl Decoded {
    fn to_array(&self, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        let (encoding, cells) = match self {
            Self::Plain(array) => return Ok(array.clone()),
            Self::Numbers { encoding, cells, .. } => (*encoding, cells),
        };
        let too_large = || ArrowError::ComputeError("a total is too large for its type".into());
        match *kind {
            DataType::Decimal128(precision, scale) => {
                let numbers = cells
                    .iter()
                    .map(|cell| cell.value().map(|value| value.to_i128().ok_or_else(too_large)).transpose());
                let array: Decimal128Array = numbers.collect::<Result<_, _>>()?;
                Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
            }
            DataType::Decimal256(precision, scale) => {
                let numbers = cells.iter().map(|cell| {
                    let wide = |value: &Signed| i256::from_string(&Zeroizing::new(value.to_decimal_string(0)));
                    cell.value().map(|value| wide(value).ok_or_else(too_large)).transpose()
                });
                let array: Decimal256Array = numbers.collect::<Result<_, _>>()?;
                Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
            }
            _ => {
                let exponent = match encoding {
                    Encoding::Base16(exponent) => exponent,
                    _ => 0,
                };
                let numbers = cells.iter().map(|cell| {
                    let number = cell.value().map(|value| Number::new(value.clone(), exponent));
                    number.map(|number| number.to_f64().map_err(|_| too_large())).transpose()
                });
                Ok(Arc::new(numbers.collect::<Result<Float64Array, _>>()?))
            }
        }
    }
}

/// `value * 16^exponent` as exact decimal text, without trailing zeros. Since
/// `16^-k = 5^(4k) / 10^(4k)`, the text is `value * 5^(4k)` with `4k` fractional digits.
fn base16_text(value: &Signed, exponent: i32) -> String {
    let places = 4 * exponent.unsigned_abs();
    // Capacity for the product, so that the limbs are never moved. `Signed` wipes them.
    let mut magnitude = Vec::with_capacity(value.magnitude().len() + places as usize / 16 + 1);
    magnitude.extend_from_slice(value.magnitude());
    (0..places).for_each(|_| times_five(&mut magnitude));
    let mut text = Signed::new(value.is_negative(), magnitude).to_decimal_string(places);
    if text.contains('.') {
        let digits = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(digits);
    }
    text
}

fn times_five(limbs: &mut Vec<u64>) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = u128::from(*limb) * 5 + carry;
        (*limb, carry) = (product as u64, product >> 64);
    }
    if carry > 0 {
        limbs.push(carry as u64);
    }
}

fn plan(schema: &Schema, columns: &[EncryptedColumn]) -> Vec<Step> {
    let counts = |source: &SourceColumn, name: &str| source.additions == name || source.values.as_deref() == Some(name);
    let companion = |name: &str| columns.iter().any(|column| column.sources.iter().any(|source| counts(source, name)));
    let steps = schema.fields().iter().enumerate().filter_map(|(index, field)| {
        match columns.iter().position(|column| column.name == *field.name()) {
            Some(column) => Some(Step::Decrypt(column)),
            None if companion(field.name()) => None,
            None => Some(Step::Pass(index)),
        }
    });
    steps.collect()
}

fn output_schema(schema: &Schema, columns: &[EncryptedColumn], plan: &[Step]) -> Schema {
    let fields = plan.iter().flat_map(|step| match *step {
        Step::Pass(index) => vec![metadata::without_metadata(schema.field(index))],
        Step::Decrypt(index) => {
            let column = &columns[index];
            column.sources.iter().map(|source| number_field(column, source)).collect()
        }
    });
    Schema::new(fields.collect::<Vec<Field>>())
}

/// The Arrow type that holds every total within the declared range and headroom.
fn number_field(column: &EncryptedColumn, source: &SourceColumn) -> Field {
    let scale = source.scale as i8;
    let largest = source.range.checked_mul(column.max_additions.into());
    let kind = match (column.encoding, largest) {
        (Encoding::Base16(_), _) => DataType::Float64,
        (_, Some(largest)) if largest < 10_u128.pow(Decimal128Type::MAX_PRECISION.into()) => {
            DataType::Decimal128(Decimal128Type::MAX_PRECISION, scale)
        }
        _ => DataType::Decimal256(Decimal256Type::MAX_PRECISION, scale),
    };
    Field::new(&source.name, kind, true)
}

/// Replaces `Decimal256` by `Decimal128(38, scale)` in those of the `wide` columns whose numbers
/// all fit. Returns the schema and the batches. DuckDB reads `Decimal256` in Parquet as doubles,
/// and polars cannot read it.
///
/// # Errors
/// None that a caller can cause.
pub fn narrowed(
    schema: &SchemaRef,
    wide: &[usize],
    batches: &[RecordBatch],
) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let bound = i256::from_i128(10_i128.pow(Decimal128Type::MAX_PRECISION.into()));
    let fits = |column: &Decimal256Array| column.iter().flatten().all(|value| -bound < value && value < bound);
    let narrow = |&index: &usize| batches.iter().all(|batch| batch.column(index).as_primitive_opt().is_some_and(fits));
    let narrow: Vec<usize> = wide.iter().copied().filter(narrow).collect();
    let fields = schema.fields().iter().enumerate().map(|(index, field)| match field.data_type() {
        &DataType::Decimal256(_, scale) if narrow.contains(&index) => {
            let kind = DataType::Decimal128(Decimal128Type::MAX_PRECISION, scale);
            Field::clone(field).with_data_type(kind)
        }
        _ => Field::clone(field),
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batches = batches.iter().map(|batch| {
        let columns = batch.columns().iter().zip(schema.fields());
        let arrays = columns.map(|(column, field)| match field.data_type() {
            &DataType::Decimal128(precision, scale) if column.data_type() != field.data_type() => {
                let numbers = column.as_primitive::<Decimal256Type>().iter();
                let numbers: Decimal128Array = numbers.map(|value| value.and_then(i256::to_i128)).collect();
                Ok(Arc::new(numbers.with_precision_and_scale(precision, scale)?) as ArrayRef)
            }
            _ => Ok(column.clone()),
        });
        batch_of(&schema, arrays.collect::<Result<Vec<_>, Error>>()?)
    });
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    Ok((schema, batches))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_base16_totals() {
        assert_eq!(shifted_product(3, 5, 0), [15, 0, 0, 0]);
        assert_eq!(shifted_product(3, 5, 68), [0, 240, 0, 0, 0]);
        let widest = shifted_product(u128::MAX, u64::MAX, 63);
        // (2^128 - 1)(2^64 - 1) 2^63 = 2^255 - 2^191 - 2^127 + 2^63
        assert_eq!(widest, [1 << 63, 1 << 63, (1 << 63) - 1, (1 << 63) - 1]);
    }

    #[test]
    fn powers_of_16_as_decimals() {
        let text = |mantissa: i128, exponent| base16_text(&mantissa.into(), exponent);
        assert_eq!(text(5 << 50, -14), "0.078125");
        assert_eq!(text(-24, -1), "-1.5");
        assert_eq!(text(32, -1), "2");
        assert_eq!(text(0, -3), "0");
        assert_eq!(text(100, 0), "100");
        let tenth = Number::from_f64(0.1).unwrap();
        let exact = "0.1000000000000000055511151231257827021181583404541015625";
        assert_eq!(base16_text(tenth.mantissa(), tenth.exponent()), exact);
    }

    #[test]
    fn comparing_limbs_of_different_lengths() {
        assert!(greater(&[0, 1], &[5]));
        assert!(!greater(&[5], &[0, 1]));
        assert!(!greater(&[5, 0, 0], &[5]));
        assert!(greater(&[6, 0], &[5, 0, 0]));
    }
}
