//! Encrypting columns: a batch with numbers in, a batch with ciphertexts out.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema, SchemaRef};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, ComputeError, Plaintexts, PrivateKey, PublicKey, PublicKeyBackend};
use zeroize::Zeroizing;

use crate::ciphers;
use crate::contents::{self, TableId};
use crate::error::{Error, ErrorKind};
use crate::metadata::{self, DEFAULT_MAX_ADDITIONS, DEFAULT_RANGE, Encoding, EncryptedColumn, SourceColumn};
use crate::numbers::{self, DecimalParser, Numbers, Rounding};

/// The key to encrypt with.
#[derive(Clone, Copy, Debug)]
pub enum EncryptionKey<'a> {
    /// The public key, which anyone may use.
    Public(&'a PublicKey),
    /// The private key, which encrypts faster by using p and q.
    Owner(&'a PrivateKey),
    /// A service or device that computes with a public key.
    Service(&'a dyn PublicKeyBackend),
}

impl<'a> EncryptionKey<'a> {
    /// The public key.
    pub fn public(self) -> &'a PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Owner(key) => key.public(),
            Self::Service(key) => key.public(),
        }
    }

    fn encrypt(self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        match self {
            Self::Public(key) => Ok(key.encrypt(plaintexts)?),
            Self::Owner(key) => Ok(key.encrypt(plaintexts)?),
            Self::Service(key) => key.encrypt(plaintexts),
        }
    }

    pub(crate) fn rerandomise(self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        match self {
            Self::Public(key) => Ok(key.rerandomise(ciphertexts)?),
            Self::Owner(key) => Ok(key.rerandomise(ciphertexts)?),
            Self::Service(key) => key.rerandomise(ciphertexts),
        }
    }
}

/// A column to encrypt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Fractional decimal digits to keep, 0 to 38. By default those of a decimal type, otherwise
    /// none.
    pub scale: Option<u32>,
    /// Largest magnitude of a value, as decimal text in the column's own units. By default 2^63 - 1
    /// after scaling.
    pub range: Option<String>,
}

/// What to encrypt and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptOptions {
    /// The columns, in the order in which they are packed.
    pub columns: Vec<ColumnSpec>,
    /// Whether the columns of a row share one ciphertext.
    pub pack: bool,
    /// What to do with fractional digits beyond the scale.
    pub rounding: Rounding,
    /// Additions to leave headroom for, at least 1. With [`DEFAULT_MAX_ADDITIONS`], a batched
    /// column keeps the headroom that its noise allows.
    pub max_additions: u64,
    /// Whether an error shows the affected cell, quoted and truncated. Otherwise no error contains
    /// a plaintext.
    pub show_cells: bool,
}

impl EncryptOptions {
    /// Encrypts `columns` one by one, with the default headroom and no rounding.
    pub fn new(columns: Vec<ColumnSpec>) -> Self {
        let (rounding, max_additions) = (Rounding::Exact, DEFAULT_MAX_ADDITIONS);
        Self { columns, pack: false, rounding, max_additions, show_cells: false }
    }
}

/// Encrypts the batches of one table.
#[derive(Clone, Debug)]
pub struct Encryptor<'a> {
    key: EncryptionKey<'a>,
    rounding: Rounding,
    show_cells: bool,
    columns: Vec<EncryptedColumn>,
    plan: Vec<Step>,
    input: SchemaRef,
    schema: SchemaRef,
    table: TableId,
}

/// The source of an output column.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The input column of this number, unchanged.
    Pass(usize),
    /// The encrypted column of this number and its companions.
    Encrypt(usize),
}

impl<'a> Encryptor<'a> {
    /// Prepares to encrypt tables with this schema.
    ///
    /// # Errors
    /// When a column is missing, named twice, already encrypted or not numeric. When a range, scale
    /// or headroom does not fit the key, or the name of an output column is taken.
    pub fn new(key: EncryptionKey<'a>, schema: &Schema, options: &EncryptOptions) -> Result<Self, Error> {
        metadata::check_names(schema)?;
        let columns = describe(key.public(), schema, options)?;
        let plan = plan(schema, &columns);
        let table = contents::new_id()?;
        let output = output_schema(schema, &columns, &plan, &table)?;
        metadata::check_names(&output)?;
        let (input, schema) = (Arc::new(schema.clone()), Arc::new(output));
        let (rounding, show_cells) = (options.rounding, options.show_cells);
        Ok(Self { key, rounding, show_cells, columns, plan, input, schema, table })
    }

