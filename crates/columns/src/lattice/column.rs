//! The description of a batched column, stored as metadata of its field.

use arrow_schema::{DataType, Field, Metadata, Schema};
use hearith_bfv::{PublicKey, Set};

use crate::contents::{hex, id};
use crate::error::{CompanionFault, Error, ErrorKind};
use crate::limits::MAX_DESCRIPTION_BYTES;
use crate::metadata::{
    self, BFV, DEFAULT_MAX_ADDITIONS, Encoding, Entries, FORMAT_VERSION, MetadataError, Property, SourceColumn, TABLE,
};

const SET: &str = "hearith.set";
const FORM: &str = "hearith.form";
const INDEX: &str = "hearith.index";
const RAREST: &str = "hearith.rarest";

/// The form of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Chunks of a table with this id.
    Chunks {
        /// A random id, one per table.
        table: [u8; 16],
    },
    /// One total per cell.
    Totals,
}

/// A batched column: its field, its key and its encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatticeColumn {
    /// Name of the field.
    pub name: String,
    /// Id of the key, 32 hexadecimal digits.
    pub key: String,
    /// The parameters.
    pub set: Set,
    /// Bits of a plaintext, including its sign.
    pub bits: u32,
    /// The original column.
    pub source: SourceColumn,
    /// Additions that it has headroom for, at least 1.
    pub max_additions: u64,
    /// The form of the cells.
    pub form: Form,
    /// The column that numbers the rows of a table of chunks, from 0.
    pub index: Option<String>,
    /// In totals, the column that counts the values with the rarest weight in each total, null if
    /// all weights are 1.
    pub rarest: Option<String>,
}

impl LatticeColumn {
    /// A column of `source`, whose plaintexts are long enough for sums of `max_additions` values.
    /// With the default number of additions, it keeps the headroom that the set's noise allows.
    ///
    /// # Errors
    /// When sums need longer plaintexts than the set supports.
    pub(super) fn new(key: &PublicKey, source: SourceColumn, max_additions: u64, form: Form) -> Result<Self, Error> {
        let (at, set) = (source.name.clone(), key.set());
        let max_additions = match max_additions {
            DEFAULT_MAX_ADDITIONS => default_additions(set, source.range),
            declared => declared,
        };
        let bits = plaintext_bits(source.range, max_additions);
        set.check_bits(bits).map_err(|error| ErrorKind::from(error.kind().clone()).in_column(&at))?;
        let key = key.id().to_string();
        Ok(Self { name: at, key, set, bits, source, max_additions, form, index: None, rarest: None })
    }

    /// Reads the description from a field's metadata. `None` for a field that is not encrypted by
    /// this scheme.
    ///
    /// # Errors
    /// [`MetadataError`] as for Paillier's columns.
    pub fn from_field(field: &Field) -> Result<Option<Self>, MetadataError> {
        let entries = Entries(field.metadata());
        if field.metadata().get(metadata::SCHEME).is_none_or(|scheme| scheme != BFV) {
            return Ok(None);
        }
        if entries.bytes() > MAX_DESCRIPTION_BYTES {
            return Err(MetadataError::TooLong { limit: MAX_DESCRIPTION_BYTES });
        }
        let version = entries.version()?;
        if *field.data_type() != DataType::Binary {
            return Err(MetadataError::Type { found: field.data_type().to_string(), expected: 0 });
        }
        let mut sources = entries.sources(Encoding::Fixed)?;
        let source = sources.pop().ok_or(MetadataError::Missing(metadata::COLUMNS))?;
        let set: Set = entries.text(SET)?.parse().map_err(|_| entries.invalid(SET))?;
        let bits = entries.number(metadata::BITS)?;
        set.check_bits(bits).map_err(|_| entries.invalid(metadata::BITS))?;
        let max_additions: u64 = entries.number(metadata::MAX_ADDITIONS)?;
        let fits =
            source.range.checked_mul(u128::from(max_additions)).is_some_and(|largest| largest >> (bits - 1) == 0);
        if !fits || max_additions == 0 {
            return Err(entries.invalid(metadata::MAX_ADDITIONS));
        }
        let form = match entries.text(FORM)? {
            "totals" => Form::Totals,
            "chunks" => Form::Chunks { table: id(entries.text(TABLE)?).ok_or_else(|| entries.invalid(TABLE))? },
            _ => return Err(entries.invalid(FORM)),
        };
        let index = match form {
            Form::Totals => None,
            Form::Chunks { .. } if version == 1 => return Err(MetadataError::Unordered),
            Form::Chunks { .. } => Some(entries.text(INDEX)?.to_owned()),
        };
        let rarest = field.metadata().get(RAREST).cloned();
        let key = entries.text(metadata::KEY)?;
        if id(key).is_none() {
            return Err(entries.invalid(metadata::KEY));
        }
        let (name, key) = (field.name().clone(), key.to_owned());
        Ok(Some(Self { name, key, set, bits, source, max_additions, form, index, rarest }))
    }

