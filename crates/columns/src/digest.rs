//! The digest of a table, to which statements about its ciphertexts are bound.
//!
//! The digest is SHA-256 over everything that gives a number its meaning:
//!
//! - the names, types and order of all columns
//! - the descriptions of the encrypted columns (key, encoding, scale, range, packing, headroom)
//! - every plaintext value, count and ciphertext, in the order of the rows
//!
//! It does not depend on storage: batches, compression, dictionaries, Arrow's several types of
//! text, statistics, nullability and table ids are left out.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::groups::canonical_type;
use crate::lattice::LatticeColumn;
use crate::metadata::{self, TABLE, VERSION, counts_rows, numbers_rows};

/// The prefix of each table digest.
const NAME: &str = "hearith table digest 1";

/// The digest of a table.
pub type Digest = [u8; 32];

/// Computes the digest of a table, batch by batch.
#[derive(Clone, Debug)]
pub struct TableDigest {
    schema: SchemaRef,
    /// Hash of the descriptions of the columns.
    head: Sha256,
    columns: Vec<Sha256>,
    rows: u64,
}

impl TableDigest {
    /// Starts the digest of a table with this schema.
    ///
    /// # Errors
    /// A damaged description. [`ErrorKind::Unbound`] for a column whose type has no digest: unions
    /// and list views.
    pub fn new(schema: &Schema) -> Result<Self, Error> {
        let mut head = Sha256::new();
        update_with_length(&mut head, NAME.as_bytes());
        for field in schema.fields() {
            let described = describe(field)?.to_string();
            update_with_length(&mut head, described.as_bytes());
        }
        let columns = vec![Sha256::new(); schema.fields().len()];
        Ok(Self { schema: Arc::new(schema.clone()), head, columns, rows: 0 })
    }

    /// Adds the next rows.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] for a batch of another table.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        check_batch(&self.schema, batch.schema_ref())?;
        for ((array, field), digest) in batch.columns().iter().zip(self.schema.fields()).zip(&mut self.columns) {
            let cells = Cells::of(array).map_err(|error| error.in_column(field.name()))?;
            let mut bytes = Vec::new();
            (0..batch.num_rows()).for_each(|row| cells.write(row, &mut bytes));
            digest.update(&bytes);
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The digest of all rows.
    pub fn finish(self) -> Digest {
        let mut digest = self.head;
        self.columns.into_iter().for_each(|column| update_with_length(&mut digest, &column.finalize()));
        update_with_length(&mut digest, &self.rows.to_be_bytes());
        digest.finalize().into()
    }
}

/// Checks that a batch belongs to the table of the digest, under either scheme.
fn check_batch(prepared: &SchemaRef, batch: &SchemaRef) -> Result<(), Error> {
    let is_lattice = |field: &Arc<Field>| matches!(LatticeColumn::from_field(field), Ok(Some(_)));
    if prepared == batch {
        return Ok(());
    }
    if !prepared.fields().iter().any(is_lattice) {
        return metadata::check_batch(prepared, batch);
    }
    let of = |schema: &Schema| -> Result<Vec<String>, Error> {
        schema.fields().iter().map(|field| Ok(describe(field)?.to_string())).collect()
    };
    let (here, before) = (of(batch)?.join(","), of(prepared)?.join(","));
    match here == before {
        true => Ok(()),
        false => Err(ErrorKind::Differs { what: "the description", here, before }.into()),
    }
}

/// Adds one part, preceded by its length so that no two lists of parts have the same hash.
fn update_with_length(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_be_bytes());
    digest.update(bytes);
}

/// Describes a column: its name, and its type or, if encrypted, its description.
fn describe(field: &Field) -> Result<Value, Error> {
    let what = match canonical_field(field)? {
        Some(field) => {
            let entries = field.metadata().iter().filter(|(key, _)| ![VERSION, TABLE].contains(&key.as_str()));
            let mut entries: Vec<[&String; 2]> = entries.map(|(key, value)| [key, value]).collect();
            entries.sort_unstable();
            json!(["encrypted", entries])
        }
        None if counts_rows(field) => json!(["rows"]),
        None if numbers_rows(field) => json!(["row"]),
        None => kind(field.data_type()).map_err(|error| error.in_column(field.name()))?,
    };
    Ok(json!([field.name(), what]))
}

/// The field of an encrypted column, rewritten from its parsed description.
fn canonical_field(field: &Field) -> Result<Option<Field>, Error> {
    let lattice = LatticeColumn::from_field(field).map_err(|error| Error::from(error).in_column(field.name()))?;
    match lattice {
        Some(column) => Ok(Some(column.field())),
        None => Ok(metadata::encryption_of(field)?.map(|column| column.field())),
    }
}

