//! Groups: the distinct values of some columns, numbered in order of appearance.
//!
//! Values are compared independently of their Arrow representation. Zeros of either sign are one
//! value, and so are all NaNs.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, make_array};
use arrow_cast::cast;
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};

/// Bytes of a group in addition to its values: a hash table entry, with the table up to half empty,
/// and an allocation.
const ENTRY: usize = 80;

/// Numbers the distinct rows of some columns. Nulls are treated as values.
///
/// Without columns, there is one group, which exists from the start.
pub(crate) struct Groups {
    converter: Option<RowConverter>,
    numbers: HashMap<Box<[u8]>, u32>,
    bytes: u64,
}

impl Groups {
    /// Groups by columns of these types, which must be [canonical](canonical_type).
    pub(crate) fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let fields: Vec<SortField> = types.iter().cloned().map(SortField::new).collect();
        let converter = match fields.is_empty() {
            true => None,
            false => Some(RowConverter::new(fields)?),
        };
        Ok(Self { converter, numbers: HashMap::new(), bytes: 0 })
    }

    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        match self.converter {
            None => 1,
            Some(_) => self.numbers.len(),
        }
    }

    /// The approximate size of all groups' values in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the group of each of `rows` rows.
    pub(crate) fn group_ids(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>, ArrowError> {
        let Some(converter) = &mut self.converter else { return Ok(vec![0; rows]) };
        let keys = converter.convert_columns(columns)?;
        let number = |key: arrow_row::Row<'_>| {
            let key: &[u8] = key.as_ref();
            if let Some(&number) = self.numbers.get(key) {
                return Ok(number);
            }
            let number = u32::try_from(self.numbers.len())
                .map_err(|_| ArrowError::ComputeError("more than 2^32 groups".into()))?;
            self.bytes += (key.len() + ENTRY) as u64;
            self.numbers.insert(key.into(), number);
            Ok(number)
        };
        keys.iter().map(number).collect()
    }

    /// The groups to keep, in ascending order of their values, nulls first. Returns their numbers
    /// and the columns.
    pub(crate) fn sorted(&self, keep: impl Fn(u32) -> bool) -> Result<(Vec<u32>, Vec<ArrayRef>), ArrowError> {
        let Some(converter) = &self.converter else {
            return Ok(([0].into_iter().filter(|&group| keep(group)).collect(), Vec::new()));
        };
        let groups = self.numbers.iter().map(|(key, &number)| (&**key, number));
        let mut groups: Vec<(&[u8], u32)> = groups.filter(|&(_, number)| keep(number)).collect();
        groups.sort_unstable();
        let parser = converter.parser();
        let columns = converter.convert_rows(groups.iter().map(|(key, _)| parser.parse(key)))?;
        Ok((groups.into_iter().map(|(_, number)| number).collect(), columns))
    }
}

