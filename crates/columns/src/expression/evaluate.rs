//! Typed expressions over the rows of a batch, in three-valued logic.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use num_bigint::BigInt;

use super::number::{Exact, Real};
use super::parse::{Comparison, Kind};
use super::{temporal, types};

/// The value of a cell or expression.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Boolean(bool),
    Text(Cow<'a, str>),
    /// A number. Dates, times and timestamps are numbers of seconds.
    Real(Real),
}

impl Value<'_> {
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Boolean(value) => Value::Boolean(value),
            Value::Text(text) => Value::Text(text.into_owned().into()),
            Value::Real(real) => Value::Real(real),
        }
    }
}

/// An expression with resolved types.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Constant(Value<'static>),
    Column(usize),
    /// True if the column has a value, else null. Works for cells of any type.
    IsPresent(usize),
    Cast(Box<Typed>, Kind),
    Not(Box<Typed>),
    And(Vec<Typed>),
    Or(Vec<Typed>),
    Compare(Comparison, Box<Typed>, Box<Typed>),
    Like(Box<Typed>, Vec<char>, Option<char>),
    IsNull(Box<Typed>),
    Is(bool, Box<Typed>),
}

/// A cell that cannot be cast: the expected value, and the column if the cell came from one.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) expected: &'static str,
    pub(super) column: Option<usize>,
}

/// The cells of a column.
pub(super) struct Cells<'a> {
    nulls: Option<NullBuffer>,
    read: Box<dyn Fn(usize) -> Value<'a> + 'a>,
}

