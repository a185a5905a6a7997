//! The description of an encrypted column, stored as metadata of its Arrow field.
//!
//! A ciphertext column is `FixedSizeBinary(2 * ceil(bits / 8))`, big-endian, and may hold nulls.
//! Its field metadata describe it completely, so that a file needs nothing beside it but a key:
//!
//! | key | value |
//! |---|---|
//! | `hearith.version` | `2`, the version of the format; files without it are of the first |
//! | `hearith.scheme` | `paillier` |
//! | `hearith.table` | id of the table, 32 hexadecimal digits ([`Contents`](crate::Contents)) |
//! | `hearith.key` | id of the public key, 32 hexadecimal digits |
//! | `hearith.bits` | bits of n |
//! | `hearith.encoding` | `integer`, `fixed`, `slots` or `base16` |
//! | `hearith.columns` | JSON list: the original columns, one a slot |
//! | `hearith.additions` | JSON list: their companion columns |
//! | `hearith.values` | JSON list, in totals: the columns that count encrypted values ([`Part::values`]) |
//! | `hearith.scale` | fractional decimal digits kept, comma-separated, one a slot |
//! | `hearith.range` | largest magnitude of one addend after scaling, likewise |
//! | `hearith.max_additions` | addends that one ciphertext has headroom for |
//! | `hearith.slots` | slots in one ciphertext (`slots` only) |
//! | `hearith.exponent` | power of 16 that the integers stand on (`base16` only) |
//!
//! `base16` is python-paillier's encoding: the number is `integer * 16^exponent`, and `range`
//! bounds the number itself.
//!
//! # What is kept of a source's metadata
//! Of a table that is encrypted, added up or decrypted its columns keep names, types and
//! nullability, and nothing else: metadata of schemas and fields are not copied, as programs put
//! statistics of plain values there, and custom attributes (pandas' account of the columns among
//! them). Of extension types the storage type is kept. The entries above are written anew from what
//! was understood of them, and so is the mark of the column that counts rows in totals.

use std::collections::HashSet;

use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Metadata, Schema};
use hearith_paillier::encoding::SlotLayout;
use hearith_paillier::{KeyId, MAX_BITS, MIN_BITS, PublicKey};

use crate::error::{CompanionFault, Error, ErrorKind};
use crate::extension;
use crate::limits::MAX_DESCRIPTION_BYTES;

const PREFIX: &str = "hearith.";
pub(crate) const SCHEME: &str = "hearith.scheme";
pub(crate) const KEY: &str = "hearith.key";
pub(crate) const BITS: &str = "hearith.bits";
const ENCODING: &str = "hearith.encoding";
pub(crate) const COLUMNS: &str = "hearith.columns";
pub(crate) const ADDITIONS: &str = "hearith.additions";
pub(crate) const VALUES: &str = "hearith.values";
pub(crate) const SCALE: &str = "hearith.scale";
pub(crate) const RANGE: &str = "hearith.range";
pub(crate) const MAX_ADDITIONS: &str = "hearith.max_additions";
const SLOTS: &str = "hearith.slots";
const EXPONENT: &str = "hearith.exponent";
const ROLE: &str = "hearith.role";
pub(crate) const PAILLIER: &str = "paillier";
pub(crate) const BFV: &str = "bfv";
const ROWS: &str = "rows";
pub(crate) const INDEX_ROLE: &str = "row";
pub(crate) const VERSION: &str = "hearith.version";
pub(crate) const TABLE: &str = "hearith.table";
pub(crate) const TABLES: &str = "hearith.tables";

/// The version of the format that is written. Version 1 named no tables, and BFV's chunks did not
/// say which row is which.
pub const FORMAT_VERSION: u32 = 2;

/// Additions that a ciphertext has headroom for unless another number is declared.
pub const DEFAULT_MAX_ADDITIONS: u64 = 1 << 32;
/// Largest magnitude of one scaled value unless another is declared: any 64-bit integer's.
pub const DEFAULT_RANGE: u128 = i64::MAX as u128;
/// Most fractional decimal digits: what a 128-bit integer holds.
pub const MAX_SCALE: u32 = 38;
/// Lowest power of 16 accepted in an imported number: finer than any double.
pub const MIN_EXPONENT: i32 = -512;

