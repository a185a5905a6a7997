//! Encrypts batched columns: each batch of rows becomes one chunk per column.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{Schema, SchemaRef};
use hearith_bfv::{Ciphertext, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use super::chunk;
use super::column::{self, Form, LatticeColumn};
use crate::contents;
use crate::encrypt::{self, EncryptOptions, batch_of};
use crate::error::{Error, ErrorKind};
use crate::metadata::{self, DEFAULT_MAX_ADDITIONS};
use crate::numbers::{DecimalParser, Rounding};

/// Default name of the column that numbers the rows; another is chosen if the table has it.
const INDEX_NAME: &str = "hearith.row";

/// The key to encrypt with.
#[derive(Clone, Copy, Debug)]
pub enum LatticeKey<'a> {
    /// The public key, which anyone may use.
    Public(&'a PublicKey),
    /// The private key, whose chunks are half as long.
    Owner(&'a PrivateKey),
}

impl<'a> LatticeKey<'a> {
    /// The public key.
    pub fn public(self) -> &'a PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Owner(key) => key.public(),
        }
    }

    fn encrypt(self, numbers: &[i128], bits: u32) -> Result<Ciphertext, hearith_bfv::Error> {
        match self {
            Self::Public(key) => key.encrypt(numbers, bits),
            Self::Owner(key) => key.encrypt(numbers, bits),
        }
    }
}

/// Encrypts the rows of one table, from the first to the last.
#[derive(Debug)]
pub struct LatticeEncryptor<'a> {
    key: LatticeKey<'a>,
    table: [u8; 16],
    rounding: Rounding,
    show_cells: bool,
    columns: Vec<LatticeColumn>,
    /// For each column, the count of encrypted numbers.
    numbers: Vec<u64>,
    /// Whether no number of additions was declared, so that all numbers must have headroom.
    is_default: bool,
    input: SchemaRef,
    schema: SchemaRef,
    row: u64,
    ended: bool,
}

impl<'a> LatticeEncryptor<'a> {
    /// Prepares to encrypt a table with this schema.
    ///
    /// # Errors
    /// As [`Encryptor::new`](crate::Encryptor::new); [`ErrorKind::Packed`].
    pub fn new(key: LatticeKey<'a>, schema: &Schema, options: &EncryptOptions) -> Result<Self, Error> {
        if options.pack {
            return Err(ErrorKind::Packed.into());
        }
        metadata::check_names(schema)?;
        column::check_scheme(schema)?;
        if let Some(column) = column::lattice_columns(schema)?.first() {
            return Err(ErrorKind::AlreadyEncrypted.in_column(&column.name));
        }
        let table = contents::new_id()?;
        let column = |source| LatticeColumn::new(key.public(), source, options.max_additions, Form::Chunks { table });
        let sources = encrypt::sources(schema, options)?;
        let mut columns = sources.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let companions = columns.iter().map(|column| column.source.additions.as_str());
        let taken = schema.fields().iter().map(|field| field.name().as_str()).chain(companions);
        let index = metadata::free_name(INDEX_NAME, taken);
        columns.iter_mut().for_each(|column| column.index = Some(index.clone()));
        let mut fields = Vec::new();
        for field in schema.fields() {
            match columns.iter().find(|column| column.name == *field.name()) {
                None => fields.push(metadata::stored_field(field)?),
                Some(column) => fields.extend(std::iter::once(column.field()).chain(column.companion_fields())),
            }
        }
        fields.push(metadata::index_field(&index));
        let output = Schema::new(fields);
        metadata::check_names(&output)?;
        let (input, schema) = (Arc::new(schema.clone()), Arc::new(output));
        let (rounding, show_cells) = (options.rounding, options.show_cells);
        let (numbers, is_default) = (vec![0; columns.len()], options.max_additions == DEFAULT_MAX_ADDITIONS);
        let (row, ended) = (0, false);
        Ok(Self { key, table, rounding, show_cells, columns, numbers, is_default, input, schema, row, ended })
    }

    /// The schema of the encrypted table.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The number of rows that every batch except the last must have.
    pub fn chunk_rows(&self) -> usize {
        self.key.public().set().degree()
    }

    /// Encrypts the next rows. Numbers read from them are wiped from memory; wiping the batch
    /// itself is up to the caller.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`](crate::Encryptor::encrypt). [`ErrorKind::NoiseHeadroom`] when a
    /// column has more numbers than can be added, unless fewer additions were declared.
    ///
    /// # Panics
    /// If a batch other than the last does not have [`chunk_rows`](Self::chunk_rows) rows, or any
    /// has more.
    pub fn encrypt(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let rows = batch.num_rows();
        assert!(
            !self.ended && rows <= self.chunk_rows(),
            "a batch other than the last must have as many rows as a chunk"
        );
        self.ended = rows < self.chunk_rows();
        metadata::check_batch(&self.input, batch.schema_ref())?;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        let input = self.input.clone();
        for (field, array) in input.fields().iter().zip(batch.columns()) {
            match self.columns.iter().position(|column| column.name == *field.name()) {
                None => arrays.push(array.clone()),
                Some(column) => {
                    let (cells, fresh) = self.encrypt_column(&self.columns[column], array)?;
                    self.count(column, fresh.values().iter().sum())?;
                    arrays.extend([cells, Arc::new(fresh) as ArrayRef]);
                }
            }
        }
        let first = self.row;
        self.row += rows as u64;
        arrays.push(Arc::new(UInt64Array::from_iter_values(first..self.row)));
        batch_of(&self.schema, arrays)
    }

    /// Counts the numbers of a column and checks that all of them can be added. If fewer additions
    /// are declared than the noise allows, only parts of the table are summed, so the check does
    /// not apply.
    fn count(&mut self, index: usize, more: u64) -> Result<(), Error> {
        let (column, numbers) = (&self.columns[index], &mut self.numbers[index]);
        *numbers += more;
        let capacity = column.set.additions(column.bits, matches!(self.key, LatticeKey::Owner(_)));
        let (wanted, most) = (*numbers, capacity.min(column.max_additions));
        match wanted > most && (self.is_default || capacity < column.max_additions) {
            false => Ok(()),
            true => Err(ErrorKind::NoiseHeadroom { set: column.set, wanted, most }.in_column(&column.name)),
        }
    }

    fn encrypt_column(&self, column: &LatticeColumn, array: &ArrayRef) -> Result<(ArrayRef, UInt64Array), Error> {
        let parser = DecimalParser {
            column: column.name.clone(),
            scale: column.source.scale,
            range: column.source.range,
            rounding: self.rounding,
            show_cells: self.show_cells,
        };
        let numbers = parser.read(array)?;
        let fresh = numbers.iter().map(|number| u64::from(number.is_some()));
        let additions = UInt64Array::from_iter_values(fresh);
        let mut cells = BinaryBuilder::with_capacity(numbers.len(), 0);
        if !numbers.is_empty() {
            let mut values = Zeroizing::new(Vec::with_capacity(numbers.len()));
            values.extend(numbers.iter().map(|number| number.unwrap_or_default()));
            let fault = |error: hearith_bfv::Error| ErrorKind::from(error.kind().clone()).in_column(&column.name);
            let ciphertext = self.key.encrypt(&values, column.bits).map_err(fault)?;
            cells.append_value(chunk::write(&column.source.name, self.table, self.row, &ciphertext));
            cells.append_nulls(numbers.len() - 1);
        }
        Ok((Arc::new(cells.finish()), additions))
    }
}
