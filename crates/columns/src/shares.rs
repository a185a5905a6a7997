//! Tables decrypted by the trustees of a shared key. Each trustee creates a table of shares with
//! [`Sharer`]. [`Combiner`] computes the numbers from enough of these tables.
//!
//! A table of shares has a column `X.share` for each encrypted column `X`. Its metadata
//! `hearith.trustee` names the trustee, and `hearith.digest` the table
//! ([`TableDigest`](crate::TableDigest)). A share's proof is valid only for its ciphertext in the
//! column of this name of that table. Group names, counts and descriptions are therefore those that
//! the trustee saw.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{FixedSizeBinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hearith_paillier::Plaintexts;
use hearith_threshold::{self as threshold, Contexts, KeyShare, Shares, VerificationKeys};

use crate::ciphers::NonNullCiphertexts;
use crate::contents::hex;
use crate::decrypt::{Decrypted, TableReader};
use crate::digest::Digest;
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::metadata::EncryptedColumn;
use crate::openings::{DIGEST, check_digest, check_rows, spread};

/// The suffix of a column of shares.
const SUFFIX: &str = ".share";
/// The metadata entry that names the trustee.
const TRUSTEE: &str = "hearith.trustee";
/// The context of all proofs in tables, followed by the digest and the column's name.
const CONTEXT: &[u8] = b"hearith table 2";

/// Computes a trustee's shares of one table's batches.
#[derive(Debug)]
pub struct Sharer<'a> {
    share: &'a KeyShare,
    reader: TableReader,
    digest: Digest,
    schema: SchemaRef,
}

impl<'a> Sharer<'a> {
    /// Prepares to share in the decryption of the table with this schema and digest. All of its
    /// encrypted columns must be under this key.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new).
    pub fn new(share: &'a KeyShare, schema: &Schema, digest: Digest) -> Result<Self, Error> {
        let reader = TableReader::new(share.key(), schema)?;
        let schema = shares_schema(&reader, share.share_bytes(), share.trustee(), &digest);
        Ok(Self { share, reader, digest, schema })
    }

    /// The schema of the shares: binary values `X.share` for each encrypted column `X`.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Computes the shares of a batch. The result has the same rows, with nulls where the
    /// ciphertext is null.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`](crate::Decryptor::decrypt).
    pub fn share(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        self.reader.check(batch)?;
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for column in self.reader.columns() {
            let present = NonNullCiphertexts::read(self.share.key(), column, batch)?;
            let shares = self.share.decrypt(&contexts(&self.digest, column, &present), &present.ciphertexts);
            let shares = shares.map_err(|error| to_column_error(column, &present.rows, &error))?;
            let width = self.share.share_bytes();
            arrays.push(spread(&shares.to_be_bytes(), &present.rows, batch.num_rows(), width)?);
        }
        batch_of(&self.schema, arrays)
    }
}

/// Computes the numbers of one table's batches from trustees' shares.
#[derive(Debug)]
pub struct Combiner<'a> {
    verification: &'a VerificationKeys,
    reader: TableReader,
    digest: Digest,
    /// Each trustee with the schema of its shares, which names their table.
    trustees: Vec<(u32, SchemaRef)>,
}

/// The result of combining the shares of a batch.
#[derive(Debug)]
pub struct Combined {
    /// The numbers.
    pub decrypted: Decrypted,
    /// Faults of shares that were ignored because enough correct ones remained: the first of each
    /// trustee and column.
    pub wrong: Vec<Error>,
}

impl<'a> Combiner<'a> {
    /// Prepares to decrypt the table with this schema and digest. All of its encrypted columns must
    /// be under this key.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new).
    pub fn new(verification: &'a VerificationKeys, schema: &Schema, digest: Digest) -> Result<Self, Error> {
        let reader = TableReader::new(verification.key(), schema)?;
        Ok(Self { verification, reader, digest, trustees: Vec::new() })
    }

    /// Adds a trustee, by the schema of its shares.
    ///
    /// # Errors
    /// [`ErrorKind::NotShares`] if the schema does not describe shares of this table.
    /// [`ErrorKind::Share`] for a trustee that was already added.
    pub fn add(&mut self, shares: &Schema) -> Result<(), Error> {
        let named = shares.fields().first().and_then(|field| field.metadata().get(TRUSTEE)?.parse().ok());
        let trustee: u32 = named.ok_or(ErrorKind::NotShares)?;
        let expected = shares_schema(&self.reader, self.verification.share_bytes(), trustee, &self.digest);
        if !same(shares, &expected) {
            return Err(ErrorKind::NotShares.into());
        }
        if self.trustees.iter().any(|(counted, _)| *counted == trustee) {
            return Err(ErrorKind::Share { trustee: Some(trustee), kind: threshold::ErrorKind::Twice }.into());
        }
        self.trustees.push((trustee, Arc::new(shares.clone())));
        Ok(())
    }

    /// Fails unless enough trustees were added.
    ///
    /// # Errors
    /// [`ErrorKind::Share`].
    pub fn check_enough(&self) -> Result<(), Error> {
        let (needed, given) = (self.verification.needed(), self.trustees.len());
        match given < needed as usize {
            true => {
                Err(ErrorKind::Share { trustee: None, kind: threshold::ErrorKind::TooFew { needed, given } }.into())
            }
            false => Ok(()),
        }
    }