/// A type, the same for all Arrow representations of the same values.
fn kind(of: &DataType) -> Result<Value, Error> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    Ok(match canonical_type(of) {
        DataType::Null => json!(["null"]),
        DataType::Boolean => json!(["boolean"]),
        DataType::Int8 => json!(["int", 8]),
        DataType::Int16 => json!(["int", 16]),
        DataType::Int32 => json!(["int", 32]),
        DataType::Int64 => json!(["int", 64]),
        DataType::UInt8 => json!(["uint", 8]),
        DataType::UInt16 => json!(["uint", 16]),
        DataType::UInt32 => json!(["uint", 32]),
        DataType::UInt64 => json!(["uint", 64]),
        DataType::Float16 => json!(["float", 16]),
        DataType::Float32 => json!(["float", 32]),
        DataType::Float64 => json!(["float", 64]),
        DataType::Decimal32(precision, scale) => json!(["decimal", 32, precision, scale]),
        DataType::Decimal64(precision, scale) => json!(["decimal", 64, precision, scale]),
        DataType::Decimal128(precision, scale) => json!(["decimal", 128, precision, scale]),
        DataType::Decimal256(precision, scale) => json!(["decimal", 256, precision, scale]),
        DataType::Date32 => json!(["date", 32]),
        DataType::Date64 => json!(["date", 64]),
        DataType::Time32(of) => json!(["time", 32, unit(&of)]),
        DataType::Time64(of) => json!(["time", 64, unit(&of)]),
        DataType::Timestamp(of, zone) => json!(["timestamp", unit(&of), zone.as_deref()]),
        DataType::Duration(of) => json!(["duration", unit(&of)]),
        DataType::Interval(IntervalUnit::YearMonth) => json!(["interval", "months"]),
        DataType::Interval(IntervalUnit::DayTime) => json!(["interval", "days and time"]),
        DataType::Interval(IntervalUnit::MonthDayNano) => json!(["interval", "months, days and nanoseconds"]),
        DataType::Utf8 => json!(["text"]),
        DataType::Binary => json!(["binary"]),
        DataType::FixedSizeBinary(width) => json!(["binary", width]),
        DataType::List(of) | DataType::LargeList(of) => json!(["list", kind(of.data_type())?]),
        DataType::FixedSizeList(of, length) => json!(["list", kind(of.data_type())?, length]),
        DataType::Map(of, _) => json!(["map", kind(of.data_type())?]),
        DataType::Struct(fields) => {
            let fields = fields.iter().map(|field| Ok(json!([field.name(), kind(field.data_type())?])));
            json!(["struct", fields.collect::<Result<Vec<_>, Error>>()?])
        }
        other => return Err(ErrorKind::Unbound { found: other.to_string() }.into()),
    })
}

/// The values of an array, prepared for writing one by one.
struct Cells {
    nulls: Option<NullBuffer>,
    values: Values,
}

enum Values {
    Nothing,
    Bits(arrow_array::BooleanArray),
    /// Values of a fixed size, given in bytes.
    Fixed(Buffer, usize),
    Text(arrow_array::StringArray),
    Bytes(arrow_array::BinaryArray),
    /// Start and end of each row's values within the inner values.
    Lists(Vec<(usize, usize)>, Box<Cells>),
    Fields(Vec<Cells>),
}

