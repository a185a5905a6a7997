//! Encrypting columns: a batch with numbers in, a batch with ciphertexts out.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema, SchemaRef};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Compute, ComputeError, Plaintexts, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::ciphers;
use crate::contents::{self, TableId};
use crate::error::{Error, ErrorKind};
use crate::metadata::{self, DEFAULT_MAX_ADDITIONS, DEFAULT_RANGE, Encoding, EncryptedColumn, Part};
use crate::numbers::{self, Numbers, Rounding, Rules};

/// The key to encrypt with.
#[derive(Clone, Copy, Debug)]
pub enum EncryptionKey<'a> {
    /// Anybody's way.
    Public(&'a PublicKey),
    /// The key owner's, faster by the use of p and q.
    Owner(&'a PrivateKey),
    /// A service's, or a device's, which carries the operations of a public key out.
    Service(&'a dyn Compute),
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
    /// Fractional decimal digits to keep, 0 to 38; by default those of a decimal type, else none.
    pub scale: Option<u32>,
    /// Largest magnitude of a value, as decimal text in the column's own units; by default 2^63 - 1
    /// after scaling.
    pub range: Option<String>,
}

/// What to encrypt and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptOptions {
    /// The columns; in this order they are packed.
    pub columns: Vec<ColumnSpec>,
    /// Whether the columns of a row share one ciphertext.
    pub pack: bool,
    /// What to do with fractional digits beyond the scale.
    pub rounding: Rounding,
    /// Additions to leave headroom for, at least 1. Of [`DEFAULT_MAX_ADDITIONS`] a column that is
    /// encrypted whole keeps what noise has room for.
    pub max_additions: u64,
    /// Whether an error shows the cell that it concerns, quoted and cut; without this no error
    /// holds a plaintext.
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

/// Where output columns come from.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The input column of this number, unchanged.
    Pass(usize),
    /// The encrypted column of this number and its companions.
    Encrypt(usize),
}

impl<'a> Encryptor<'a> {
    /// Prepares to encrypt tables of this schema.
    ///
    /// # Errors
    /// A column that is missing, named twice, encrypted already or not numeric; a range, scale or
    /// headroom that does not fit the key; an output column whose name is taken.
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

    /// Encrypts further batches of the table with this id, which another encryptor began.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn of_table(mut self, table: TableId) -> Result<Self, Error> {
        self.schema = Arc::new(output_schema(&self.input, &self.columns, &self.plan, &table)?);
        self.table = table;
        Ok(self)
    }

    /// The schema of the encrypted table: each column gives way to its ciphertexts, followed by
    /// their companions; packed columns stand where the first of them stood.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The encrypted columns.
    pub fn columns(&self) -> &[EncryptedColumn] {
        &self.columns
    }

    /// Encrypts a batch of the table that was prepared for. Numbers read from it are wiped; the
    /// batch is the caller's.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] for a batch of another table; the first cell that is no number, has
    /// too many fractional digits or is out of range; a failure of the operating system's random
    /// generator.
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
        let numbers = column.parts.iter().map(|part| self.numbers(part, batch)).collect::<Result<Vec<_>, _>>()?;
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

    fn numbers(&self, part: &Part, batch: &RecordBatch) -> Result<Numbers, Error> {
        let rules = Rules {
            column: part.name.clone(),
            scale: part.scale,
            range: part.range,
            rounding: self.rounding,
            show_cells: self.show_cells,
        };
        rules.read(batch.column(self.input.index_of(&part.name)?))
    }

    /// A ciphertext for each number, none for a null.
    fn encrypt_single(
        &self,
        column: &EncryptedColumn,
        numbers: &[Option<i128>],
    ) -> Result<(Ciphertexts, Option<NullBuffer>), Error> {
        let mut present = Zeroizing::new(Vec::with_capacity(numbers.len()));
        present.extend(numbers.iter().flatten().copied());
        let plaintexts = encode_signed(self.key.public(), &present).map_err(|error| failed(column, error))?;
        let nulls = NullBuffer::from_iter(numbers.iter().map(Option::is_some));
        Ok((self.encrypt_plaintexts(column, &plaintexts)?, Some(nulls)))
    }

    /// A ciphertext for each row, with 0 in the slot of a null.
    fn encrypt_packed(&self, column: &EncryptedColumn, numbers: &[Numbers]) -> Result<Ciphertexts, Error> {
        let rows = numbers[0].len();
        let mut slots = Zeroizing::new(Vec::with_capacity(rows * numbers.len()));
        for row in 0..rows {
            slots.extend(numbers.iter().map(|part| part[row].unwrap_or_default()));
        }
        let plaintexts = column.layout()?.pack(self.key.public(), &slots).map_err(|error| failed(column, error))?;
        self.encrypt_plaintexts(column, &plaintexts)
    }

    fn encrypt_plaintexts(&self, column: &EncryptedColumn, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.key.encrypt(plaintexts).map_err(|error| ciphers::not_computed(column, error))
    }
}