    /// The field: type, name and metadata.
    pub fn field(&self) -> Field {
        let list = |name: &str| serde_json::Value::from(vec![name]).to_string();
        let mut entries = vec![
            (metadata::VERSION, FORMAT_VERSION.to_string()),
            (metadata::SCHEME, BFV.to_owned()),
            (metadata::KEY, self.key.clone()),
            (SET, self.set.to_string()),
            (metadata::BITS, self.bits.to_string()),
            (metadata::COLUMNS, list(&self.source.name)),
            (metadata::ADDITIONS, list(&self.source.additions)),
            (metadata::SCALE, self.source.scale.to_string()),
            (metadata::RANGE, self.source.range.to_string()),
            (metadata::MAX_ADDITIONS, self.max_additions.to_string()),
            (FORM, if self.form == Form::Totals { "totals" } else { "chunks" }.to_owned()),
        ];
        if let Form::Chunks { table } = self.form {
            entries.push((TABLE, hex(&table)));
        }
        if let Some(index) = &self.index {
            entries.push((INDEX, index.clone()));
        }
        let values = metadata::values_entry(std::slice::from_ref(&self.source));
        entries.extend(values.map(|list| (metadata::VALUES, list)));
        entries.extend(self.rarest.clone().map(|name| (RAREST, name)));
        let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Metadata>();
        Field::new(&self.name, DataType::Binary, true).with_metadata(entries)
    }

    /// The companion fields: additions, and in totals the counts of values.
    pub(super) fn companion_fields(&self) -> impl Iterator<Item = Field> + '_ {
        let counts = std::iter::once(&self.source.additions).chain(&self.source.values);
        let counts = counts.map(|name| Field::new(name, DataType::UInt64, false));
        counts.chain(self.rarest.iter().map(|name| Field::new(name, DataType::UInt64, true)))
    }

    /// Whether a field counts the additions or values of the column, or numbers its rows.
    pub fn counts_in(&self, field: &Field) -> bool {
        let others = [&self.source.values, &self.rarest, &self.index];
        self.source.additions == *field.name() || others.into_iter().flatten().any(|name| name == field.name())
    }

    /// Checks that the column is encrypted under `key`.
    pub(super) fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        let (found, given) = (&self.key, key.id().to_string());
        match *found == given && self.set == key.set() {
            true => Ok(()),
            false => Err(ErrorKind::WrongKey { found: found.clone(), given }.in_column(&self.name)),
        }
    }

    /// Checks that this column and `before` can be summed.
    pub(super) fn check_compatible(&self, before: &Self) -> Result<(), Error> {
        let properties: [Property<Self>; 6] = [
            ("the key", |column| column.key.clone()),
            ("the parameter set", |column| column.set.to_string()),
            ("the column encrypted", |column| column.source.name.clone()),
            ("the scale", |column| column.source.scale.to_string()),
            ("the range", |column| column.source.range.to_string()),
            ("the number of additions allowed", |column| column.max_additions.to_string()),
        ];
        for (what, of) in properties {
            let (here, before) = (of(self), of(before));
            if here != before {
                return Err(ErrorKind::Differs { what, here, before }.in_column(&self.name));
            }
        }
        Ok(())
    }
}

/// Bits of the sum of `additions` numbers, including its sign.
fn plaintext_bits(range: u128, additions: u64) -> u32 {
    (product_bits(range, additions) + 1).max(2)
}

/// Default headroom of a column in additions: the largest power of two up to
/// [`DEFAULT_MAX_ADDITIONS`] that the set's noise allows. It depends only on set and range, so that
/// tables of several senders can be summed. If not even two numbers can be added, it is
/// [`DEFAULT_MAX_ADDITIONS`], which the set's plaintexts then reject.
fn default_additions(set: Set, range: u128) -> u64 {
    let fits = |additions: &u64| set.additions(plaintext_bits(range, *additions), false) >= *additions;
    let mut powers = (1..=DEFAULT_MAX_ADDITIONS.ilog2()).rev().map(|power| 1 << power);
    powers.find(fits).unwrap_or(DEFAULT_MAX_ADDITIONS)
}