/// How numbers lie in the plaintexts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Signed integers.
    Integer,
    /// Signed integers that are decimal numbers times a power of ten.
    Fixed,
    /// Several columns' numbers side by side in one plaintext.
    Slots,
    /// python-paillier's: a signed integer times 16 to this power (0 or below).
    Base16(i32),
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Fixed => "fixed",
            Self::Slots => "slots",
            Self::Base16(_) => "base16",
        }
    }
}

/// One original column within an encrypted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The original column's name.
    pub name: String,
    /// Fractional decimal digits kept.
    pub scale: u32,
    /// Largest magnitude of one addend after scaling, 1 to 2^127 - 1.
    pub range: u128,
    /// Name of the companion column: how many numbers were added into each ciphertext.
    pub additions: String,
    /// Name of the column of totals that counts the encrypted values in each, whatever their
    /// weights. Without such a column each ciphertext counts as one value.
    pub values: Option<String>,
}

impl Part {
    /// A part with the usual companion name, `NAME.additions`.
    pub fn new(name: &str, scale: u32, range: u128) -> Self {
        Self { name: name.to_owned(), scale, range, additions: format!("{name}.additions"), values: None }
    }
}

/// An encrypted column: which field holds it, under which key, encoding what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedColumn {
    /// Name of the field with the ciphertexts.
    pub name: String,
    /// Id of the public key.
    pub key: KeyId,
    /// Bits of n.
    pub bits: u32,
    /// How numbers lie in the plaintexts.
    pub encoding: Encoding,
    /// The original columns: one, or with [`Encoding::Slots`] one a slot.
    pub parts: Vec<Part>,
    /// Addends that one ciphertext has headroom for, at least 1.
    pub max_additions: u64,
}

/// Why field metadata do not describe an encrypted column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// A key is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A key's value is not one that may stand there.
    #[error("{key} is \"{}\", which it cannot be", .value.escape_debug())]
    Invalid {
        /// The metadata key.
        key: &'static str,
        /// Its value, cut to a line.
        value: String,
    },
    /// The lists differ in length.
    #[error("{key} lists {found} columns, not {expected}")]
    Lengths {
        /// The metadata key.
        key: &'static str,
        /// Entries found.
        found: usize,
        /// Entries expected.
        expected: usize,
    },
    /// The field is not fixed-size binary of the key's ciphertext length.
    #[error("the column is {found}, not FixedSizeBinary({expected})")]
    Type {
        /// The Arrow type found.
        found: String,
        /// Bytes of a ciphertext.
        expected: usize,
    },
    /// The entries are longer than any description needs to be.
    #[error("it has more than {limit} bytes")]
    TooLong {
        /// Bytes that are read.
        limit: usize,
    },
    /// The column is in a later version of the format.
    #[error("is in version {found} of the format: this program reads up to {FORMAT_VERSION}")]
    Later {
        /// The version found.
        found: u32,
    },
    /// The chunks of the column do not say which row is which.
    #[error("is in version 1 of the format, which does not bind the order of rows: encrypt the table again")]
    Unordered,
    /// The declared range and additions cannot fit the key.
    #[error("the declared range and additions do not fit a key of {bits} bits")]
    DoesNotFit {
        /// Bits of n.
        bits: u32,
    },
}

impl MetadataError {
    /// What is wrong with a column: damage, or a version of the format that is not read.
    pub(crate) fn introduced(&self) -> String {
        match self {
            Self::Later { .. } | Self::Unordered => self.to_string(),
            damage => format!("damaged description of an encrypted column: {damage}"),
        }
    }
}

