//! Types of expressions. Each comparison is within one class of values; others are rejected by name
//! before any row is read.

use arrow_schema::{DataType, Schema, TimeUnit};

use super::PredicateError;
use super::evaluate::{Typed, Value};
use super::number::{Exact, Real};
use super::parse::{Comparison, Kind, Node};
use super::temporal;
use crate::encrypt::find;
use crate::error::{Error, ErrorKind};
use crate::groups::canonical_type;
use crate::metadata::is_encrypted;

/// The class of an expression's values. Only values of one class compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Text of unknown type, such as every cell of a CSV file.
    Untyped,
    /// Text explicitly cast to text.
    Text,
    /// Integers, decimals and floating-point numbers.
    Number,
    Boolean,
    Date,
    Timestamp,
    /// With a time zone.
    Zoned,
    Time,
    /// A column that holds only nulls.
    Null,
}

impl Class {
    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Untyped => "untyped text",
            Class::Text => "text",
            Class::Number => "a number",
            Class::Boolean => "a boolean",
            Class::Date => "a date",
            Class::Timestamp => "a timestamp",
            Class::Zoned => "a timestamp with time zone",
            Class::Time => "a time",
            Class::Null => "null",
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Class::Untyped | Class::Text)
    }
}

/// The class of a column's cells; `None` for cells that support only `is null`.
fn class_of(kind: &DataType) -> Option<Class> {
    match kind {
        DataType::Utf8 => Some(Class::Untyped),
        DataType::Boolean => Some(Class::Boolean),
        DataType::Date32 | DataType::Date64 => Some(Class::Date),
        DataType::Timestamp(_, None) => Some(Class::Timestamp),
        DataType::Timestamp(_, Some(_)) => Some(Class::Zoned),
        DataType::Time32(_) | DataType::Time64(_) => Some(Class::Time),
        DataType::Null => Some(Class::Null),
        kind if kind.is_numeric() => Some(Class::Number),
        _ => None,
    }
}

/// Fractional digits of a second in a unit.
pub(super) fn fraction(unit: TimeUnit) -> i32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// An expression with its type, and its name in errors.
pub(super) struct Operand {
    pub(super) typed: Typed,
    class: Class,
    name: String,
}

/// Types expressions over the columns of one table.
pub(super) struct Typing<'a> {
    schema: &'a Schema,
    /// The columns to read, in the order of the indices in [`Typed::Column`].
    pub(super) columns: Vec<String>,
}