/// Bits of a product that may exceed 128 bits.
fn product_bits(range: u128, times: u64) -> u32 {
    let low = u128::from(range as u64) * u128::from(times);
    let high = (range >> 64) * u128::from(times) + (low >> 64);
    match high {
        0 => u128::BITS - low.leading_zeros(),
        _ => 64 + u128::BITS - high.leading_zeros(),
    }
}

/// The batched columns of a table, in order.
///
/// # Errors
/// A damaged description, a companion column that is missing, not `UInt64` or shared, two fields of
/// one name, or columns of both schemes.
pub fn lattice_columns(schema: &Schema) -> Result<Vec<LatticeColumn>, Error> {
    metadata::check_names(schema)?;
    let mut columns: Vec<LatticeColumn> = Vec::new();
    for field in schema.fields() {
        let described = LatticeColumn::from_field(field);
        let Some(column) = described.map_err(|error| Error::from(error).in_column(field.name()))? else { continue };
        let companion = &column.source.additions;
        let fault = match schema.field_with_name(companion) {
            Err(_) => Some(CompanionFault::Missing),
            Ok(field) if *field.data_type() != DataType::UInt64 => Some(CompanionFault::Type),
            Ok(_) if columns.iter().any(|before| before.source.additions == *companion) => Some(CompanionFault::Shared),
            Ok(_) => None,
        };
        if let Some(fault) = fault {
            return Err(ErrorKind::Companion { companion: companion.clone(), fault }.in_column(&column.name));
        }
        for companion in column.source.values.iter().chain(&column.rarest) {
            let fault = |fault| ErrorKind::Companion { companion: companion.clone(), fault }.in_column(&column.name);
            metadata::check_values(schema, companion).map_err(fault)?;
        }
        if let Some(index) = &column.index {
            let fault = match schema.field_with_name(index) {
                Err(_) => Some(CompanionFault::Missing),
                Ok(field) if *field.data_type() != DataType::UInt64 => Some(CompanionFault::Type),
                Ok(_) => None,
            };
            if let Some(fault) = fault {
                return Err(ErrorKind::RowNumbers { name: index.clone(), fault }.in_column(&column.name));
            }
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The batched columns of a table under this key: at least one, and either all chunks or all
/// totals.
pub(super) fn under(key: &PublicKey, schema: &Schema) -> Result<Vec<LatticeColumn>, Error> {
    check_scheme(schema)?;
    let columns = lattice_columns(schema)?;
    let first = columns.first().ok_or(ErrorKind::NothingEncrypted)?;
    for column in &columns {
        column.check_key(key)?;
        let form = |column: &LatticeColumn| if column.form == Form::Totals { "totals" } else { "chunks" }.to_owned();
        if form(column) != form(first) {
            let (what, here, before) = ("the form", form(column), form(first));
            return Err(ErrorKind::Differs { what, here, before }.in_column(&column.name));
        }
    }
    Ok(columns)
}

/// Rejects a table with columns of another scheme.
pub(super) fn check_scheme(schema: &Schema) -> Result<(), Error> {
    for field in schema.fields() {
        let found = match field.metadata().get(metadata::SCHEME).map(String::as_str) {
            None | Some(BFV) => continue,
            Some(metadata::PAILLIER) => metadata::PAILLIER,
            Some(_) => "another scheme",
        };
        return Err(ErrorKind::Scheme { found, given: BFV }.in_column(field.name()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_additions_are_those_that_noise_has_room_for() {
        let (small, middle, large) = (Set::Degree4096, Set::Degree8192, Set::Degree16384);
        for (set, range, additions) in [
            (small, 1, 1 << 20),
            (small, 100, 1 << 17),
            (small, 1 << 20, 1 << 10),
            // Not even two numbers fit, so the set's plaintexts cause the error.
            (small, 1 << 63, 1 << 32),
            (middle, 1 << 63, 1 << 32),
            (middle, 1 << 80, 1 << 29),
            (large, 1 << 80, 1 << 32),
        ] {
            assert_eq!(default_additions(set, range), additions, "{set} {range}");
        }
    }

    #[test]
    fn bits_of_products_beyond_128() {
        for (range, times, bits) in [
            (0, 9, 0),
            (1, 1, 1),
            (5, 3, 4),
            (u128::from(u64::MAX), u64::MAX, 128),
            (1 << 100, 1 << 30, 131),
            (u128::MAX, u64::MAX, 192),
            (u128::MAX, 1, 128),
            (1 << 127, 2, 129),
        ] {
            assert_eq!(product_bits(range, times), bits, "{range} {times}");
        }
    }
}
