//! Publicly verifiable decryption: for each ciphertext, its plaintext and a proof of correctness.
//!
//! The key holder creates a table of them with [`Opener`] and publishes it. Anyone with the
//! encrypted table and the public key checks the proofs and reads the numbers with [`Checker`]. A
//! proof shows that `c (1 + n)^(-m)` is an `n`-th power, so that `c` holds `m`, and reveals nothing
//! else. It is bound to the table's digest ([`TableDigest`](crate::TableDigest)). No proof is valid
//! for a table with changed group names, counts or descriptions.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey, PublicKey};
use hearith_proofs::residue::{self, Proofs};
use hearith_proofs::{Contexts, Form};

use crate::ciphers::{self, NonNullCiphertexts};
use crate::contents::hex;
use crate::decrypt::{Decrypted, TableReader};
use crate::digest::Digest;
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::metadata::EncryptedColumn;

/// Suffixes of the columns with plaintexts and proofs, after the name of the encrypted column.
const SUFFIXES: [&str; 2] = [".plaintext", ".proof"];
/// The suffix of openings in the first version.
const OPENING: &str = ".opening";
/// The metadata entry with the digest of the table to which proofs and shares are bound.
pub(crate) const DIGEST: &str = "hearith.digest";
/// The context of all proofs, followed by the digest and the column's name.
const CONTEXT: &[u8] = b"hearith decryption 2";

/// Proves the decryption of one table's batches.
#[derive(Debug)]
pub struct Opener<'a> {
    key: &'a PrivateKey,
    reader: TableReader,
    digest: Digest,
    schema: SchemaRef,
}

impl<'a> Opener<'a> {
    /// Prepares to open the table with this schema and digest. All of its encrypted columns must be
    /// under this key.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new).
    pub fn new(key: &'a PrivateKey, schema: &Schema, digest: Digest) -> Result<Self, Error> {
        let reader = TableReader::new(key.public(), schema)?;
        let schema = opened_schema(key.public(), &reader, &digest);
        Ok(Self { key, reader, digest, schema })
    }

    /// The schema of the proofs. Each encrypted column `X` has two binary columns: `X.plaintext`
    /// with as many bytes as `n`, big-endian, and `X.proof` with three times as many
    /// ([`Proofs::to_be_bytes`]). Their metadata `hearith.digest` is the table's digest.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Opens a batch. The result has the same rows, with nulls where the ciphertext is null.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`](crate::Decryptor::decrypt), or a failure of the random generator.
    pub fn open(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        self.reader.check(batch)?;
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for column in self.reader.columns() {
            let present = NonNullCiphertexts::read(self.key.public(), column, batch)?;
            present.check_coprime(self.key.public(), column)?;
            let opened = self.key.open(&present.ciphertexts);
            let fault = |error| ciphers::to_column_error(column, &present.rows, error);
            let (plaintexts, openings) = opened.map_err(fault)?;
            let (key, contexts) = (self.key.public(), contexts(&self.digest, column, &present));
            let zeros = without(key, &present.ciphertexts, &plaintexts).map_err(fault)?;
            let proofs = residue::prove(key, &contexts, &zeros, &openings);
            let proofs = proofs.map_err(|error| unproved(column, &present, &error))?;
            let width = Proofs::row_bytes(key, Form::Openings);
            for (numbers, width) in
                [(plaintexts.to_be_bytes(), plaintexts.row_bytes()), (proofs.to_be_bytes().into(), width)]
            {
                arrays.push(spread(&numbers, &present.rows, batch.num_rows(), width)?);
            }
        }
        batch_of(&self.schema, arrays)
    }
}

/// Checks proofs of one table's batches, and reads the numbers.
#[derive(Debug)]
pub struct Checker<'a> {
    key: &'a PublicKey,
    reader: TableReader,
    digest: Digest,
    proofs: SchemaRef,
}

impl<'a> Checker<'a> {
    /// Prepares to check the table with this schema and digest against proofs with the schema
    /// `proofs`. All of the table's encrypted columns must be under this key.
    ///
    /// # Errors
    /// As [`Decryptor::new`](crate::Decryptor::new). [`ErrorKind::NotProofs`] if `proofs` is not
    /// the schema of their proofs, [`ErrorKind::OtherTable`] for proofs of another digest, and
    /// [`ErrorKind::Unbinding`] for openings of the first version.
    pub fn new(key: &'a PublicKey, schema: &Schema, proofs: &Schema, digest: Digest) -> Result<Self, Error> {
        let reader = TableReader::new(key, schema)?;
        let expected = opened_schema(key, &reader, &digest);
        if proofs.fields().iter().any(|field| field.name().ends_with(OPENING)) {
            return Err(ErrorKind::Unbinding { trustee: None }.into());
        }
        let shape = |schema: &Schema| {
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect::<Vec<_>>()
        };
        if shape(proofs) != shape(&expected) {
            return Err(ErrorKind::NotProofs.into());
        }
        check_digest(proofs, &digest, None)?;
        Ok(Self { key, reader, digest, proofs: expected })
    }

    /// The schema of the numbers, as [`Decryptor::schema`](crate::Decryptor::schema).
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    /// The indices of `Decimal256` columns, as [`Decryptor::wide`](crate::Decryptor::wide).
    pub fn wide(&self) -> Vec<usize> {
        self.reader.wide()
    }