impl EncryptedColumn {
    /// The description kept in a field's metadata; `None` for a field that is not encrypted.
    ///
    /// # Errors
    /// [`MetadataError`] when the field says that it is encrypted but its description is
    /// incomplete, contradicts itself, or does not fit the field's type.
    pub fn from_field(field: &Field) -> Result<Option<Self>, MetadataError> {
        let metadata = Entries(field.metadata());
        match metadata.0.get(SCHEME) {
            None => return Ok(None),
            Some(scheme) if scheme == PAILLIER => {}
            Some(_) => return Err(metadata.invalid(SCHEME)),
        }
        if metadata.bytes() > MAX_DESCRIPTION_BYTES {
            return Err(MetadataError::TooLong { limit: MAX_DESCRIPTION_BYTES });
        }
        metadata.version()?;
        let bits = metadata.number(BITS)?;
        if !(MIN_BITS..=MAX_BITS).contains(&bits) || bits % 2 != 0 {
            return Err(metadata.invalid(BITS));
        }
        let encoding = metadata.encoding()?;
        let column = Self {
            name: field.name().clone(),
            key: metadata.text(KEY)?.parse().map_err(|_| metadata.invalid(KEY))?,
            bits,
            encoding,
            parts: metadata.parts(encoding)?,
            max_additions: metadata.number(MAX_ADDITIONS)?,
        };
        column.check(field, &metadata)?;
        Ok(Some(column))
    }

    fn check(&self, field: &Field, metadata: &Entries<'_>) -> Result<(), MetadataError> {
        let expected = self.ciphertext_bytes();
        if *field.data_type() != DataType::FixedSizeBinary(expected as i32) {
            return Err(MetadataError::Type { found: field.data_type().to_string(), expected });
        }
        if self.max_additions == 0 {
            return Err(metadata.invalid(MAX_ADDITIONS));
        }
        match self.encoding {
            Encoding::Integer if self.parts[0].scale != 0 => return Err(metadata.invalid(SCALE)),
            Encoding::Base16(_) if self.parts[0].scale != 0 => return Err(metadata.invalid(SCALE)),
            Encoding::Slots => {
                let (found, expected) = (self.parts.len(), metadata.number(SLOTS)?);
                if found != expected {
                    return Err(MetadataError::Lengths { key: COLUMNS, found, expected });
                }
            }
            _ => {}
        }
        match self.layout() {
            Ok(_) => Ok(()),
            Err(_) => Err(MetadataError::DoesNotFit { bits: self.bits }),
        }
    }

    /// The field with the ciphertexts: type, name and metadata.
    pub fn field(&self) -> Field {
        let width = DataType::FixedSizeBinary(self.ciphertext_bytes() as i32);
        Field::new(&self.name, width, true).with_metadata(self.entries())
    }