impl<'a> Typing<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Self { schema, columns: Vec::new() }
    }

    /// An expression that is true, false or unknown.
    pub(super) fn condition(&mut self, node: &Node) -> Result<Typed, Error> {
        let all = |typing: &mut Self, nodes: &[Node]| -> Result<Vec<Typed>, Error> {
            nodes.iter().map(|node| typing.condition(node)).collect()
        };
        Ok(match node {
            Node::Not(inner) => Typed::Not(Box::new(self.condition(inner)?)),
            Node::And(nodes) => Typed::And(all(self, nodes)?),
            Node::Or(nodes) => Typed::Or(all(self, nodes)?),
            Node::Is(wanted, inner) => Typed::Is(*wanted, Box::new(self.condition(inner)?)),
            Node::IsNull(inner) => Typed::IsNull(Box::new(self.any(inner)?)),
            Node::Compare(comparison, left, right) => self.comparison(*comparison, left, right)?,
            Node::In(value, list) => self.list(value, list)?,
            Node::Like(value, pattern, escape) => {
                let value = self.operand(value)?;
                if !value.class.is_text() {
                    return Err(mismatch(&value, &format!("the pattern {}", quoted(pattern))));
                }
                Typed::Like(Box::new(value.typed), pattern.chars().collect(), *escape)
            }
            _ => {
                let value = self.operand(node)?;
                match value.class {
                    Class::Boolean => value.typed,
                    class => {
                        let (what, class) = (value.name, class.name());
                        return Err(PredicateError::NoCondition { what, class }.into_error());
                    }
                }
            }
        })
    }

    /// An expression that is not compared.
    fn any(&mut self, node: &Node) -> Result<Typed, Error> {
        match node {
            Node::Column(name) => {
                self.canonical_type(name)?;
                Ok(Typed::IsPresent(self.index(name)))
            }
            Node::Null | Node::Quoted(_) | Node::Number(..) | Node::Cast(..) | Node::Boolean(_) => {
                self.operand(node).map(|value| value.typed)
            }
            condition => self.condition(condition),
        }
    }

    fn index(&mut self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    /// The canonical type of a column that is not encrypted.
    pub(super) fn canonical_type(&self, name: &str) -> Result<DataType, Error> {
        let field = find(self.schema, name).map_err(|error| match error.kind() {
            ErrorKind::NoSuchColumn { available } => {
                ErrorKind::from(PredicateError::NoColumn { name: name.into(), available: available.clone() })
                    .in_column(name)
            }
            _ => error,
        })?;
        match is_encrypted(field) {
            true => Err(ErrorKind::from(PredicateError::Encrypted).in_column(name)),
            false => Ok(canonical_type(field.data_type())),
        }
    }

    pub(super) fn operand(&mut self, node: &Node) -> Result<Operand, Error> {
        let constant = |value: Value<'static>, class: Class, name: &str| Operand {
            typed: Typed::Constant(value),
            class,
            name: name.to_owned(),
        };
        Ok(match node {
            Node::Column(name) => {
                let kind = self.canonical_type(name)?;
                let class = class_of(&kind)
                    .ok_or_else(|| ErrorKind::from(PredicateError::Type { kind: kind.to_string() }).in_column(name))?;
                let name_and_type = match class {
                    Class::Untyped => format!("column {name} of untyped text"),
                    _ => format!("column {name} of type {kind}"),
                };
                Operand { typed: Typed::Column(self.index(name)), class, name: name_and_type }
            }
            Node::Number(text, number) => {
                constant(Value::Real(Real::Finite(number.clone())), Class::Number, &format!("the number {text}"))
            }
            Node::Quoted(text) => {
                constant(Value::Text(text.clone().into()), Class::Text, &format!("the text {}", quoted(text)))
            }
            Node::Boolean(value) => constant(Value::Boolean(*value), Class::Boolean, &value.to_string()),
            Node::Null => constant(Value::Null, Class::Null, "null"),
            Node::Cast(inner, kind) => {
                let inner = self.operand(inner)?;
                self.cast(inner, *kind)?
            }
            condition => {
                let (typed, name) = (self.condition(condition)?, "a condition".to_owned());
                Operand { typed, class: Class::Boolean, name }
            }
        })
    }

    fn cast(&self, inner: Operand, kind: Kind) -> Result<Operand, Error> {
        let class = class_after(kind);
        let possible = match inner.class {
            Class::Untyped | Class::Text | Class::Null => true,
            Class::Date => matches!(class, Class::Date | Class::Timestamp),
            Class::Timestamp => matches!(class, Class::Date | Class::Timestamp),
            from => from == class,
        };
        if !possible {
            let (from, to) = (inner.name, class.name());
            return Err(PredicateError::Cast { from, to }.into_error());
        }
        let name = format!("{} as {}", inner.name, class.name());
        let cast = Typed::Cast(Box::new(inner.typed), kind);
        // A constant is read once, so its errors are reported immediately.
        let typed = match &cast {
            Typed::Cast(constant, _) if matches!(**constant, Typed::Constant(_)) => {
                let wrong =
                    |_| PredicateError::Literal { value: inner.name.clone(), kind: describe(kind) }.into_error();
                let value = cast.value(&[], 0).map_err(wrong)?;
                if matches!(value, Value::Null) && inner.class != Class::Null {
                    return Err(PredicateError::Literal { value: inner.name, kind: describe(kind) }.into_error());
                }
                Typed::Constant(value.into_owned())
            }
            _ => cast,
        };
        Ok(Operand { typed, class, name })
    }

    fn comparison(&mut self, comparison: Comparison, left: &Node, right: &Node) -> Result<Typed, Error> {
        if matches!(left, Node::Null) || matches!(right, Node::Null) {
            return Err(PredicateError::NullCompared.into_error());
        }
        let (a, b) = self.pair(left, right)?;
        Ok(Typed::Compare(comparison, Box::new(a), Box::new(b)))
    }

    fn list(&mut self, value: &Node, list: &[Node]) -> Result<Typed, Error> {
        let equals = list.iter().map(|item| self.comparison(Comparison::Equal, value, item));
        Ok(Typed::Or(equals.collect::<Result<_, _>>()?))
    }

    /// Both sides of a comparison, in one class.
    fn pair(&mut self, left: &Node, right: &Node) -> Result<(Typed, Typed), Error> {
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        match (left, right) {
            (_, Node::Quoted(text)) => {
                let b = self.read_as(text, left, &a)?;
                Ok((a.typed, b))
            }
            (Node::Quoted(text), _) => {
                let a = self.read_as(text, right, &b)?;
                Ok((a, b.typed))
            }
            (_, Node::Number(text, number)) => self.with_number(a, left, text, number),
            (Node::Number(text, number), _) => self.with_number(b, right, text, number).map(|(b, a)| (a, b)),
            _ => {
                let same = match (a.class, b.class) {
                    (Class::Untyped, Class::Untyped) => false,
                    (Class::Null, _) | (_, Class::Null) => true,
                    (Class::Date, Class::Timestamp) | (Class::Timestamp, Class::Date) => true,
                    (a, b) => a == b || (a.is_text() && b.is_text()),
                };
                match same {
                    true => Ok((a.typed, b.typed)),
                    false => Err(mismatch(&a, &b.name)),
                }
            }
        }
    }

    /// Reads a quoted text as a value of its neighbour's class.
    fn read_as(&self, text: &str, node: &Node, neighbour: &Operand) -> Result<Typed, Error> {
        let kind = match neighbour.class {
            Class::Untyped | Class::Text | Class::Null => Kind::Text,
            Class::Number => {
                let number = Exact::parse(text).ok_or_else(|| literal(text, "a number"))?;
                return Ok(Typed::Constant(Value::Real(self.number_for(node, text, &number))));
            }
            Class::Boolean => Kind::Boolean,
            // A time of day can be compared with a date, although it is finer than the column's
            // type.
            Class::Date if temporal::days(text).is_none() => Kind::Timestamp,
            Class::Date => Kind::Date,
            Class::Timestamp => Kind::Timestamp,
            Class::Zoned => Kind::Zoned,
            Class::Time => Kind::Time,
        };
        let quoted = Typed::Constant(Value::Text(text.to_owned().into()));
        let cast = Typed::Cast(Box::new(quoted), kind);
        let expected = if neighbour.class == Class::Date { "a date" } else { describe(kind) };
        match cast.value(&[], 0).map_err(|_| literal(text, expected))? {
            Value::Null => Err(literal(text, expected)),
            value => Ok(Typed::Constant(value.into_owned())),
        }
    }

    /// An operand and the number next to it. Untyped text is read as numbers.
    fn with_number(&self, operand: Operand, node: &Node, text: &str, number: &Exact) -> Result<(Typed, Typed), Error> {
        let constant = Typed::Constant(Value::Real(self.number_for(node, text, number)));
        match operand.class {
            Class::Number | Class::Null => Ok((operand.typed, constant)),
            Class::Untyped => Ok((Typed::Cast(Box::new(operand.typed), Kind::Decimal(None)), constant)),
            _ => Err(mismatch(&operand, &format!("the number {text}"))),
        }
    }

    /// The value of a number next to an operand. Next to a floating-point column, a number that is
    /// the shortest text of a column value, such as `0.1`, is that value, so `x = 0.1` finds cells
    /// written as 0.1. All other numbers are exact.
    fn number_for(&self, node: &Node, text: &str, number: &Exact) -> Real {
        let kind = match node {
            Node::Column(name) => self.canonical_type(name).ok(),
            Node::Cast(_, Kind::Double) => Some(DataType::Float64),
            Node::Cast(_, Kind::Float) => Some(DataType::Float32),
            _ => None,
        };
        let (value, shortest) = match kind {
            Some(DataType::Float64) => text.parse::<f64>().map(|value| (value, format!("{value:e}"))),
            Some(DataType::Float32) => text.parse::<f32>().map(|value| (f64::from(value), format!("{value:e}"))),
            _ => return Real::Finite(number.clone()),
        }
        .unwrap_or((f64::NAN, String::new()));
        match Exact::parse(&shortest) {
            Some(shortest) if shortest == *number => Real::from(value),
            _ => Real::Finite(number.clone()),
        }
    }
}

