//! Columns computed from unencrypted columns: groups and weights by an expression.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Decimal128Type, Decimal256Type, DecimalType};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};
use num_bigint::BigInt;

use super::evaluate::{Fault, SECONDS_OF_DAY, Typed, Value};
use super::number::Real;
use super::parse::{self, Kind, Node};
use super::types::{Typing, describe};
use super::{PredicateError, canonical_columns, cells_of};
use crate::error::{Error, ErrorKind};

/// An unencrypted column, or one computed from unencrypted columns: `dept`, `"salary, gross"`,
/// `cast(day as date)`, `age >= 30 as senior`.
///
/// The grammar is that of [`Predicate`](super::Predicate). A comparison or other condition yields a
/// boolean column. A cast yields a column of its type: integers, `decimal(p, s)`, `Float64` or
/// `Float32`, text, `Date32`, or times in microseconds. Conversions are lossless: a cell that does
/// not fit is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    name: String,
    node: Node,
    columns: Vec<String>,
}

impl Computed {
    /// Its name: the one after `as`, else the name of an unchanged column, else the text of the
    /// expression.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns that it reads.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// Whether it is an unchanged column.
    pub fn is_plain(&self) -> bool {
        self.node == Node::Column(self.name.clone())
    }

    /// Binds the column to the types of a table.
    ///
    /// # Errors
    /// As [`Predicate::bind`](super::Predicate::bind), and for a cast to a decimal without digits.
    pub fn bind(&self, schema: &Schema) -> Result<BoundComputed, Error> {
        let mut typing = Typing::new(schema);
        let (expression, conversion) = match &self.node {
            Node::Column(name) => {
                let kind = typing.canonical_type(name)?;
                (typing.operand(&self.node)?.typed, Conversion::Column(kind))
            }
            Node::Cast(_, kind) => (typing.operand(&self.node)?.typed, Conversion::Cast(*kind, type_of(*kind)?)),
            condition => (typing.condition(condition)?, Conversion::Cast(Kind::Boolean, DataType::Boolean)),
        };
        let data_type = match &conversion {
            Conversion::Column(kind) | Conversion::Cast(_, kind) => kind.clone(),
        };
        let field = Arc::new(Field::new(&self.name, data_type, true));
        Ok(BoundComputed { expression, conversion, field, columns: typing.columns })
    }
}

impl FromStr for Computed {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let text = text.trim();
        let parsed = parse::parse_named(text).and_then(|(node, alias)| Ok((node.sources()?, node, alias)));
        let (columns, node, alias) = parsed.map_err(|error| {
            let why = error.to_string();
            let why = why.strip_prefix("invalid condition: ").unwrap_or(&why).to_owned();
            PredicateError::NoColumnNorExpression { text: text.to_owned(), why }
        })?;
        let name = match (alias, &node) {
            (Some(alias), _) => alias,
            (None, Node::Column(name)) => name.clone(),
            (None, _) => text.to_owned(),
        };
        Ok(Self { name, node, columns })
    }
}

/// Splits a list of expressions at commas outside quotes and parentheses.
pub fn listed(text: &str) -> Vec<&str> {
    let (mut quote, mut depth, mut start) = (None, 0_u32, 0);
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found
}

/// The conversion of the values.
#[derive(Debug)]
enum Conversion {
    /// The column unchanged, in its canonical type.
    Column(DataType),
    Cast(Kind, DataType),
}

/// A computed column of one table.
#[derive(Debug)]
pub struct BoundComputed {
    expression: Typed,
    conversion: Conversion,
    field: FieldRef,
    columns: Vec<String>,
}

impl BoundComputed {
    /// Its name and type.
    pub fn field(&self) -> FieldRef {
        self.field.clone()
    }

    /// Its values in a batch of the table, null in rows where `mask` is false.
    ///
    /// # Errors
    /// When the batch lacks the columns. Reports the first row in `mask` whose cell is not of the
    /// required type.
    pub fn values(&self, batch: &RecordBatch, mask: Option<&BooleanArray>) -> Result<ArrayRef, Error> {
        let arrays = canonical_columns(&self.columns, batch)?;
        let (kind, data_type) = match (&self.conversion, &arrays[..]) {
            (Conversion::Column(_), [array]) => return Ok(array.clone()),
            (Conversion::Column(kind), _) => (Kind::Text, kind),
            (Conversion::Cast(kind, data_type), _) => (*kind, data_type),
        };
        let cells = cells_of(&arrays);
        let value = |row: usize| match mask.is_some_and(|mask| !mask.value(row)) {
            true => Ok(Value::Null),
            false => self.expression.value(&cells, row),
        };
        let values = (0..batch.num_rows()).map(|row| value(row).map_err(|fault| (row, fault)));
        let array = values.collect::<Result<Vec<_>, _>>().and_then(|values| column_of(&values, kind, data_type));
        array.map_err(|(row, fault)| fault.into_error(row, &self.columns))
    }
}