    /// The companion fields, `UInt64` and never null: of each part the additions, then the values
    /// if they are counted.
    pub fn companion_fields(&self) -> impl Iterator<Item = Field> + '_ {
        let names = self.parts.iter().flat_map(|part| std::iter::once(&part.additions).chain(&part.values));
        names.map(|name| Field::new(name, DataType::UInt64, false))
    }

    /// Bytes of one ciphertext.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.bits.div_ceil(8) as usize
    }

    /// Largest magnitude of one addend in any part.
    pub fn range(&self) -> u128 {
        self.parts.iter().map(|part| part.range).max().unwrap_or(0)
    }

    /// The slots of one plaintext; a single one for the encodings without slots, which is what
    /// makes certain that no sum within the declared headroom reaches n / 2.
    ///
    /// # Errors
    /// When range and additions need more bits than the key has.
    pub fn layout(&self) -> Result<SlotLayout, Error> {
        let bits = match self.encoding {
            Encoding::Base16(exponent) => self.bits.saturating_sub(4 * exponent.unsigned_abs()),
            _ => self.bits,
        };
        let layout = SlotLayout::new(bits, self.parts.len(), self.range(), self.max_additions);
        layout.map_err(|error| {
            let kind = match (error.kind(), self.encoding) {
                (hearith_paillier::ErrorKind::DoesNotFit { slot_bits, .. }, encoding)
                    if encoding != Encoding::Slots =>
                {
                    let places = match encoding {
                        Encoding::Base16(exponent) => exponent.unsigned_abs().saturating_mul(4),
                        _ => 0,
                    };
                    ErrorKind::TooFewBits { needed: slot_bits.saturating_add(places), bits: self.bits }
                }
                (kind, _) => ErrorKind::Paillier(kind.clone()),
            };
            kind.in_column(&self.name)
        })
    }

    /// Checks that the column is encrypted under `key`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongKey`], naming both ids.
    pub fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        if self.key == key.id() && self.bits == key.bits() {
            return Ok(());
        }
        let (found, given) = (self.key.to_string(), key.id().to_string());
        Err(ErrorKind::WrongKey { found, given }.in_column(&self.name))
    }

    /// Checks that sums of this column and of `before` mean something: one key, encoding, scale,
    /// range and headroom, the same original columns.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`], naming the first property that differs.
    pub fn check_adds_to(&self, before: &Self) -> Result<(), Error> {
        let list =
            |column: &Self, each: fn(&Part) -> String| column.parts.iter().map(each).collect::<Vec<_>>().join(",");
        let properties: [Property<Self>; 5] = [
            ("the key", |column| column.key.to_string()),
            ("the encoding", |column| column.encoding.name().to_owned()),
            ("the exponent", |column| match column.encoding {
                Encoding::Base16(exponent) => exponent.to_string(),
                _ => String::new(),
            }),
            ("the number of bits", |column| column.bits.to_string()),
            ("the number of additions allowed", |column| column.max_additions.to_string()),
        ];
        let parts: [Property<Part>; 4] = [
            ("the list of columns", |part| part.name.clone()),
            ("the scale", |part| part.scale.to_string()),
            ("the range", |part| part.range.to_string()),
            ("the list of companions", |part| part.additions.clone()),
        ];
        let whole = properties.iter().map(|(what, of)| (*what, of(self), of(before)));
        let each = parts.iter().map(|(what, of)| (*what, list(self, *of), list(before, *of)));
        match whole.chain(each).find(|(_, here, before)| here != before) {
            None => Ok(()),
            Some((what, here, before)) => Err(ErrorKind::Differs { what, here, before }.in_column(&self.name)),
        }
    }

    fn entries(&self) -> Metadata {
        let list = |each: fn(&Part) -> &str| {
            let names: Vec<&str> = self.parts.iter().map(each).collect();
            serde_json::Value::from(names).to_string()
        };
        let numbers = |each: fn(&Part) -> String| self.parts.iter().map(each).collect::<Vec<_>>().join(",");
        let mut entries = vec![
            (VERSION, FORMAT_VERSION.to_string()),
            (SCHEME, PAILLIER.to_owned()),
            (KEY, self.key.to_string()),
            (BITS, self.bits.to_string()),
            (ENCODING, self.encoding.name().to_owned()),
            (COLUMNS, list(|part| &part.name)),
            (ADDITIONS, list(|part| &part.additions)),
            (SCALE, numbers(|part| part.scale.to_string())),
            (RANGE, numbers(|part| part.range.to_string())),
            (MAX_ADDITIONS, self.max_additions.to_string()),
        ];
        match self.encoding {
            Encoding::Slots => entries.push((SLOTS, self.parts.len().to_string())),
            Encoding::Base16(exponent) => entries.push((EXPONENT, exponent.to_string())),
            _ => {}
        }
        entries.extend(values_entry(&self.parts).map(|list| (VALUES, list)));
        entries.into_iter().collect()
    }
}

/// A field with what the column becomes of another scale, range and headroom; all else that is said
/// of it stays.
pub(crate) fn redescribed(field: &Field, target: &EncryptedColumn) -> Field {
    let changing = [ENCODING, SCALE, RANGE, MAX_ADDITIONS];
    let targets = target.entries().into_iter().filter(|(key, _)| changing.contains(&key.as_str()));
    let changed: Vec<(String, String)> =
        targets.filter(|(key, text)| field.metadata().get(key) != Some(text)).collect();
    if changed.is_empty() {
        return field.clone();
    }
    // The extension type describes what the column was.
    let mut entries = extension::without(field.metadata());
    entries.extend(changed);
    field.clone().with_metadata(entries)
}

/// The list of the columns that count values, if all parts have one.
pub(crate) fn values_entry(parts: &[Part]) -> Option<String> {
    let names: Option<Vec<&str>> = parts.iter().map(|part| part.values.as_deref()).collect();
    names.map(|names| serde_json::Value::from(names).to_string())
}