/// The type in which values are compared, the same for all Arrow representations of the same
/// values.
pub(crate) fn canonical_type(kind: &DataType) -> DataType {
    match kind {
        DataType::Dictionary(_, values) => canonical_type(values),
        DataType::RunEndEncoded(_, values) => canonical_type(values.data_type()),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}

/// Casts a column to its [canonical type](canonical_type), with the same bits for equal numbers.
pub(crate) fn to_canonical(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    canonical_values(&cast(column, &canonical_type(column.data_type()))?)
}

/// Makes every zero positive and every NaN the same, including in nested types.
fn canonical_values(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    /// Adding zero turns -0 into 0 and changes no other number.
    macro_rules! floats {
        ($kind:ty) => {{
            type Native = <$kind as ArrowPrimitiveType>::Native;
            let form = |value: Native| if value.is_nan() { Native::NAN } else { value + Native::default() };
            Ok(Arc::new(array.as_primitive::<$kind>().unary::<_, $kind>(form)))
        }};
    }
    match array.data_type() {
        DataType::Float16 => floats!(Float16Type),
        DataType::Float32 => floats!(Float32Type),
        DataType::Float64 => floats!(Float64Type),
        kind if kind.is_nested() || matches!(kind, DataType::Dictionary(..)) => {
            let data = array.to_data();
            let children =
                data.child_data().iter().map(|child| Ok(canonical_values(&make_array(child.clone()))?.to_data()));
            let children = children.collect::<Result<Vec<_>, ArrowError>>()?;
            Ok(make_array(data.into_builder().child_data(children).build()?))
        }
        _ => Ok(array.clone()),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        Array, DictionaryArray, Float32Array, Float64Array, Int32Array, RunArray, StringArray, StructArray,
    };
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn nulls_are_a_group_and_order_is_by_value() {
        let mut groups = Groups::new(&[DataType::Utf8, DataType::Int32]).unwrap();
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("a"), Some("b"), None]));
        let sites: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), None, Some(1), Some(2)]));
        let numbers = groups.group_ids(&[names, sites], 5).unwrap();
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        let (order, columns) = groups.sorted(|_| true).unwrap();
        assert_eq!(order, [1, 3, 2, 0]);
        let names = StringArray::from(vec![None, None, Some("a"), Some("b")]);
        assert_eq!(columns[0].as_ref(), &names as &dyn Array);
        let sites = Int32Array::from(vec![Some(1), Some(2), None, Some(1)]);
        assert_eq!(columns[1].as_ref(), &sites as &dyn Array);
        let (order, columns) = groups.sorted(|group| group % 2 == 0).unwrap();
        assert_eq!((order, columns[0].len()), (vec![2, 0], 2));
    }

    #[test]
    fn dictionaries_compare_as_their_values() {
        let kind = DataType::Dictionary(DataType::Int8.into(), DataType::LargeUtf8.into());
        assert_eq!(canonical_type(&kind), DataType::Utf8);
        let column: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::from_iter(["x", "y", "x"]));
        let mut groups = Groups::new(&[DataType::Utf8]).unwrap();
        assert_eq!(groups.group_ids(&[to_canonical(&column).unwrap()], 3).unwrap(), [0, 1, 0]);
    }

    fn assigned(column: ArrayRef) -> Vec<u32> {
        let column = to_canonical(&column).unwrap();
        Groups::new(&[column.data_type().clone()])
            .unwrap()
            .group_ids(std::slice::from_ref(&column), column.len())
            .unwrap()
    }

    #[test]
    fn zeros_are_one_group_and_nans_another() {
        let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
        assert!(other_nan.is_nan());
        let doubles =
            Float64Array::from(vec![Some(0.0), Some(-0.0), Some(f64::NAN), Some(-f64::NAN), Some(other_nan), None]);
        assert_eq!(assigned(Arc::new(doubles.clone())), [0, 0, 1, 1, 1, 2]);
        assert_eq!(assigned(Arc::new(Float32Array::from(vec![-0.0, 0.0, -1.0, f32::NAN, -f32::NAN]))), [0, 0, 1, 2, 2]);
        let halves = cast(&doubles, &DataType::Float16).unwrap();
        assert_eq!(assigned(halves), [0, 0, 1, 1, 1, 2]);
        let nested = StructArray::from(vec![(
            Arc::new(Field::new("x", DataType::Float64, true)),
            Arc::new(doubles) as ArrayRef,
        )]);
        assert_eq!(assigned(Arc::new(nested)), [0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn runs_compare_as_their_values() {
        let ends = Int32Array::from(vec![2, 3, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &StringArray::from(vec![Some("x"), None, Some("x")])).unwrap();
        assert_eq!(assigned(Arc::new(runs)), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn without_columns_there_is_one_group() {
        let mut groups = Groups::new(&[]).unwrap();
        assert_eq!(groups.len(), 1);
        assert_eq!(groups.group_ids(&[], 3).unwrap(), [0, 0, 0]);
        assert_eq!(groups.sorted(|_| true).unwrap().0, [0]);
        assert!(groups.sorted(|_| false).unwrap().0.is_empty());
    }
}