impl Cells {
    fn of(array: &ArrayRef) -> Result<Self, Error> {
        let array = cast(array, &canonical_type(array.data_type()))?;
        let lists = |offsets: Vec<usize>, inner: &ArrayRef| {
            let bounds = offsets.windows(2).map(|pair| (pair[0], pair[1])).collect();
            Ok::<_, Error>(Values::Lists(bounds, Box::new(Self::of(inner)?)))
        };
        let values = match array.data_type() {
            DataType::Null => Values::Nothing,
            DataType::Boolean => Values::Bits(array.as_boolean().clone()),
            DataType::Utf8 => Values::Text(array.as_string::<i32>().clone()),
            DataType::Binary => Values::Bytes(array.as_binary::<i32>().clone()),
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                lists(list.value_offsets().iter().map(|&offset| offset as usize).collect(), list.values())?
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                lists(list.value_offsets().iter().map(|&offset| offset as usize).collect(), list.values())?
            }
            DataType::FixedSizeList(_, length) => {
                let (list, length) = (array.as_fixed_size_list(), *length as usize);
                lists((0..=list.len()).map(|row| row * length).collect(), list.values())?
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let entries: ArrayRef = Arc::new(map.entries().clone());
                lists(map.value_offsets().iter().map(|&offset| offset as usize).collect(), &entries)?
            }
            DataType::Struct(_) => {
                let inner = array.as_struct().columns().iter().map(Self::of);
                Values::Fields(inner.collect::<Result<_, _>>()?)
            }
            kind => {
                let width = match kind {
                    DataType::FixedSizeBinary(width) => Some(*width as usize),
                    kind => kind.primitive_width(),
                };
                let width = width.ok_or_else(|| ErrorKind::Unbound { found: kind.to_string() })?;
                let data = array.to_data();
                let values = data.buffers().first().cloned().unwrap_or_else(|| Buffer::from_vec(Vec::<u8>::new()));
                Values::Fixed(values.slice(data.offset() * width), width)
            }
        };
        Ok(Self { nulls: array.nulls().cloned(), values })
    }

    /// Appends the value of a row: 0 if it is null, otherwise 1 and its bytes in little-endian
    /// order. Values of variable length follow their length.
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        let is_null =
            matches!(self.values, Values::Nothing) || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        out.push(u8::from(!is_null));
        if is_null {
            return;
        }
        let mut long = |bytes: &[u8]| {
            out.extend((bytes.len() as u64).to_le_bytes());
            out.extend(bytes);
        };
        match &self.values {
            Values::Nothing => {}
            Values::Bits(bits) => out.push(u8::from(bits.value(row))),
            Values::Fixed(values, width) => out.extend(&values.as_slice()[row * width..][..*width]),
            Values::Text(texts) => long(texts.value(row).as_bytes()),
            Values::Bytes(values) => long(values.value(row)),
            Values::Lists(bounds, inner) => {
                let (start, end) = bounds[row];
                out.extend(((end - start) as u64).to_le_bytes());
                (start..end).for_each(|at| inner.write(at, out));
            }
            Values::Fields(fields) => fields.iter().for_each(|field| field.write(row, out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder};
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array,
        Int64Array, NullArray, StringArray, StringViewArray, StructArray, UInt64Array,
    };

    fn of(columns: Vec<(&str, ArrayRef)>, pieces: usize) -> Digest {
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
        let batch = batch.unwrap();
        let mut digest = TableDigest::new(&batch.schema()).unwrap();
        for at in (0..batch.num_rows()).step_by(pieces) {
            digest.update(&batch.slice(at, pieces.min(batch.num_rows() - at))).unwrap();
        }
        digest.finish()
    }

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    /// A column of each kind of type.
    fn columns() -> Vec<(&'static str, ArrayRef)> {
        let mut lists = ListBuilder::new(StringBuilder::new());
        let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        for row in 0..4 {
            lists.append_value((0..row).map(|item| (item != 1).then(|| item.to_string())));
            maps.keys().append_value(row.to_string());
            maps.values().append_option((row > 1).then_some("v"));
            maps.append(row != 2).unwrap();
        }
        let inner: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]));
        let field = Arc::new(Field::new("inner", DataType::Int64, true));
        let fixed = FixedSizeBinaryArray::try_from_iter([[1_u8, 2], [3, 4], [5, 6], [7, 8]].into_iter()).unwrap();
        vec![
            ("null", Arc::new(NullArray::new(4))),
            ("boolean", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
            ("int", Arc::new(Int32Array::from(vec![Some(1), None, Some(-3), Some(0)]))),
            ("float", Arc::new(Float64Array::from(vec![0.5, -0.0, f64::NAN, 1e300]))),
            ("decimal", Arc::new(Decimal128Array::from(vec![1, 2, 3, 4]).with_precision_and_scale(9, 2).unwrap())),
            ("date", Arc::new(Date32Array::from(vec![1, 2, 3, 4]))),
            ("text", texts(&[Some("a"), None, Some(""), Some("bc")])),
            ("fixed", Arc::new(fixed)),
            ("list", Arc::new(lists.finish())),
            ("map", Arc::new(maps.finish())),
            ("struct", Arc::new(StructArray::from(vec![(field, inner)]))),
        ]
    }

    #[test]
    fn batches_and_ways_to_store_values_do_not_matter() {
        let whole = of(columns(), 4);
        assert_eq!([1, 2, 3].map(|pieces| of(columns(), pieces)), [whole; 3]);
        let names = [Some("a"), None, Some("a"), Some("bc")];
        let expected = of(vec![("x", texts(&names))], 4);
        let views: ArrayRef = Arc::new(StringViewArray::from_iter(names));
        let dictionary: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::from_iter(names));
        let wide: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::from_iter(names));
        for array in [views, dictionary, wide] {
            assert_eq!(of(vec![("x", array)], 3), expected);
        }
    }

    #[test]
    fn every_name_type_value_and_place_matters() {
        let all = columns();
        let mut seen = vec![of(all.clone(), 4)];
        for index in 0..all.len() {
            let change = |changed: (&'static str, ArrayRef)| {
                let mut all = all.clone();
                all[index] = changed;
                of(all, 4)
            };
            let (name, array) = all[index].clone();
            seen.push(change(("other", array.clone())));
            if name != "null" {
                // Rows in another order, and another type for the same values.
                let rows = UInt64Array::from(vec![1, 0, 2, 3]);
                seen.push(change((name, arrow_select::take::take(&array, &rows, None).unwrap())));
                seen.push(change((name, Arc::new(NullArray::new(4)))));
            }
            let mut fewer = all.clone();
            fewer.remove(index);
            seen.push(of(fewer, 4));
            let mut moved = all.clone();
            moved.swap(index, (index + 1) % all.len());
            seen.push(of(moved, 4));
        }
        seen.push(of(all.iter().map(|(name, array)| (*name, array.slice(0, 3))).collect(), 4));
        let (found, mut distinct) = (seen.len(), seen);
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), found);
        let pair = |a, b| of(vec![("x", texts(&[Some(a), Some(b)]))], 2);
        assert_ne!(pair("a", "bc"), pair("ab", "c"));
        let int: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![1]));
        assert_ne!(of(vec![("x", int)], 1), of(vec![("x", unsigned)], 1));
    }
}