/// Checks that a column that counts values holds counts. It may be missing: then each ciphertext
/// counts as one value.
pub(crate) fn check_values(schema: &Schema, name: &str) -> Result<(), CompanionFault> {
    match schema.field_with_name(name) {
        Ok(field) if *field.data_type() != DataType::UInt64 => Err(CompanionFault::Type),
        _ => Ok(()),
    }
}

/// The encrypted columns of a table, in order.
///
/// # Errors
/// A damaged description; a column of another scheme; a companion column missing, not `UInt64`, or
/// shared; two fields of one name.
pub fn encrypted_columns(schema: &Schema) -> Result<Vec<EncryptedColumn>, Error> {
    check_names(schema)?;
    let mut columns = Vec::new();
    let mut taken = HashSet::new();
    for field in schema.fields() {
        let Some(column) = described(field)? else { continue };
        for part in &column.parts {
            let fault = match schema.field_with_name(&part.additions) {
                Err(_) => CompanionFault::Missing,
                Ok(field) if *field.data_type() != DataType::UInt64 => CompanionFault::Type,
                Ok(_) if !taken.insert(part.additions.clone()) => CompanionFault::Shared,
                Ok(_) => continue,
            };
            let companion = part.additions.clone();
            return Err(ErrorKind::Companion { companion, fault }.in_column(&column.name));
        }
        for companion in column.parts.iter().filter_map(|part| part.values.as_ref()) {
            let fault = |fault| ErrorKind::Companion { companion: companion.clone(), fault }.in_column(&column.name);
            check_values(schema, companion).map_err(fault)?;
            if !taken.insert(companion.clone()) {
                return Err(fault(CompanionFault::Shared));
            }
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The description of a field, if it is encrypted; an error names the field.
pub(crate) fn described(field: &Field) -> Result<Option<EncryptedColumn>, Error> {
    if field.metadata().get(SCHEME).is_some_and(|scheme| scheme == BFV) {
        return Err(ErrorKind::Scheme { found: BFV, given: PAILLIER }.in_column(field.name()));
    }
    EncryptedColumn::from_field(field).map_err(|error| Error::from(error).in_column(field.name()))
}

/// Whether a field says that it is encrypted, by whichever scheme.
pub(crate) fn is_encrypted(field: &Field) -> bool {
    field.metadata().contains_key(SCHEME)
}

/// What is kept of a field that passes through: see the head of this module.
pub(crate) fn kept(field: &Field) -> Result<Field, Error> {
    Ok(match described(field)? {
        Some(column) => {
            let kept = column.field().with_nullable(field.is_nullable());
            with_entries(kept, field.metadata(), &[TABLE])
        }
        None if counts_rows(field) => {
            let kept = rows_field(field.name()).with_nullable(field.is_nullable());
            with_entries(kept, field.metadata(), &[TABLES])
        }
        None => bare(field),
    })
}

/// The field with those entries of `from` that have these keys.
fn with_entries(field: Field, from: &Metadata, keys: &[&str]) -> Field {
    let mut metadata = field.metadata().clone();
    for &key in keys {
        if let Some(value) = from.get(key) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    field.with_metadata(metadata)
}

/// The field of an encrypted column, with the id of its table.
pub(crate) fn of_table(field: Field, table: &str) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(TABLE.to_owned(), table.to_owned());
    field.with_metadata(metadata)
}

/// The field without metadata, nor in the fields within it.
pub(crate) fn bare(field: &Field) -> Field {
    Field::new(field.name(), bare_type(field.data_type()), field.is_nullable())
}

fn bare_type(kind: &DataType) -> DataType {
    let inner = |field: &FieldRef| FieldRef::new(bare(field));
    match kind {
        DataType::List(field) => DataType::List(inner(field)),
        DataType::LargeList(field) => DataType::LargeList(inner(field)),
        DataType::ListView(field) => DataType::ListView(inner(field)),
        DataType::LargeListView(field) => DataType::LargeListView(inner(field)),
        DataType::FixedSizeList(field, length) => DataType::FixedSizeList(inner(field), *length),
        DataType::Map(field, sorted) => DataType::Map(inner(field), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect::<Fields>()),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, inner(field))).collect(), *mode)
        }
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), bare_type(values).into()),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(inner(ends), inner(values)),
        other => other.clone(),
    }
}