fn class_after(kind: Kind) -> Class {
    match kind {
        Kind::Integer(_) | Kind::Decimal(_) | Kind::Double | Kind::Float => Class::Number,
        Kind::Text => Class::Text,
        Kind::Boolean => Class::Boolean,
        Kind::Date => Class::Date,
        Kind::Timestamp => Class::Timestamp,
        Kind::Zoned => Class::Zoned,
        Kind::Time => Class::Time,
    }
}

/// Describes a value of the type, for errors.
pub(super) fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer(8) => "an 8-bit integer",
        Kind::Integer(16) => "a 16-bit integer",
        Kind::Integer(32) => "a 32-bit integer",
        Kind::Integer(_) => "a 64-bit integer",
        Kind::Decimal(None) => "a number",
        Kind::Decimal(Some(_)) => "a decimal with this precision and scale",
        Kind::Double | Kind::Float => "a floating-point number",
        Kind::Text => "text",
        Kind::Boolean => "true or false",
        Kind::Date => "a date (YYYY-MM-DD)",
        Kind::Timestamp => "a timestamp without time zone (YYYY-MM-DD HH:MM:SS)",
        Kind::Zoned => "a timestamp with time zone (YYYY-MM-DD HH:MM:SS+HH:MM)",
        Kind::Time => "a time (HH:MM:SS)",
    }
}

fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let cut: String = text.chars().take(MAX_CHARS).collect();
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("'{}{dots}'", cut.escape_debug())
}

fn literal(text: &str, kind: &'static str) -> Error {
    PredicateError::Literal { value: quoted(text), kind }.into_error()
}

fn mismatch(left: &Operand, right: &str) -> Error {
    PredicateError::Mismatch { left: left.name.clone(), right: right.to_owned() }.into_error()
}