    /// The schema of the numbers, as [`Decryptor::schema`](crate::Decryptor::schema).
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    /// The indices of `Decimal256` columns, as [`Decryptor::wide`](crate::Decryptor::wide).
    pub fn wide(&self) -> Vec<usize> {
        self.reader.wide()
    }

    /// Computes the numbers of a batch from each trustee's shares, which must have the same number
    /// of rows. The trustees are in the order in which they were added.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`](crate::Decryptor::decrypt). [`ErrorKind::NotShares`] for shares of
    /// another table or number of rows. [`ErrorKind::OtherTable`] or [`ErrorKind::Unbinding`] for
    /// shares of another digest or none. Reports the first row with too few correct shares.
    pub fn combine(&self, batch: &RecordBatch, shares: &[RecordBatch]) -> Result<Combined, Error> {
        self.check_enough()?;
        if shares.len() != self.trustees.len() || shares.iter().any(|one| one.num_rows() != batch.num_rows()) {
            return Err(ErrorKind::NotShares.into());
        }
        let wrong = RefCell::new(Vec::new());
        let decrypted = self.reader.decrypt(self.verification.key(), batch, |column, present| {
            let (plaintexts, errors) = self.plaintexts(column, present, shares)?;
            wrong.borrow_mut().extend(errors);
            Ok(plaintexts)
        })?;
        Ok(Combined { decrypted, wrong: wrong.into_inner() })
    }

    /// The plaintexts of a column, and the faults of its shares.
    fn plaintexts(
        &self,
        column: &EncryptedColumn,
        present: &NonNullCiphertexts,
        shares: &[RecordBatch],
    ) -> Result<(Plaintexts, Vec<Error>), Error> {
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for ((trustee, schema), shares) in self.trustees.iter().zip(shares) {
            if let Err(fault) = check_digest(schema, &self.digest, Some(*trustee)) {
                wrong.push(fault.in_column(&column.name));
                continue;
            }
            match self.shares(column, present, *trustee, shares)? {
                Ok(shares) => right.push(shares),
                Err(error) => wrong.push(error),
            }
        }
        if right.len() < self.verification.needed() as usize
            && let Some(error) = wrong.pop()
        {
            return Err(error);
        }
        let fault = |error: &threshold::Error| to_column_error(column, &present.rows, error);
        let right: Vec<&Shares> = right.iter().collect();
        let combined =
            self.verification.combine(&contexts(&self.digest, column, present), &present.ciphertexts, &right);
        let combined = combined.map_err(|error| fault(&error))?;
        wrong.extend(combined.wrong.iter().map(fault));
        Ok((combined.plaintexts, wrong))
    }

    /// A trustee's shares of a column, or the fault of one of them.
    fn shares(
        &self,
        column: &EncryptedColumn,
        present: &NonNullCiphertexts,
        trustee: u32,
        shares: &RecordBatch,
    ) -> Result<Result<Shares, Error>, Error> {
        let array = shares.column_by_name(&format!("{}{SUFFIX}", column.name));
        let array: &FixedSizeBinaryArray =
            array.and_then(|array| array.as_fixed_size_binary_opt()).ok_or(ErrorKind::NotShares)?;
        check_rows(present, array).map_err(|row| ErrorKind::NotShares.at(row, &column.name))?;
        let bytes: Vec<u8> = present.rows.iter().flat_map(|&row| array.value(row)).copied().collect();
        let read = self.verification.shares_from_be_bytes(trustee, &bytes);
        Ok(read.map_err(|error| to_column_error(column, &present.rows, &error)))
    }
}

/// The contexts of the shares of a column.
fn contexts(digest: &Digest, column: &EncryptedColumn, present: &NonNullCiphertexts) -> Contexts {
    let shared = [CONTEXT, digest].concat();
    Contexts::new(&shared, std::iter::repeat_n(column.name.as_bytes(), present.rows.len()))
}

/// Converts an error of shares to an error of the batch. `rows` lists their rows.
fn to_column_error(column: &EncryptedColumn, rows: &[usize], error: &threshold::Error) -> Error {
    let row = error.row().and_then(|row| rows.get(row)).copied();
    let error = match error.kind() {
        threshold::ErrorKind::Scheme(kind) if error.trustee().is_none() => ErrorKind::Paillier(kind.clone()),
        kind => ErrorKind::Share { trustee: error.trustee(), kind: kind.clone() },
    };
    let error = error.in_column(&column.name);
    match row {
        Some(row) => error.at_row(row as u64),
        None => error,
    }
}

/// The schema of a trustee's shares.
fn shares_schema(reader: &TableReader, width: usize, trustee: u32, digest: &Digest) -> SchemaRef {
    let field = |column: &EncryptedColumn| {
        let field = Field::new(format!("{}{SUFFIX}", column.name), DataType::FixedSizeBinary(width as i32), true);
        field.with_metadata([(TRUSTEE, trustee.to_string()), (DIGEST, hex(digest))])
    };
    Arc::new(Schema::new(reader.columns().iter().map(field).collect::<Vec<_>>()))
}

/// Whether two schemas have the same columns of the same trustee.
fn same(one: &Schema, other: &Schema) -> bool {
    let shape = |schema: &Schema| {
        let column = |field: &Arc<Field>| {
            (field.name().clone(), field.data_type().clone(), field.metadata().get(TRUSTEE).cloned())
        };
        schema.fields().iter().map(column).collect::<Vec<_>>()
    };
    shape(one) == shape(other)
}