/// The array as one of this type, which differs in nothing but the metadata of nested fields.
pub(crate) fn retyped(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == kind {
        return Ok(array.clone());
    }
    let data = array.to_data();
    let inner = data.child_data().iter().zip(inner_types(kind));
    let inner = inner.map(|(child, kind)| Ok(retyped(&make_array(child.clone()), kind)?.to_data()));
    let inner = inner.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(make_array(data.into_builder().data_type(kind.clone()).child_data(inner).build()?))
}

fn inner_types(kind: &DataType) -> Vec<&DataType> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::Dictionary(_, values) => vec![values],
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}

/// Checks that a batch is of the table that something was prepared for: its columns by number, name
/// and type, and what is encrypted in them and how.
pub(crate) fn check_batch(prepared: &Schema, batch: &Schema) -> Result<(), Error> {
    let differs = |what, here: &dyn ToString, before: &dyn ToString| ErrorKind::Differs {
        what,
        here: here.to_string(),
        before: before.to_string(),
    };
    let (here, before) = (batch.fields().len(), prepared.fields().len());
    if here != before {
        return Err(differs("the number of columns", &here, &before).into());
    }
    for (here, before) in batch.fields().iter().zip(prepared.fields()) {
        let name = before.name();
        if here.name() != before.name() {
            return Err(differs("the name", here.name(), name).in_column(name));
        }
        if !here.data_type().equals_datatype(before.data_type()) {
            return Err(differs("the type", here.data_type(), before.data_type()).in_column(name));
        }
        let state = |encrypted: bool| if encrypted { "encrypted" } else { "plain" };
        match (described(here)?, described(before)?) {
            (None, None) => {}
            (Some(here), Some(before)) => here.check_adds_to(&before)?,
            (here, before) => {
                let (here, before) = (state(here.is_some()), state(before.is_some()));
                return Err(differs("the column", &here, &before).in_column(name));
            }
        }
    }
    Ok(())
}

/// Checks that no two fields have one name.
pub(crate) fn check_names(schema: &Schema) -> Result<(), Error> {
    let mut names = HashSet::new();
    match schema.fields().iter().find(|field| !names.insert(field.name())) {
        None => Ok(()),
        Some(field) => Err(ErrorKind::DuplicateColumn.in_column(field.name())),
    }
}

/// The field that counts the rows of each group in totals.
pub(crate) fn rows_field(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false).with_metadata([(ROLE, ROWS)])
}

/// The name of that field in totals of these columns: `rows` unless one of them has that name.
pub(crate) fn rows_name<'a>(taken: impl Iterator<Item = &'a str>) -> String {
    free_name(ROWS, taken)
}

/// The field that numbers the rows of a table whose columns are encrypted whole.
pub(crate) fn index_field(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false).with_metadata([(ROLE, INDEX_ROLE)])
}

/// Whether a field numbers the rows of a table whose columns are encrypted whole.
pub(crate) fn numbers_rows(field: &Field) -> bool {
    field.metadata().get(ROLE).is_some_and(|role| role == INDEX_ROLE) && *field.data_type() == DataType::UInt64
}

/// The name, with a number behind it if it is among those that are taken.
pub(crate) fn free_name<'a>(name: &str, taken: impl Iterator<Item = &'a str>) -> String {
    let taken: HashSet<&str> = taken.collect();
    let numbered = (1_u32..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name.as_str())).unwrap_or_default()
}

/// Whether a field is the row count of totals, and not a column that happens to be called `rows`.
pub fn counts_rows(field: &Field) -> bool {
    field.metadata().get(ROLE).is_some_and(|role| role == ROWS) && *field.data_type() == DataType::UInt64
}

/// What a property is called and how it reads.
pub(crate) type Property<T> = (&'static str, fn(&T) -> String);

/// Metadata being read.
pub(crate) struct Entries<'a>(pub(crate) &'a Metadata);

