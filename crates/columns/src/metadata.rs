//! The description of an encrypted column, stored as metadata of its Arrow field.
//!
//! A ciphertext column is `FixedSizeBinary(2 * ceil(bits / 8))`, big-endian, and may hold nulls.
//! Its field metadata describe it completely, so decrypting a file needs only the file and a key:
//!
//! | key | value |
//! |---|---|
//! | `hearith.version` | `2`, the version of the format; files without it are of the first |
//! | `hearith.scheme` | `paillier` |
//! | `hearith.table` | id of the table, 32 hexadecimal digits ([`Contents`](crate::Contents)) |
//! | `hearith.key` | id of the public key, 32 hexadecimal digits |
//! | `hearith.bits` | bits of n |
//! | `hearith.encoding` | `integer`, `fixed`, `slots` or `base16` |
//! | `hearith.columns` | JSON list: the original columns, one per slot |
//! | `hearith.additions` | JSON list: their companion columns |
//! | `hearith.values` | JSON list, in totals: the columns that count encrypted values ([`SourceColumn::values`]) |
//! | `hearith.scale` | fractional decimal digits kept, comma-separated, one per slot |
//! | `hearith.range` | largest magnitude of one addend after scaling, comma-separated, one per slot |
//! | `hearith.max_additions` | addends that one ciphertext has headroom for |
//! | `hearith.slots` | slots in one ciphertext (`slots` only) |
//! | `hearith.exponent` | power of 16 that the integers are multiplied by (`base16` only) |
//!
//! `base16` is python-paillier's encoding: the number is `integer * 16^exponent`, and `range`
//! bounds the number itself.
//!
//! # Which source metadata is kept
//! When a table is encrypted, summed or decrypted, its columns keep only names, types and
//! nullability. Other metadata of schemas and fields are not copied, because programs store
//! statistics of plaintext values there. Custom attributes, including pandas' description of the
//! columns, are lost too. An extension type becomes its storage type. The entries above are
//! rewritten from their parsed values, as is the mark of the column that counts rows in totals.

mod fields;

use std::collections::HashSet;

use arrow_schema::{DataType, Field, Metadata, Schema};
use hearith_paillier::encoding::SlotLayout;
use hearith_paillier::{KeyId, MAX_BITS, MIN_BITS, PublicKey};

use crate::error::{CompanionFault, Error, ErrorKind};
use crate::extension;
use crate::limits::MAX_DESCRIPTION_BYTES;
pub use fields::counts_rows;
pub(crate) use fields::{
    cast_nested, check_batch, check_names, free_name, index_field, numbers_rows, of_table, rows_field, rows_name,
    stored_field, without_metadata,
};

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

/// The version of the format that is written. Version 1 did not name tables, and its BFV chunks did
/// not record the order of rows.
pub const FORMAT_VERSION: u32 = 2;

/// Default headroom of a ciphertext, in additions.
pub const DEFAULT_MAX_ADDITIONS: u64 = 1 << 32;
/// Default largest magnitude of one scaled value: that of any 64-bit integer.
pub const DEFAULT_RANGE: u128 = i64::MAX as u128;
/// Most fractional decimal digits that a 128-bit integer holds.
pub const MAX_SCALE: u32 = 38;
/// Lowest power of 16 accepted in an imported number, finer than any double.
pub const MIN_EXPONENT: i32 = -512;

/// How the plaintexts of a column encode numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Signed integers.
    Integer,
    /// Signed integers that are decimal numbers times a power of ten.
    Fixed,
    /// Numbers of several columns, packed into one plaintext.
    Slots,
    /// python-paillier's encoding: a signed integer times 16 to this power (0 or below).
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
pub struct SourceColumn {
    /// The original column's name.
    pub name: String,
    /// Fractional decimal digits kept.
    pub scale: u32,
    /// Largest magnitude of one addend after scaling, 1 to 2^127 - 1.
    pub range: u128,
    /// Name of the companion column, which counts the numbers added into each ciphertext.
    pub additions: String,
    /// In totals, name of the column that counts the encrypted values of each total, whatever their
    /// weights. Without such a column, each ciphertext counts as one value.
    pub values: Option<String>,
}

impl SourceColumn {
    /// A source column with the usual companion name, `NAME.additions`.
    pub fn new(name: &str, scale: u32, range: u128) -> Self {
        Self { name: name.to_owned(), scale, range, additions: format!("{name}.additions"), values: None }
    }
}

/// An encrypted column: its field, its key and its encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedColumn {
    /// Name of the field with the ciphertexts.
    pub name: String,
    /// Id of the public key.
    pub key: KeyId,
    /// Bits of n.
    pub bits: u32,
    /// How the plaintexts encode numbers.
    pub encoding: Encoding,
    /// The original columns: one, or one per slot with [`Encoding::Slots`].
    pub sources: Vec<SourceColumn>,
    /// Additions that one ciphertext has headroom for, at least 1.
    pub max_additions: u64,
}