    /// The numbers of a batch, proved by the same number of rows of proofs. They belong to the
    /// table with this digest only if the caller computes the digest over all checked batches.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`](crate::Decryptor::decrypt). [`ErrorKind::NotProofs`] for proofs of
    /// another table or of another number of rows. Reports the first row whose proof is missing,
    /// superfluous or invalid ([`ErrorKind::Proof`]).
    pub fn check(&self, batch: &RecordBatch, proofs: &RecordBatch) -> Result<Decrypted, Error> {
        let columns: Vec<&FixedSizeBinaryArray> =
            proofs.columns().iter().filter_map(|column| column.as_fixed_size_binary_opt()).collect();
        if proofs.num_rows() != batch.num_rows() || columns.len() != self.proofs.fields().len() {
            return Err(ErrorKind::NotProofs.into());
        }
        self.reader.decrypt(self.key, batch, |column, present| {
            let index = self.reader.columns().iter().position(|one| one.name == column.name);
            let index = 2 * index.ok_or(ErrorKind::NotProofs)?;
            self.plaintexts(column, present, [columns[index], columns[index + 1]])
        })
    }

    /// The plaintexts of a column, verified by their proofs.
    fn plaintexts(
        &self,
        column: &EncryptedColumn,
        present: &NonNullCiphertexts,
        arrays: [&FixedSizeBinaryArray; 2],
    ) -> Result<Plaintexts, Error> {
        for array in arrays {
            check_rows(present, array).map_err(|row| ErrorKind::NotProofs.at(row, &column.name))?;
        }
        let [plaintexts, proofs] =
            arrays.map(|array| present.rows.iter().flat_map(|&row| array.value(row)).copied().collect::<Vec<u8>>());
        let fault = |error| ciphers::to_column_error(column, &present.rows, error);
        let plaintexts = self.key.plaintexts_from_be(&plaintexts).map_err(fault)?;
        let zeros = without(self.key, &present.ciphertexts, &plaintexts).map_err(fault)?;
        let contexts = contexts(&self.digest, column, present);
        let proofs = Proofs::from_be_bytes(self.key, Form::Openings, &proofs);
        let holds = proofs.and_then(|proofs| residue::verify(self.key, &contexts, &zeros, &proofs));
        holds.map_err(|error| unproved(column, present, &error))?;
        Ok(plaintexts)
    }
}

/// Subtracts plaintexts from ciphertexts, `c (1 + n)^(-m)`. The result holds 0 if `c` holds `m`.
fn without(
    key: &PublicKey,
    ciphertexts: &Ciphertexts,
    plaintexts: &Plaintexts,
) -> Result<Ciphertexts, hearith_paillier::Error> {
    let trivial = key.add_plain(&key.zeros(plaintexts.len()), plaintexts)?;
    key.subtract(ciphertexts, &trivial)
}

/// The contexts of the proofs of a column.
fn contexts(digest: &Digest, column: &EncryptedColumn, present: &NonNullCiphertexts) -> Contexts {
    let shared = [CONTEXT, digest].concat();
    Contexts::new(&shared, std::iter::repeat_n(column.name.as_bytes(), present.rows.len()))
}

/// Converts the error of a proof to an error of the batch.
fn unproved(column: &EncryptedColumn, present: &NonNullCiphertexts, error: &hearith_proofs::Error) -> Error {
    let row = error.row().and_then(|row| present.rows.get(row)).copied();
    let error = match error.kind() {
        hearith_proofs::ErrorKind::Scheme(kind) => ErrorKind::Paillier(kind.clone()),
        kind => ErrorKind::Proof(kind.clone()),
    };
    let error = error.in_column(&column.name);
    match row {
        Some(row) => error.at_row(row as u64),
        None => error,
    }
}

/// Fails unless all columns of proofs, or of a trustee's shares, are bound to this digest.
pub(crate) fn check_digest(schema: &Schema, digest: &Digest, trustee: Option<u32>) -> Result<(), ErrorKind> {
    let expected = hex(digest);
    for field in schema.fields() {
        match field.metadata().get(DIGEST) {
            None => return Err(ErrorKind::Unbinding { trustee }),
            Some(found) if *found != expected => return Err(ErrorKind::OtherTable { trustee }),
            Some(_) => {}
        }
    }
    Ok(())
}

/// The schema of a table's proofs.
fn opened_schema(key: &PublicKey, reader: &TableReader, digest: &Digest) -> SchemaRef {
    let widths = [key.plaintext_bytes(), Proofs::row_bytes(key, Form::Openings)];
    let field = |column: &EncryptedColumn, (suffix, width): (&str, usize)| {
        let field = Field::new(format!("{}{suffix}", column.name), DataType::FixedSizeBinary(width as i32), true);
        field.with_metadata([(DIGEST, hex(digest))])
    };
    let columns = reader.columns().iter();
    let fields = columns.flat_map(|column| SUFFIXES.into_iter().zip(widths).map(|part| field(column, part)));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Fails with the first row in which either the ciphertext or its counterpart in `array` is null,
/// but not both.
pub(crate) fn check_rows(present: &NonNullCiphertexts, array: &FixedSizeBinaryArray) -> Result<(), usize> {
    let mut rows = present.rows.iter().copied().peekable();
    match (0..array.len()).find(|row| array.is_valid(*row) != rows.next_if_eq(row).is_some()) {
        Some(row) => Err(row),
        None => Ok(()),
    }
}

/// Places numbers at their rows in an array of `len` rows, with null elsewhere.
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