impl Entries<'_> {
    pub(crate) fn bytes(&self) -> usize {
        let ours = self.0.iter().filter(|(key, _)| key.starts_with(PREFIX));
        ours.map(|(key, value)| key.len() + value.len()).sum()
    }

    /// The version of the format.
    pub(crate) fn version(&self) -> Result<u32, MetadataError> {
        let version = if self.0.contains_key(VERSION) { self.number(VERSION)? } else { 1 };
        match version {
            0 => Err(self.invalid(VERSION)),
            1..=FORMAT_VERSION => Ok(version),
            found => Err(MetadataError::Later { found }),
        }
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<&str, MetadataError> {
        self.0.get(key).map(String::as_str).ok_or(MetadataError::Missing(key))
    }

    pub(crate) fn invalid(&self, key: &'static str) -> MetadataError {
        let value = self.0.get(key).map(String::as_str).unwrap_or_default();
        MetadataError::Invalid { key, value: value.chars().take(60).collect() }
    }

    /// A decimal number without sign or leading zeros, so that equal numbers are equal texts.
    fn decimal<T: std::str::FromStr + ToString>(&self, key: &'static str, text: &str) -> Result<T, MetadataError> {
        match text.parse::<T>() {
            Ok(number) if number.to_string() == text => Ok(number),
            _ => Err(self.invalid(key)),
        }
    }

    pub(crate) fn number<T: std::str::FromStr + ToString>(&self, key: &'static str) -> Result<T, MetadataError> {
        self.decimal(key, self.text(key)?)
    }

    fn numbers<T: std::str::FromStr + ToString>(
        &self,
        key: &'static str,
        expected: usize,
    ) -> Result<Vec<T>, MetadataError> {
        let numbers: Vec<T> =
            self.text(key)?.split(',').map(|text| self.decimal(key, text)).collect::<Result<_, _>>()?;
        match numbers.len() {
            found if found == expected => Ok(numbers),
            found => Err(MetadataError::Lengths { key, found, expected }),
        }
    }

    fn names(&self, key: &'static str) -> Result<Vec<String>, MetadataError> {
        let names: Vec<String> = serde_json::from_str(self.text(key)?).map_err(|_| self.invalid(key))?;
        let mut seen = HashSet::new();
        match names.is_empty() || !names.iter().all(|name| seen.insert(name)) {
            true => Err(self.invalid(key)),
            false => Ok(names),
        }
    }

    fn encoding(&self) -> Result<Encoding, MetadataError> {
        match self.text(ENCODING)? {
            "integer" => Ok(Encoding::Integer),
            "fixed" => Ok(Encoding::Fixed),
            "slots" => Ok(Encoding::Slots),
            "base16" => match self.number(EXPONENT)? {
                exponent @ MIN_EXPONENT..=0 => Ok(Encoding::Base16(exponent)),
                _ => Err(self.invalid(EXPONENT)),
            },
            _ => Err(self.invalid(ENCODING)),
        }
    }

    pub(crate) fn parts(&self, encoding: Encoding) -> Result<Vec<Part>, MetadataError> {
        let names = self.names(COLUMNS)?;
        let additions = self.names(ADDITIONS)?;
        let count = names.len();
        if count != 1 && encoding != Encoding::Slots {
            return Err(MetadataError::Lengths { key: COLUMNS, found: count, expected: 1 });
        }
        if additions.len() != count {
            let (found, expected) = (additions.len(), count);
            return Err(MetadataError::Lengths { key: ADDITIONS, found, expected });
        }
        let scales: Vec<u32> = self.numbers(SCALE, count)?;
        let ranges: Vec<u128> = self.numbers(RANGE, count)?;
        if scales.iter().any(|&scale| scale > MAX_SCALE) {
            return Err(self.invalid(SCALE));
        }
        if ranges.iter().any(|&range| range == 0 || range > i128::MAX as u128) {
            return Err(self.invalid(RANGE));
        }
        let values = match self.0.contains_key(VALUES) {
            false => vec![None; count],
            true => self.names(VALUES)?.into_iter().map(Some).collect(),
        };
        if values.len() != count {
            let (found, expected) = (values.len(), count);
            return Err(MetadataError::Lengths { key: VALUES, found, expected });
        }
        let parts = names.into_iter().zip(additions).zip(scales.into_iter().zip(ranges)).zip(values);
        let part = |(((name, additions), (scale, range)), values)| Part { name, scale, range, additions, values };
        Ok(parts.map(part).collect())
    }
}