fn failed(column: &EncryptedColumn, error: hearith_paillier::Error) -> Error {
    ErrorKind::Paillier(error.kind().clone()).in_column(&column.name)
}

/// A batch of these columns, whose nested types may have metadata that the schema leaves out.
pub(crate) fn batch_of(schema: &SchemaRef, arrays: Vec<ArrayRef>) -> Result<RecordBatch, Error> {
    let arrays = arrays.iter().zip(schema.fields()).map(|(array, field)| metadata::retyped(array, field.data_type()));
    Ok(RecordBatch::try_new(schema.clone(), arrays.collect::<Result<_, _>>()?)?)
}

/// The encrypted columns that the options ask for.
fn describe(key: &PublicKey, schema: &Schema, options: &EncryptOptions) -> Result<Vec<EncryptedColumn>, Error> {
    let parts = parts(schema, options)?;
    let column = |name: String, encoding: Encoding, parts: Vec<Part>| EncryptedColumn {
        name,
        key: key.id(),
        bits: key.bits(),
        encoding,
        parts,
        max_additions: options.max_additions,
    };
    let columns: Vec<EncryptedColumn> = match options.pack {
        true => {
            let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            vec![column(names.join("+"), Encoding::Slots, parts)]
        }
        false => parts
            .into_iter()
            .map(|part| match part.scale {
                0 => column(part.name.clone(), Encoding::Integer, vec![part]),
                _ => column(part.name.clone(), Encoding::Fixed, vec![part]),
            })
            .collect(),
    };
    columns.iter().try_for_each(|column| column.layout().map(drop))?;
    Ok(columns)
}

/// The original columns that the options ask for.
pub(crate) fn parts(schema: &Schema, options: &EncryptOptions) -> Result<Vec<Part>, Error> {
    if options.columns.is_empty() {
        return Err(ErrorKind::NoColumns.into());
    }
    let encrypted = metadata::encrypted_columns(schema)?;
    let mut seen = HashSet::new();
    let mut parts = Vec::new();
    for spec in &options.columns {
        if !seen.insert(&spec.name) {
            return Err(ErrorKind::DuplicateColumn.in_column(&spec.name));
        }
        parts.push(part(schema, &encrypted, spec)?);
    }
    Ok(parts)
}

fn part(schema: &Schema, encrypted: &[EncryptedColumn], spec: &ColumnSpec) -> Result<Part, Error> {
    let field = find(schema, &spec.name)?;
    if metadata::described(field)?.is_some() {
        return Err(ErrorKind::AlreadyEncrypted.in_column(&spec.name));
    }
    let owner = encrypted.iter().find(|column| column.parts.iter().any(|part| part.additions == spec.name));
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
    Ok(Part::new(&spec.name, scale, range))
}

/// A field by name, or an error that lists the names there are.
pub(crate) fn find<'a>(schema: &'a Schema, name: &str) -> Result<&'a Field, Error> {
    schema.field_with_name(name).map_err(|_| {
        let available = schema.fields().iter().map(|field| field.name().clone()).collect();
        ErrorKind::NoSuchColumn { available }.in_column(name)
    })
}

fn plan(schema: &Schema, columns: &[EncryptedColumn]) -> Vec<Step> {
    let owner = |name: &str| columns.iter().position(|column| column.parts.iter().any(|part| part.name == name));
    let mut placed = HashSet::new();
    let steps = schema.fields().iter().enumerate().filter_map(|(index, field)| match owner(field.name()) {
        None => Some(Step::Pass(index)),
        Some(column) => placed.insert(column).then_some(Step::Encrypt(column)),
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
            Step::Pass(index) => fields.push(metadata::kept(schema.field(index))?),
            Step::Encrypt(index) => {
                fields.push(metadata::of_table(columns[index].field(), &table));
                fields.extend(columns[index].companion_fields());
            }
        }
    }
    Ok(Schema::new(fields))
}