impl Typed {
    /// The value in a row.
    pub(super) fn value<'v, 'a: 'v>(&'v self, cells: &[Cells<'a>], row: usize) -> Result<Value<'v>, Fault> {
        let truth = |known: Option<bool>| known.map_or(Value::Null, Value::Boolean);
        Ok(match self {
            Typed::Constant(value) => value.clone(),
            Typed::Column(index) => cells[*index].value(row),
            Typed::IsPresent(index) => truth((!cells[*index].is_null(row)).then_some(true)),
            Typed::Cast(inner, kind) => {
                let column = match **inner {
                    Typed::Column(index) => Some(index),
                    _ => None,
                };
                let value = inner.value(cells, row)?;
                cast(value, *kind).map_err(|expected| Fault { expected, column })?
            }
            Typed::Not(inner) => truth(inner.truth(cells, row)?.map(|known| !known)),
            Typed::And(all) => truth(decided(all, false, cells, row)?),
            Typed::Or(all) => truth(decided(all, true, cells, row)?),
            Typed::Compare(comparison, left, right) => {
                let (left, right) = (left.value(cells, row)?, right.value(cells, row)?);
                truth(order(&left, &right).map(|order| comparison.holds(order)))
            }
            Typed::Like(value, pattern, escape) => match value.value(cells, row)? {
                Value::Text(text) => Value::Boolean(like(&text, pattern, *escape)),
                _ => Value::Null,
            },
            Typed::IsNull(inner) => Value::Boolean(matches!(inner.value(cells, row)?, Value::Null)),
            Typed::Is(wanted, inner) => Value::Boolean(inner.truth(cells, row)? == Some(*wanted)),
        })
    }

    /// Whether a condition holds; `None` if unknown.
    pub(super) fn truth(&self, cells: &[Cells<'_>], row: usize) -> Result<Option<bool>, Fault> {
        Ok(match self.value(cells, row)? {
            Value::Boolean(value) => Some(value),
            _ => None,
        })
    }
}

/// Evaluates `and`, decided by false, or `or`, decided by true, from left to right. Operands after
/// the deciding one are not evaluated.
fn decided(all: &[Typed], by: bool, cells: &[Cells<'_>], row: usize) -> Result<Option<bool>, Fault> {
    let mut known = true;
    for one in all {
        match one.truth(cells, row)? {
            Some(value) if value == by => return Ok(Some(by)),
            Some(_) => {}
            None => known = false,
        }
    }
    Ok(known.then_some(!by))
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// The order of two values of one class; `None` if one is null.
fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Real(a), Value::Real(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Casts a value to another type without loss. The error describes the expected value. Empty text
/// becomes null unless the target is text.
fn cast(value: Value<'_>, kind: Kind) -> Result<Value<'_>, &'static str> {
    let expected = types::describe(kind);
    match value {
        Value::Text(text) if kind != Kind::Text => match text.is_empty() {
            true => Ok(Value::Null),
            false => read(&text, kind).ok_or(expected),
        },
        Value::Real(real) => fitted(real, kind).map(Value::Real).ok_or(expected),
        same => Ok(same),
    }
}

fn read(text: &str, kind: Kind) -> Option<Value<'static>> {
    let text = text.trim_matches(' ');
    let exact = match kind {
        Kind::Boolean if text.eq_ignore_ascii_case("true") => return Some(Value::Boolean(true)),
        Kind::Boolean if text.eq_ignore_ascii_case("false") => return Some(Value::Boolean(false)),
        Kind::Text | Kind::Boolean => return None,
        Kind::Date => Exact::decimal(BigInt::from(temporal::days(text)? * SECONDS_OF_DAY), 0),
        Kind::Timestamp => temporal::timestamp(text, false)?,
        Kind::Zoned => temporal::timestamp(text, true)?,
        Kind::Time => temporal::seconds(text)?,
        Kind::Integer(_) | Kind::Decimal(_) | Kind::Double | Kind::Float => Exact::parse(text)?,
    };
    fitted(Real::Finite(exact), kind).map(Value::Real)
}

pub(super) const SECONDS_OF_DAY: i64 = 86_400;

/// The number if the type can hold it. Floating-point types round it.
fn fitted(real: Real, kind: Kind) -> Option<Real> {
    let exact = match (&real, kind) {
        (_, Kind::Timestamp | Kind::Zoned | Kind::Time | Kind::Text | Kind::Boolean) => return Some(real),
        (Real::Finite(exact), _) => exact,
        (_, Kind::Double | Kind::Float) => return Some(real),
        _ => return None,
    };
    match kind {
        Kind::Integer(bits) => {
            let (whole, bound) = (exact.scaled(0)?, BigInt::from(1) << (bits - 1));
            (-&bound <= whole && whole < bound).then_some(real)
        }
        Kind::Decimal(Some((digits, scale))) => {
            let (scaled, bound) = (exact.scaled(scale)?, BigInt::from(10).pow(digits));
            (-&bound < scaled && scaled < bound).then_some(real)
        }
        Kind::Date => (exact.scaled(0)? % SECONDS_OF_DAY == BigInt::ZERO).then_some(real),
        Kind::Double => Some(exact.to_f64()).filter(|value| value.is_finite()).map(Real::from),
        Kind::Float => Some(exact.to_f32()).filter(|value| value.is_finite()).map(|value| f64::from(value).into()),
        _ => Some(real),
    }
}

/// Matches SQL patterns: `%` is any text, `_` any character, and the character after the escape
/// stands for itself.
fn like(text: &str, pattern: &[char], escape: Option<char>) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut t, mut p) = (0, 0);
    // Where to resume if the pattern after the last `%` does not match: the `%` then consumes one
    // more character.
    let mut back: Option<(usize, usize)> = None;
    loop {
        let (token, width) = match (pattern.get(p), pattern.get(p + 1)) {
            (Some(c), Some(next)) if Some(*c) == escape => (Some((*next, true)), 2),
            (c, _) => (c.map(|c| (*c, false)), 1),
        };
        match (token, text.get(t)) {
            (Some(('%', false)), _) => {
                back = Some((p + 1, t));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some((c, literal)), Some(found)) if c == *found || (c == '_' && !literal) => {
                (t, p) = (t + 1, p + width);
                continue;
            }
            _ => {}
        }
        match back {
            Some((after, from)) if from < text.len() => {
                back = Some((after, from + 1));
                (t, p) = (from + 1, after);
            }
            _ => return false,
        }
    }
}

impl<'a> Cells<'a> {
    /// The cells of an array in its canonical type.
    pub(super) fn new(array: &'a ArrayRef) -> Self {
        Self { nulls: array.logical_nulls(), read: reader(array) }
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    fn value(&self, row: usize) -> Value<'a> {
        if self.is_null(row) { Value::Null } else { (self.read)(row) }
    }
}

type Reader<'a> = Box<dyn Fn(usize) -> Value<'a> + 'a>;

/// Reads integers in units of `10^-scale`.
fn scaled<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, scale: i32) -> Reader<'a>
where
    BigInt: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row| Value::Real(Real::Finite(Exact::decimal(array.value(row).into(), scale))))
}