/// Why field metadata do not describe an encrypted column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// A key is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A key has an invalid value.
    #[error("{key} has the invalid value \"{}\"", .value.escape_debug())]
    Invalid {
        /// The metadata key.
        key: &'static str,
        /// Its value, truncated.
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
    /// The entries are longer than any description needs.
    #[error("it has more than {limit} bytes")]
    TooLong {
        /// The largest accepted size in bytes.
        limit: usize,
    },
    /// The column uses a later version of the format.
    #[error("is in version {found} of the format: this program reads up to {FORMAT_VERSION}")]
    Later {
        /// The version found.
        found: u32,
    },
    /// The chunks of the column do not record the order of rows.
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
    /// Describes the fault of a column: damage, or an unsupported version of the format.
    pub(crate) fn introduced(&self) -> String {
        match self {
            Self::Later { .. } | Self::Unordered => self.to_string(),
            damage => format!("damaged description of an encrypted column: {damage}"),
        }
    }
}

impl EncryptedColumn {
    /// Reads the description from a field's metadata. `None` for a field that is not encrypted.
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
            sources: metadata.sources(encoding)?,
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
            Encoding::Integer if self.sources[0].scale != 0 => return Err(metadata.invalid(SCALE)),
            Encoding::Base16(_) if self.sources[0].scale != 0 => return Err(metadata.invalid(SCALE)),
            Encoding::Slots => {
                let (found, expected) = (self.sources.len(), metadata.number(SLOTS)?);
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

    /// The companion fields, `UInt64` and never null: for each source column its additions, then
    /// its values if they are counted.
    pub fn companion_fields(&self) -> impl Iterator<Item = Field> + '_ {
        let names = self.sources.iter().flat_map(|source| std::iter::once(&source.additions).chain(&source.values));
        names.map(|name| Field::new(name, DataType::UInt64, false))
    }

    /// Bytes of one ciphertext.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.bits.div_ceil(8) as usize
    }

    /// Largest magnitude of one addend in any source column.
    pub fn range(&self) -> u128 {
        self.sources.iter().map(|source| source.range).max().unwrap_or(0)
    }

    /// The slots of one plaintext, a single slot for encodings without slots. The layout ensures
    /// that no sum within the declared headroom reaches n / 2.
    ///
    /// # Errors
    /// When range and additions need more bits than the key has.
    pub fn layout(&self) -> Result<SlotLayout, Error> {
        let bits = match self.encoding {
            Encoding::Base16(exponent) => self.bits.saturating_sub(4 * exponent.unsigned_abs()),
            _ => self.bits,
        };
        let layout = SlotLayout::new(bits, self.sources.len(), self.range(), self.max_additions);
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
    /// [`ErrorKind::WrongKey`], with both ids.
    pub fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        if self.key == key.id() && self.bits == key.bits() {
            return Ok(());
        }
        let (found, given) = (self.key.to_string(), key.id().to_string());
        Err(ErrorKind::WrongKey { found, given }.in_column(&self.name))
    }

    /// Checks that this column and `before` can be summed: they must have the same key, encoding,
    /// scale, range, headroom and original columns.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`], with the first property that differs.
    pub fn check_compatible(&self, before: &Self) -> Result<(), Error> {
        let list = |column: &Self, each: fn(&SourceColumn) -> String| {
            column.sources.iter().map(each).collect::<Vec<_>>().join(",")
        };
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
        let sources: [Property<SourceColumn>; 4] = [
            ("the list of columns", |source| source.name.clone()),
            ("the scale", |source| source.scale.to_string()),
            ("the range", |source| source.range.to_string()),
            ("the list of companions", |source| source.additions.clone()),
        ];
        let whole = properties.iter().map(|(what, of)| (*what, of(self), of(before)));
        let each = sources.iter().map(|(what, of)| (*what, list(self, *of), list(before, *of)));
        match whole.chain(each).find(|(_, here, before)| here != before) {
            None => Ok(()),
            Some((what, here, before)) => Err(ErrorKind::Differs { what, here, before }.in_column(&self.name)),
        }
    }

    fn entries(&self) -> Metadata {
        let list = |each: fn(&SourceColumn) -> &str| {
            let names: Vec<&str> = self.sources.iter().map(each).collect();
            serde_json::Value::from(names).to_string()
        };
        let numbers = |each: fn(&SourceColumn) -> String| self.sources.iter().map(each).collect::<Vec<_>>().join(",");
        let mut entries = vec![
            (VERSION, FORMAT_VERSION.to_string()),
            (SCHEME, PAILLIER.to_owned()),
            (KEY, self.key.to_string()),
            (BITS, self.bits.to_string()),
            (ENCODING, self.encoding.name().to_owned()),
            (COLUMNS, list(|source| &source.name)),
            (ADDITIONS, list(|source| &source.additions)),
            (SCALE, numbers(|source| source.scale.to_string())),
            (RANGE, numbers(|source| source.range.to_string())),
            (MAX_ADDITIONS, self.max_additions.to_string()),
        ];
        match self.encoding {
            Encoding::Slots => entries.push((SLOTS, self.sources.len().to_string())),
            Encoding::Base16(exponent) => entries.push((EXPONENT, exponent.to_string())),
            _ => {}
        }
        entries.extend(values_entry(&self.sources).map(|list| (VALUES, list)));
        entries.into_iter().collect()
    }
}

