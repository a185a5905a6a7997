//! Aligns different tables so that they can be summed: encrypted columns with other scales, ranges
//! and headrooms, and group columns of other widths. It needs only public values.
//!
//! An encrypted number `x` of scale `s` is the integer `x 10^s`. To reach a larger scale `S`, that
//! integer is multiplied by `10^(S - s)`, which raises the ciphertext to this power. The largest
//! magnitude of an addend grows by the same factor. The total has headroom for the fewest additions
//! that any of the tables allows.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use hearith_paillier::{Ciphertexts, ComputeError, PublicKeyBackend};

use crate::ciphers::{self, NonNullCiphertexts};
use crate::error::{Error, ErrorKind};
use crate::groups::canonical_type;
use crate::metadata::{self, Encoding, EncryptedColumn, encrypted_columns};

/// The common form to which tables are aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    columns: Vec<EncryptedColumn>,
    groups: Vec<(String, DataType)>,
    last: Option<(SchemaRef, SchemaRef)>,
}

impl Alignment {
    /// Determines the common form of tables with these schemas that are summed by the columns `by`.
    /// It ignores differences other than scale, range, headroom and width; the aggregation reports
    /// them.
    ///
    /// # Errors
    /// A damaged description. [`ErrorKind::NoHeadroom`] when the ranges at the largest scale and
    /// the fewest additions do not fit the key.
    pub fn of(schemas: &[SchemaRef], by: &[String]) -> Result<Self, Error> {
        let mut columns: Vec<EncryptedColumn> = Vec::new();
        for schema in schemas {
            for column in encrypted_columns(schema)?.into_iter().filter(is_single) {
                match columns.iter_mut().find(|other| other.name == column.name) {
                    None => columns.push(column),
                    Some(common) if (common.key, common.bits) == (column.key, column.bits) => merge(common, &column)?,
                    Some(_) => {}
                }
            }
        }
        for column in &columns {
            column.layout().map_err(|_| no_headroom(column))?;
        }
        let common = |name: &String| {
            let types = schemas.iter().filter_map(|schema| schema.field_with_name(name).ok()).map(type_of);
            Some((name.clone(), widest(&types.collect::<Vec<_>>())?))
        };
        Ok(Self { groups: by.iter().filter_map(common).collect(), columns, last: None })
    }

    /// The schema of a table after alignment.
    ///
    /// # Errors
    /// A damaged description.
    pub fn schema(&self, schema: &Schema) -> Result<SchemaRef, Error> {
        let fields = schema.fields().iter().map(|field| self.field(field)).collect::<Result<Vec<FieldRef>, Error>>()?;
        Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
    }

    /// Aligns a batch of one of the tables.
    ///
    /// # Errors
    /// Reports the first row with a malformed ciphertext. Also fails when the backend fails, or the
    /// common type cannot hold a value of a group column.
    pub fn align(&mut self, key: &dyn PublicKeyBackend, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let schema = match &self.last {
            Some((from, to)) if Arc::ptr_eq(from, batch.schema_ref()) => to.clone(),
            _ => self.schema(batch.schema_ref())?,
        };
        self.last = Some((batch.schema(), schema.clone()));
        let sources = batch.schema_ref().fields().iter().zip(schema.fields()).zip(batch.columns());
        let arrays = sources.map(|((from, to), array)| {
            if from == to {
                return Ok(array.clone());
            }
            match EncryptedColumn::from_field(from) {
                Ok(Some(column)) => self.rescale(key, &column, batch),
                _ => cast_exactly(array, to),
            }
        });
        Ok(RecordBatch::try_new(schema.clone(), arrays.collect::<Result<_, _>>()?)?)
    }

    fn field(&self, field: &FieldRef) -> Result<FieldRef, Error> {
        if let Some((_, kind)) = self.groups.iter().find(|(name, kind)| name == field.name() && *kind != type_of(field))
        {
            return Ok(Arc::new(Field::clone(field).with_data_type(kind.clone())));
        }
        let column =
            EncryptedColumn::from_field(field).map_err(|error| ErrorKind::from(error).in_column(field.name()))?;
        let target = column.and_then(|column| self.target(&column));
        Ok(match target {
            None => field.clone(),
            Some(target) => Arc::new(metadata::redescribed(field, target)),
        })
    }

    /// The target of a column, if the column can be aligned.
    fn target(&self, column: &EncryptedColumn) -> Option<&EncryptedColumn> {
        let alike = |target: &&EncryptedColumn| {
            (&target.name, target.key, target.bits) == (&column.name, column.key, column.bits)
        };
        self.columns.iter().find(alike).filter(|_| is_single(column))
    }

    fn rescale(
        &self,
        key: &dyn PublicKeyBackend,
        column: &EncryptedColumn,
        batch: &RecordBatch,
    ) -> Result<ArrayRef, Error> {
        let present = NonNullCiphertexts::read(key.public(), column, batch)?;
        let nulls = batch.column_by_name(&column.name).and_then(|array| array.nulls());
        let digits = self.target(column).map_or(0, |target| target.sources[0].scale - column.sources[0].scale);
        let scaled = (0..digits).try_fold(present.ciphertexts, |numbers, _| ten_times(key, &numbers));
        ciphers::write(column, &scaled.map_err(|error| ciphers::from_compute_error(column, error))?, nulls)
    }
}

/// Multiplies each number by ten, with four additions of encrypted numbers.
fn ten_times(key: &dyn PublicKeyBackend, numbers: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
    let twice = key.add(numbers, numbers)?;
    let four = key.add(&twice, &twice)?;
    let five = key.add(&four, numbers)?;
    key.add(&five, &five)
}