    /// The random id of the table, which its encrypted columns carry.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// Continues the table with this id, which another encryptor started.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn of_table(mut self, table: TableId) -> Result<Self, Error> {
        self.schema = Arc::new(output_schema(&self.input, &self.columns, &self.plan, &table)?);
        self.table = table;
        Ok(self)
    }

    /// The schema of the encrypted table. Each column is replaced by its ciphertexts, followed by
    /// their companions. Packed columns take the position of the first of them.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The encrypted columns.
    pub fn columns(&self) -> &[EncryptedColumn] {
        &self.columns
    }

    /// Encrypts a batch of the prepared table. Numbers read from the batch are wiped from memory;
    /// wiping the batch itself is up to the caller.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] for a batch of another table. Reports the first cell that is not a
    /// number, has too many fractional digits or is out of range. Also fails when the operating
    /// system's random generator fails.
    pub fn encrypt(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        metadata::check_batch(&self.input, batch.schema_ref())?;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for step in &self.plan {
            match *step {
                Step::Pass(index) => arrays.push(batch.column(index).clone()),
                Step::Encrypt(index) => self.encrypt_column(&self.columns[index], batch, &mut arrays)?,
            }
        }
        batch_of(&self.schema, arrays)
    }

    fn encrypt_column(
        &self,
        column: &EncryptedColumn,
        batch: &RecordBatch,
        arrays: &mut Vec<ArrayRef>,
    ) -> Result<(), Error> {
        let numbers = column.sources.iter().map(|source| self.numbers(source, batch)).collect::<Result<Vec<_>, _>>()?;
        let (ciphertexts, nulls) = match column.encoding {
            Encoding::Slots => (self.encrypt_packed(column, &numbers)?, None),
            _ => self.encrypt_single(column, &numbers[0])?,
        };
        arrays.push(ciphers::write(column, &ciphertexts, nulls.as_ref())?);
        for numbers in &numbers {
            let fresh = numbers.iter().map(|number| u64::from(number.is_some()));
            arrays.push(Arc::new(UInt64Array::from_iter_values(fresh)));
        }
        Ok(())
    }

    fn numbers(&self, source: &SourceColumn, batch: &RecordBatch) -> Result<Numbers, Error> {
        let parser = DecimalParser {
            column: source.name.clone(),
            scale: source.scale,
            range: source.range,
            rounding: self.rounding,
            show_cells: self.show_cells,
        };
        parser.read(batch.column(self.input.index_of(&source.name)?))
    }

    /// Encrypts each number into one ciphertext, and nulls into none.
    fn encrypt_single(
        &self,
        column: &EncryptedColumn,
        numbers: &[Option<i128>],
    ) -> Result<(Ciphertexts, Option<NullBuffer>), Error> {
        let mut present = Zeroizing::new(Vec::with_capacity(numbers.len()));
        present.extend(numbers.iter().flatten().copied());
        let plaintexts = encode_signed(self.key.public(), &present).map_err(|error| to_column_error(column, error))?;
        let nulls = NullBuffer::from_iter(numbers.iter().map(Option::is_some));
        Ok((self.encrypt_plaintexts(column, &plaintexts)?, Some(nulls)))
    }

    /// Encrypts each row into one ciphertext, with 0 in the slot of a null.
    fn encrypt_packed(&self, column: &EncryptedColumn, numbers: &[Numbers]) -> Result<Ciphertexts, Error> {
        let rows = numbers[0].len();
        let mut slots = Zeroizing::new(Vec::with_capacity(rows * numbers.len()));
        for row in 0..rows {
            slots.extend(numbers.iter().map(|source| source[row].unwrap_or_default()));
        }
        let plaintexts =
            column.layout()?.pack(self.key.public(), &slots).map_err(|error| to_column_error(column, error))?;
        self.encrypt_plaintexts(column, &plaintexts)
    }

    fn encrypt_plaintexts(&self, column: &EncryptedColumn, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.key.encrypt(plaintexts).map_err(|error| ciphers::from_compute_error(column, error))
    }
}

fn to_column_error(column: &EncryptedColumn, error: hearith_paillier::Error) -> Error {
    ErrorKind::Paillier(error.kind().clone()).in_column(&column.name)
}

