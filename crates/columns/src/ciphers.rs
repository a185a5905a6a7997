//! Conversion of ciphertexts to and from Arrow's fixed-size binary arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, Schema};
use hearith_paillier::{Ciphertexts, ComputeError, PublicKey};

use crate::error::{CompanionFault, Error, ErrorKind};
use crate::metadata::{Encoding, EncryptedColumn, SourceColumn, VALUES, counts_rows};

/// The ciphertexts of a column that are not null, and their rows.
pub(crate) struct NonNullCiphertexts {
    /// One ciphertext per row of `rows`.
    pub(crate) ciphertexts: Ciphertexts,
    /// Row numbers within the batch, ascending.
    pub(crate) rows: Vec<usize>,
}

impl NonNullCiphertexts {
    /// Reads a column, checking `0 < c < n^2` but not coprimality.
    pub(crate) fn read(key: &PublicKey, column: &EncryptedColumn, batch: &RecordBatch) -> Result<Self, Error> {
        let array = array(column, batch)?;
        let width = column.ciphertext_bytes();
        let rows: Vec<usize> = match array.nulls() {
            None => (0..array.len()).collect(),
            Some(nulls) => nulls.valid_indices().collect(),
        };
        let ciphertexts = match rows.len() == array.len() {
            true => key.ciphertexts_from_be(&array.value_data()[..rows.len() * width]),
            false => {
                let bytes: Vec<u8> = rows.iter().flat_map(|&row| array.value(row)).copied().collect();
                key.ciphertexts_from_be(&bytes)
            }
        };
        match ciphertexts {
            Ok(ciphertexts) => Ok(Self { ciphertexts, rows }),
            Err(error) => Err(to_column_error(column, &rows, error)),
        }
    }

    /// Checks that every ciphertext is coprime to n. The error names the first row that is not.
    pub(crate) fn check_coprime(&self, key: &PublicKey, column: &EncryptedColumn) -> Result<(), Error> {
        key.check_coprime(&self.ciphertexts).map_err(|error| to_column_error(column, &self.rows, error))
    }
}

/// Converts an operation's error to an error of the batch. `rows` lists the rows it processed.
pub(crate) fn to_column_error(column: &EncryptedColumn, rows: &[usize], error: hearith_paillier::Error) -> Error {
    let row = error.row().and_then(|row| rows.get(row)).copied();
    let error = ErrorKind::Paillier(error.kind().clone()).in_column(&column.name);
    match row {
        Some(row) => error.at_row(row as u64),
        None => error,
    }
}

/// Converts the error of an operation on an entire column: a fault of the column or of the service.
pub(crate) fn from_compute_error(column: &EncryptedColumn, error: ComputeError) -> Error {
    match error {
        ComputeError::Batch(error) => ErrorKind::Paillier(error.kind().clone()).in_column(&column.name),
        ComputeError::Service(error) => ErrorKind::Service(error).into(),
    }
}

/// Writes an array in which `ciphertexts` fill the rows that `nulls` marks as valid.
pub(crate) fn write(
    column: &EncryptedColumn,
    ciphertexts: &Ciphertexts,
    nulls: Option<&NullBuffer>,
) -> Result<ArrayRef, Error> {
    let width = column.ciphertext_bytes();
    let bytes = ciphertexts.to_be_bytes();
    let bytes = match nulls {
        None => bytes,
        Some(nulls) => {
            let mut spread = vec![0; nulls.len() * width];
            for (row, cell) in nulls.valid_indices().zip(bytes.chunks_exact(width)) {
                spread[row * width..][..width].copy_from_slice(cell);
            }
            spread
        }
    };
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0).cloned();
    FixedSizeBinaryArray::try_new(width as i32, Buffer::from_vec(bytes), nulls)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| Error::from(error).in_column(&column.name))
}

/// The companion columns of an encrypted column, one per source column.
pub(crate) fn companions<'a>(column: &EncryptedColumn, batch: &'a RecordBatch) -> Result<Vec<&'a UInt64Array>, Error> {
    let companion = |source: &SourceColumn| {
        counts(&source.additions, batch)?.ok_or_else(|| {
            let (companion, fault) = (source.additions.clone(), CompanionFault::Missing);
            ErrorKind::Companion { companion, fault }.in_column(&column.name)
        })
    };
    column.sources.iter().map(companion).collect()
}

/// Checks that a null ciphertext claims no additions, and that a number claims some.
///
/// A packed ciphertext may hold numbers next to nulls, and a total whose weights are all 0 has no
/// additions, so both may count none.
pub(crate) fn check_counts(column: &EncryptedColumn, batch: &RecordBatch) -> Result<(), Error> {
    let Some(array) = batch.column_by_name(&column.name) else { return Ok(()) };
    let may_count_none = column.encoding == Encoding::Slots || holds_totals(column, batch.schema_ref());
    for (source, added) in column.sources.iter().zip(companions(column, batch)?) {
        let counted_null = |row: usize| array.is_null(row) && added.value(row) != 0;
        let uncounted = |row: usize| !may_count_none && array.is_valid(row) && added.value(row) == 0;
        if let Some(row) = (0..array.len()).find(|&row| counted_null(row) || uncounted(row)) {
            let kind = match array.is_null(row) {
                true => ErrorKind::CountedNull,
                false => ErrorKind::UncountedNumber { companion: source.additions.clone() },
            };
            return Err(kind.at(row, &column.name));
        }
    }
    Ok(())
}

/// Whether a column belongs to totals, according to its table's metadata.
fn holds_totals(column: &EncryptedColumn, schema: &Schema) -> bool {
    let counts_values = schema.field_with_name(&column.name).is_ok_and(|field| field.metadata().get(VALUES).is_some());
    counts_values || schema.fields().iter().any(|field| counts_rows(field))
}

/// A column that must be `UInt64` without nulls; `None` if no column has this name and type.
pub(crate) fn counts<'a>(name: &str, batch: &'a RecordBatch) -> Result<Option<&'a UInt64Array>, Error> {
    let array = batch.column_by_name(name).and_then(|array| array.as_primitive_opt::<UInt64Type>());
    let nulls = array.and_then(|array| array.nulls());
    match nulls.and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row))) {
        Some(row) => Err(ErrorKind::NullCount.at(row, name)),
        None => Ok(array),
    }
}

fn array<'a>(column: &EncryptedColumn, batch: &'a RecordBatch) -> Result<&'a FixedSizeBinaryArray, Error> {
    let width = column.ciphertext_bytes() as i32;
    let found = batch.column_by_name(&column.name);
    let array = found.and_then(|array| array.as_fixed_size_binary_opt()).filter(|array| array.value_length() == width);
    array.ok_or_else(|| {
        let here = found.map_or_else(|| "absent".to_owned(), |array| array.data_type().to_string());
        let before = DataType::FixedSizeBinary(width).to_string();
        ErrorKind::Differs { what: "the type", here, before }.in_column(&column.name)
    })
}