fn floats<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef) -> Reader<'a>
where
    f64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row| Value::Real(f64::from(array.value(row)).into()))
}

fn reader<'a>(array: &'a ArrayRef) -> Reader<'a> {
    macro_rules! of_unit {
        ($unit:expr, $second:ty, $milli:ty, $micro:ty, $nano:ty) => {
            match $unit {
                TimeUnit::Second => scaled::<$second>(array, types::fraction($unit)),
                TimeUnit::Millisecond => scaled::<$milli>(array, types::fraction($unit)),
                TimeUnit::Microsecond => scaled::<$micro>(array, types::fraction($unit)),
                TimeUnit::Nanosecond => scaled::<$nano>(array, types::fraction($unit)),
            }
        };
    }
    match *array.data_type() {
        DataType::Int8 => scaled::<Int8Type>(array, 0),
        DataType::Int16 => scaled::<Int16Type>(array, 0),
        DataType::Int32 => scaled::<Int32Type>(array, 0),
        DataType::Int64 => scaled::<Int64Type>(array, 0),
        DataType::UInt8 => scaled::<UInt8Type>(array, 0),
        DataType::UInt16 => scaled::<UInt16Type>(array, 0),
        DataType::UInt32 => scaled::<UInt32Type>(array, 0),
        DataType::UInt64 => scaled::<UInt64Type>(array, 0),
        DataType::Float16 => floats::<Float16Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float64 => floats::<Float64Type>(array),
        DataType::Decimal32(_, scale) => scaled::<Decimal32Type>(array, scale.into()),
        DataType::Decimal64(_, scale) => scaled::<Decimal64Type>(array, scale.into()),
        DataType::Decimal128(_, scale) => scaled::<Decimal128Type>(array, scale.into()),
        DataType::Decimal256(_, scale) => {
            let array = array.as_primitive::<Decimal256Type>();
            Box::new(move |row| {
                let bytes = array.value(row).to_le_bytes();
                Value::Real(Real::Finite(Exact::decimal(BigInt::from_signed_bytes_le(&bytes), scale.into())))
            })
        }
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Box::new(move |row| {
                let seconds = i64::from(array.value(row)) * SECONDS_OF_DAY;
                Value::Real(Real::Finite(Exact::decimal(seconds.into(), 0)))
            })
        }
        DataType::Date64 => scaled::<Date64Type>(array, 3),
        DataType::Timestamp(unit, _) => of_unit!(
            unit,
            TimestampSecondType,
            TimestampMillisecondType,
            TimestampMicrosecondType,
            TimestampNanosecondType
        ),
        DataType::Time32(TimeUnit::Second) => scaled::<Time32SecondType>(array, 0),
        DataType::Time32(_) => scaled::<Time32MillisecondType>(array, 3),
        DataType::Time64(TimeUnit::Microsecond) => scaled::<Time64MicrosecondType>(array, 6),
        DataType::Time64(_) => scaled::<Time64NanosecondType>(array, 9),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row| Value::Boolean(array.value(row)))
        }
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(move |row| Value::Text(array.value(row).into()))
        }
        // These columns support only `is null`.
        _ => Box::new(|_| Value::Null),
    }
}