/// Builds a batch of these columns. Their nested types may have metadata that the schema omits.
pub(crate) fn batch_of(schema: &SchemaRef, arrays: Vec<ArrayRef>) -> Result<RecordBatch, Error> {
    let arrays =
        arrays.iter().zip(schema.fields()).map(|(array, field)| metadata::cast_nested(array, field.data_type()));
    Ok(RecordBatch::try_new(schema.clone(), arrays.collect::<Result<_, _>>()?)?)
}

/// The encrypted columns that the options request.
fn describe(key: &PublicKey, schema: &Schema, options: &EncryptOptions) -> Result<Vec<EncryptedColumn>, Error> {
    let sources = sources(schema, options)?;
    let column = |name: String, encoding: Encoding, sources: Vec<SourceColumn>| EncryptedColumn {
        name,
        key: key.id(),
        bits: key.bits(),
        encoding,
        sources,
        max_additions: options.max_additions,
    };
    let columns: Vec<EncryptedColumn> = match options.pack {
        true => {
            let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
            vec![column(names.join("+"), Encoding::Slots, sources)]
        }
        false => sources
            .into_iter()
            .map(|source| match source.scale {
                0 => column(source.name.clone(), Encoding::Integer, vec![source]),
                _ => column(source.name.clone(), Encoding::Fixed, vec![source]),
            })
            .collect(),
    };
    columns.iter().try_for_each(|column| column.layout().map(drop))?;
    Ok(columns)
}

/// The original columns that the options request.
pub(crate) fn sources(schema: &Schema, options: &EncryptOptions) -> Result<Vec<SourceColumn>, Error> {
    if options.columns.is_empty() {
        return Err(ErrorKind::NoColumns.into());
    }
    let encrypted = metadata::encrypted_columns(schema)?;
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for spec in &options.columns {
        if !seen.insert(&spec.name) {
            return Err(ErrorKind::DuplicateColumn.in_column(&spec.name));
        }
        sources.push(source(schema, &encrypted, spec)?);
    }
    Ok(sources)
}

fn source(schema: &Schema, encrypted: &[EncryptedColumn], spec: &ColumnSpec) -> Result<SourceColumn, Error> {
    let field = find(schema, &spec.name)?;
    if metadata::encryption_of(field)?.is_some() {
        return Err(ErrorKind::AlreadyEncrypted.in_column(&spec.name));
    }
    let owner = encrypted.iter().find(|column| column.sources.iter().any(|source| source.additions == spec.name));
    if let Some(owner) = owner {
        return Err(ErrorKind::IsCompanion { of: owner.name.clone() }.in_column(&spec.name));
    }
    numbers::check_numeric(field)?;
    let scale = spec.scale.unwrap_or_else(|| numbers::natural_scale(field));
    let scale = numbers::check_scale(&spec.name, scale)?;
    let range = match &spec.range {
        None => DEFAULT_RANGE,
        Some(text) => numbers::scaled_range(&spec.name, text, scale)?,
    };
    Ok(SourceColumn::new(&spec.name, scale, range))
}

/// Finds a field by name. The error lists the existing names.
pub(crate) fn find<'a>(schema: &'a Schema, name: &str) -> Result<&'a Field, Error> {
    schema.field_with_name(name).map_err(|_| {
        let available = schema.fields().iter().map(|field| field.name().clone()).collect();
        ErrorKind::NoSuchColumn { available }.in_column(name)
    })
}

fn plan(schema: &Schema, columns: &[EncryptedColumn]) -> Vec<Step> {
    let owner = |name: &str| columns.iter().position(|column| column.sources.iter().any(|source| source.name == name));
    let mut encrypted = HashSet::new();
    let steps = schema.fields().iter().enumerate().filter_map(|(index, field)| match owner(field.name()) {
        None => Some(Step::Pass(index)),
        Some(column) => encrypted.insert(column).then_some(Step::Encrypt(column)),
    });
    steps.collect()
}

fn output_schema(
    schema: &Schema,
    columns: &[EncryptedColumn],
    plan: &[Step],
    table: &TableId,
) -> Result<Schema, Error> {
    let table = contents::hex(table);
    let mut fields = Vec::new();
    for step in plan {
        match *step {
            Step::Pass(index) => fields.push(metadata::stored_field(schema.field(index))?),
            Step::Encrypt(index) => {
                fields.push(metadata::of_table(columns[index].field(), &table));
                fields.extend(columns[index].companion_fields());
            }
        }
    }
    Ok(Schema::new(fields))
}