impl Fault {
    /// Converts the fault to an error of a row, from 0.
    pub(super) fn into_error(self, row: usize, columns: &[String]) -> Error {
        let error = ErrorKind::from(PredicateError::Cell(self.expected)).at_row(row as u64);
        match self.column {
            Some(index) => error.in_column(&columns[index]),
            None => error,
        }
    }
}

/// The column type for values of a kind.
fn type_of(kind: Kind) -> Result<DataType, Error> {
    Ok(match kind {
        Kind::Integer(8) => DataType::Int8,
        Kind::Integer(16) => DataType::Int16,
        Kind::Integer(32) => DataType::Int32,
        Kind::Integer(_) => DataType::Int64,
        Kind::Decimal(None) => return Err(PredicateError::NoDigits.into_error()),
        Kind::Decimal(Some((digits, scale))) => match u8::try_from(digits).unwrap_or(u8::MAX) {
            digits if digits <= Decimal128Type::MAX_PRECISION => DataType::Decimal128(digits, scale as i8),
            digits => DataType::Decimal256(digits.min(Decimal256Type::MAX_PRECISION), scale as i8),
        },
        Kind::Double => DataType::Float64,
        Kind::Float => DataType::Float32,
        Kind::Text => DataType::Utf8,
        Kind::Boolean => DataType::Boolean,
        Kind::Date => DataType::Date32,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Zoned => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::Time => DataType::Time64(TimeUnit::Microsecond),
    })
}

/// Builds a column from the values.
fn column_of(values: &[Value<'_>], kind: Kind, to: &DataType) -> Result<ArrayRef, (usize, Fault)> {
    /// Units of `10^-scale` in an integer type.
    macro_rules! units {
        ($array:ty, $native:ty, $scale:expr) => {{
            let unit = |value: &BigInt| <$native>::try_from(value).ok();
            let numbers = integers(values, kind, $scale, unit)?;
            Arc::new(<$array>::from(numbers)) as ArrayRef
        }};
    }
    Ok(match to {
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.iter().map(|value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }))),
        DataType::Utf8 => {
            let mut texts = StringBuilder::new();
            values.iter().for_each(|value| match value {
                Value::Text(text) => texts.append_value(text),
                _ => texts.append_null(),
            });
            Arc::new(texts.finish())
        }
        DataType::Int8 => units!(Int8Array, i8, 0),
        DataType::Int16 => units!(Int16Array, i16, 0),
        DataType::Int32 => units!(Int32Array, i32, 0),
        DataType::Int64 => units!(Int64Array, i64, 0),
        DataType::Decimal128(digits, scale) => {
            let numbers = integers(values, kind, (*scale).into(), |value| i128::try_from(value).ok())?;
            let array = Decimal128Array::from(numbers).with_precision_and_scale(*digits, *scale);
            Arc::new(array.unwrap_or_else(|error| unreachable!("digits were checked: {error}")))
        }
        DataType::Decimal256(digits, scale) => {
            let numbers = integers(values, kind, (*scale).into(), |value| i256::from_string(&value.to_string()))?;
            let array = Decimal256Array::from(numbers).with_precision_and_scale(*digits, *scale);
            Arc::new(array.unwrap_or_else(|error| unreachable!("digits were checked: {error}")))
        }
        DataType::Date32 => {
            let days = integers(values, kind, 0, |seconds| i32::try_from(seconds / SECONDS_OF_DAY).ok())?;
            Arc::new(Date32Array::from(days))
        }
        DataType::Timestamp(_, zone) => {
            let times = integers(values, kind, 6, |value| i64::try_from(value).ok())?;
            Arc::new(TimestampMicrosecondArray::from(times).with_timezone_opt(zone.clone()))
        }
        DataType::Float32 => {
            Arc::new(Float32Array::from_iter(values.iter().map(|value| float(value).map(|x| x as f32))))
        }
        DataType::Float64 => Arc::new(Float64Array::from_iter(values.iter().map(float))),
        _ => units!(Time64MicrosecondArray, i64, 6),
    })
}

/// Values as integers in units of `10^-scale`.
fn integers<T>(
    values: &[Value<'_>],
    kind: Kind,
    scale: i32,
    unit: impl Fn(&BigInt) -> Option<T>,
) -> Result<Vec<Option<T>>, (usize, Fault)> {
    let cell = |(row, value): (usize, &Value<'_>)| match value {
        Value::Real(Real::Finite(exact)) => match exact.scaled(scale).and_then(|units| unit(&units)) {
            Some(number) => Ok(Some(number)),
            None => Err((row, Fault { expected: describe_value(kind), column: None })),
        },
        Value::Null => Ok(None),
        _ => Err((row, Fault { expected: describe(kind), column: None })),
    };
    values.iter().enumerate().map(cell).collect()
}

/// The description of a column value of this type, for errors.
fn describe_value(kind: Kind) -> &'static str {
    match kind {
        Kind::Timestamp | Kind::Zoned | Kind::Time => "a time in whole microseconds that the column type can hold",
        other => describe(other),
    }
}

fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Real(Real::Low) => Some(f64::NEG_INFINITY),
        Value::Real(Real::High) => Some(f64::INFINITY),
        Value::Real(Real::Nan) => Some(f64::NAN),
        Value::Real(Real::Finite(exact)) => Some(exact.to_f64()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RecordBatch {
        let day: ArrayRef = Arc::new(StringArray::from(vec![Some("2020-01-31"), None, Some("2020-02-01")]));
        let paid: ArrayRef = Arc::new(StringArray::from(vec!["9.50", "", "-10"]));
        let age: ArrayRef = Arc::new(Int32Array::from(vec![Some(30), Some(29), None]));
        let stamp: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1_000, 2_000_000_000, 1_500]));
        RecordBatch::try_from_iter_with_nullable([
            ("day", day, true),
            ("paid", paid, true),
            ("age", age, true),
            ("stamp", stamp, true),
        ])
        .unwrap()
    }

    fn computed(text: &str) -> Result<(String, ArrayRef), String> {
        let column: Computed = text.parse().map_err(|error: PredicateError| error.to_string())?;
        let bound = column.bind(&table().schema()).map_err(|error| error.to_string())?;
        let values = bound.values(&table(), None).map_err(|error| error.to_string())?;
        assert_eq!(values.data_type(), bound.field().data_type(), "{text}");
        Ok((bound.field().name().clone(), values))
    }

    #[test]
    fn values_have_the_type_of_their_cast() {
        let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(18_292), None, Some(18_293)]));
        assert_eq!(computed("cast(day as date)").unwrap(), ("cast(day as date)".into(), days.clone()));
        assert_eq!(computed("day::date as \"the day\"").unwrap(), ("the day".into(), days));
        let paid = Decimal128Array::from(vec![Some(950), None, Some(-1000)]).with_precision_and_scale(9, 2).unwrap();
        assert_eq!(&computed("paid::decimal(9, 2)").unwrap().1, &(Arc::new(paid) as ArrayRef));
        let wide = Decimal256Array::from(vec![Some(i256::from(95)), None, Some(i256::from(-100))]);
        let wide: ArrayRef = Arc::new(wide.with_precision_and_scale(40, 1).unwrap());
        assert_eq!(&computed("cast(paid as decimal(40, 1))").unwrap().1, &wide);
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![Some(9.5), None, Some(-10.0)]));
        assert_eq!(computed("cast(paid as double) as x").unwrap(), ("x".into(), doubles));
        let senior: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
        assert_eq!(computed("age >= 30").unwrap(), ("age >= 30".into(), senior));
        let known: ArrayRef = Arc::new(BooleanArray::from(vec![false, false, true]));
        assert_eq!(computed("age is null as unknown").unwrap(), ("unknown".into(), known));
        assert_eq!(computed("age").unwrap(), ("age".into(), table().column(2).clone()));
        assert_eq!(computed("\"age\" as years").unwrap(), ("years".into(), table().column(2).clone()));
        let bytes: ArrayRef = Arc::new(Int8Array::from(vec![Some(30), Some(29), None]));
        assert_eq!(&computed("age::tinyint").unwrap().1, &bytes);
    }

    #[test]
    fn what_would_lose_something_or_means_nothing_is_named() {
        let wrong = |text: &str| computed(text).unwrap_err();
        assert_eq!(wrong("paid::integer"), "row 0, column paid: is not a 32-bit integer");
        assert_eq!(wrong("day::boolean"), "row 0, column day: is not true or false");
        assert_eq!(wrong("paid::decimal"), "a decimal column needs a precision and scale, such as decimal(38, 2)");
        let finer = wrong("cast(stamp as timestamp)");
        assert_eq!(finer, "row 2: is not a time in whole microseconds that the column type can hold");
        assert!(
            wrong("pay gros").starts_with("'pay gros' is neither a column nor an expression: "),
            "{}",
            wrong("pay gros")
        );
        assert!(wrong("cast(day as dat)").contains("the type dat is not supported"));
        assert!(wrong("1").ends_with("it names no column"));
        assert!(wrong("user as u").ends_with("(a column whose name is an SQL keyword needs quotes: \"user\")"));
        assert!(wrong("age + 1").contains("the operator + is not supported"));
        assert!(wrong("nope::date").contains("there is no such column"));
    }

    #[test]
    fn lists_are_parted_outside_of_quotes_and_parentheses() {
        assert_eq!(listed("a"), ["a"]);
        assert_eq!(listed("a, cast(b as decimal(9, 2)),c in (1, 2)"), ["a", "cast(b as decimal(9, 2))", "c in (1, 2)"]);
        assert_eq!(listed("\"a, b\",x = 'c, (d'"), ["\"a, b\"", "x = 'c, (d'"]);
        assert_eq!(listed("\"a\"\", b\",c"), ["\"a\"\", b\"", "c"]);
        assert_eq!(listed(""), [""]);
    }
}
