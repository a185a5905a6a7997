//! Decryptions that everybody can check: beside each ciphertext its plaintext and its opening.
//!
//! The key's owner makes a table of them ([`Opener`]) and publishes it. Whoever has the encrypted table and the public key encrypts
//! anew, compares, and reads the numbers ([`Checker`]). An opening shows what its ciphertext holds, and nothing else of the key.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hearith_paillier::{Plaintexts, PrivateKey, PublicKey};

use crate::ciphers::{self, Present};
use crate::decrypt::{Decrypted, Reading};
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::metadata::EncryptedColumn;

/// What follows the column's name in those of its plaintexts and its openings.
const SUFFIXES: [&str; 2] = [".plaintext", ".opening"];

/// Makes the openings of one table's batches.
#[derive(Debug)]
pub struct Opener<'a> {
    key: &'a PrivateKey,
    reading: Reading,
    schema: SchemaRef,
}

impl<'a> Opener<'a> {
    /// Prepares to open tables of this schema, all of whose encrypted columns must be under this key.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new).
    pub fn new(key: &'a PrivateKey, schema: &Schema) -> Result<Self, Error> {
        let reading = Reading::new(key.public(), schema)?;
        let schema = opened_schema(&reading);
        Ok(Self { key, reading, schema })
    }

    /// The schema of the openings: for each encrypted column `X` `X.plaintext` and `X.opening`, binary values of as many bytes as `n`, big-endian.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Opens a batch: a row for each of its rows, null where the ciphertext is.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`](crate::Decryptor::decrypt).
    pub fn open(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        self.reading.check(batch)?;
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for column in self.reading.columns() {
            let present = Present::read(self.key.public(), column, batch)?;
            present.check_coprime(self.key.public(), column)?;
            let opened = self.key.open(&present.ciphertexts);
            let (plaintexts, openings) = opened.map_err(|error| ciphers::bad(column, &present.rows, error))?;
            for numbers in [plaintexts.to_be_bytes(), openings.to_be_bytes()] {
                arrays.push(spread(&numbers, &present.rows, batch.num_rows(), plaintexts.row_bytes())?);
            }
        }
        batch_of(&self.schema, arrays)
    }
}

/// Checks openings of one table's batches, and reads the numbers.
#[derive(Debug)]
pub struct Checker<'a> {
    key: &'a PublicKey,
    reading: Reading,
    openings: SchemaRef,
}

impl<'a> Checker<'a> {
    /// Prepares to check tables of this schema, all of whose encrypted columns must be under this key, by openings of that one.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new); [`ErrorKind::NotOpenings`] where the second is not that of their openings.
    pub fn new(key: &'a PublicKey, schema: &Schema, openings: &Schema) -> Result<Self, Error> {
        let reading = Reading::new(key, schema)?;
        let expected = opened_schema(&reading);
        let shape = |schema: &Schema| {
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect::<Vec<_>>()
        };
        if shape(openings) != shape(&expected) {
            return Err(ErrorKind::NotOpenings.into());
        }
        Ok(Self { key, reading, openings: expected })
    }

    /// The schema of the numbers, as [`Decryptor::schema`](crate::Decryptor::schema).
    pub fn schema(&self) -> SchemaRef {
        self.reading.schema()
    }

    /// The numbers of a batch, shown by openings of as many rows.
    ///
    /// # Errors
    /// [`ErrorKind::NotOpenings`] for openings of another table or of fewer or more rows; the first row whose opening is missing, superfluous or wrong; and as
    /// [`Decryptor::decrypt`](crate::Decryptor::decrypt).
    pub fn check(&self, batch: &RecordBatch, openings: &RecordBatch) -> Result<Decrypted, Error> {
        let columns: Vec<&FixedSizeBinaryArray> =
            openings.columns().iter().filter_map(|column| column.as_fixed_size_binary_opt()).collect();
        if openings.num_rows() != batch.num_rows() || columns.len() != self.openings.fields().len() {
            return Err(ErrorKind::NotOpenings.into());
        }
        self.reading.decrypted(self.key, batch, |column, present| {
            let index = self.reading.columns().iter().position(|one| one.name == column.name);
            let index = 2 * index.ok_or(ErrorKind::NotOpenings)?;
            self.plaintexts(column, present, [columns[index], columns[index + 1]])
        })
    }

    /// The plaintexts of a column, which must be those of its ciphertexts by their openings.
    fn plaintexts(
        &self,
        column: &EncryptedColumn,
        present: &Present,
        arrays: [&FixedSizeBinaryArray; 2],
    ) -> Result<Plaintexts, Error> {
        for array in arrays {
            check_rows(present, array).map_err(|row| ErrorKind::NotOpenings.at(row, &column.name))?;
        }
        let [plaintexts, openings] =
            arrays.map(|array| present.rows.iter().flat_map(|&row| array.value(row)).copied().collect::<Vec<u8>>());
        let fault = |error| ciphers::bad(column, &present.rows, error);
        let plaintexts = self.key.plaintexts_from_be(&plaintexts).map_err(fault)?;
        let openings = self.key.openings_from_be(&openings).map_err(fault)?;
        self.key.check_openings(&present.ciphertexts, &plaintexts, &openings).map_err(fault)?;
        Ok(plaintexts)
    }
}

/// The schema of a table's openings.
fn opened_schema(reading: &Reading) -> SchemaRef {
    let field = |column: &EncryptedColumn, suffix: &str| {
        let width = column.ciphertext_bytes() as i32 / 2;
        Field::new(format!("{}{suffix}", column.name), DataType::FixedSizeBinary(width), true)
    };
    let fields = reading.columns().iter().flat_map(|column| SUFFIXES.map(|suffix| field(column, suffix)));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Fails with the first row where one of ciphertexts and what belongs to them is null and the other is not.
pub(crate) fn check_rows(present: &Present, array: &FixedSizeBinaryArray) -> Result<(), usize> {
    let mut rows = present.rows.iter().copied().peekable();
    match (0..array.len()).find(|row| array.is_valid(*row) != rows.next_if_eq(row).is_some()) {
        Some(row) => Err(row),
        None => Ok(()),
    }
}

/// Numbers at their rows among `len`, null elsewhere.
pub(crate) fn spread(numbers: &[u8], rows: &[usize], len: usize, width: usize) -> Result<ArrayRef, Error> {
    let mut bytes = vec![0; len * width];
    let mut valid = vec![false; len];
    for (&row, number) in rows.iter().zip(numbers.chunks_exact(width)) {
        bytes[row * width..][..width].copy_from_slice(number);
        valid[row] = true;
    }
    let nulls = (rows.len() < len).then(|| valid.into());
    Ok(Arc::new(FixedSizeBinaryArray::try_new(width as i32, Buffer::from_vec(bytes), nulls)?))
}