/// Whether each ciphertext of a column holds one decimal number.
fn is_single(column: &EncryptedColumn) -> bool {
    matches!(column.encoding, Encoding::Integer | Encoding::Fixed)
}

/// Widens a description to cover the numbers of both columns.
fn merge(common: &mut EncryptedColumn, other: &EncryptedColumn) -> Result<(), Error> {
    let scale = common.sources[0].scale.max(other.sources[0].scale);
    let range = |column: &EncryptedColumn| {
        let factor = 10_u128.checked_pow(scale - column.sources[0].scale)?;
        column.sources[0].range.checked_mul(factor).filter(|&range| range <= i128::MAX as u128)
    };
    let ranges = range(common).zip(range(other));
    let (one, two) = ranges.ok_or_else(|| no_headroom(other))?;
    (common.sources[0].scale, common.sources[0].range) = (scale, one.max(two));
    common.max_additions = common.max_additions.min(other.max_additions);
    common.encoding = if scale == 0 { Encoding::Integer } else { Encoding::Fixed };
    Ok(())
}

fn no_headroom(column: &EncryptedColumn) -> Error {
    ErrorKind::NoHeadroom { bits: column.bits }.in_column(&column.name)
}

fn type_of(field: &Field) -> DataType {
    canonical_type(field.data_type())
}

/// The type that holds the values of all types exactly, if there is one. It does not depend on
/// their order.
fn widest(types: &[DataType]) -> Option<DataType> {
    use DataType::*;
    let (first, others) = types.split_first()?;
    if others.iter().all(|other| first.equals_datatype(other)) {
        return Some(first.clone());
    }
    if types.iter().all(DataType::is_integer) {
        return Some(match (types.contains(&UInt64), types.iter().any(DataType::is_signed_integer)) {
            (false, _) => Int64,
            (true, false) => UInt64,
            (true, true) => Decimal128(20, 0),
        });
    }
    if let Timestamp(unit, zone) = first {
        let unit_of = |kind: &DataType| match kind {
            Timestamp(unit, other) if zone == other => Some(*unit),
            _ => None,
        };
        let units: Option<Vec<_>> = others.iter().map(unit_of).collect();
        return Some(Timestamp(units?.into_iter().fold(*unit, Ord::max), zone.clone()));
    }
    let digits = types.iter().map(digits).collect::<Option<Vec<_>>>()?;
    let whole = digits.iter().map(|(whole, _)| *whole).max()?;
    let scale = digits.iter().map(|(_, scale)| *scale).max()?;
    match u8::try_from(whole + i16::from(scale)).ok()? {
        precision @ ..=38 => Some(Decimal128(precision, scale)),
        precision @ ..=76 => Some(Decimal256(precision, scale)),
        _ => None,
    }
}

/// The number of digits that an exact type has before and after the decimal point.
fn digits(kind: &DataType) -> Option<(i16, i8)> {
    use DataType::*;
    Some(match kind {
        Int8 | UInt8 => (3, 0),
        Int16 | UInt16 => (5, 0),
        Int32 | UInt32 => (10, 0),
        Int64 => (19, 0),
        UInt64 => (20, 0),
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => (i16::from(*precision) - i16::from(*scale), *scale),
        _ => return None,
    })
}

/// Casts the values to another type; an error if one does not fit.
fn cast_exactly(array: &ArrayRef, to: &Field) -> Result<ArrayRef, Error> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to.data_type(), &options).map_err(|error| Error::from(error).in_column(to.name()))
}

#[cfg(test)]
mod tests {
    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn types_widen_where_nothing_is_lost() {
        use DataType::*;
        let (second, milli) = (Timestamp(TimeUnit::Second, None), Timestamp(TimeUnit::Millisecond, None));
        for (types, common) in [
            (vec![Int8, Int32], Some(Int64)),
            (vec![UInt8, UInt64], Some(UInt64)),
            (vec![Int64, UInt64], Some(Decimal128(20, 0))),
            (vec![Int8, UInt64, Int64], Some(Decimal128(20, 0))),
            (vec![UInt8, UInt64, Int8, UInt32], Some(Decimal128(20, 0))),
            (vec![UInt8, UInt32, UInt64], Some(UInt64)),
            (vec![Decimal128(9, 2), Decimal128(12, 0)], Some(Decimal128(14, 2))),
            (vec![Decimal128(9, 2), Int64, Int8], Some(Decimal128(21, 2))),
            (vec![Decimal32(5, 4), Decimal64(18, 0)], Some(Decimal128(22, 4))),
            (vec![Decimal128(38, 0), Decimal128(9, 2)], Some(Decimal256(40, 2))),
            (vec![Decimal256(76, 6), Decimal128(2, 1), UInt64], Some(Decimal256(76, 6))),
            (vec![Decimal256(76, 0), Decimal128(2, 1)], None),
            (vec![second.clone(), milli.clone(), second.clone()], Some(milli)),
            (vec![second.clone(), Timestamp(TimeUnit::Second, Some("UTC".into()))], None),
            (vec![second, Int64], None),
            (vec![Utf8, Int64], None),
            (vec![Float32, Float64], None),
            (vec![Float64, Decimal128(9, 2)], None),
        ] {
            for first in 0..types.len() {
                let mut order = types.clone();
                order.rotate_left(first);
                assert_eq!(widest(&order), common, "{order:?}");
                order.reverse();
                assert_eq!(widest(&order), common, "{order:?}");
            }
        }
    }
}