/// The field of a column that was changed to the scale, range and headroom of `target`. The rest of
/// its description stays.
pub(crate) fn redescribed(field: &Field, target: &EncryptedColumn) -> Field {
    let changing = [ENCODING, SCALE, RANGE, MAX_ADDITIONS];
    let targets = target.entries().into_iter().filter(|(key, _)| changing.contains(&key.as_str()));
    let changed: Vec<(String, String)> =
        targets.filter(|(key, text)| field.metadata().get(key) != Some(text)).collect();
    if changed.is_empty() {
        return field.clone();
    }
    // The extension type describes the column before the change.
    let mut entries = extension::without(field.metadata());
    entries.extend(changed);
    field.clone().with_metadata(entries)
}

/// The list of the columns that count values, if every source column has one.
pub(crate) fn values_entry(sources: &[SourceColumn]) -> Option<String> {
    let names: Option<Vec<&str>> = sources.iter().map(|source| source.values.as_deref()).collect();
    names.map(|names| serde_json::Value::from(names).to_string())
}

/// Checks that a column that counts values has the type of counts. The column may be missing, in
/// which case each ciphertext counts as one value.
pub(crate) fn check_values(schema: &Schema, name: &str) -> Result<(), CompanionFault> {
    match schema.field_with_name(name) {
        Ok(field) if *field.data_type() != DataType::UInt64 => Err(CompanionFault::Type),
        _ => Ok(()),
    }
}

/// The encrypted columns of a table, in order.
///
/// # Errors
/// A damaged description, a column of another scheme, a companion column that is missing, not
/// `UInt64` or shared, or two fields of one name.
pub fn encrypted_columns(schema: &Schema) -> Result<Vec<EncryptedColumn>, Error> {
    check_names(schema)?;
    let mut columns = Vec::new();
    let mut taken = HashSet::new();
    for field in schema.fields() {
        let Some(column) = encryption_of(field)? else { continue };
        for source in &column.sources {
            let fault = match schema.field_with_name(&source.additions) {
                Err(_) => CompanionFault::Missing,
                Ok(field) if *field.data_type() != DataType::UInt64 => CompanionFault::Type,
                Ok(_) if !taken.insert(source.additions.clone()) => CompanionFault::Shared,
                Ok(_) => continue,
            };
            let companion = source.additions.clone();
            return Err(ErrorKind::Companion { companion, fault }.in_column(&column.name));
        }
        for companion in column.sources.iter().filter_map(|source| source.values.as_ref()) {
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

/// The description of a field if it is encrypted. Errors name the field.
pub(crate) fn encryption_of(field: &Field) -> Result<Option<EncryptedColumn>, Error> {
    if field.metadata().get(SCHEME).is_some_and(|scheme| scheme == BFV) {
        return Err(ErrorKind::Scheme { found: BFV, given: PAILLIER }.in_column(field.name()));
    }
    EncryptedColumn::from_field(field).map_err(|error| Error::from(error).in_column(field.name()))
}

/// Whether a field's metadata declare it encrypted, by any scheme.
pub(crate) fn is_encrypted(field: &Field) -> bool {
    field.metadata().contains_key(SCHEME)
}

/// The name of a property and the function that reads it.
pub(crate) type Property<T> = (&'static str, fn(&T) -> String);

/// Field metadata with checked access.
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

    /// A decimal number without sign or leading zeros, so that equal numbers have equal texts.
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

    pub(crate) fn sources(&self, encoding: Encoding) -> Result<Vec<SourceColumn>, MetadataError> {
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
        let sources = names.into_iter().zip(additions).zip(scales.into_iter().zip(ranges)).zip(values);
        let source =
            |(((name, additions), (scale, range)), values)| SourceColumn { name, scale, range, additions, values };
        Ok(sources.map(source).collect())
    }
}
